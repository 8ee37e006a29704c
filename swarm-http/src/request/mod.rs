//! Requests: routing, credentials and bodies, up to the handler.

mod arrival;
pub mod body;
pub(crate) mod command;
#[cfg(feature = "committee")]
pub(crate) mod committee_access;
pub(crate) mod context;
pub(crate) mod credential;
pub(crate) mod dispatch;
pub(crate) mod dry_run;
pub(crate) mod extract;
#[cfg(feature = "warp")]
pub(crate) mod filter;
mod head;
mod id;
pub(crate) mod origin;
pub(crate) mod parameters;
#[cfg(feature = "pages")]
pub(crate) mod portion;
mod receipt;
mod reception;
pub(crate) mod route;
pub(crate) mod same_origin;
pub(crate) mod scheme;
mod service;
pub(crate) mod table;

pub(crate) use context::RequestContext;
pub use service::SiteService;
