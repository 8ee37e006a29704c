//! Answers in place of the pages, where the feature `pages` is off.

use http::HeaderMap;

use crate::door::manifest;
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};
use crate::tenants::ServedTenant;

/// The manifest, in place of the home page.
pub(crate) async fn home(request: RequestContext) -> Reply {
    manifest::manifest(request).await
}

/// The error as JSON, also where a page is preferred.
pub(crate) fn unknown_path(_: &HeaderMap, _: &ServedTenant, _: String, error: ApiError) -> Answer {
    error.into_answer()
}
