//! Responses for the errors of the service (API.md, 1.2).

use serde::Serialize;

use super::{Answer, Problem};
use crate::domain::{MemberId, TakeId};
use crate::rules::{Refusal, Rejection};
use crate::service::{Error, SubmitError};
use crate::store::StoreError;

/// The error text when the store did not answer; status 503.
pub(super) const UNAVAILABLE: &str = "store unavailable";

/// The error text when nothing was committed because of concurrent changes; status 503.
const CONTENDED: &str = "too busy";

impl Answer {
    /// The response when a store is not ready. It contains the cause if that cannot reveal a host
    /// or a secret.
    pub fn not_ready(error: &StoreError) -> Self {
        let (problem, detail) = (Problem::Unavailable, error.public_cause());
        Self::error(problem, &Refused { detail, ..Refused::new(problem, UNAVAILABLE) })
    }

    /// The response to a failed call of the store. If it is contended, nothing was committed, and the same
    /// request may be sent again.
    fn of_store(error: &StoreError) -> Self {
        let (problem, text, retry_after) = match error.is_contended() {
            true => (Problem::Busy, CONTENDED, Some(1)),
            false => (Problem::Unavailable, UNAVAILABLE, None),
        };
        Self { retry_after, ..Self::error(problem, &Refused::new(problem, text)) }
    }

    fn unavailable() -> Self {
        let problem = Problem::Unavailable;
        Self::error(problem, &Refused::new(problem, UNAVAILABLE))
    }
}

/// A refusal.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Refusal"))]
#[serde(rename_all = "camelCase")]
pub(super) struct Refused<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = false)))]
    ok: bool,
    /// The status.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    status: u16,
    /// The text of the error.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    error: &'a str,
    /// Of a request of an operator: the field and its rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Of an application: the text that should have been signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_payload: Option<&'a str>,
    /// The member that has this public key.
    #[serde(skip_serializing_if = "Option::is_none")]
    member_id: Option<&'a MemberId>,
    /// The take on file that has the same nonce, canonical text and signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommendation_id: Option<TakeId>,
    /// The code of the rule of this desk that refuses the take; error is its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
}

impl<'a> Refused<'a> {
    fn new(problem: Problem, error: &'a str) -> Self {
        Self {
            ok: false,
            status: problem.status(),
            error,
            detail: None,
            expected_payload: None,
            member_id: None,
            recommendation_id: None,
            policy: None,
        }
    }
}

fn refusal(refusal: &Refusal, original: Option<TakeId>) -> Answer {
    let (problem, text) = (Problem::from(refusal), refusal.to_string());
    let mut body = Refused::new(problem, &text);
    body.recommendation_id = original;
    match refusal {
        Refusal::InvalidRequest(invalid) => body.detail = Some(invalid.to_string()),
        Refusal::BadApplication { expected_payload }
        | Refusal::BadKeyReplacement { expected_payload } => {
            body.expected_payload = Some(expected_payload);
        }
        Refusal::Policy(refusal) => body.policy = Some(refusal.code()),
        Refusal::KeyRegistered(holder) => body.member_id = Some(holder),
        _ => {}
    }
    let retry_after = refusal.retry_after();
    Answer { retry_after, original, ..Answer::error(problem, &body) }
}

impl From<&Refusal> for Answer {
    fn from(reason: &Refusal) -> Self {
        refusal(reason, None)
    }
}

impl From<&Rejection> for Answer {
    fn from(rejection: &Rejection) -> Self {
        refusal(&rejection.reason, rejection.original)
    }
}

impl From<&Error> for Answer {
    fn from(error: &Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Store(error) => Self::of_store(error),
            _ => Self::unavailable(),
        }
    }
}

impl From<&SubmitError> for Answer {
    fn from(error: &SubmitError) -> Self {
        match error {
            SubmitError::Refused(rejection) => rejection.into(),
            SubmitError::Store(error) => Self::of_store(error),
            _ => Self::unavailable(),
        }
    }
}
