//! What comes in: the way of a request from its head to the handler that answers it.

pub mod body;
pub(crate) mod context;
pub(crate) mod credential;
pub(crate) mod dispatch;
mod id;
pub(crate) mod route;

pub(crate) use context::RequestContext;
