//! The key that may sign a log, as its entries say.

use crate::domain::{LogEntry, LogRow, Logged, Operation, Seq};

/// Whether this server's key may sign. The last acceptance after the last checkpoint decides.
pub(super) struct KeyInForce {
    /// The keys of this server.
    pub(super) own: Vec<String>,
    /// The size of the last checkpoint.
    pub(super) after: Seq,
    /// Whether none of them may sign.
    pub(super) is_foreign: bool,
}

impl KeyInForce {
    /// Reads a row of the log, which may be the acceptance of a key.
    pub(super) fn pass(&mut self, row: &LogRow) {
        if row.seq > self.after
            && let Logged::Entry(entry) = &row.logged
            && let LogEntry::Operation(Operation::KeyAccepted { log_key, .. }) = &**entry
        {
            self.is_foreign = !self.own.contains(log_key);
        }
    }
}
