//! Answers of the service that are not records of the core.

use swarm_core::domain::{Confidence, Digest, MemberState, Revision, Stance};
use swarm_core::json::{Json, Object};
use swarm_core::records::{Record, Unreadable, time, whole};
use swarm_core::{Invalid, MemberId, Session, SessionId, Take, TakeId, Timestamp};

use crate::error::{Error, unreadable};

/// The state of an application.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApplicationProgress {
    /// The id of its member.
    pub id: MemberId,
    /// Approved: the token can be claimed. Claimed: takes can be filed.
    pub state: MemberState,
}

impl ApplicationProgress {
    pub(crate) fn read(mut fields: Object) -> Result<Self, Error> {
        let id = fields.text("id").and_then(MemberId::parse).map_err(unreadable)?;
        Ok(Self { id, state: member_state(&mut fields)? })
    }
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionsAnswer {
    /// The sessions, the highest id first.
    pub sessions: Vec<Session>,
    /// The `before` of the next page, when there is more.
    pub next_before: Option<SessionId>,
}

impl SessionsAnswer {
    pub(crate) fn read(mut fields: Object) -> Result<Self, Error> {
        let sessions = list(&mut fields, "sessions", Session::read)?;
        let next = fields.whole_if_any("nextBefore").map_err(unreadable)?;
        Ok(Self { sessions, next_before: next.map(SessionId) })
    }
}

/// What a read shows of a take.
#[derive(Clone, Debug, PartialEq)]
pub enum ServedTake {
    /// The complete take.
    Open(Box<Take>),
    /// A take whose write-up and memo address an operator withheld (API.md, 7.10).
    Withheld(Box<WithheldTake>),
    /// Only the fact that it was filed: its session is blind, and not opened yet (API.md, 5.8).
    Sealed(UnopenedTake),
}

/// The public view of a take whose texts are withheld.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WithheldTake {
    /// The id.
    pub id: TakeId,
    /// The session it was filed in.
    pub session_id: SessionId,
    /// The author.
    pub member_id: MemberId,
    /// Its number among its member's takes in that session.
    pub revision: Revision,
    /// The time of the commit, by the service's clock.
    pub filed_at: Timestamp,
    /// The position taken.
    pub stance: Stance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// When the texts were withheld.
    pub withheld_at: Timestamp,
    /// Why.
    pub note: String,
}

/// The public view of a sealed take.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnopenedTake {
    /// The id.
    pub id: TakeId,
    /// The session it was filed in.
    pub session_id: SessionId,
    /// The author.
    pub member_id: MemberId,
    /// Its number among its member's takes in that session.
    pub revision: Revision,
    /// The time of the commit, by the service's clock.
    pub filed_at: Timestamp,
    /// Its seal: compare it with [`Salt::seal`](swarm_core::domain::Salt::seal) of the take and its salt.
    pub sealed: Digest,
}

impl ServedTake {
    /// The take, unless it is sealed or withheld.
    pub fn open(&self) -> Option<&Take> {
        match self {
            Self::Open(take) => Some(take),
            Self::Withheld(_) | Self::Sealed(_) => None,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> TakeId {
        match self {
            Self::Open(take) => take.id,
            Self::Withheld(take) => take.id,
            Self::Sealed(take) => take.id,
        }
    }

    pub(crate) fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let mark = fields.take("withheld").map(Json::into_object);
        if fields.has("signature") && mark.is_none() {
            return Ok(Self::Open(Box::new(Take::read(fields)?)));
        }
        let (id, session_id) =
            (TakeId(whole(fields, "id")?), SessionId(whole(fields, "sessionId")?));
        let revision: u64 = whole(fields, "revision")?;
        let revision = u8::try_from(revision).ok().and_then(Revision::new);
        let member_id = MemberId::parse(fields.text("memberId")?)?;
        let revision = revision.ok_or_else(|| Invalid::new("revision", "must be from 1 to 5"))?;
        let filed_at = time(fields, "filedAt")?;
        if let Some(mut mark) = mark {
            return Ok(Self::Withheld(Box::new(WithheldTake {
                id,
                session_id,
                member_id,
                revision,
                filed_at,
                stance: Stance::parse(fields.text("stance")?)?,
                confidence: Confidence::parse(fields.number("confidence")?)?,
                withheld_at: time(&mut mark, "at")?,
                note: mark.text("note")?,
            })));
        }
        Ok(Self::Sealed(UnopenedTake {
            id,
            session_id,
            member_id,
            revision,
            filed_at,
            sealed: Digest::parse(fields.text("sealed")?)?,
        }))
    }
}

/// The result of a preflight.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PreflightAnswer {
    /// Whether the take would be filed.
    pub ok: bool,
    /// The session that the take would be filed in.
    pub session_id: Option<SessionId>,
    /// The number of takes that may be filed in that session after this one.
    pub takes_left: Option<u64>,
    /// Milliseconds until the deadline, if there is one.
    pub millis_left: Option<u64>,
    /// The checks that would refuse it, in their order.
    pub findings: Vec<PreflightFinding>,
    /// The warnings: why some of it would not count.
    pub warnings: Vec<CodedMessage>,
}

/// A check that would refuse a take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreflightFinding {
    /// The status of the answer to a submit.
    pub status: u16,
    /// The text of the error.
    pub error: String,
    /// Its code, as in `Swarm-Error`.
    pub code: String,
    /// The text of the header `Swarm-Hint` for it.
    pub detail: Option<String>,
}

impl PreflightAnswer {
    pub(crate) fn read(mut fields: Object) -> Result<Self, Error> {
        let findings = list(&mut fields, "findings", |fields| {
            let status = fields.whole_if_any("status")?.and_then(|status| status.try_into().ok());
            let status = status.ok_or_else(|| Invalid::missing("status"))?;
            let (error, code) = (fields.text("error")?, fields.text("code")?);
            let detail = fields.text_if_any("detail")?;
            Ok::<_, Unreadable>(PreflightFinding { status, error, code, detail })
        })?;
        Ok(Self {
            ok: fields.bool_if_any("ok").map_err(unreadable)?.unwrap_or(false),
            session_id: fields.whole_if_any("sessionId").map_err(unreadable)?.map(SessionId),
            takes_left: fields.whole_if_any("takesLeft").map_err(unreadable)?,
            millis_left: fields.whole_if_any("millisLeft").map_err(unreadable)?,
            findings,
            warnings: list(&mut fields, "warnings", CodedMessage::read)?,
        })
    }
}

/// The diagnosis of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiagnosisAnswer {
    /// `take`, `application` or `token-claim`.
    pub kind: String,
    /// Whether the signature verifies.
    pub verified: bool,
    /// The text that should have been signed; `None` if fields of it are missing or invalid.
    pub canonical: Option<String>,
    /// The mistakes that were found.
    pub findings: Vec<CodedMessage>,
}

/// A mistake that was made in signing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodedMessage {
    /// The code of the mistake, such as `trailing-newline`.
    pub code: String,
    /// The mistake and how to fix it, for people.
    pub message: String,
}

impl CodedMessage {
    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self { code: fields.text("code")?, message: fields.text("message")? })
    }
}

impl DiagnosisAnswer {
    pub(crate) fn read(mut fields: Object) -> Result<Self, Error> {
        let findings = list(&mut fields, "findings", CodedMessage::read)?;
        Ok(Self {
            kind: fields.text("kind").map_err(unreadable)?,
            verified: fields.bool_if_any("verified").map_err(unreadable)?.unwrap_or(false),
            canonical: fields.text_if_any("canonical").map_err(unreadable)?,
            findings,
        })
    }
}

/// The id in an answer.
pub(crate) fn id(mut fields: Object, field: &'static str) -> Result<u64, Error> {
    whole(&mut fields, field).map_err(unreadable)
}

/// The state of a member in an answer.
pub(crate) fn member_state(fields: &mut Object) -> Result<MemberState, Error> {
    let state = fields.text("state").map_err(unreadable)?;
    let unknown = || Error::Unreadable(format!("an unknown state: {state:?}"));
    MemberState::parse(&state).ok_or_else(unknown)
}

/// The record in a field of an answer.
pub(crate) fn part<T, E: Into<Error>>(
    answer: &mut Object,
    field: &'static str,
    read: impl FnOnce(&mut Object) -> Result<T, E>,
) -> Result<T, Error> {
    let record = answer.take(field).unwrap_or(Json::Null);
    read(&mut record.into_object()).map_err(Into::into)
}

/// A list of records.
pub(crate) fn list<T>(
    fields: &mut Object,
    field: &'static str,
    read: impl Fn(&mut Object) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Error> {
    let Some(Json::List(items)) = fields.take(field) else {
        return Err(unreadable(Invalid::new(field, "must be an array")));
    };
    let items = items.into_iter().map(|item| read(&mut item.into_object()));
    Ok(items.collect::<Result<_, _>>()?)
}
