//! Responses: answers, errors, caching and compression.

pub(crate) mod accept;
mod answer;
mod below;
mod body_stream;
pub(crate) mod caching;
mod encodings;
mod error;
mod problem_details;
pub(crate) mod receipt;
mod response_body;

use serde::Serialize;
use swarm_core::wire;

pub(crate) use answer::{Answer, SWARM_HINT, Scope};
pub(crate) use body_stream::BodyStream;
pub use body_stream::Interrupted;
pub(crate) use error::{ApiError, SERVICE_LINKS};
pub(crate) use problem_details::{ErrorForm, PROBLEM_DETAILS};
pub use response_body::ResponseBody;

/// The result of a handler.
pub(crate) type Reply = Result<Answer, ApiError>;

/// `value` as JSON, with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Reply {
    Ok(wire::Answer::ok(value).into())
}
