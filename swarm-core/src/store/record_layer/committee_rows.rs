//! The rows of the committee: they are in every log and dump, with or without the service of the committee.

use std::borrow::Cow;
use std::sync::Arc;

use super::rows::{Outcome, part, text, time};
use super::tables::{committee_briefs, committee_takes};
use crate::domain::Day;
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeTake, UncommittedTake,
};
use crate::domain::json::Json;
use crate::records;
use crate::store::backend::{Parts, Row, Term, Value};

pub(super) fn member_columns(member: &CommitteeMember) -> Vec<Value> {
    vec![member.id.as_str().into(), member.key.as_bytes().as_slice().into()]
}

pub(super) fn day_columns(day: &CommitteeDay) -> Vec<Value> {
    let made = day.generation.as_ref();
    vec![
        day.date.to_string().into(),
        made.map(|_| 1_u64).into(),
        made.map(|made| made.subject_id.as_str()).into(),
    ]
}

pub(super) fn brief_columns(date: Day, brief: &CommitteeBrief) -> Vec<Value> {
    vec![date.to_string().into(), brief.member_id.as_str().into()]
}

pub(super) fn take_columns(
    take: &CommitteeTake,
    attempt: [u8; 16],
    id: Term,
    received_at: Term,
    is_current: bool,
) -> Vec<Term> {
    vec![
        id,
        take.date.to_string().into(),
        take.member_id.as_str().into(),
        take.subject_id.as_str().into(),
        attempt.as_slice().into(),
        received_at,
        is_current.then_some(1_u64).into(),
    ]
}

impl Parts for UncommittedTake {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        (position == committee_takes::RECORD).then(|| self.text().into())
    }
}

/// Reads a submission.
pub(super) fn read_take(row: &Row) -> Outcome<Arc<CommitteeTake>> {
    row.body.value(|| {
        let received_at = time(row, committee_takes::RECEIVED_AT)?;
        if let Some(take) = row.body.source::<UncommittedTake>() {
            return Ok(Arc::new(take.committed(received_at)));
        }
        let mut fields = Json::read(part(row, committee_takes::RECORD)?.as_bytes())?.into_object();
        fields.set("received_at", Json::Text(received_at.to_string()));
        Ok(Arc::new(records::read::<CommitteeTake>(fields)?))
    })
}

/// The day of a brief.
pub(super) fn day_of_brief(row: &Row) -> Outcome<Day> {
    Ok(Day::parse(text(row, committee_briefs::DATE)?)?)
}
