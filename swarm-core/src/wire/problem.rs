//! The codes of the errors: a stable word for each, and what to do (API.md, 1.2).

use crate::rules::{PolicyKind, Refusal, Rejection};

/// The clients that can get an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Audience {
    /// Anyone: members, readers, and also the others.
    Everyone,
    /// Only members of the committee.
    Committee,
    /// Only operators.
    Operators,
}

macro_rules! problems {
    (@text) => { None };
    (@text $text:literal) => { Some($text) };
    ($($name:ident = $status:literal $code:literal $audience:ident $(says $text:literal)?, $remedy:literal;)*) => {
        /// An error code, as in the header `Swarm-Error`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Problem {
            $(#[doc = concat!("`", $code, "`, ", stringify!($status), ".")] $name,)*
        }

        impl Problem {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the code on the wire: lower-case words with hyphens. It is stable.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns the status that it comes with.
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }

            /// Returns the text of the error, unless it depends on the request.
            pub fn text(self) -> Option<&'static str> {
                match self { $(Self::$name => problems!(@text $($text)?),)* }
            }

            /// The clients that can get this error.
            pub fn audience(self) -> Audience {
                match self { $(Self::$name => Audience::$audience,)* }
            }

            /// What the client should do.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$name => $remedy,)* }
            }
        }
    };
}

problems! {
    MissingHost = 400 "missing-host" Everyone says "missing host", "Send one Host header.";
    InvalidHost = 400 "invalid-host" Everyone says "invalid host", "Send one Host header with a host and an optional port.";
    InvalidTarget = 400 "invalid-target" Everyone says "invalid target", "Send a request target with a path.";
    InvalidFraming = 400 "invalid-framing" Everyone says "invalid transfer encoding", "Send Content-Length, or Transfer-Encoding: chunked, once.";
    InvalidQuery = 400 "invalid-query" Everyone says "invalid query", "Correct the parameter that Swarm-Hint names.";
    InvalidJson = 400 "invalid-json" Everyone says "invalid json body", "Send one JSON text in UTF-8, without duplicate keys and without numbers out of the range of a double.";
    BodyIncomplete = 400 "body-incomplete" Everyone says "body incomplete", "Send the complete body, with the length that Content-Length states.";
    InvalidSubmission = 400 "invalid-submission" Everyone says "invalid submission", "Correct the field that Swarm-Hint names; preflight names all of them.";
    InvalidDraft = 400 "invalid-draft" Everyone says "invalid signing draft", "Correct the field that Swarm-Hint names.";
    InvalidApplication = 400 "invalid-application" Everyone says "invalid application", "Correct the field that Swarm-Hint names.";
    InvalidChallengeRequest = 400 "invalid-challenge-request" Everyone says "invalid challenge request", "Send {\"memberId\"}.";
    InvalidTokenClaim = 400 "invalid-token-claim" Everyone says "invalid token claim", "Send memberId, challenge and expiresAt unchanged from the challenge, and the signature.";
    InvalidMemo = 400 "invalid-memo" Everyone says "invalid memo", "Correct the field that Swarm-Hint names.";
    InvalidRequest = 400 "invalid-request" Operators says "invalid request", "Correct the field that detail names.";
    InvalidDiagnosis = 400 "invalid-diagnosis" Everyone says "invalid diagnosis", "Send the complete body of a submission, an application or a token claim, and publicKey if the member has no registered key.";
    BadSignature = 400 "bad-signature" Everyone says "signature verification failed", "Sign the canonical text of the fields: POST the body of a submission, an application or a token claim to /api/swarm/diagnose, which explains what was signed instead.";
    UndeclaredStance = 400 "undeclared-stance" Everyone says "stance not declared for this session", "Send one of the stances that the session declares: Swarm-Hint names them, and so do the session and its brief.";
    BadStance = 400 "bad-stance" Committee says "bad stance", "Send one of the five stances, in lower case.";
    BadConfidence = 400 "bad-confidence" Committee says "bad confidence", "Send a number from 0 to 1.";
    BodyTooShort = 400 "body-too-short" Committee says "body too short", "Write at least 80 characters.";
    BodyTooLong = 400 "body-too-long" Committee says "body too long", "Write at most 4,000 characters.";
    MissingStanceLine = 400 "missing-stance-line" Committee says "missing stance line", "End the body with the line of its stance and its confidence, exactly as the brief shows it.";
    MissingBearer = 401 "missing-bearer" Everyone says "missing bearer token", "Send Authorization: Bearer <token>.";
    UnknownToken = 401 "unknown-token" Everyone says "unknown member token", "Send the token of an active member. An operator can replace a lost token.";
    ClaimRefused = 401 "claim-refused" Everyone says "token claim refused", "Ask for a new challenge, sign it exactly as it came, and claim within its time; before that, wait until the application is approved.";
    AdminToken = 401 "admin-token-required" Operators says "admin token required", "Send the operator's token as X-Admin-Token.";
    SignedOut = 401 "signed-out" Operators, "Sign in at /operate, then send the form again.";
    MissingKey = 401 "missing-key" Committee says "missing or malformed x-ic-key", "Send x-ic-key: <prefix>_<member_id>_<32 hex>.";
    InvalidKey = 401 "invalid-key" Committee says "invalid key", "Send the latest key that the operator issued.";
    TokenMismatch = 403 "token-mismatch" Everyone says "token/member mismatch", "Send your own memberId with your own token.";
    NotOnRoster = 403 "not-on-roster" Everyone says "member is not on this session's expected roster", "This session does not expect you: wait for another one.";
    Excused = 403 "excused" Everyone says "member is excused from this session", "You are excused from this session: wait for another one.";
    NoKey = 403 "no-key" Everyone says "no registered key for member", "Ask the operator to register a public key.";
    NotActive = 403 "not-active" Committee says "member is not active", "Ask the operator to activate the member.";
    PolicyForbids = 403 "policy-forbids" Everyone, "A rule of this desk forbids the take: the body says which.";
    NotForRole = 403 "not-for-role" Operators says "not allowed for this role", "Send the token of an operator whose role allows this.";
    PlainHttp = 403 "plain-http" Operators, "Open the console over HTTPS, or on the machine itself at localhost.";
    CrossSite = 403 "cross-site" Operators, "Send it from a page of this service, or with a token.";
    NoSession = 404 "no-session" Everyone says "no session for date/subject", "Take date and subjectId from /api/swarm/open-sessions.";
    NoOutcome = 404 "no-outcome" Everyone says "no outcome", "No outcome of the session counts: wait until an operator records one.";
    NotFound = 404 "not-found" Everyone, "Check the id; the lists contain the existing ones.";
    MemoRetracted = 404 "memo-retracted" Everyone, "The memo was retracted: its text is no longer shown.";
    UnknownPath = 404 "unknown-path" Everyone says "not found", "See /openapi.json for the existing paths.";
    MethodNotAllowed = 405 "method-not-allowed" Everyone says "method not allowed", "Use a method listed in Allow.";
    BodyTooSlow = 408 "body-too-slow" Everyone says "body too slow", "Send the body within 10 seconds.";
    WindowClosed = 409 "window-closed" Everyone says "submission window closed", "The deadline has passed, and waiting does not help: file in the next session.";
    NonceUsed = 409 "nonce-used" Everyone says "nonce already used by this member (replay); mint a fresh nonce to amend", "If the answer has recommendationId, this take is on file and nothing is left to do; to amend it, sign again with a fresh nonce.";
    CapReached = 409 "cap-reached" Everyone says "amendment cap reached (5 takes per member per session)", "You have filed all the takes that this session allows, five unless it declares fewer: the latest one counts.";
    AmendmentClosed = 409 "amendment-closed" Everyone says "amendment window closed (session already aggregated); the take on file stands", "The session is aggregated: your takes in it can no longer be amended.";
    LostRace = 409 "lost-race" Everyone says "a concurrent submission from this member won the same revision; retry", "Another take of yours came first: send this one again.";
    PolicyConflict = 409 "policy-conflict" Everyone, "A rule of this desk is in the way of the take: the body says which.";
    KeyRegistered = 409 "key-registered" Everyone says "public key already registered", "An application with this key exists: memberId names its member.";
    AlreadyClaimed = 409 "already-claimed" Everyone says "token already claimed", "The token was given out already: if it is lost, an operator can reset the claim or replace the token.";
    MemberState = 409 "member-state" Operators, "The state of the member forbids this.";
    MessageState = 409 "message-state" Operators, "The message is sent: nothing is left to do.";
    SessionState = 409 "session-state" Operators, "The state of the session forbids this.";
    AlreadyAggregated = 409 "already-aggregated" Operators says "session already aggregated", "After aggregation only the deadline may still change.";
    AlreadyOpened = 409 "already-opened" Operators says "session already opened", "The takes of this blind session are public, so its deadline can no longer move.";
    SessionSealed = 409 "session-sealed" Everyone says "session is sealed", "The session is blind: wait until it is opened, after its deadline or when it is aggregated.";
    FiledLater = 409 "filed-later" Operators says "a take on file was filed after that deadline", "Choose a deadline that is not before the filedAt of any take on file.";
    TakesOnFile = 409 "takes-on-file" Operators says "takes are on file", "A session with takes is not withdrawn, and keeps its question and its brief: close it, move its deadline, or void it once it is aggregated.";
    TakesSealed = 409 "takes-sealed" Operators says "takes are sealed", "Sealed takes are on file, and nothing may depend on what they say: wait until the session is opened. Its deadline can be moved later.";
    TakeState = 409 "take-state" Operators, "Reload the take: its texts are withheld, shown or erased already.";
    NothingToAccept = 409 "nothing-to-accept" Operators says "nothing to accept", "Nothing is wrong with it, and an acceptance stands in the log for ever: send force: true if it is wanted all the same.";
    RosterFrozen = 409 "roster-frozen" Operators says "roster already frozen", "The roster of a session can be set only once.";
    BriefPublished = 409 "brief-published" Operators says "brief already published", "The session has its brief: send replaces: true to replace it while no take is on file.";
    NoRoster = 409 "no-roster" Operators says "session has no roster", "Freeze a roster first.";
    NoBrief = 409 "no-brief" Committee says "no brief published yet for today", "Wait until the briefs of the day are generated.";
    MemberExists = 409 "member-exists" Operators says "member id already taken", "Choose another id.";
    NoSubject = 409 "no-subject" Operators says "no active subject", "Name a subject, or activate one.";
    StaleForm = 409 "stale-form" Operators, "The record has changed since the page was shown: reload the page, then send the form again.";
    BodyTooLarge = 413 "body-too-large" Everyone says "body too large", "Send a smaller body.";
    NotJsonType = 415 "unsupported-media-type" Everyone says "content type must be application/json", "Send Content-Type: application/json.";
    NotFormType = 415 "not-a-form" Operators, "Send Content-Type: application/x-www-form-urlencoded.";
    UnknownHost = 421 "unknown-host" Everyone says "unknown host", "Use a host that this server serves.";
    QuotaReached = 429 "quota-reached" Everyone says "quota reached", "Wait for the seconds in Retry-After, then send it again.";
    TooManyAttempts = 429 "too-many-attempts" Operators says "too many attempts", "Too many wrong tokens of operators came from your address: wait for the seconds in Retry-After, then send the token again.";
    Internal = 500 "internal-error" Everyone says "internal error", "An internal error of the server: try again, and report the X-Request-Id to its operator.";
    NotPersisted = 500 "not-persisted" Everyone says "failed to persist submission", "It is unknown whether it was stored: send the same again. A duplicate does no harm.";
    Busy = 503 "busy" Everyone says "too busy", "Wait for the seconds in Retry-After, then retry.";
    SignOnUnavailable = 503 "sign-on-unavailable" Operators, "Who you are cannot be checked now, and nothing was changed: try again.";
    Unavailable = 503 "unavailable" Everyone says "store unavailable", "It is unknown whether it was stored: send the same bytes again.";
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::InvalidSubmission(_) => Self::InvalidSubmission,
            Refusal::MissingBearer => Self::MissingBearer,
            Refusal::UnknownToken => Self::UnknownToken,
            Refusal::TokenMismatch => Self::TokenMismatch,
            Refusal::NoSession { .. } => Self::NoSession,
            Refusal::WindowClosed => Self::WindowClosed,
            Refusal::NotOnRoster => Self::NotOnRoster,
            Refusal::Excused => Self::Excused,
            Refusal::NoKey => Self::NoKey,
            Refusal::BadSignature
            | Refusal::BadApplication { .. }
            | Refusal::BadKeyReplacement { .. } => Self::BadSignature,
            Refusal::NonceUsed => Self::NonceUsed,
            Refusal::Policy(refusal) => match refusal.kind() {
                PolicyKind::Forbidden => Self::PolicyForbids,
                PolicyKind::Conflict => Self::PolicyConflict,
            },
            Refusal::CapReached { .. } => Self::CapReached,
            Refusal::UndeclaredStance { .. } => Self::UndeclaredStance,
            Refusal::AmendmentClosed => Self::AmendmentClosed,
            Refusal::LostRace => Self::LostRace,
            Refusal::InvalidApplication(_) => Self::InvalidApplication,
            Refusal::KeyRegistered(_) => Self::KeyRegistered,
            Refusal::InvalidChallengeRequest(_) => Self::InvalidChallengeRequest,
            Refusal::InvalidTokenClaim(_) => Self::InvalidTokenClaim,
            Refusal::ClaimRefused(_) => Self::ClaimRefused,
            Refusal::AlreadyClaimed => Self::AlreadyClaimed,
            Refusal::InvalidMemo(_) => Self::InvalidMemo,
            Refusal::InvalidRequest(_) => Self::InvalidRequest,
            Refusal::MissingAdminToken => Self::AdminToken,
            Refusal::NotForRole => Self::NotForRole,
            Refusal::QuotaReached(_) => Self::QuotaReached,
            Refusal::NotFound(_) => Self::NotFound,
            Refusal::MemberIs(_) | Refusal::MemberErased | Refusal::MemberExists => {
                Self::MemberState
            }
            Refusal::MessageIs(_) => Self::MessageState,
            Refusal::SessionIs(_)
            | Refusal::SessionIsPractice
            | Refusal::SessionIsVoid
            | Refusal::SessionIsOpen => Self::SessionState,
            Refusal::NoOutcome => Self::NoOutcome,
            Refusal::AlreadyAggregated => Self::AlreadyAggregated,
            Refusal::AlreadyOpened => Self::AlreadyOpened,
            Refusal::SessionSealed => Self::SessionSealed,
            Refusal::FiledLater => Self::FiledLater,
            Refusal::TakesOnFile => Self::TakesOnFile,
            Refusal::TakesSealed => Self::TakesSealed,
            Refusal::TakeWithheld | Refusal::TakeNotWithheld | Refusal::TextsErased => {
                Self::TakeState
            }
            Refusal::NothingToAccept => Self::NothingToAccept,
            Refusal::RosterFrozen => Self::RosterFrozen,
            Refusal::BriefPublished => Self::BriefPublished,
            Refusal::NoRoster => Self::NoRoster,
        }
    }
}

impl From<&Rejection> for Problem {
    fn from(rejection: &Rejection) -> Self {
        (&rejection.reason).into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::domain::Invalid;
    use crate::wire::RequestError;

    #[test]
    fn texts_are_those_of_the_errors() {
        use Refusal as R;
        let invalid = || Invalid::missing("memberId");
        for refusal in [
            R::InvalidSubmission(invalid()),
            R::MissingBearer,
            R::UnknownToken,
            R::TokenMismatch,
            R::no_session(),
            R::WindowClosed,
            R::NotOnRoster,
            R::Excused,
            R::NoKey,
            R::BadSignature,
            R::NonceUsed,
            R::CapReached { cap: crate::domain::Revision::CAP },
            R::AmendmentClosed,
            R::LostRace,
            R::InvalidApplication(invalid()),
            R::InvalidChallengeRequest(invalid()),
            R::InvalidTokenClaim(invalid()),
            R::AlreadyClaimed,
            R::InvalidMemo(invalid()),
            R::InvalidRequest(invalid()),
            R::MissingAdminToken,
            R::NotForRole,
            R::NoOutcome,
            R::AlreadyAggregated,
            R::AlreadyOpened,
            R::SessionSealed,
            R::FiledLater,
            R::TakesOnFile,
            R::TakesSealed,
            R::NothingToAccept,
            R::RosterFrozen,
            R::BriefPublished,
            R::NoRoster,
        ] {
            assert_eq!(Problem::from(&refusal).text(), Some(&*refusal.to_string()));
        }
        for error in [
            RequestError::MissingHost,
            RequestError::InvalidHost,
            RequestError::InvalidTarget,
            RequestError::InvalidFraming,
            RequestError::UnknownHost,
            RequestError::UnknownPath,
            RequestError::MethodNotAllowed,
            RequestError::InvalidQuery(invalid()),
            RequestError::NotJsonType,
            RequestError::TooManyAttempts(1),
            RequestError::BodyIncomplete,
            RequestError::BodyTooLarge,
            RequestError::BodyTooSlow,
            RequestError::InvalidDraft(invalid()),
            RequestError::InvalidMemberRequest(invalid()),
            RequestError::InvalidDiagnosis(invalid()),
            RequestError::Busy,
            RequestError::Internal,
        ] {
            assert_eq!(Problem::from(&error).text(), Some(&*error.to_string()));
        }
    }

    #[test]
    fn codes_are_unique_hyphenated_words() {
        let codes: HashSet<_> = Problem::ALL.iter().map(|problem| problem.code()).collect();
        assert_eq!(codes.len(), Problem::ALL.len());
        for code in codes {
            assert!(code.split('-').all(|word| !word.is_empty()), "{code}");
            assert!(code.bytes().all(|b| b == b'-' || b.is_ascii_lowercase()), "{code}");
        }
    }
}
