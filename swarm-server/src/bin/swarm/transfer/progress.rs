//! The progress bar, on standard error where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use swarm_core::store::Stored;

/// A bar over the rows of the logs, which are most of a tenant's records.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar for rows of logs; their number grows with each tenant.
    pub(super) fn of_entries() -> Self {
        Self::styled(ProgressBar::new(0), "{bar:30} {pos}/{len} entries {elapsed} (eta {eta})")
    }

    /// A bar for a file of so many bytes; without a number, a count of the bytes.
    pub(super) fn of_bytes(length: Option<u64>) -> Self {
        match length {
            Some(length) => {
                let style = "{bar:30} {bytes}/{total_bytes} {elapsed} (eta {eta})";
                Self::styled(ProgressBar::new(length), style)
            }
            None => Self::styled(ProgressBar::no_length(), "{spinner} {bytes} {elapsed}"),
        }
    }

    fn styled(bar: ProgressBar, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Counts a record of a dump.
    pub(super) fn record(&self, record: &Stored) {
        match record {
            Stored::Head(head) => self.0.inc_length(head.log.0),
            Stored::Log(_) => self.0.inc(1),
            _ => {}
        }
    }

    /// Counts bytes that were read.
    pub(super) fn bytes(&self, count: usize) {
        self.0.inc(u64::try_from(count).unwrap_or(u64::MAX));
    }
}

impl Drop for Progress {
    /// Removes the bar, so that it stays in front of no message.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
