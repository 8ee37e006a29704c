//! A response without its headers: a status and a JSON text.

use serde::Serialize;

use super::Problem;
use crate::domain::json;

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
        Self { status, body: json::write(value), problem: None }
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
