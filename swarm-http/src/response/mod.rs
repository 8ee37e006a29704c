//! Responses: answers, errors, caching and compression.

mod answer;
pub(crate) mod caching;
mod encodings;
mod error;
pub(crate) mod receipt;
mod reply;

pub(crate) use answer::{Answer, SWARM_HINT};
pub(crate) use error::{ApiError, SERVICE_LINKS};
pub(crate) use reply::{Reply, ok};
