//! Numbers in paths and queries.

/// Parses a number in its canonical form: digits only, without leading zeros.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}
