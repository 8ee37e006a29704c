//! Errors of a request that no rule has judged: its host, its path, its body.

use super::{Answer, Problem, answer, hint};
use crate::domain::Invalid;

/// Why a request was refused before, or apart from, any rule. `Display` is the text on the wire, byte for
/// byte; both interfaces answer `{error}` alone (API.md, 1.2 and 12.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no Host header.
    #[error("missing host")]
    MissingHost,
    /// There are several hosts, or one that is no host.
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
    /// There is nothing at this path.
    #[error("not found")]
    UnknownPath,
    /// The path is known, the method is not.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// A parameter of the query breaks its rule.
    #[error("invalid query")]
    InvalidQuery(Invalid),
    /// The content type is absent or another one.
    #[error("content type must be application/json")]
    NotJsonType,
    /// The body ends early, or its framing is wrong.
    #[error("body incomplete")]
    BodyIncomplete,
    /// The body is longer than this path accepts.
    #[error("body too large")]
    BodyTooLarge,
    /// The body was not complete in time.
    #[error("body too slow")]
    BodyTooSlow,
    /// The body is no JSON text.
    #[error("invalid json body")]
    InvalidJson,
    /// A field of a draft that is to be signed breaks its rule.
    #[error("invalid signing draft")]
    InvalidDraft(Invalid),
    /// What is to be diagnosed is nothing that is signed.
    #[error("invalid diagnosis")]
    InvalidDiagnosis(Invalid),
    /// Too many such requests are under way.
    #[error("too busy")]
    Busy,
    /// A defect of the service.
    #[error("internal error")]
    Internal,
}

impl RequestError {
    /// After how many seconds to ask again, where that is known.
    pub fn retry_after(&self) -> Option<u32> {
        matches!(self, Self::Busy).then_some(1)
    }

    /// The value of the header `Swarm-Hint`: a line of printable ASCII, whatever was sent in `body`.
    pub fn hint(&self, body: &[u8]) -> Option<String> {
        match self {
            Self::InvalidQuery(invalid)
            | Self::InvalidDraft(invalid)
            | Self::InvalidDiagnosis(invalid) => Some(hint::field_hint(invalid, body)),
            Self::InvalidJson => Some(hint::JSON.to_owned()),
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
            RequestError::BodyIncomplete => Self::BodyIncomplete,
            RequestError::BodyTooLarge => Self::BodyTooLarge,
            RequestError::BodyTooSlow => Self::BodyTooSlow,
            RequestError::InvalidJson => Self::InvalidJson,
            RequestError::InvalidDraft(_) => Self::InvalidDraft,
            RequestError::InvalidDiagnosis(_) => Self::InvalidDiagnosis,
            RequestError::Busy => Self::Busy,
            RequestError::Internal => Self::Internal,
        }
    }
}

impl From<&RequestError> for Answer {
    fn from(error: &RequestError) -> Self {
        answer::plain_error(&error.to_string(), error.into())
    }
}
