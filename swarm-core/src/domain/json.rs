//! JSON, read strictly and written as ECMAScript writes it (contract, section 2).
//!
//! Reading refuses duplicate keys at any depth, text that is not valid Unicode, and numbers that
//! no double can hold; a number becomes the nearest double, exactly. Writing prints numbers as
//! `Number::toString` does and escapes what `JSON.stringify` escapes, nothing else.

mod object;

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::Invalid;

pub use object::Object;

/// A JSON value. Serializes back to JSON, the members of an object sorted by key.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The double nearest to the number as written.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Object),
}

impl Json {
    /// Reads one JSON text. Values may be nested 127 deep.
    ///
    /// # Errors
    /// [`NotJson`] when `bytes` are anything else than one JSON text in UTF-8.
    pub fn read(bytes: &[u8]) -> Result<Self, NotJson> {
        let text = std::str::from_utf8(bytes).map_err(|_| NotJson)?;
        serde_json::from_str(text).map_err(|_| NotJson)
    }

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
            Self::Object(Object(members)) => {
                1 + members.values().map(Self::depth).max().unwrap_or_default()
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

/// The bytes are not one JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid json body")]
pub struct NotJson;

impl<const N: usize> From<[(&str, Json); N]> for Json {
    fn from(members: [(&str, Json); N]) -> Self {
        members.into_iter().collect()
    }
}

impl<'a> FromIterator<(&'a str, Json)> for Json {
    fn from_iter<I: IntoIterator<Item = (&'a str, Json)>>(members: I) -> Self {
        let members = members.into_iter().map(|(key, value)| (key.to_owned(), value));
        Self::Object(Object(members.collect()))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

struct Strict;

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    // Whole numbers beyond 2^53 round to the nearest double, ties to even, as every reader of
    // doubles must.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = BTreeMap::new();
        while let Some((key, value)) = members.next_entry::<String, Json>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("duplicate key"));
            }
        }
        Ok(Json::Object(Object(object)))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => items.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The JSON text of `value`, as `JSON.stringify` would write it.
///
/// The types of this crate always have one; a value of yours that refuses to be serialized, or
/// has a map with keys that are no text, gives `null`.
pub fn write<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::with_capacity(256);
    let written =
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, EcmaScript));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        _ => "null".to_owned(),
    }
}

/// Compact JSON with the number text of ECMAScript. Escapes need no word: `serde_json` escapes
/// exactly what `JSON.stringify` does.
struct EcmaScript;

impl serde_json::ser::Formatter for EcmaScript {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(ryu_js::Buffer::new().format_finite(value).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        assert!(Json::read(br#"{"a":1,"b":2}"#).is_ok());
        assert!(Json::read(br#"{"a":1,"\u0061":2}"#).is_err());
        assert!(Json::read(br#"{"x":[{"a":1,"a":1}]}"#).is_err());
    }

    #[test]
    fn text_must_be_unicode() {
        for bad in [&b"\"\xff\""[..], br#""\ud800""#, br#"{"unknown":"\udc00"}"#, b"\xef\xbb\xbf{}"]
        {
            assert_eq!(Json::read(bad), Err(NotJson));
        }
    }

    #[test]
    fn depth_is_bounded_without_a_crash() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::read(nested(100).as_bytes()).is_ok());
        assert_eq!(Json::read(nested(200_000).as_bytes()), Err(NotJson));
    }

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        let printed = |text: &str| Json::read(text.as_bytes()).map(|value| write(&value));
        for (given, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("1e21", "1e+21"),
            ("1e-7", "1e-7"),
            ("18446744073709551615", "18446744073709552000"),
            ("9007199254740993", "9007199254740992"),
        ] {
            assert_eq!(printed(given), Ok(expected.to_owned()));
        }
        assert_eq!(printed("1e309"), Err(NotJson));
    }

    #[test]
    fn what_is_not_an_object_has_no_members() {
        let mut object = Json::List(vec![]).into_object();
        assert!(object.text("memberId").is_err());
    }
}
