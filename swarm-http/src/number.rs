//! Numbers in paths and queries.

/// The number that `text` is, written as the service writes it.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}
