//! A request without its body: what is known before the body is read.

use http::{Extensions, HeaderMap, Method};

use crate::tenants::Host;

/// A request without its body.
pub(crate) struct RequestHead {
    pub(crate) method: Method,
    pub(crate) host: Option<Host>,
    /// The path as the client sent it, with the base path of the tenant.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) extensions: Extensions,
}
