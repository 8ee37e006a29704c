//! A table of a page.

use crate::pages::Markup;

/// A table, or a sentence where it has no rows.
pub(crate) struct Table {
    pub(crate) label: &'static str,
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<Markup>>,
    pub(crate) empty: &'static str,
}
