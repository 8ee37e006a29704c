//! What goes out: answers, errors, pages, and what caches may do with them.

mod answer;
pub(crate) mod caching;
mod encodings;
mod error;
mod reply;

pub(crate) use answer::{Answer, SWARM_HINT};
pub(crate) use error::{ApiError, SERVICE_LINKS};
pub(crate) use reply::{Reply, ok};
