//! Errors as HTTP answers (API.md, 1.2).

use http::HeaderValue;
use http::header::{ALLOW, LINK};
use swarm_core::service::with_causes;
use swarm_core::wire::{self, RequestError};
use swarm_core::{Error, Refusal, Rejection, StoreError, SubmitError};

use super::Answer;
use crate::committee::Failure;
use crate::tenants::SignOnUnavailable;

/// Any error that a request is answered with.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// A call of interface A failed.
    Core(SubmitError),
    /// A call of interface B failed.
    Committee(Failure),
    /// The store is not ready.
    NotReady(Error),
    /// The request was rejected before any rule judged it.
    Request(RequestError),
    /// The path does not have this method; the `Allow` header.
    Method(HeaderValue),
}

/// Links to the description of the service (RFC 8631).
pub(crate) const SERVICE_LINKS: HeaderValue = HeaderValue::from_static(
    "</openapi.json>; rel=\"service-desc\", </docs>; rel=\"service-doc\", </skill.md>; rel=\"help\"",
);

impl ApiError {
    pub(crate) fn into_answer(self) -> Answer {
        self.answer_to(b"")
    }

    /// The answer to a request with this body.
    pub(crate) fn answer_to(self, body: &[u8]) -> Answer {
        self.log();
        let mut answer = Answer::from(self.on_the_wire()).with_hint(self.hint(body));
        if let Self::Method(allow) = self {
            answer.headers.insert(ALLOW, allow);
        } else if let Self::Request(RequestError::UnknownPath) = self {
            answer.headers.insert(LINK, SERVICE_LINKS);
        }
        answer
    }

    fn on_the_wire(&self) -> wire::Answer {
        match self {
            Self::Core(error) => error.into(),
            Self::Committee(failure) => failure.on_the_wire(),
            Self::NotReady(Error::Store(error)) => wire::Answer::not_ready(error),
            Self::NotReady(error) => error.into(),
            Self::Request(error) => error.into(),
            Self::Method(_) => (&RequestError::MethodNotAllowed).into(),
        }
    }

    fn hint(&self, body: &[u8]) -> Option<String> {
        match self {
            Self::Core(Error::Refused(rejection)) => wire::hint_quoting(&rejection.reason, body),
            Self::Committee(failure) => failure.hint(body),
            Self::Request(error) => error.hint_quoting(body),
            _ => None,
        }
    }

    /// Logs failures of the store and of the random source. Refusals are ordinary answers.
    fn log(&self) {
        match self {
            Self::Core(error) => log_failure(error),
            Self::Committee(failure) => {
                if let Some(error) = failure.fault() {
                    tracing::error!(error = with_causes(error), "store call failed");
                }
            }
            Self::NotReady(Error::Store(error)) => {
                tracing::error!(error = with_causes(error), "the store is not ready");
            }
            Self::NotReady(error) => log_failure(error),
            Self::Request(_) | Self::Method(_) => {}
        }
    }
}

fn log_failure<R: std::error::Error + 'static>(error: &Error<R>) {
    if !matches!(error, Error::Refused(_)) {
        tracing::error!(error = with_causes(error), "store call failed");
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self::Committee(failure)
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

impl From<SignOnUnavailable> for ApiError {
    fn from(error: SignOnUnavailable) -> Self {
        tracing::error!(error = with_causes(&error), "the sign-on of operators does not answer");
        RequestError::SignOnUnavailable.into()
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
