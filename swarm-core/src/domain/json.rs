//! JSON, read strictly and written as ECMAScript writes it (contract, section 2).
//!
//! Reading refuses duplicate keys at any depth, text that is not valid Unicode, and numbers that
//! no double can hold; a number becomes the nearest double, exactly. Writing prints numbers as
//! `Number::toString` does and escapes what `JSON.stringify` escapes, nothing else. A value that
//! was read is written as it came: the members of its objects in their order, and its numbers digit
//! for digit.

mod number;
mod object;
mod reader;

use std::io;

use serde::ser::{Serialize, Serializer};

use super::Invalid;

pub use number::Number;
pub use object::Object;

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

impl Json {
    /// Reads one JSON text. Values may be nested 127 deep.
    ///
    /// # Errors
    /// [`NotJson`] when `bytes` are anything else than one JSON text in UTF-8.
    pub fn read(bytes: &[u8]) -> Result<Self, NotJson> {
        reader::read(std::str::from_utf8(bytes).map_err(|_| NotJson)?)
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
    fn what_was_read_is_written_as_it_came() {
        for text in [
            r#"{"b":1.0,"a":[-0,1E3,0.10,{"z":1e-7,"y":123456789012345678901234567890}],"":5e-324}"#,
            r#"[9007199254740993,18446744073709551615,1e21,1.5,-1,0,0.30000000000000004]"#,
        ] {
            assert_eq!(Json::read(text.as_bytes()).map(|value| write(&value)), Ok(text.to_owned()));
        }
        let spaced = " { \"b\" : [ 1.50 , true ] ,\r\n\t\"a\" : { } } ";
        let written = Json::read(spaced.as_bytes()).map(|value| write(&value));
        assert_eq!(written, Ok(r#"{"b":[1.50,true],"a":{}}"#.to_owned()));
    }

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        let printed = |text: &str| match Json::read(text.as_bytes()) {
            Ok(Json::Number(number)) => Ok(write(&number.get())),
            other => other.map(|value| write(&value)),
        };
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
