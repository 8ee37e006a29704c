//! What goes out: answers, errors, pages, and what caches may do with them.

pub(crate) mod caching;
mod error;
pub(crate) mod page;
mod reply;

pub(crate) use error::ApiError;
pub(crate) use reply::{Answer, Reply, ok};
