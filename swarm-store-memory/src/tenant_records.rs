//! The records of one tenant, and their indexes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use swarm_core::domain::{
    AttemptId, Challenge, Day, Member, MemberId, MemberState, Message, Nonce, PublicKey, Seq,
    SessionId, SubjectId, Take, TakeId, TokenHash, Version,
};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{
    ChallengeBucket, Collection, Document, LogPosition, MemberQuery, Result, TreeState, Versioned,
};

use crate::committee_records::CommitteeRecords;
use crate::log_rows::Rows;
use crate::session_table::{SessionRow, SessionTable};

#[derive(Clone, Default)]
pub(crate) struct TenantRecords {
    pub(crate) members: HashMap<MemberId, MemberRow>,
    /// Members by state.
    pub(crate) states: HashMap<MemberState, BTreeSet<MemberId>>,
    /// Members by token hash.
    pub(crate) tokens: HashMap<TokenHash, MemberId>,
    /// Members by held key.
    pub(crate) keys: HashMap<PublicKey, MemberId>,
    pub(crate) challenges: HashMap<MemberId, Challenge>,
    pub(crate) decoy: Option<Challenge>,
    /// The challenge issued last.
    pub(crate) reusable_challenges: HashMap<ChallengeBucket, Challenge>,
    /// Message `n` is at index `n - 1`.
    pub(crate) outbox: Vec<Versioned<Message>>,
    pub(crate) sessions: SessionTable,
    /// The sessions of a day and subject, by id.
    pub(crate) days: HashMap<Day, HashMap<SubjectId, Vec<SessionId>>>,
    /// Take `n` is at index `n - 1`.
    pub(crate) takes: Vec<Arc<Take>>,
    pub(crate) documents: HashMap<Collection, DocumentCollection>,
    /// The size of the documents of all collections whose size is limited, in bytes.
    pub(crate) document_bytes: u64,
    pub(crate) committee: CommitteeRecords,
    pub(crate) log: Rows,
    pub(crate) tree: Tree,
}

/// The tree over the log.
#[derive(Clone, Default)]
pub(crate) struct Tree {
    pub(crate) state: Option<Versioned<TreeState>>,
    /// Tiles by the number of their log.
    pub(crate) tiles: HashMap<(u64, TileId), Vec<u8>>,
}

#[derive(Clone)]
pub(crate) struct MemberRow {
    pub(crate) member: Versioned<Member>,
    pub(crate) nonces: HashMap<Nonce, SpentNonce>,
    /// The sessions that it filed in.
    pub(crate) sessions: BTreeSet<SessionId>,
}

/// The take and the attempt that spent a nonce.
#[derive(Clone)]
pub(crate) struct SpentNonce {
    pub(crate) attempt: AttemptId,
    pub(crate) take: TakeId,
}

/// The documents of a collection.
#[derive(Clone, Default)]
pub(crate) struct DocumentCollection {
    /// Document `n` is at index `n - 1`.
    pub(crate) documents: Vec<Document>,
    pub(crate) keys: BTreeMap<String, usize>,
    pub(crate) groups: HashMap<String, Vec<usize>>,
}

impl TenantRecords {
    /// Whether the tenant has no records other than challenges.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { members, outbox, sessions, documents, committee, log, .. } = self;
        members.is_empty()
            && outbox.is_empty()
            && sessions.is_empty()
            && documents.values().all(|collection| collection.documents.is_empty())
            && committee.members.is_empty()
            && committee.days.is_empty()
            && log.position().size == Seq(0)
    }

    /// Replaces all records other than challenges.
    pub(crate) fn replace_records(&mut self, records: Self) {
        let before = std::mem::replace(self, records);
        self.challenges = before.challenges;
        self.decoy = before.decoy;
        self.reusable_challenges = before.reusable_challenges;
    }

    /// Checks, before a commit, that the log continues the one that was seen.
    pub(crate) fn check_commit(&self, seen: &LogPosition) -> Result<()> {
        seen.check_commit(self.log.number(), self.log.fingerprint(seen.size).as_deref())
    }

    /// The same check for facts that are read.
    pub(crate) fn check_facts(&self, seen: &LogPosition) -> Result<()> {
        seen.check_facts(self.log.number(), self.log.fingerprint(seen.size).as_deref())
    }

    pub(crate) fn bearer(&self, token: &TokenHash) -> Option<&MemberRow> {
        self.members.get(self.tokens.get(token)?)
    }

    /// The ids of the members in this state that match, in their order.
    pub(crate) fn in_state(
        &self,
        state: MemberState,
        query: &MemberQuery,
    ) -> impl Iterator<Item = &MemberId> {
        let after = query.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let ids = self.states.get(&state).into_iter();
        ids.flat_map(move |ids| ids.range((after.clone(), Bound::Unbounded))).take(query.limit)
    }

    /// The last id of a session. The id of a withdrawn session stays used, because the log refers to it.
    pub(crate) fn last_session(&self) -> SessionId {
        let stored = self.sessions.all().next_back().map(|row| row.session.record.id);
        let logged = self.log.acts.last_key_value().map(|(id, _)| *id);
        stored.max(logged).unwrap_or(SessionId(0))
    }

    pub(crate) fn newest_session(&self, date: Day, subject: &SubjectId) -> Option<&SessionRow> {
        self.sessions.get(*self.days.get(&date)?.get(subject)?.last()?)
    }

    pub(crate) fn take(&self, id: TakeId) -> Option<&Arc<Take>> {
        let place = usize::try_from(id.0).ok()?.checked_sub(1)?;
        self.takes.get(place)
    }
}

/// A quota as a count of records.
pub(crate) fn count(quota: u32) -> usize {
    usize::try_from(quota).unwrap_or(usize::MAX)
}

/// The next id after `count` records.
pub(crate) fn next_id(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1)
}

pub(crate) fn first<T>(record: T) -> Versioned<T> {
    Versioned { version: Version(1), record: Arc::new(record) }
}

pub(crate) fn next<T>(version: Version, record: T) -> Versioned<T> {
    Versioned { version: version.next(), record: Arc::new(record) }
}
