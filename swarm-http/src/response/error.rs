//! What goes wrong (API.md, 1.2).

use http::header::{ALLOW, LINK, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use swarm_core::{
    CommitteeError, CommitteeRefusal, Error, Invalid, Refusal, Rejection, StoreError, SubmitError,
    wire,
};

use super::Answer;

/// Why a request is answered with an error.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The core gave no result.
    Core(SubmitError),
    /// The core gave no result to the committee.
    Committee(CommitteeError),
    /// The core gave no receipt to a member of the committee.
    Submission(CommitteeError),
    /// The store is not to be relied on.
    NotReady(Error),
    /// The request never reached the domain layer: `{error}` alone.
    Request(StatusCode, &'static str),
    /// What was sent is not what this path reads: `{error}` alone, and a hint.
    Unread(&'static str, Invalid),
    /// Too many ask for the same at once.
    Busy,
    /// The path is known, the method is not.
    Method(HeaderValue),
    /// The operator's token is missing or wrong.
    AdminToken,
    /// The handler panicked: a defect. No rule said so, in either interface: `{error}` alone.
    Panicked,
}

impl ApiError {
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Self::Core(error) => core_error(&error),
            Self::Committee(error) => logged(&error, (&error).into()),
            Self::Submission(error) => logged(&error, wire::Answer::of_submission(&error)),
            Self::NotReady(Error::Store(error)) => not_ready(&error),
            Self::NotReady(error) => logged(&error, (&error).into()),
            Self::Request(status, error) => plain_error(status, error),
            Self::Unread(error, _) => plain_error(StatusCode::BAD_REQUEST, error),
            Self::Busy => {
                let mut answer = plain_error(StatusCode::SERVICE_UNAVAILABLE, "too busy");
                answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
                answer
            }
            Self::Method(allow) => {
                let error = "method not allowed";
                let mut answer = plain_error(StatusCode::METHOD_NOT_ALLOWED, error);
                answer.headers.insert(ALLOW, allow);
                answer
            }
            Self::AdminToken => wire::Answer::admin_token_required().into(),
            Self::Panicked => plain_error(StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
        }
    }
}

/// A line of help with what was sent (API.md, 1.2).
pub(crate) const SWARM_HINT: HeaderName = HeaderName::from_static("swarm-hint");

impl ApiError {
    /// The answer to a request that had this body.
    pub(crate) fn answer_to(self, body: &[u8]) -> Answer {
        let hint = match &self {
            Self::Core(Error::Refused(rejection)) => wire::hint(&rejection.reason, body),
            Self::Committee(Error::Refused(refusal))
            | Self::Submission(Error::Refused(refusal)) => wire::committee_hint(refusal, body),
            Self::Unread(_, invalid) => Some(wire::field_hint(invalid, body)),
            Self::Request(StatusCode::BAD_REQUEST, NOT_JSON) => Some(wire::JSON_HINT.to_owned()),
            _ => None,
        };
        let retry_after = match &self {
            Self::Core(Error::Refused(rejection)) => rejection.reason.retry_after(),
            Self::Committee(Error::Refused(refusal))
            | Self::Submission(Error::Refused(refusal)) => refusal.retry_after(),
            _ => None,
        };
        let mut answer = self.into_answer();
        if let Some(seconds) = retry_after {
            answer.headers.insert(RETRY_AFTER, seconds.into());
        }
        if let Some(hint) = hint.and_then(|hint| HeaderValue::try_from(hint).ok()) {
            answer.headers.insert(SWARM_HINT, hint);
        }
        answer
    }
}

/// Where the description of the service stands (RFC 8631).
pub(crate) const SERVICE_LINKS: HeaderValue = HeaderValue::from_static(
    "</openapi.json>; rel=\"service-desc\", </docs>; rel=\"service-doc\", </skill.md>; rel=\"help\"",
);

/// The text, with status 400, for a body that is no JSON.
pub(crate) const NOT_JSON: &str = "invalid json body";

fn core_error(error: &SubmitError) -> Answer {
    let mut answer = logged(error, error.into());
    let SubmitError::Refused(Rejection { original: Some(id), .. }) = error else { return answer };
    if let Ok(link) = HeaderValue::try_from(format!("</swarm/takes/{id}>; rel=\"original\"")) {
        answer.headers.insert(LINK, link);
    }
    answer
}

/// Logs failures of the store and of randomness. A refusal is an ordinary answer.
fn logged<R: std::error::Error + 'static>(error: &Error<R>, answer: wire::Answer) -> Answer {
    if !matches!(error, Error::Refused(_)) {
        tracing::error!(error = error as &dyn std::error::Error, "no answer from the store");
    }
    answer.into()
}

fn not_ready(error: &StoreError) -> Answer {
    tracing::error!(error = error as &dyn std::error::Error, "the store is not ready");
    wire::Answer::not_ready(error).into()
}

fn plain_error(status: StatusCode, error: &str) -> Answer {
    wire::Answer::error(status.as_u16(), error).into()
}

impl From<CommitteeRefusal> for ApiError {
    fn from(refusal: CommitteeRefusal) -> Self {
        Self::Committee(refusal.into())
    }
}

impl From<CommitteeError> for ApiError {
    fn from(error: CommitteeError) -> Self {
        Self::Committee(error)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Error::from(refusal).into()
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Core(error.map_refused(Rejection::from))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Core(error.into())
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        Self::Core(error)
    }
}
