//! The refusals of the committee: what it answers when a rule is broken.

use crate::domain::Invalid;
use crate::domain::committee::{BodyFault, CommitteeBody, CommitteeMemberId, CommitteeStance};
use crate::rules::{QuotaReached, Resource};

/// A refusal. `Display` is the text on the wire, byte for byte, [`detail`](Self::detail) what
/// stands beside it (API.md, 8.5, in the order of its table; then 8.8).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitteeRefusal {
    /// The body is no JSON text.
    #[error("invalid json body")]
    InvalidJson,
    /// The stance is absent, or none of the five.
    #[error("bad stance")]
    BadStance,
    /// The confidence is absent, no number, or not from 0 to 1.
    #[error("bad confidence")]
    BadConfidence,
    /// The body is absent, no text, or has fewer than 80 characters.
    #[error("body too short")]
    BodyTooShort,
    /// The body has more than 4,000 characters.
    #[error("body too long")]
    BodyTooLong,
    /// The body does not end with the trailer.
    #[error("missing stance line")]
    MissingStanceLine,
    /// No key came with the request, or nothing that has the shape of one.
    #[error("missing or malformed x-ic-key")]
    MissingKey,
    /// The key is no member's.
    #[error("invalid key")]
    InvalidKey,
    /// The key is an inactive member's.
    #[error("member is not active")]
    NotActive,
    /// No briefs were generated today.
    #[error("no brief published yet for today")]
    NoBrief,
    /// The deadline has passed.
    #[error("submission window closed")]
    WindowClosed,

    /// The member has submitted as often as it may that day.
    #[error("quota reached")]
    QuotaReached(QuotaReached),

    /// `model` or `generated_at` of a submission breaks its rule.
    #[error("invalid submission")]
    InvalidSubmission(Invalid),
    /// No operator's token came with the request, or a wrong one.
    #[error("admin token required")]
    MissingAdminToken,
    /// A field of an operator's request breaks its rule.
    #[error("invalid request")]
    InvalidRequest(Invalid),
    /// There is no such thing.
    #[error("no such {0}")]
    NotFound(Resource),
    /// A member has this id.
    #[error("member id already taken")]
    MemberExists(CommitteeMemberId),
    /// No subject is set, and none is active.
    #[error("no active subject")]
    NoSubject,
}

impl CommitteeRefusal {
    /// In how many seconds to ask again, where that is known.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::QuotaReached(reached) => Some(reached.retry_after),
            _ => None,
        }
    }

    /// Details that help the client, where there are any.
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
