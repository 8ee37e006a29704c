//! Background work on blind sessions: opens those that were closed before their deadline, and completes what an
//! opening may have left undone (API.md, 5.8).

use std::collections::BTreeSet;

use super::{Error, Round, Tenant};
use crate::domain::SessionId;
use crate::rules;
use crate::store::SessionQuery;

/// Number of sessions read at a time.
const PAGE: usize = 100;

/// The blind sessions of a tenant that may need work. Whether a session is blind never changes, so each session
/// is read once, and a round reads no session that is not blind.
#[derive(Clone, Debug, Default)]
pub struct BlindSessions {
    /// The number of the log in which they were found. In a new log, the same ids may be other sessions.
    log: u64,
    /// All sessions up to this one were examined.
    seen: Option<SessionId>,
    /// The sessions that are sealed, or that may have held memos without log entries.
    unsettled: BTreeSet<SessionId>,
}

impl Tenant {
    /// Opens the blind sessions that were closed before their deadline, once it has passed. Also appends the log
    /// entries of memos that were held until an opening, if the server that opened the session failed to. `blind`
    /// keeps its state between rounds. Several servers may do this concurrently. [`Round::done`] is the number of
    /// sessions that were opened.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn open_due_sessions(&self, blind: &mut BlindSessions) -> Result<Round, Error> {
        self.find_blind_sessions(blind).await?;
        let now = self.store.now().await?;
        let mut round = Round::default();
        let mut settled = Vec::new();
        for id in &blind.unsettled {
            let found = self.store.session(*id).await?;
            match found.filter(|session| session.record.is_sealed()) {
                Some(session) if rules::is_sealed_and_closed(&session.record) => {
                    self.close_if_due(&session.record, now, &mut round).await?;
                }
                Some(_) => {}
                // The session was opened or withdrawn.
                None => settled.push(*id),
            }
        }
        for id in &settled {
            self.show_held_memos(*id).await?;
        }
        blind.unsettled.retain(|id| !settled.contains(id));
        Ok(round)
    }

    /// Adds the blind sessions that were convened since the last round.
    async fn find_blind_sessions(&self, blind: &mut BlindSessions) -> Result<(), Error> {
        let log = self.store.log_position().await?.log;
        if blind.log != log {
            *blind = BlindSessions { log, ..BlindSessions::default() };
        }
        // The first read is of the newest session only, to see whether sessions were added.
        let mut query = SessionQuery { limit: 1, without_snapshots: true, ..Default::default() };
        let mut newest = None;
        loop {
            let page = self.store.sessions(&query).await?;
            newest = newest.max(page.first().map(|session| session.id));
            let is_new = |id: SessionId| blind.seen.is_none_or(|seen| id > seen);
            let new = page.iter().filter(|session| is_new(session.id));
            let found = new.filter(|session| session.blind).map(|session| session.id);
            let found: Vec<_> = found.collect();
            let is_last = page.len() < query.limit;
            query.before = page.last().map(|session| session.id).filter(|id| is_new(*id));
            blind.unsettled.extend(found);
            if is_last || query.before.is_none() {
                break;
            }
            query.limit = PAGE;
        }
        blind.seen = blind.seen.max(newest);
        Ok(())
    }
}
