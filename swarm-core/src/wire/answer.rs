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
    /// What went wrong, of an error: the header `Swarm-Error` names it.
    pub problem: Option<Problem>,
}

impl Answer {
    /// A response with status 200 and `value` as its body.
    pub fn ok<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::new(200, value)
    }

    /// `{error}`, for a request that the rules never saw.
    pub fn error(status: u16, error: &str) -> Self {
        #[derive(Serialize)]
        struct Plain<'a> {
            error: &'a str,
        }
        Self::new(status, &Plain { error }).with(Problem::of_text(status, error))
    }

    pub(super) fn with(self, problem: Problem) -> Self {
        Self { problem: Some(problem), ..self }
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

/// An empty set of further fields.
#[derive(Serialize)]
pub(super) struct Nothing {}
