//! Answers in place of the pages, if the feature `pages` is off.

use http::HeaderMap;

use crate::response::{Answer, ApiError};
use crate::tenants::ServedTenant;

/// The error as JSON, even if a page is preferred.
pub(crate) fn unknown_path(_: &HeaderMap, _: &ServedTenant, _: String, error: ApiError) -> Answer {
    error.into_answer()
}
