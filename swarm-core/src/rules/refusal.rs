//! Refusals: the errors of requests that break a rule.

use super::{PolicyRefusal, QuotaReached};
use crate::domain::{
    Day, Invalid, MailState, MemberId, MemberState, Revision, SessionState, Stance, StanceScale,
    SubjectId, TakeId,
};

/// Maximum number of sessions that are named when the session of a take does not exist.
pub(crate) const MAX_SESSIONS_NAMED: usize = 5;

/// Why a request was refused. `Display` writes the exact error text of the response. The variants
/// are in the order of API.md, 5.2, then 4 and 7.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A field of a take breaks its rule.
    #[error("invalid submission")]
    InvalidSubmission(Invalid),
    /// The request has no bearer token.
    #[error("missing bearer token")]
    MissingBearer,
    /// The token does not belong to an active member.
    #[error("unknown member token")]
    UnknownToken,
    /// The token belongs to another member.
    #[error("token/member mismatch")]
    TokenMismatch,
    /// No session has this date and subject.
    #[error("no session for date/subject")]
    NoSession {
        /// The date and subject of sessions that accept takes, if they were looked up: at most
        /// one more than a hint names, which shows that there are more.
        open: Vec<(Day, SubjectId)>,
    },
    /// The deadline has passed.
    #[error("submission window closed")]
    WindowClosed,
    /// The session has a roster, and the member is not on it.
    #[error("member is not on this session's expected roster")]
    NotOnRoster,
    /// The member is excused from the session.
    #[error("member is excused from this session")]
    Excused,
    /// The member has no key to verify with.
    #[error("no registered key for member")]
    NoKey,
    /// The session declares its stances, and that of the take is none of them.
    #[error("stance not declared for this session")]
    UndeclaredStance {
        /// Those that it declares.
        declared: Vec<Stance>,
    },
    /// The signature does not verify.
    #[error("signature verification failed")]
    BadSignature,
    /// The member has already used this nonce.
    #[error("nonce already used by this member (replay); mint a fresh nonce to amend")]
    NonceUsed,
    /// The member has filed the maximum number of takes in this session.
    #[error("amendment cap reached ({} per member per session)", takes(*.cap))]
    CapReached {
        /// The last revision that a member may file there.
        cap: Revision,
    },
    /// The session is aggregated, so takes cannot be amended.
    #[error("amendment window closed (session already aggregated); the take on file stands")]
    AmendmentClosed,
    /// A concurrent take of this member got the same revision first.
    #[error("a concurrent submission from this member won the same revision; retry")]
    LostRace,
    /// The program around the service refuses the take (API.md, 5.9).
    #[error("{}", .0.text())]
    Policy(PolicyRefusal),

    /// A field of an application breaks its rule.
    #[error("invalid application")]
    InvalidApplication(Invalid),
    /// The signature of the application does not verify for these canonical bytes.
    #[error("signature verification failed")]
    BadApplication {
        /// The exact text that should have been signed.
        expected_payload: String,
    },
    /// A signature of the replacement of a key does not verify for these canonical bytes.
    #[error("signature verification failed")]
    BadKeyReplacement {
        /// The exact text that both keys should have signed.
        expected_payload: String,
    },
    /// Another application or member holds this public key.
    #[error("public key already registered")]
    KeyRegistered(MemberId),
    /// A field of a challenge request breaks its rule.
    #[error("invalid challenge request")]
    InvalidChallengeRequest(Invalid),
    /// A field of a token claim breaks its rule.
    #[error("invalid token claim")]
    InvalidTokenClaim(Invalid),
    /// The claim is not proven: its challenge is unknown, expired or replaced, or its signature is wrong.
    #[error("token claim refused")]
    ClaimRefused(ClaimFault),
    /// The token has already been claimed.
    #[error("token already claimed")]
    AlreadyClaimed,

    /// A field of a memo breaks its rule.
    #[error("invalid memo")]
    InvalidMemo(Invalid),

    /// A quota of the tenant is reached.
    #[error("quota reached")]
    QuotaReached(QuotaReached),

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
    /// The state of the member does not allow the transition.
    #[error("member is {0}")]
    MemberIs(MemberState),
    /// The personal data of the member was erased, so it cannot be activated again.
    #[error("member is erased")]
    MemberErased,
    /// There is a member with the id of the one to enrol.
    #[error("member already exists")]
    MemberExists,
    /// The state of the message does not allow the transition.
    #[error("message is {0}")]
    MessageIs(MailState),
    /// The state of the session does not allow the transition.
    #[error("session is {0}")]
    SessionIs(SessionState),
    /// The session is aggregated, so what its snapshot depends on cannot change.
    #[error("session already aggregated")]
    AlreadyAggregated,
    /// The session is blind and opened, so its deadline cannot move.
    #[error("session already opened")]
    AlreadyOpened,
    /// The session is for practice, and counts for nothing.
    #[error("session is practice")]
    SessionIsPractice,
    /// The session was voided, and counts for nothing.
    #[error("session is void")]
    SessionIsVoid,
    /// The deadline of the session is ahead, or it has none.
    #[error("session is open")]
    SessionIsOpen,
    /// The session has no outcome that counts.
    #[error("no outcome")]
    NoOutcome,
    /// The session is blind and not opened yet.
    #[error("session is sealed")]
    SessionSealed,
    /// The new deadline is before the time of a stored take.
    #[error("a take on file was filed after that deadline")]
    FiledLater,
    /// Takes are filed in the session, so it cannot be withdrawn.
    #[error("takes are on file")]
    TakesOnFile,
    /// The session has sealed takes, and the change could depend on what they say.
    #[error("takes are sealed")]
    TakesSealed,
    /// The texts of the take are withheld already.
    #[error("take is withheld")]
    TakeWithheld,
    /// The texts of the take are not withheld.
    #[error("take is not withheld")]
    TakeNotWithheld,
    /// The texts of the take were erased, so they cannot be restored.
    #[error("texts are erased")]
    TextsErased,
    /// Nothing is wrong with the store or the key, so there is nothing to accept.
    #[error("nothing to accept")]
    NothingToAccept,
    /// The session already has a roster.
    #[error("roster already frozen")]
    RosterFrozen,
    /// The session already has a brief.
    #[error("brief already published")]
    BriefPublished,
    /// The session has no roster.
    #[error("session has no roster")]
    NoRoster,
}

impl Refusal {
    /// [`Self::NoSession`], before the open sessions are looked up.
    pub(crate) fn no_session() -> Self {
        Self::NoSession { open: Vec::new() }
    }

    /// [`Self::UndeclaredStance`], with the stances that the session declares.
    pub(crate) fn undeclared_stance(scale: &StanceScale) -> Self {
        let declared = scale.stances().iter().map(|stance| stance.name.clone()).collect();
        Self::UndeclaredStance { declared }
    }

    /// Returns its text; of a bad field which one, and what is wrong with it.
    pub fn explained(&self) -> String {
        match self {
            Self::InvalidRequest(invalid) => invalid.to_string(),
            refusal => refusal.to_string(),
        }
    }

    /// Returns the code of the policy that refuses, if one does.
    pub fn policy_code(&self) -> Option<&str> {
        match self {
            Self::Policy(refusal) => Some(refusal.code()),
            _ => None,
        }
    }

    /// Returns the seconds after which to retry, if known.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::QuotaReached(reached) => Some(reached.retry_after),
            _ => None,
        }
    }

    /// Returns whether the refusal depends on stored state rather than on the request: in another state,
    /// the same request would have been accepted.
    pub fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::WindowClosed
                | Self::NonceUsed
                | Self::CapReached { .. }
                | Self::AmendmentClosed
                | Self::LostRace
                | Self::KeyRegistered(_)
                | Self::AlreadyClaimed
                | Self::MemberIs(_)
                | Self::MemberErased
                | Self::MemberExists
                | Self::MessageIs(_)
                | Self::SessionIs(_)
                | Self::SessionIsPractice
                | Self::SessionIsVoid
                | Self::SessionIsOpen
                | Self::AlreadyAggregated
                | Self::AlreadyOpened
                | Self::SessionSealed
                | Self::FiledLater
                | Self::TakesOnFile
                | Self::TakesSealed
                | Self::TakeWithheld
                | Self::TakeNotWithheld
                | Self::TextsErased
                | Self::NothingToAccept
                | Self::RosterFrozen
                | Self::NoRoster
                | Self::BriefPublished
        )
    }
}

/// The number of takes that a member may file, in words.
fn takes(cap: Revision) -> String {
    match cap.get() {
        1 => "1 take".to_owned(),
        cap => format!("{cap} takes"),
    }
}

/// A kind of resource that does not exist. `Display` writes its name in the error text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are sufficient")]
pub enum Resource {
    Application,
    Brief,
    /// A delivery to a webhook.
    Delivery,
    Member,
    Memo,
    Message,
    /// A member on the roster of a session.
    RosterMember,
    Session,
    Subject,
    Take,
    Webhook,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Application => "application",
            Self::Brief => "brief",
            Self::Member => "member",
            Self::Memo => "memo",
            Self::Message => "message",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery",
            Self::RosterMember => "member on the roster",
            Self::Session => "session",
            Self::Subject => "subject",
            Self::Take => "take",
        })
    }
}

/// The faulty part of a refused token claim. It depends only on the claim, not on whether the
/// member exists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimFault {
    /// The challenge names another service.
    OtherService {
        /// The origin of this service.
        service: String,
    },
    /// `expiresAt` does not have the form of an expiry, or is later than that of any challenge.
    NotAnExpiry,
    /// `expiresAt` has passed.
    Expired,
    /// The signature is not standard base64 of 64 bytes.
    Encoding,
    /// None of these: the member is not approved, the challenge was replaced, `expiresAt` is that of another challenge,
    /// or the signature does not hold.
    Unproven,
}

/// A refused submission. If it is a replay of a stored take, `original` names that take. So a
/// client that lost the response learns that its take was filed (API.md, 5.5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Rejection {
    /// The reason.
    pub reason: Refusal,
    /// The stored take with the same canonical bytes, signature and nonce.
    pub original: Option<TakeId>,
}

impl From<Refusal> for Rejection {
    fn from(reason: Refusal) -> Self {
        Self { reason, original: None }
    }
}
