//! Why a field was refused.

/// A field that breaks its rule. On the wire most places name only the kind of request that was
/// invalid; operators get this text as `detail` (API.md, 7.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {rule}")]
pub struct Invalid {
    /// The name of the field, as on the wire.
    pub field: &'static str,
    /// What the field must be.
    pub rule: String,
}

impl Invalid {
    /// The field named `field` does not keep the rule that it `rule`.
    pub fn new(field: &'static str, rule: impl Into<String>) -> Self {
        Self { field, rule: rule.into() }
    }

    /// The field named `field` is not there.
    pub fn missing(field: &'static str) -> Self {
        Self::new(field, "is missing")
    }
}
