//! The part of a list that a query asks for.

use super::context::{RequestContext, invalid_query};
use crate::number::number;
use crate::response::ApiError;

/// The largest page of most lists.
pub(crate) const MOST: usize = 500;

/// The page size where the query does not give one.
const USUAL: u64 = 100;

/// A part of a list: so many, from this position on.
pub(crate) struct Page<P> {
    pub(crate) limit: usize,
    pub(crate) position: Option<P>,
}

impl RequestContext {
    /// The part that the query asks for: `limit`, 1 to `most`, and a position by this name.
    pub(crate) fn page<P>(
        &self,
        most: usize,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Page<P>, ApiError> {
        let query = self.query();
        let limit = query.get("limit").map_or(Some(USUAL), |text| number(text));
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=most).contains(limit)).ok_or_else(|| {
            invalid_query("limit", format!("must be a whole number from 1 to {most}"))
        })?;
        let position = query.get(name).map(|text| parse(text).ok_or_else(|| no_position(name)));
        Ok(Page { limit, position: position.transpose()? })
    }
}

/// This parameter of the query names no place in a list.
pub(crate) fn no_position(name: &'static str) -> ApiError {
    invalid_query(name, "must be a position that the list gave")
}
