//! The rows of the log.

use std::collections::HashMap;
use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{Act, LogRow, Logged, Seq, SessionId, Take};

/// The rows of a tenant's log.
#[derive(Default)]
pub(crate) struct Rows {
    /// Row `n` stands at `n - 1`.
    pub(crate) rows: Vec<LogRow>,
    /// Where the acts on a session stand.
    pub(crate) acts: HashMap<SessionId, Vec<usize>>,
}

impl Rows {
    /// The time of the last row.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        self.rows.last().map(|row| row.at)
    }

    pub(crate) fn take(&mut self, take: &Arc<Take>) {
        self.append(take.filed_at, Logged::Take(Arc::clone(take)));
    }

    pub(crate) fn committee_take(&mut self, take: &Arc<CommitteeTake>) {
        self.append(take.received_at, Logged::CommitteeTake(Arc::clone(take)));
    }

    /// An act, and the id that its commit gave out, where it gave out one.
    pub(crate) fn act(&mut self, act: &Act, at: Timestamp, minted: Option<u64>) {
        self.acted(act, at, act.session(), minted);
    }

    /// The act that convened this session.
    pub(crate) fn convened(&mut self, act: &Act, at: Timestamp, id: SessionId) {
        self.acted(act, at, Some(id), Some(id.0));
    }

    fn acted(&mut self, act: &Act, at: Timestamp, on: Option<SessionId>, minted: Option<u64>) {
        if let Some(session) = on {
            self.acts.entry(session).or_default().push(self.rows.len());
        }
        self.append(at, Logged::Act { text: act.as_str().to_owned(), minted });
    }

    fn append(&mut self, at: Timestamp, logged: Logged) {
        let last = self.rows.last().map_or(0, |row| row.seq.0);
        self.rows.push(LogRow { seq: Seq(last.saturating_add(1)), at, logged });
    }
}
