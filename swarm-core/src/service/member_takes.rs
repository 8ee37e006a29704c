//! What a member filed, session by session.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Error, Tenant};
use crate::domain::{MemberId, SessionId, SessionState, SessionSummary, Take};
use crate::rules::{self, Counting, PublicTake};
use crate::store::{MemberTake, MemberTakeQuery, SessionQuery};

/// A take in its session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakeInSession {
    /// The take.
    pub take: PublicTake,
    /// What lists show of its session.
    pub session: Arc<SessionSummary>,
    /// Whether it counts in the snapshot of the session; `None` until there is one.
    pub counting: Option<Counting>,
}

/// A page of the takes of a member.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemberTakePage {
    /// The latest take in each session, the session with the highest id first.
    pub takes: Vec<TakeInSession>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

impl Tenant {
    /// The latest take of a member in each of up to `limit` sessions that it filed in, those with the highest ids
    /// below `before`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn member_takes(
        &self,
        member: &MemberId,
        limit: usize,
        before: Option<SessionId>,
    ) -> Result<MemberTakePage, Error> {
        // Reads one take more than fits on the page, to know whether there is another page.
        let limit_and_one = limit.saturating_add(1);
        let query = MemberTakeQuery { member: member.clone(), before, limit: limit_and_one };
        let mut filed = self.store.member_takes(&query).await?;
        let is_last = filed.len() <= limit;
        filed.truncate(limit);
        let next_before = filed.last().filter(|_| !is_last).map(|last| last.session.id);
        let mut takes = Vec::with_capacity(filed.len());
        for take in filed {
            takes.push(self.in_session(take).await?);
        }
        Ok(MemberTakePage { takes, next_before })
    }

    async fn in_session(&self, filed: MemberTake) -> Result<TakeInSession, Error> {
        let MemberTake { take, session, expected } = filed;
        let counting = match &session.figures {
            Some(figures) => {
                let counts = expected || !session.has_roster;
                match rules::counting_by_time(take.filed_at, figures, counts) {
                    Some(counting) => Some(counting),
                    None => self.counting_by_quotes(&take).await?,
                }
            }
            None => None,
        };
        // A session with a snapshot is open.
        let take = match take.salt.is_some() && session.figures.is_none() {
            true => self.public_take(take).await?,
            false => PublicTake::Open(take),
        };
        Ok(TakeInSession { take, session, counting })
    }

    async fn counting_by_quotes(&self, take: &Arc<Take>) -> Result<Option<Counting>, Error> {
        let session = self.session_record(take.session_id).await?;
        let take = PublicTake::Open(Arc::clone(take));
        Ok(session.snapshot.as_deref().map(|snapshot| rules::counting(&take, snapshot)))
    }

    /// In how many of the `limit` newest sessions with ids below `before` the member was expected, of those that
    /// have a snapshot; and in how many of these it filed a take that counts, which is among `takes`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn filed_of_expected(
        &self,
        member: &MemberId,
        takes: &[TakeInSession],
        limit: usize,
        before: Option<SessionId>,
    ) -> Result<(usize, usize), Error> {
        let query =
            SessionQuery { before, limit, without_snapshots: true, ..SessionQuery::default() };
        let mut sessions = self.store.sessions(&query).await?;
        sessions.retain(|session| {
            let is_aggregated = session.state >= SessionState::Aggregated;
            is_aggregated && session.roster.is_some() && session.expects(member)
        });
        let counted = takes.iter().filter(|take| take.counting == Some(Counting::Counted));
        let counted: HashSet<_> = counted.map(|take| take.session.id).collect();
        let filed = sessions.iter().filter(|session| counted.contains(&session.id)).count();
        Ok((filed, sessions.len()))
    }
}
