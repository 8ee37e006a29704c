//! The scores of a tenant, kept up to date with its log (API.md, 6.11).
//!
//! The outcome of a session changes only by the acts `outcome` and `void`, each of which appends an entry to the log, and
//! its snapshot never changes. So whoever has read all scored sessions once stays up to date by reading the entries that
//! were appended since, and the sessions that these acts are on. Nothing is stored: another log, or one that does not
//! continue, is read from the beginning.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::log_cursor::LogCursor;
use super::{Error, Tenant};
use crate::domain::{
    LogEntry, LogRow, Logged, MemberId, Name, Session, SessionAct, SessionId, SessionState,
    SessionSummary,
};
use crate::rules::{
    MemberRecord, Ranking, Refusal, ScoreBook, ScoreFilter, SessionScores, counted_outcome, scores,
};
use crate::store::{SessionList, SessionQuery, SummaryQuery};

/// The last number that was given to a state of scores.
static LAST_STATE: AtomicU64 = AtomicU64::new(0);

/// Maximum number of rankings that are kept.
const MAX_RANKINGS: usize = 64;

/// Number of summaries read at a time to find scored sessions.
const SUMMARIES_AT_ONCE: usize = 500;

/// Number of sessions read with their snapshots at a time.
const SESSIONS_AT_ONCE: usize = 16;

/// The scored sessions of one tenant, as of a position of its log. A front end keeps one for each tenant; each call
/// brings it up to date first.
#[derive(Debug, Default)]
pub struct Scores {
    /// The position that was read to; `None` before the first call, or where the log is empty.
    read_to: Option<LogCursor>,
    /// The number of the state: no other in this process has it.
    state: u64,
    book: ScoreBook,
    /// The names of the members that were ranked.
    names: Arc<HashMap<MemberId, Name>>,
    rankings: HashMap<(ScoreFilter, usize), Arc<Ranking>>,
}

/// A ranking, with the names of the members in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamedRanking {
    /// The ranking.
    pub ranking: Arc<Ranking>,
    names: Arc<HashMap<MemberId, Name>>,
}

impl NamedRanking {
    /// Returns the name of a member; its id if it is unknown.
    pub fn name<'a>(&'a self, member: &'a MemberId) -> &'a str {
        self.names.get(member).map_or(member.as_str(), Name::as_str)
    }
}

impl Tenant {
    /// Returns the scores of a session, with the session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id; [`Refusal::NoOutcome`] when it has no outcome that counts.
    pub async fn scores(&self, id: SessionId) -> Result<(Arc<Session>, SessionScores), Error> {
        let session = self.session_record(id).await?;
        let (value, snapshot) =
            counted_outcome(&session).zip(session.snapshot.as_ref()).ok_or(Refusal::NoOutcome)?;
        let scores = scores(session.id, session.declaration.scale(), value, &snapshot.quotes);
        Ok((session, scores))
    }
}

impl Scores {
    /// Returns the ranking of the members over the selected sessions. A place takes `min` scored sessions.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn ranking(
        &mut self,
        tenant: &Tenant,
        filter: &ScoreFilter,
        min: usize,
    ) -> Result<NamedRanking, Error> {
        self.follow(tenant).await?;
        let key = (filter.clone(), min);
        let ranking = match self.rankings.get(&key) {
            Some(ranking) => Arc::clone(ranking),
            None => {
                let ranking = Arc::new(self.book.ranking(filter, min));
                if self.rankings.len() == MAX_RANKINGS {
                    self.rankings.clear();
                }
                self.rankings.insert(key, Arc::clone(&ranking));
                ranking
            }
        };
        self.find_names(tenant, &ranking).await?;
        Ok(NamedRanking { ranking, names: Arc::clone(&self.names) })
    }

    /// Returns the record of a member over the selected sessions.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such member.
    pub async fn record(
        &mut self,
        tenant: &Tenant,
        member: &MemberId,
        filter: &ScoreFilter,
    ) -> Result<MemberRecord, Error> {
        tenant.member(member).await?;
        self.follow(tenant).await?;
        Ok(self.book.record(member, filter))
    }

    /// Returns the number of the state as it is now: rankings and records are the same as long as it is.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn state(&mut self, tenant: &Tenant) -> Result<u64, Error> {
        self.follow(tenant).await?;
        Ok(self.state)
    }

    /// Looks up the names that are not known.
    async fn find_names(&mut self, tenant: &Tenant, ranking: &Ranking) -> Result<(), Error> {
        let listed = ranking.ranked.iter().chain(&ranking.unranked);
        let ids = listed.map(|member| &member.member_id);
        let unknown: Vec<_> = ids.filter(|id| !self.names.contains_key(*id)).cloned().collect();
        if !unknown.is_empty() {
            let found = tenant.members_among(unknown).await?;
            let named = found.iter().map(|member| (member.id.clone(), member.name.clone()));
            Arc::make_mut(&mut self.names).extend(named);
        }
        Ok(())
    }

    /// Reads what was appended to the log.
    async fn follow(&mut self, tenant: &Tenant) -> Result<(), Error> {
        let now = tenant.log_position().await?;
        let Some(cursor) = &self.read_to else {
            *self = Self::read(tenant).await?;
            return Ok(());
        };
        if cursor.is_at(&now) {
            return Ok(());
        }
        let mut changes = Changes::default();
        if !cursor.appended(tenant, &now, u64::MAX, |row| changes.add(row)).await? {
            *self = Self::read(tenant).await?;
            return Ok(());
        }
        self.apply(tenant, changes).await?;
        self.read_to = LogCursor::at(tenant, now).await?;
        Ok(())
    }

    async fn apply(&mut self, tenant: &Tenant, changes: Changes) -> Result<(), Error> {
        let renamed = changes.members.iter().filter(|member| self.names.contains_key(*member));
        let renamed: Vec<_> = renamed.collect();
        if !renamed.is_empty() || !changes.sessions.is_empty() {
            self.state = next_state();
        }
        if !renamed.is_empty() {
            let names = Arc::make_mut(&mut self.names);
            renamed.into_iter().for_each(|member| drop(names.remove(member)));
        }
        if !changes.sessions.is_empty() {
            // Also if a session below cannot be read: then the entries are read again.
            self.rankings.clear();
        }
        for id in changes.sessions {
            self.read_session(tenant, id).await?;
        }
        Ok(())
    }

    /// Reads all scored sessions.
    async fn read(tenant: &Tenant) -> Result<Self, Error> {
        // The position comes first: what changes while the sessions are read is read again after it.
        let position = tenant.log_position().await?;
        let mut scores = Self {
            read_to: LogCursor::at(tenant, position).await?,
            state: next_state(),
            ..Self::default()
        };
        // A session that is published meanwhile is in the second list.
        for state in [SessionState::Aggregated, SessionState::Published] {
            let list = SessionList::InState(state);
            let mut query = SummaryQuery { list, limit: SUMMARIES_AT_ONCE, ..Default::default() };
            loop {
                let summaries = tenant.store.session_summaries(&query).await?;
                for some in summaries.chunks(SESSIONS_AT_ONCE) {
                    scores.read_sessions(tenant, state, some).await?;
                }
                query.before = summaries.last().map(|last| last.id);
                if summaries.len() < SUMMARIES_AT_ONCE {
                    break;
                }
            }
        }
        Ok(scores)
    }

    /// Reads the scored ones among successive sessions of the list in this state.
    async fn read_sessions(
        &mut self,
        tenant: &Tenant,
        state: SessionState,
        listed: &[Arc<SessionSummary>],
    ) -> Result<(), Error> {
        let scored = listed.iter().filter(|session| session.outcome.is_some());
        let mut scored: BTreeSet<_> = scored.map(|session| session.id).collect();
        let Some(first) = listed.first().filter(|_| !scored.is_empty()) else { return Ok(()) };
        let query = SessionQuery {
            state: Some(state),
            before: Some(SessionId(first.id.0.saturating_add(1))),
            limit: listed.len(),
            ..SessionQuery::default()
        };
        for session in tenant.store.sessions(&query).await? {
            if scored.remove(&session.id) {
                self.book.put(&session, counted_outcome(&session));
            }
        }
        // The list has changed meanwhile.
        for id in scored {
            self.read_session(tenant, id).await?;
        }
        Ok(())
    }

    async fn read_session(&mut self, tenant: &Tenant, id: SessionId) -> Result<(), Error> {
        if let Some(session) = tenant.store.session(id).await? {
            self.book.put(&session.record, counted_outcome(&session.record));
        }
        Ok(())
    }
}

/// A number that no state has.
fn next_state() -> u64 {
    LAST_STATE.fetch_add(1, Ordering::Relaxed).saturating_add(1)
}

/// What entries of the log change.
#[derive(Debug, Default)]
struct Changes {
    sessions: BTreeSet<SessionId>,
    members: BTreeSet<MemberId>,
}

impl Changes {
    fn add(&mut self, row: &LogRow) {
        let Logged::Entry(entry) = &row.logged else { return };
        match &**entry {
            LogEntry::Session(act) if matches!(act.act, SessionAct::Outcome | SessionAct::Void) => {
                self.sessions.insert(act.session.id);
            }
            LogEntry::Member(act) => {
                self.members.insert(act.id.clone());
            }
            _ => {}
        }
    }
}
