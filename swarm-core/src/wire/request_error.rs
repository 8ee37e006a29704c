//! Errors that the front end finds: in the host, the path or the body of a request.

use std::time::Duration;

use super::{Answer, Problem, answer, hint};
use crate::domain::Invalid;
use crate::domain::json::NotJson;
use crate::rules::Refusal;

/// The error of a request that was refused before the rules were applied. `Display` writes the
/// exact error text. In both interfaces the body is `{error}` (API.md, 1.2; MANUAL.md, 12.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no Host header.
    #[error("missing host")]
    MissingHost,
    /// There are several Host headers, or the value is not a host.
    #[error("invalid host")]
    InvalidHost,
    /// The request target has no path.
    #[error("invalid target")]
    InvalidTarget,
    /// The body has a transfer encoding other than `chunked`, once.
    #[error("invalid transfer encoding")]
    InvalidFraming,
    /// No tenant has this host.
    #[error("unknown host")]
    UnknownHost,
    /// The path is unknown.
    #[error("not found")]
    UnknownPath,
    /// The path exists, but not with this method.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// A parameter of the query breaks its rule.
    #[error("invalid query")]
    InvalidQuery(Invalid),
    /// The content type is absent or not `application/json`.
    #[error("content type must be application/json")]
    NotJsonType,
    /// The content type of a form is absent, or not that of a form.
    #[error("content type must be application/x-www-form-urlencoded")]
    NotFormType,
    /// The console was requested over plain HTTP from another machine.
    #[error("the console needs https")]
    PlainHttp,
    /// A change of somebody who is signed on, or a form of the console, comes from a page of another site.
    #[error("request of another site")]
    CrossSite,
    /// A form of the console was sent without a sign-in.
    #[error("signed out")]
    SignedOut,
    /// A token of an operator is wrong.
    #[error("wrong token")]
    WrongToken,
    /// A token was sent too soon after a wrong one. It may be sent again after this number of seconds.
    #[error("too many attempts")]
    TooManyAttempts(u32),
    /// The record that a form was filled from has changed since.
    #[error("changed meanwhile")]
    StaleForm,
    /// The body ends early, or its framing is wrong.
    #[error("body incomplete")]
    BodyIncomplete,
    /// The body is longer than this path accepts.
    #[error("body too large")]
    BodyTooLarge,
    /// The body was not complete in time.
    #[error("body too slow")]
    BodyTooSlow,
    /// The body is not JSON.
    #[error("invalid json body")]
    InvalidJson(NotJson),
    /// A field of a draft to be signed breaks its rule.
    #[error("invalid signing draft")]
    InvalidDraft(Invalid),
    /// A field of a member's request breaks its rule. Its body is that of [`Refusal::InvalidRequest`].
    #[error("invalid request")]
    InvalidMemberRequest(Invalid),
    /// The body to be diagnosed is not a signed payload.
    #[error("invalid diagnosis")]
    InvalidDiagnosis(Invalid),
    /// Too many such requests are in progress.
    #[error("too busy")]
    Busy,
    /// Who an operator is cannot be determined now.
    #[error("sign-on unavailable")]
    SignOnUnavailable,
    /// An internal error of the service.
    #[error("internal error")]
    Internal,
}

impl RequestError {
    /// The error of a token that may be sent after this time.
    pub fn wait(left: Duration) -> Self {
        Self::TooManyAttempts(u32::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX))
    }

    /// Returns the seconds after which to retry, if known.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::Busy => Some(1),
            Self::TooManyAttempts(seconds) => Some(*seconds),
            _ => None,
        }
    }

    /// Returns the value of the header `Swarm-Hint`, if there is one: a line of printable ASCII.
    pub fn hint(&self) -> Option<String> {
        self.hint_quoting(b"")
    }

    /// Like [`hint`](Self::hint), with what the refused field was in this body. The line is printable ASCII, whatever was sent.
    pub fn hint_quoting(&self, body: &[u8]) -> Option<String> {
        match self {
            Self::InvalidQuery(invalid) => Some(hint::field_hint(invalid, b"")),
            Self::InvalidDraft(invalid)
            | Self::InvalidMemberRequest(invalid)
            | Self::InvalidDiagnosis(invalid) => Some(hint::field_hint(invalid, body)),
            Self::InvalidJson(fault) => Some(hint::json_hint(fault)),
            _ => None,
        }
    }
}

impl From<&RequestError> for Problem {
    fn from(error: &RequestError) -> Self {
        match error {
            RequestError::MissingHost => Self::MissingHost,
            RequestError::InvalidHost => Self::InvalidHost,
            RequestError::InvalidTarget => Self::InvalidTarget,
            RequestError::InvalidFraming => Self::InvalidFraming,
            RequestError::UnknownHost => Self::UnknownHost,
            RequestError::UnknownPath => Self::UnknownPath,
            RequestError::MethodNotAllowed => Self::MethodNotAllowed,
            RequestError::InvalidQuery(_) => Self::InvalidQuery,
            RequestError::NotJsonType => Self::NotJsonType,
            RequestError::NotFormType => Self::NotFormType,
            RequestError::PlainHttp => Self::PlainHttp,
            RequestError::CrossSite => Self::CrossSite,
            RequestError::SignedOut => Self::SignedOut,
            RequestError::WrongToken => Self::AdminToken,
            RequestError::TooManyAttempts(_) => Self::TooManyAttempts,
            RequestError::StaleForm => Self::StaleForm,
            RequestError::BodyIncomplete => Self::BodyIncomplete,
            RequestError::BodyTooLarge => Self::BodyTooLarge,
            RequestError::BodyTooSlow => Self::BodyTooSlow,
            RequestError::InvalidJson(_) => Self::InvalidJson,
            RequestError::InvalidDraft(_) => Self::InvalidDraft,
            RequestError::InvalidMemberRequest(_) => Self::InvalidRequest,
            RequestError::InvalidDiagnosis(_) => Self::InvalidDiagnosis,
            RequestError::Busy => Self::Busy,
            RequestError::SignOnUnavailable => Self::SignOnUnavailable,
            RequestError::Internal => Self::Internal,
        }
    }
}

impl From<&RequestError> for Answer {
    fn from(error: &RequestError) -> Self {
        if let RequestError::InvalidMemberRequest(invalid) = error {
            return (&Refusal::InvalidRequest(invalid.clone())).into();
        }
        let answer = answer::plain_error(&error.to_string(), error.into());
        Self { retry_after: error.retry_after(), ..answer }
    }
}
