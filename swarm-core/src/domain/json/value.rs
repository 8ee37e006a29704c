//! Values, as they were read.

use serde::ser::{Serialize, Serializer};

use super::number::Number;
use crate::domain::Invalid;

/// A JSON value. Serializes back to JSON as it was read.
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

/// A JSON object whose members are taken out one by one. A member that is `null` counts as absent;
/// one that is never taken is ignored (API.md, 1.1). It keeps the order of its members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub(super) Vec<(String, Json)>);

impl Json {
    /// Takes a value of any form, for the field `field`, to be kept and shown inside of others.
    ///
    /// # Errors
    /// [`Invalid`] when it is nested more than 64 deep: what it is shown in must stay readable.
    pub(crate) fn free(self, field: &'static str) -> Result<Self, Invalid> {
        const DEEPEST: usize = 64;
        if self.depth() <= DEEPEST {
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

    /// The object that this value is; anything else counts as an object without members, so that
    /// whatever a request needs is missing from it.
    pub fn into_object(self) -> Object {
        match self {
            Self::Object(object) => object,
            _ => Object::default(),
        }
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
