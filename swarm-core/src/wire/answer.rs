//! A response without its headers: a status, a JSON text, and what headers say of an error.

use serde::Serialize;

use super::Problem;
use crate::domain::{TakeId, json};

/// A response without its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status, 200 to 599.
    pub status: u16,
    /// The body: a JSON text.
    pub body: String,
    /// The code of an error, for the header `Swarm-Error`.
    pub problem: Option<Problem>,
    /// The seconds after which to try again, for the header `Retry-After`.
    pub retry_after: Option<u32>,
    /// The take on file with the same bytes as the one that was refused, for a `Link` with `rel="original"`.
    pub original: Option<TakeId>,
}

impl Answer {
    /// A response with status 200 and `value` as its body.
    pub fn ok<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::new(200, value)
    }

    /// An error, with the status of its code.
    pub(super) fn error<T: Serialize>(problem: Problem, body: &T) -> Self {
        Self { problem: Some(problem), ..Self::new(problem.status(), body) }
    }

    pub(super) fn new<T: Serialize + ?Sized>(status: u16, value: &T) -> Self {
        Self::written(status, json::write(value))
    }

    /// A response with this JSON text.
    pub(super) fn written(status: u16, body: String) -> Self {
        Self { status, body, problem: None, retry_after: None, original: None }
    }

    /// The value of the header `WWW-Authenticate` (RFC 6750), for an error that asks for a bearer token.
    pub fn bearer_challenge(&self) -> Option<&'static str> {
        match self.problem? {
            Problem::MissingBearer => Some("Bearer"),
            Problem::UnknownToken => Some("Bearer error=\"invalid_token\""),
            _ => None,
        }
    }

    /// `{ok: true, status, …fields}`, with the same status.
    pub(super) fn done<T: Serialize>(status: u16, fields: &T) -> Self {
        #[derive(Serialize)]
        struct Done<'a, T> {
            ok: bool,
            status: u16,
            #[serde(flatten)]
            fields: &'a T,
        }
        Self::new(status, &Done { ok: true, status, fields })
    }
}

/// `{error}`, with the status of its code.
pub(super) fn plain_error(error: &str, problem: Problem) -> Answer {
    Answer::error(problem, &Fault { error })
}

/// An error before any rule was applied.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("additionalProperties" = false)))]
pub(super) struct Fault<'a> {
    /// The text of the error.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    error: &'a str,
}

/// What was sent is written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Written {}
