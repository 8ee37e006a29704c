//! Parameters of paths and queries: numbers, and the pages of lists.

pub(crate) use super::context::number;
use super::context::{RequestContext, invalid_query};
use crate::response::ApiError;

/// Maximum page size of most lists.
pub(crate) const MAX_PAGE: usize = 500;

/// Page size unless the query gives one.
const DEFAULT_PAGE: u64 = 100;

/// At most `limit` items from `position` on.
pub(crate) struct Page<P> {
    pub(crate) limit: usize,
    pub(crate) position: Option<P>,
}

impl RequestContext {
    /// Reads `limit`, 1 to `max`, and the position parameter `name` from the query.
    pub(crate) fn page<P>(
        &self,
        max: usize,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Page<P>, ApiError> {
        self.page_of((DEFAULT_PAGE, max), name, parse)
    }

    /// Like [`page`](Self::page), with another page size unless the query gives one.
    pub(crate) fn page_of<P>(
        &self,
        (default, max): (u64, usize),
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Page<P>, ApiError> {
        let query = self.query();
        let limit = query.get("limit").map_or(Some(default), |text| number(text));
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=max).contains(limit)).ok_or_else(|| {
            invalid_query("limit", format!("must be a whole number from 1 to {max}"))
        })?;
        let position = query.get(name).map(|text| parse(text).ok_or_else(|| no_position(name)));
        Ok(Page { limit, position: position.transpose()? })
    }
}

/// The error for a query parameter that is not a position in the list.
pub(crate) fn no_position(name: &'static str) -> ApiError {
    invalid_query(name, "must be a position that the list gave")
}
