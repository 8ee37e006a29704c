//! The result type of handlers.

use serde::Serialize;
use swarm_core::wire;

use super::{Answer, ApiError};

/// The result of a handler.
pub(crate) type Reply = Result<Answer, ApiError>;

/// `value` as JSON, with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Reply {
    Ok(wire::Answer::ok(value).into())
}
