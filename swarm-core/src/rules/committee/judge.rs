//! The checks of a submission to the committee (API.md, 8.4 and 8.5).

use std::time::Duration;

use super::CommitteeRefusal;
use crate::domain::committee::{
    CommitteeBody, CommitteeDay, CommitteeDraft, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeStatus, CommitteeTake, Generation, KeyPrefix, Model, UncommittedTake,
};
use crate::domain::json::{Json, Object};
use crate::domain::{AttemptId, Confidence, Day, Invalid, SubjectId, Timestamp, Version};
use crate::proof::ApiKey;
use crate::rules::Versioned;

/// The facts that a submission to the committee is judged on.
#[derive(Clone, Debug)]
pub struct CommitteeBasis {
    /// The time by the store's clock.
    pub now: Timestamp,
    /// The member whose record carries the hash of the key, whatever its status.
    pub member: Option<Versioned<CommitteeMember>>,
    /// The latest day whose briefs were generated.
    pub session: Option<Versioned<CommitteeDay>>,
}

/// A checked submission, and the guards under which it may be committed. Only [`judge`] constructs
/// it, so a store cannot receive a take that was not checked.
#[derive(Clone, Debug)]
pub struct CommitteeFiling {
    take: UncommittedTake,
    attempt: AttemptId,
    member_version: Version,
    session_version: Version,
    commit_deadline: Timestamp,
    quota: Option<u32>,
}

impl CommitteeFiling {
    /// Adds a guard: the maximum number of submissions of the member on that day.
    #[must_use]
    pub fn with_quota(self, quota: u32) -> Self {
        Self { quota: Some(quota), ..self }
    }

    /// Guard: the maximum number of submissions of the member on that day, including this one.
    pub fn quota(&self) -> Option<u32> {
        self.quota
    }

    /// Returns the id of this attempt to commit; it stays the same when the command is sent again.
    pub fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Guard: the member, at this version.
    pub fn member(&self) -> (&CommitteeMemberId, Version) {
        (&self.take.member_id, self.member_version)
    }

    /// Guard: the day, at this version.
    pub fn session(&self) -> (Day, Version) {
        (self.take.date, self.session_version)
    }

    /// Guard: the last time at which it may be committed, by the store's clock.
    pub fn commit_deadline(&self) -> Timestamp {
        self.commit_deadline
    }

    /// Returns the subject of the session.
    pub fn subject_id(&self) -> &SubjectId {
        &self.take.subject_id
    }

    /// When the take was written; `None` if not given. Then the time of the commit is stored.
    pub fn generated_at(&self) -> Option<Timestamp> {
        self.take.draft.generated_at
    }

    /// Returns the submission, with its author and its session.
    pub fn uncommitted(&self) -> &UncommittedTake {
        &self.take
    }

    /// Returns the record to store, with the time that the commit assigned.
    pub fn take(&self, received_at: Timestamp) -> CommitteeTake {
        self.take.committed(received_at)
    }
}

/// Checks a submission in the order of API.md, 8.5. The form of the key was checked when it was
/// parsed.
///
/// # Errors
/// The [`CommitteeRefusal`] of the first check that fails.
pub fn judge(
    basis: &CommitteeBasis,
    prefix: &KeyPrefix,
    key: &ApiKey,
    body: &[u8],
    attempt: AttemptId,
) -> Result<CommitteeFiling, CommitteeRefusal> {
    let member = holder(basis, prefix, key)?;
    let json = Json::read(body).map_err(|_| CommitteeRefusal::InvalidJson)?;
    let draft = read(&mut json.into_object())?;
    let (day, generation) = session(basis)?;
    if basis.now > generation.deadline {
        return Err(CommitteeRefusal::WindowClosed);
    }
    Ok(CommitteeFiling {
        take: UncommittedTake {
            member_id: member.record.id.clone(),
            date: day.record.date,
            subject_id: generation.subject_id.clone(),
            draft,
        },
        attempt,
        member_version: member.version,
        session_version: day.version,
        commit_deadline: generation.deadline,
        quota: None,
    })
}

/// Reads the fields of a submission in the order of API.md, 8.5. The optional fields `model` and
/// `generated_at` come last.
///
/// # Errors
/// The [`CommitteeRefusal`] of the first field that breaks its rule.
pub fn read(fields: &mut Object) -> Result<CommitteeDraft, CommitteeRefusal> {
    let stance = fields.text("stance").ok().and_then(|text| CommitteeStance::parse(&text));
    let stance = stance.ok_or(CommitteeRefusal::BadStance)?;
    let confidence = fields.number("confidence").and_then(Confidence::parse);
    let confidence = confidence.map_err(|_| CommitteeRefusal::BadConfidence)?;
    let body = fields.text("body").map_err(|_| CommitteeRefusal::BodyTooShort)?;
    let body = CommitteeBody::parse(body)?;
    let optional = |invalid: Invalid| CommitteeRefusal::InvalidSubmission(invalid);
    let model = fields.text_if_any("model").map_err(optional)?;
    let generated_at = fields.text_if_any("generated_at").map_err(optional)?;
    Ok(CommitteeDraft {
        stance,
        confidence,
        body,
        model: model.map(Model::parse).transpose().map_err(optional)?,
        generated_at: generated_at
            .map(|text| Timestamp::parse("generated_at", &text))
            .transpose()
            .map_err(optional)?,
    })
}

/// Returns whether the briefs of a day are current: the day is today, or its deadline has not
/// passed. (An operator may set a deadline on a later day.)
pub fn is_current(day: &CommitteeDay, now: Timestamp) -> bool {
    day.generation.as_ref().is_some_and(|made| day.date == now.day() || now <= made.deadline)
}

/// How long the [current](is_current) briefs of this day stay current if no record changes: until
/// the end of the day or until its deadline, whichever is later.
pub fn stays_current(day: &CommitteeDay, now: Timestamp) -> Duration {
    let over = if day.date == now.day() { now.day_end() } else { now };
    let passed = day.generation.as_ref().map_or(now, |made| made.deadline.plus_millis(1));
    now.until(over.max(passed))
}

fn holder<'a>(
    basis: &'a CommitteeBasis,
    prefix: &KeyPrefix,
    key: &ApiKey,
) -> Result<&'a Versioned<CommitteeMember>, CommitteeRefusal> {
    let member = basis.member.as_ref().filter(|_| key.has_prefix(prefix));
    let member = member.ok_or(CommitteeRefusal::InvalidKey)?;
    if member.record.status != CommitteeStatus::Active {
        return Err(CommitteeRefusal::NotActive);
    }
    Ok(member)
}

fn session(
    basis: &CommitteeBasis,
) -> Result<(&Versioned<CommitteeDay>, &Generation), CommitteeRefusal> {
    let day = basis.session.as_ref().filter(|day| is_current(&day.record, basis.now));
    let generation = day.and_then(|day| Some((day, day.record.generation.as_ref()?)));
    generation.ok_or(CommitteeRefusal::NoBrief)
}
