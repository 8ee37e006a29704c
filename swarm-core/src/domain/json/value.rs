//! Owned JSON values. Numbers keep the digits that they were written with.

use serde::ser::{Serialize, Serializer};

use super::number::Number;
use crate::domain::Invalid;

/// A JSON value. Serializing it gives the JSON that it was parsed from.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Object),
}

/// A JSON object, in the order of its members. A reader takes the members one by one: a member that
/// is `null` counts as absent, and unknown members are ignored (API.md, 1.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub(super) Vec<(String, Json)>);

impl Json {
    /// Accepts a value of any shape for `field`, to be stored and shown inside another value.
    ///
    /// # Errors
    /// [`Invalid`] when it is nested deeper than 64 levels. The limit is lower than the parser's,
    /// so that a response that contains the value can still be parsed.
    pub(crate) fn free(self, field: &'static str) -> Result<Self, Invalid> {
        const MAX_DEPTH: usize = 64;
        if self.depth() <= MAX_DEPTH {
            return Ok(self);
        }
        Err(Invalid::new(field, "must not be nested more than 64 deep"))
    }

    fn depth(&self) -> usize {
        match self {
            Self::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or_default(),
            Self::Object(object) => {
                1 + object.members().map(|(_, value)| value.depth()).max().unwrap_or_default()
            }
            _ => 0,
        }
    }

    /// Converts it to an object. Any other value becomes an object without members, so that reading
    /// a required field reports it as missing.
    pub fn into_object(self) -> Object {
        match self {
            Self::Object(object) => object,
            _ => Object::default(),
        }
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<const N: usize> From<[(&str, Json); N]> for Json {
    fn from(members: [(&str, Json); N]) -> Self {
        members.into_iter().collect()
    }
}

impl<'a> FromIterator<(&'a str, Json)> for Json {
    fn from_iter<I: IntoIterator<Item = (&'a str, Json)>>(members: I) -> Self {
        let members = members.into_iter().map(|(key, value)| (key.to_owned(), value));
        Self::Object(members.collect())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Number(number.into())
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => items.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}
