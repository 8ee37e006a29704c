//! What handlers answer.

use serde::Serialize;
use swarm_core::wire;

use super::{Answer, ApiError};

/// What a handler answers.
pub(crate) type Reply = Result<Answer, ApiError>;

/// `value` as it is, with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Reply {
    Ok(wire::Answer::ok(value).into())
}
