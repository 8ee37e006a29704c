//! The log of one tenant, in memory.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{
    Digest, LogEntry, LogRow, Logged, Operation, Seq, SessionId, Take, TakeId,
};
use swarm_core::proof::opening_entry;
use swarm_core::store::{Act, LogPosition, Result, StoreError};

/// The rows of a tenant's log.
#[derive(Clone, Default)]
pub(crate) struct Rows {
    /// How many times the store was accepted; each begins another log.
    pub(crate) accepted: u64,
    /// The fingerprint of the last row.
    last: Arc<str>,
    /// Row number `n` is at index `n - 1`.
    pub(crate) rows: Vec<Row>,
    /// The indexes of the acts on each session.
    pub(crate) acts: BTreeMap<SessionId, Vec<usize>>,
}

/// A row as it is kept.
#[derive(Clone)]
pub(crate) enum Row {
    Logged(LogRow),
    /// It opens this take. Its entry has a digest, which is computed when the row is read, not while the commit holds
    /// the lock.
    Opening(Seq, Timestamp, Arc<Take>),
}

impl Row {
    pub(crate) fn read(self) -> Result<LogRow> {
        let (seq, at, take) = match self {
            Self::Logged(row) => return Ok(row),
            Self::Opening(seq, at, take) => (seq, at, take),
        };
        let opening = opening_entry(&take);
        let opening = opening.ok_or_else(|| StoreError::corrupt("log", "a take without a seal"))?;
        Ok(LogRow { seq, at, logged: Logged::Entry(Arc::new(LogEntry::Opening(opening))) })
    }

    fn seq(&self) -> Seq {
        match self {
            Self::Logged(LogRow { seq, .. }) | Self::Opening(seq, ..) => *seq,
        }
    }

    fn at(&self) -> Timestamp {
        match self {
            Self::Logged(LogRow { at, .. }) | Self::Opening(_, at, _) => *at,
        }
    }
}

impl Rows {
    /// The number of the log.
    pub(crate) fn number(&self) -> u64 {
        self.accepted.saturating_add(1)
    }

    pub(crate) fn position(&self) -> LogPosition {
        LogPosition { log: self.number(), size: self.size(), last: Arc::clone(&self.last) }
    }

    /// The number of the last row.
    fn size(&self) -> Seq {
        self.rows.last().map(Row::seq).unwrap_or_default()
    }

    /// The fingerprint of the row with this number, which distinguishes it from another row of the same number. Usually
    /// that of the last row is read, so it is kept.
    pub(crate) fn fingerprint(&self, seq: Seq) -> Option<Arc<str>> {
        let row = self.rows.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)?;
        Some(if seq == self.size() { Arc::clone(&self.last) } else { fingerprint(row) })
    }

    /// The time of the last row.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        self.rows.last().map(Row::at)
    }

    pub(crate) fn take(&mut self, take: &Arc<Take>) {
        self.append(take.filed_at, Logged::Take(Arc::clone(take)));
    }

    pub(crate) fn committee_take(&mut self, take: &Arc<CommitteeTake>) {
        self.append(take.received_at, Logged::CommitteeTake(Arc::clone(take)));
    }

    /// Appends the entry of an act whose commit mints no id.
    pub(crate) fn act(&mut self, act: &Act, at: Timestamp) {
        self.minted(act, at, 0);
    }

    /// Appends the entry of an act whose commit mints this id.
    pub(crate) fn minted(&mut self, act: &Act, at: Timestamp, id: u64) {
        let entry = act.entry(id, at);
        if let Some(session) = entry.session() {
            self.acts.entry(session).or_default().push(self.rows.len());
        }
        self.append(at, Logged::Entry(entry));
    }

    /// Appends rows that open these takes.
    pub(crate) fn openings(&mut self, takes: Vec<Arc<Take>>, at: Timestamp) {
        let numbers = self.size().0.saturating_add(1)..;
        self.rows.extend(numbers.zip(takes).map(|(seq, take)| Row::Opening(Seq(seq), at, take)));
        self.last = self.rows.last().map(fingerprint).unwrap_or_default();
    }

    /// Appends a row that is restored.
    pub(crate) fn restore(&mut self, row: LogRow) {
        if let Logged::Entry(entry) = &row.logged {
            if let Some(session) = entry.session() {
                self.acts.entry(session).or_default().push(self.rows.len());
            }
            if let LogEntry::Operation(Operation::StoreAccepted { log, .. }) = **entry {
                self.accepted = log.saturating_sub(1);
            }
        }
        self.append(row.at, row.logged);
    }

    fn append(&mut self, at: Timestamp, logged: Logged) {
        let seq = Seq(self.size().0.saturating_add(1));
        let row = Row::Logged(LogRow { seq, at, logged });
        self.last = fingerprint(&row);
        self.rows.push(row);
    }
}

fn fingerprint(row: &Row) -> Arc<str> {
    let at = row.at().millis();
    let logged = match row {
        Row::Logged(row) => &row.logged,
        Row::Opening(_, _, take) => return fingerprint_of_take(at, 'o', take.id),
    };
    let text = match logged {
        Logged::Take(take) => return fingerprint_of_take(at, 't', take.id),
        Logged::CommitteeTake(take) => format!("{at} c {}", take.member_id),
        Logged::Entry(entry) => format!("{at} a {}", Digest::of_json(&**entry)),
    };
    text.into()
}

/// The fingerprint of a take, formatted on the stack with one allocation, since nearly all rows are takes.
fn fingerprint_of_take(at: i64, kind: char, id: TakeId) -> Arc<str> {
    let mut text = [0; 48];
    let mut rest = text.as_mut_slice();
    // Two numbers of at most 20 digits fit.
    let _ = write!(rest, "{at} {kind} {id}");
    let unused = rest.len();
    let written = text.get(..text.len() - unused).unwrap_or_default();
    str::from_utf8(written).unwrap_or_default().into()
}
