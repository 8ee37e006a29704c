//! JSON, read strictly and written as ECMAScript writes it (API.md, 1.1 and 3.1).
//!
//! Reading refuses duplicate keys at any depth, text that is not valid Unicode, and numbers that
//! no double can hold; a number becomes the nearest double, exactly. Writing prints numbers as
//! `Number::toString` does and escapes what `JSON.stringify` escapes, nothing else. A value that
//! was read is written as it came: the members of its objects in their order, and its numbers digit
//! for digit.

mod document;
mod error;
mod escapes;
mod fields;
mod number;
mod object;
mod reader;
mod value;

use std::io;

use serde::ser::Serialize;

pub use document::{Document, Members};
pub use error::NotJson;
pub use fields::Fields;
pub use number::Number;
pub use value::{Json, Object};

/// The JSON text of `value`, as `JSON.stringify` would write it.
///
/// The types of this crate always have one; a value of yours that refuses to be serialized, or
/// has a map with keys that are no text, gives `null`.
pub fn write<T: Serialize + ?Sized>(value: &T) -> String {
    write_with_room(value, 256)
}

/// The same, where most texts have no more than `room` bytes.
pub(crate) fn write_with_room<T: Serialize + ?Sized>(value: &T, room: usize) -> String {
    let mut bytes = Vec::with_capacity(room);
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
