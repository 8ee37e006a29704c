//! Shares of a whole, as a bar chart and as a table.

use super::charts::{Bar, bars};
use super::markup::Markup;

/// Maximum number of rows of the table.
const MAX_ROWS: usize = 120;

/// The chart and the rows of its table.
pub(super) struct Shares {
    pub(super) chart: Markup,
    pub(super) rows: Vec<(String, String)>,
}

/// Draws named shares; `write` formats the figures of the table.
pub(super) fn shares_of(
    named: &[(String, f64)],
    write: impl Fn(f64) -> String,
    label: &str,
) -> Shares {
    const MAX_BARS: usize = 24;
    let shown: Vec<_> =
        named.iter().take(MAX_BARS).map(|(name, share)| Bar { name, share: *share }).collect();
    let rows = named.iter().take(MAX_ROWS).map(|(name, share)| (name.clone(), write(*share)));
    Shares { chart: bars(&shown, label), rows: rows.collect() }
}
