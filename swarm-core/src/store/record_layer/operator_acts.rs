//! The acts of operators. Those that the log has are recorded by the same commit.

use std::sync::atomic::{AtomicU64, Ordering};

use super::acts;
use super::commit_id::new_id;
use super::rows::{Outcome, text, time};
use super::tables::operator_acts;
use super::{Change, Records};
use crate::domain::{Day, Note, OperatorAct, RecordedAct, Timestamp};
use crate::store::backend::{Append, Body, Check, Kind, Query, Range, Row, Term, Value, Write};
use crate::store::{ActQuery, Result, Saved};

/// The writes that record the acts of these entries, which a commit appends.
pub(super) fn of_entries(entries: &[Append]) -> impl Iterator<Item = Write> {
    entries.iter().filter_map(|entry| {
        let (act, assigned) = acts::operator_act(entry)?;
        let target = match assigned {
            Some(sequence) => Term::AssignedText(sequence),
            None => act.target.as_deref().into(),
        };
        Some(write(&act, target, None))
    })
}

/// The write that records an act that the log does not have. One without a target is on the first thing that its commit makes, if it
/// makes something.
pub(super) fn unlogged(act: &OperatorAct, makes_something: bool) -> Write {
    let target = match act.target.as_deref() {
        None if makes_something => Term::AssignedText(0),
        target => target.into(),
    };
    write(act, target, None)
}

fn write(act: &OperatorAct, target: Term, stranger_day: Option<Day>) -> Write {
    let columns = vec![
        next_id().as_slice().into(),
        Term::Now,
        act.by.as_ref().map(|by| by.as_str()).into(),
        (&*act.act).into(),
        target,
        act.note.as_ref().map(|note| note.as_str()).into(),
        stranger_day.map(|day| day.to_string()).into(),
    ];
    Write::Insert { table: &operator_acts::TABLE, columns, body: Body::empty() }
}

/// An id that no other process makes, and that is higher than those that this process has made.
fn next_id() -> [u8; 16] {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let mut id = new_id().0;
    let number = MADE.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    for (byte, ordered) in id.iter_mut().zip(number) {
        *byte = ordered;
    }
    id
}

impl Records {
    /// The acts of operators that match, the latest first: those of commits whose entries [an operator made](OperatorAct::of_entry), those that came with changes, and those that were [recorded](Self::record_act).
    pub async fn operator_acts(&self, query: &ActQuery) -> Result<Vec<RecordedAct>> {
        let ActQuery { by, since, before, limit } = query;
        let range = match by {
            Some(by) => {
                let prefix = vec![by.as_str().into()];
                Range::index(&operator_acts::TABLE, operator_acts::BY_ACTOR, prefix)
            }
            None => Range::index(&operator_acts::TABLE, operator_acts::BY_TIME, Vec::new()),
        };
        let range = Range {
            after: since.map(|since| since.plus_millis(-1).into()),
            before: before.map(Term::from),
            is_descending: true,
            limit: *limit,
            ..range
        };
        let mut found = self.read("operator acts", vec![Query::Rows(range)]).await?;
        found.rows().iter().map(read).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Records an act that no change comes with, whatever log and clock are. Of acts with `of_strangers`, returns
    /// [`Saved::Stale`] when so many of that day are recorded.
    pub async fn record_act(
        &self,
        act: &OperatorAct,
        of_strangers: Option<(Day, u32)>,
    ) -> Result<Saved> {
        let mut change = Change::new(Kind::Aside);
        if let Some((day, most)) = of_strangers {
            let (table, prefix) = (&operator_acts::TABLE, vec![day.to_string().into()]);
            let range = Range::index(table, operator_acts::BY_STRANGER_DAY, prefix);
            let most = u64::from(most).saturating_sub(1);
            change.checks.push(Check::Count { range, except: Vec::new(), least: 0, most });
        }
        let day = of_strangers.map(|(day, _)| day);
        change.writes.push(write(act, act.target.as_deref().into(), day));
        self.save("record act", change).await
    }

    /// Removes the acts from before this time.
    pub async fn forget_acts(&self, before: Timestamp) -> Result<()> {
        let all = Range::index(&operator_acts::TABLE, operator_acts::BY_TIME, Vec::new());
        let old = Range { before: Some(before.into()), ..all };
        let writes = vec![Write::Remove(old)];
        self.save("forget acts", Change { writes, ..Change::new(Kind::Aside) }).await.map(drop)
    }
}

fn read(row: &Row) -> Outcome<RecordedAct> {
    let optional = |column: usize| row.columns.get(column).and_then(Value::text);
    let by = optional(operator_acts::BY).map(str::parse).transpose()?;
    let note = optional(operator_acts::NOTE).map(Note::parse).transpose()?;
    Ok(RecordedAct {
        at: time(row, operator_acts::AT)?,
        act: OperatorAct {
            by,
            act: text(row, operator_acts::ACT)?.to_owned().into(),
            target: optional(operator_acts::TARGET).map(str::to_owned),
            note,
        },
    })
}
