//! Numbers that keep the digits they were written with.

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

/// A number: the nearest double, and its original text if that differs from the text that
/// ECMAScript gives the double.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    value: f64,
    text: Option<Box<str>>,
}

impl Number {
    /// The number that was written as `text`.
    pub(super) fn written(value: f64, text: &str) -> Self {
        let is_usual = ryu_js::Buffer::new().format_finite(value) == text;
        Self { value, text: (!is_usual).then(|| text.into()) }
    }

    /// The double nearest to the number.
    pub fn get(&self) -> f64 {
        self.value
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { value, text: None }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            None => serializer.serialize_f64(self.value),
            Some(text) => {
                let text = RawValue::from_string(text.to_string()).map_err(S::Error::custom)?;
                text.serialize(serializer)
            }
        }
    }
}
