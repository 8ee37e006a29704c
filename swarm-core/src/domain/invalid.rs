//! The error of a field that breaks its rule.

/// A field that breaks its rule. Most routes answer only which kind of request was invalid; routes
/// for operators add this text as `detail` (API.md, 7.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {rule}")]
pub struct Invalid {
    /// The name of the field, as on the wire.
    pub field: &'static str,
    /// What the field must be.
    pub rule: String,
}

impl Invalid {
    /// The error of the field `field`. `rule` completes a sentence: "must be a number".
    pub fn new(field: &'static str, rule: impl Into<String>) -> Self {
        Self { field, rule: rule.into() }
    }

    /// The error of an unknown field. Quotes at most 40 characters of its name.
    pub fn unknown(name: &str) -> Self {
        let quoted: String = name.chars().take(40).collect();
        Self::new("body", format!("must not have the unknown field {quoted:?}"))
    }

    /// The error of a required field that is absent.
    pub fn missing(field: &'static str) -> Self {
        Self::new(field, "is missing")
    }
}
