//! The sessions of a tenant, and their indexes: by state, by subject, by time of publication.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{
    MemberId, Revision, Session, SessionId, SessionState, SessionSummary, SessionTerms, SubjectId,
    TakeDraft, TakeId,
};
use swarm_core::store::{SessionList, Versioned};

/// The sessions of a tenant.
#[derive(Clone, Default)]
pub(crate) struct SessionTable {
    rows: BTreeMap<SessionId, SessionRow>,
    states: HashMap<SessionState, BTreeSet<SessionId>>,
    subjects: HashMap<SubjectId, BTreeSet<SessionId>>,
    published: BTreeSet<(Timestamp, SessionId)>,
}

#[derive(Clone)]
pub(crate) struct SessionRow {
    pub(crate) session: Versioned<Session>,
    /// The terms of `session`.
    pub(crate) terms: Versioned<SessionTerms>,
    /// What lists show of `session`.
    pub(crate) summary: Arc<SessionSummary>,
    /// Every take, by id.
    pub(crate) takes: Vec<TakeId>,
    /// Each member's takes, by revision.
    pub(crate) revisions: HashMap<MemberId, Vec<TakeId>>,
}

impl SessionTable {
    pub(crate) fn get(&self, id: SessionId) -> Option<&SessionRow> {
        self.rows.get(&id)
    }

    /// For changes of its takes; a session itself is changed by [`write`](Self::write).
    pub(crate) fn get_mut(&mut self, id: SessionId) -> Option<&mut SessionRow> {
        self.rows.get_mut(&id)
    }

    /// All, the highest id last.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &SessionRow> {
        self.rows.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The sessions of a list with ids higher than `after` and lower than `before`, by id.
    pub(crate) fn listed(
        &self,
        list: &SessionList,
        after: Option<SessionId>,
        before: Option<SessionId>,
    ) -> Box<dyn DoubleEndedIterator<Item = &SessionRow> + '_> {
        let first = after.map_or(Bound::Unbounded, Bound::Excluded);
        let last = before.map_or(Bound::Unbounded, Bound::Excluded);
        // A range that ends before it begins would panic.
        if after.zip(before).is_some_and(|(after, before)| before <= after) {
            return Box::new(std::iter::empty());
        }
        let ids = match list {
            SessionList::All => {
                return Box::new(self.rows.range((first, last)).map(|(_, row)| row));
            }
            SessionList::InState(state) => self.states.get(state),
            SessionList::About(subject) => self.subjects.get(subject),
        };
        let ids = ids.into_iter().flat_map(move |ids| ids.range((first, last)));
        Box::new(ids.filter_map(|id| self.rows.get(id)))
    }

    /// The published ones, the latest first.
    pub(crate) fn published(&self) -> impl Iterator<Item = &SessionRow> {
        self.published.iter().rev().filter_map(|(_, id)| self.rows.get(id))
    }

    /// The number of those in this state.
    pub(crate) fn count(&self, state: SessionState) -> usize {
        self.states.get(&state).map_or(0, BTreeSet::len)
    }

    /// Writes a session: a new one, or another version of one.
    pub(crate) fn write(&mut self, session: Versioned<Session>) {
        let id = session.record.id;
        self.remove_from_indexes(id);
        self.states.entry(session.record.state).or_default().insert(id);
        self.subjects.entry(session.record.subject_id.clone()).or_default().insert(id);
        self.published.extend(session.record.published_at.map(|at| (at, id)));
        match self.rows.get_mut(&id) {
            Some(row) => row.write(session),
            None => drop(self.rows.insert(id, SessionRow::new(session))),
        }
    }

    pub(crate) fn remove(&mut self, id: SessionId) {
        self.remove_from_indexes(id);
        self.rows.remove(&id);
    }

    fn remove_from_indexes(&mut self, id: SessionId) {
        let Some(row) = self.rows.get(&id) else { return };
        let Session { state, subject_id, published_at, .. } = &*row.session.record;
        if let Some(ids) = self.states.get_mut(state) {
            ids.remove(&id);
        }
        if let Some(ids) = self.subjects.get_mut(subject_id) {
            ids.remove(&id);
        }
        if let Some(at) = published_at {
            self.published.remove(&(*at, id));
        }
    }
}

impl SessionRow {
    /// A session without takes.
    fn new(session: Versioned<Session>) -> Self {
        let (terms, summary) = (session.map(Session::terms), Arc::new(session.record.summary()));
        Self { session, terms, summary, takes: Vec::new(), revisions: HashMap::new() }
    }

    fn write(&mut self, session: Versioned<Session>) {
        let Self { takes, revisions, .. } = self;
        let (takes, revisions) = (std::mem::take(takes), std::mem::take(revisions));
        *self = Self { takes, revisions, ..Self::new(session) };
    }

    /// The latest take of the same member in the same session.
    pub(crate) fn latest_id(&self, take: &TakeDraft) -> Option<TakeId> {
        self.revisions.get(&take.member_id)?.last().copied()
    }

    pub(crate) fn latest(&self, member: &MemberId) -> Option<Revision> {
        let filed = self.revisions.get(member)?.len();
        Revision::new(u8::try_from(filed).ok()?)
    }
}
