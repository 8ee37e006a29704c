//! Responses, codes and hints for the errors of the committee (API.md, 1.2).

use serde::Serialize;

use crate::domain::Invalid;
use crate::domain::json::Json;
use crate::rules::committee::CommitteeRefusal;
use crate::service::CommitteeError;
use crate::wire::answer::plain_error;
use crate::wire::error::UNAVAILABLE;
use crate::wire::hint::{NOT_JSON, field_hint, json_hint, printable, quota_hint};
use crate::wire::{Answer, Problem};

/// The error text when a submission to the committee could not be stored; status 500.
const NOT_PERSISTED: &str = "failed to persist submission";

// The body of an error.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CommitteeError"))]
pub(in crate::wire) struct Detailed {
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Answer {
    /// The response to a failed submission to the committee: the refusal, or 500 when the outcome
    /// is unknown.
    pub fn of_submission(error: &CommitteeError) -> Self {
        match error {
            CommitteeError::Refused(refusal) => refusal.into(),
            _ => plain_error(NOT_PERSISTED, Problem::NotPersisted),
        }
    }
}

impl From<&CommitteeRefusal> for Answer {
    fn from(refusal: &CommitteeRefusal) -> Self {
        let body = Detailed { error: refusal.to_string(), detail: refusal.detail() };
        let retry_after = refusal.retry_after();
        Self { retry_after, ..Self::error(refusal.into(), &body) }
    }
}

/// For all calls except submissions: see [`Answer::of_submission`].
impl From<&CommitteeError> for Answer {
    fn from(error: &CommitteeError) -> Self {
        match error {
            CommitteeError::Refused(refusal) => refusal.into(),
            _ => plain_error(UNAVAILABLE, Problem::Unavailable),
        }
    }
}

impl From<&CommitteeRefusal> for Problem {
    fn from(refusal: &CommitteeRefusal) -> Self {
        match refusal {
            CommitteeRefusal::InvalidJson => Self::InvalidJson,
            CommitteeRefusal::BadStance => Self::BadStance,
            CommitteeRefusal::BadConfidence => Self::BadConfidence,
            CommitteeRefusal::BodyTooShort => Self::BodyTooShort,
            CommitteeRefusal::BodyTooLong => Self::BodyTooLong,
            CommitteeRefusal::MissingStanceLine => Self::MissingStanceLine,
            CommitteeRefusal::MissingKey => Self::MissingKey,
            CommitteeRefusal::InvalidKey => Self::InvalidKey,
            CommitteeRefusal::NotActive => Self::NotActive,
            CommitteeRefusal::NoBrief => Self::NoBrief,
            CommitteeRefusal::WindowClosed => Self::WindowClosed,
            CommitteeRefusal::InvalidSubmission(_) => Self::InvalidSubmission,
            CommitteeRefusal::InvalidRequest(_) => Self::InvalidRequest,
            CommitteeRefusal::MissingAdminToken => Self::AdminToken,
            CommitteeRefusal::NotForRole => Self::NotForRole,
            CommitteeRefusal::QuotaReached(_) => Self::QuotaReached,
            CommitteeRefusal::NotFound(_) => Self::NotFound,
            CommitteeRefusal::MemberExists(_) => Self::MemberExists,
            CommitteeRefusal::NoSubject => Self::NoSubject,
        }
    }
}

/// Returns the hint for a refusal of the committee, if it has one: a line of printable ASCII.
pub fn committee_hint(refusal: &CommitteeRefusal) -> Option<String> {
    match refusal {
        // Where the fault is can only be said of the body.
        CommitteeRefusal::InvalidJson => Some(NOT_JSON.to_owned()),
        _ => committee_hint_quoting(refusal, b""),
    }
}

/// Like [`committee_hint`], with what the refused field was in this body.
pub fn committee_hint_quoting(refusal: &CommitteeRefusal, body: &[u8]) -> Option<String> {
    let (field, rule) = match refusal {
        CommitteeRefusal::InvalidJson => {
            return Json::read(body).err().map(|fault| json_hint(&fault));
        }
        CommitteeRefusal::InvalidSubmission(invalid) => return Some(field_hint(invalid, body)),
        CommitteeRefusal::QuotaReached(reached) => return Some(quota_hint(reached)),
        CommitteeRefusal::BadStance => ("stance", refusal.detail()?),
        CommitteeRefusal::BadConfidence => ("confidence", refusal.detail()?),
        CommitteeRefusal::BodyTooShort | CommitteeRefusal::BodyTooLong => {
            ("body", refusal.detail()?)
        }
        CommitteeRefusal::MissingStanceLine => {
            return refusal.detail().map(|rule| format!("body: {}", printable(&rule)));
        }
        _ => return None,
    };
    let rule = rule.strip_prefix(field).map(|rule| rule.trim_start().to_owned()).unwrap_or(rule);
    Some(field_hint(&Invalid { field, rule }, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_errors() {
        use CommitteeRefusal as C;
        let invalid = || Invalid::missing("memberId");
        for refusal in [
            C::InvalidJson,
            C::BadStance,
            C::BadConfidence,
            C::BodyTooShort,
            C::BodyTooLong,
            C::MissingStanceLine,
            C::MissingKey,
            C::InvalidKey,
            C::NotActive,
            C::NoBrief,
            C::WindowClosed,
            C::InvalidSubmission(invalid()),
            C::InvalidRequest(invalid()),
            C::MissingAdminToken,
            C::NotForRole,
            C::NoSubject,
        ] {
            assert_eq!(Problem::from(&refusal).text(), Some(&*refusal.to_string()));
        }
    }

    #[test]
    fn hint_names_what_to_correct() {
        let trailer = committee_hint(&CommitteeRefusal::MissingStanceLine).unwrap();
        assert!(trailer.starts_with("body: the last line must be STANCE: "), "{trailer}");
        assert_eq!(committee_hint(&CommitteeRefusal::InvalidJson).as_deref(), Some(NOT_JSON));
        let fault = committee_hint_quoting(&CommitteeRefusal::InvalidJson, b"{,").unwrap();
        assert!(fault.starts_with(&format!("{NOT_JSON}, see ")), "{fault}");
    }
}
