//! How a whole is divided, as bars and as a table.

use super::charts::{Bar, bars};
use super::markup::Markup;

/// The most rows of the table.
const LISTED: usize = 120;

/// Shares of a whole.
pub(super) struct Shares {
    pub(super) chart: Markup,
    pub(super) rows: Vec<(String, String)>,
}

/// Shares with their names, the figures of the table written by `write`.
pub(super) fn shares_of(
    named: &[(String, f64)],
    write: impl Fn(f64) -> String,
    label: &str,
) -> Shares {
    const MOST: usize = 24;
    let shown: Vec<_> =
        named.iter().take(MOST).map(|(name, share)| Bar { name, share: *share }).collect();
    let rows = named.iter().take(LISTED).map(|(name, share)| (name.clone(), write(*share)));
    Shares { chart: bars(&shown, label), rows: rows.collect() }
}
