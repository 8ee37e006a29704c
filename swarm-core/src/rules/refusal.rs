//! Refusals: what the service answers when a rule is broken.

use super::{ClaimFault, QuotaReached};
use crate::domain::{Invalid, MemberId, MemberState, SessionState, TakeId};

/// A refusal. `Display` is the text on the wire, byte for byte (API.md, 5.2, in the order of its table;
/// then 4 and 7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A field of a take breaks its rule.
    #[error("invalid submission")]
    InvalidSubmission(Invalid),
    /// No bearer token came with the request.
    #[error("missing bearer token")]
    MissingBearer,
    /// The token is no active member's.
    #[error("unknown member token")]
    UnknownToken,
    /// The token is another member's.
    #[error("token/member mismatch")]
    TokenMismatch,
    /// No session has this date and subject.
    #[error("no session for date/subject")]
    NoSession,
    /// The deadline has passed.
    #[error("submission window closed")]
    WindowClosed,
    /// The session has a roster, and the member is not on it.
    #[error("member is not on this session's expected roster")]
    NotOnRoster,
    /// The member is on the roster, and excused.
    #[error("member is excused from this session")]
    Excused,
    /// The member has no key to verify with.
    #[error("no registered key for member")]
    NoKey,
    /// The signature does not hold.
    #[error("signature verification failed")]
    BadSignature,
    /// The member has used this nonce before.
    #[error("nonce already used by this member (replay); mint a fresh nonce to amend")]
    NonceUsed,
    /// The member has filed all the takes it may in this session.
    #[error("amendment cap reached (5 takes per member per session)")]
    CapReached,
    /// The session is aggregated: what is on file stands.
    #[error("amendment window closed (session already aggregated); the take on file stands")]
    AmendmentClosed,
    /// Another take of this member became the same revision first.
    #[error("a concurrent submission from this member won the same revision; retry")]
    LostRace,

    /// A field of an application breaks its rule.
    #[error("invalid application")]
    InvalidApplication(Invalid),
    /// The application's signature does not hold for these canonical bytes.
    #[error("signature verification failed")]
    BadApplication {
        /// The exact text that should have been signed.
        expected_payload: String,
    },
    /// A live application has this public key.
    #[error("public key already registered")]
    KeyRegistered(MemberId),
    /// A field of a challenge request breaks its rule.
    #[error("invalid challenge request")]
    InvalidChallengeRequest(Invalid),
    /// A field of a token claim breaks its rule.
    #[error("invalid token claim")]
    InvalidTokenClaim(Invalid),
    /// The claim proves nothing: unknown, expired, replaced or wrongly signed.
    #[error("token claim refused")]
    ClaimRefused(ClaimFault),
    /// The token was claimed before.
    #[error("token already claimed")]
    AlreadyClaimed,

    /// A field of a memo breaks its rule.
    #[error("invalid memo")]
    InvalidMemo(Invalid),

    /// There is as much as the tenant takes in.
    #[error("quota reached")]
    QuotaReached(QuotaReached),

    /// No operator's token came with the request, or a wrong one.
    #[error("admin token required")]
    MissingAdminToken,
    /// A field of an operator's request breaks its rule.
    #[error("invalid request")]
    InvalidRequest(Invalid),
    /// There is no such thing.
    #[error("no such {0}")]
    NotFound(Resource),
    /// The state of the member forbids the move.
    #[error("member is {0}")]
    MemberIs(MemberState),
    /// The state of the session forbids the move.
    #[error("session is {0}")]
    SessionIs(SessionState),
    /// The session is aggregated: what its snapshot was made with stays.
    #[error("session already aggregated")]
    AlreadyAggregated,
    /// The session has a take that the deadline would make late.
    #[error("a take on file was filed after that deadline")]
    FiledLater,
    /// The roster was frozen before.
    #[error("roster already frozen")]
    RosterFrozen,
    /// The session has its one brief.
    #[error("brief already published")]
    BriefPublished,
    /// The session has no roster.
    #[error("session has no roster")]
    NoRoster,
}

impl Refusal {
    /// In how many seconds to ask again, where that is known.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::QuotaReached(reached) => Some(reached.retry_after),
            _ => None,
        }
    }

    /// Whether it depends on what is on file rather than on what was sent: at another moment, or
    /// after another request, the same request would have been accepted.
    pub fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::WindowClosed
                | Self::NonceUsed
                | Self::CapReached
                | Self::AmendmentClosed
                | Self::LostRace
                | Self::KeyRegistered(_)
                | Self::AlreadyClaimed
                | Self::MemberIs(_)
                | Self::SessionIs(_)
                | Self::AlreadyAggregated
                | Self::FiledLater
                | Self::RosterFrozen
                | Self::NoRoster
                | Self::BriefPublished
        )
    }
}

/// What was asked for and is not there. `Display` is its name in the text on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the nouns say it")]
pub enum Resource {
    Application,
    Brief,
    Member,
    Memo,
    /// A member on the roster of a session.
    RosterMember,
    Session,
    Subject,
    Take,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Application => "application",
            Self::Brief => "brief",
            Self::Member => "member",
            Self::Memo => "memo",
            Self::RosterMember => "member on the roster",
            Self::Session => "session",
            Self::Subject => "subject",
            Self::Take => "take",
        })
    }
}

/// A refused submission. When it conflicts, and the very same take is already on file, `original`
/// names that take: a client that lost its answer learns that the take stands (API.md, 5.5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Rejection {
    /// Why.
    pub reason: Refusal,
    /// The take on file with the same canonical bytes, signature and nonce.
    pub original: Option<TakeId>,
}

impl From<Refusal> for Rejection {
    fn from(reason: Refusal) -> Self {
        Self { reason, original: None }
    }
}
