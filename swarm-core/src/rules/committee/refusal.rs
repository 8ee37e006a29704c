//! The refusals of the committee.

use crate::domain::Invalid;
use crate::domain::committee::{BodyFault, CommitteeBody, CommitteeMemberId, CommitteeStance};
use crate::rules::{QuotaReached, Resource};

/// Why a request was refused. `Display` writes the exact error text of the response, and
/// [`detail`](Self::detail) its further field. The variants are in the order of API.md, 8.5, then
/// 8.8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitteeRefusal {
    /// The body of the request is not JSON.
    #[error("invalid json body")]
    InvalidJson,
    /// The stance is absent, or not one of the five.
    #[error("bad stance")]
    BadStance,
    /// The confidence is absent, or not a number from 0 to 1.
    #[error("bad confidence")]
    BadConfidence,
    /// The body is absent, not a string, or has fewer than 80 characters.
    #[error("body too short")]
    BodyTooShort,
    /// The body has more than 4,000 characters.
    #[error("body too long")]
    BodyTooLong,
    /// The body does not end with the trailer.
    #[error("missing stance line")]
    MissingStanceLine,
    /// The request has no key, or not one of the required form.
    #[error("missing or malformed x-ic-key")]
    MissingKey,
    /// The key belongs to no member.
    #[error("invalid key")]
    InvalidKey,
    /// The key belongs to an inactive member.
    #[error("member is not active")]
    NotActive,
    /// No briefs were generated today.
    #[error("no brief published yet for today")]
    NoBrief,
    /// The deadline has passed.
    #[error("submission window closed")]
    WindowClosed,

    /// The member has reached its daily quota of submissions.
    #[error("quota reached")]
    QuotaReached(QuotaReached),

    /// `model` or `generated_at` of a submission breaks its rule.
    #[error("invalid submission")]
    InvalidSubmission(Invalid),
    /// No operator's token came with the request, or a wrong one.
    #[error("admin token required")]
    MissingAdminToken,
    /// The role of the operator's token does not allow this.
    #[error("not allowed for this role")]
    NotForRole,
    /// A field of an operator's request breaks its rule.
    #[error("invalid request")]
    InvalidRequest(Invalid),
    /// The resource does not exist.
    #[error("no such {0}")]
    NotFound(Resource),
    /// The id is taken.
    #[error("member id already taken")]
    MemberExists(CommitteeMemberId),
    /// No subject is set for the day, and no subject is active.
    #[error("no active subject")]
    NoSubject,
}

impl CommitteeRefusal {
    /// Returns the seconds after which a retry may succeed, if known.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::QuotaReached(reached) => Some(reached.retry_after),
            _ => None,
        }
    }

    /// Details for the client, if any.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::BadStance => {
                let allowed = CommitteeStance::ALL.map(CommitteeStance::as_str).join(", ");
                Some(format!("stance must be one of {allowed}"))
            }
            Self::BadConfidence => Some("confidence must be a number from 0 to 1".to_owned()),
            Self::BodyTooShort => {
                Some(format!("body must have at least {} characters", CommitteeBody::MIN))
            }
            Self::BodyTooLong => {
                Some(format!("body must have at most {} characters", CommitteeBody::MAX))
            }
            Self::MissingStanceLine => Some(
                "the last line must be STANCE: <stance> | CONFIDENCE: <decimal from 0 to 1>"
                    .to_owned(),
            ),
            Self::InvalidSubmission(invalid) | Self::InvalidRequest(invalid) => {
                Some(invalid.to_string())
            }
            Self::MemberExists(id) => Some(id.to_string()),
            _ => None,
        }
    }
}

impl From<BodyFault> for CommitteeRefusal {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::TooShort => Self::BodyTooShort,
            BodyFault::TooLong => Self::BodyTooLong,
            BodyFault::NoTrailer => Self::MissingStanceLine,
        }
    }
}
