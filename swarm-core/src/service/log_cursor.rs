//! A position of the log up to which a view of the records was brought, and what was appended since.
//!
//! A view that is kept in memory follows the log: it reads the entries that were appended, and again the records that they
//! change. Another log, or one that does not continue, says nothing about what changed; then the view is made again.

use super::{Error, Tenant, log_rows};
use crate::domain::{LogRow, Seq};
use crate::store::LogPosition;

/// Number of entries of the log read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// A position of the log, with its last row.
#[derive(Clone, Debug)]
pub(super) struct LogCursor {
    position: LogPosition,
    last: LogRow,
}

impl LogCursor {
    /// The cursor at this position, which is the end of the log; `None` where the log is empty, or its last row cannot be
    /// read.
    pub(super) async fn at(tenant: &Tenant, position: LogPosition) -> Result<Option<Self>, Error> {
        let end = tenant.log_end(position.clone()).await?;
        Ok(end.map(|end| Self { position, last: end.into_row() }))
    }

    /// Returns whether the log has not changed since.
    pub(super) fn is_at(&self, now: &LogPosition) -> bool {
        self.position == *now
    }

    /// Calls `visit` with each row that was appended up to `now`, if these are at most `most` rows. Rows that cannot be read
    /// are left out. Returns whether the log continues from this position with so many rows.
    pub(super) async fn appended(
        &self,
        tenant: &Tenant,
        now: &LogPosition,
        most: u64,
        mut visit: impl FnMut(&LogRow) + Send,
    ) -> Result<bool, Error> {
        let Self { position: then, last } = self;
        let more = now.size.0.saturating_sub(then.size.0);
        if then.log != now.log || more == 0 || more > most {
            return Ok(false);
        }
        let mut next = Seq(last.seq.0.saturating_sub(1));
        let mut is_first = true;
        while next < now.size {
            let left = usize::try_from(now.size.0.saturating_sub(next.0)).unwrap_or(usize::MAX);
            let rows = log_rows::rows(&tenant.store, next, left.min(ROWS_AT_ONCE)).await?;
            let Some(end) = rows.last() else { return Ok(false) };
            next = log_rows::seq(end);
            let mut rows = rows.iter();
            if std::mem::take(&mut is_first)
                && rows.next().and_then(|row| row.as_ref().ok()) != Some(last)
            {
                return Ok(false);
            }
            rows.flatten().for_each(&mut visit);
        }
        Ok(true)
    }
}
