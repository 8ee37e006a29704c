//! A strict JSON parser, and a writer with the output of `JSON.stringify` (API.md, 1.1 and 3.1).
//!
//! The parser refuses duplicate keys at any depth, text that is not valid Unicode, and numbers
//! outside the range of a double. A number becomes the nearest double. The writer prints numbers
//! like `Number::toString` and escapes what `JSON.stringify` escapes, nothing else. A parsed value
//! is written back unchanged except for white space and escapes: members keep their order, numbers
//! their digits.

mod deserialize;
mod document;
mod error;
mod escapes;
mod number;
mod object;
mod printable;
mod raw;
mod reader;
mod value;

use std::io;

use serde::ser::Serialize;

pub use deserialize::Mismatch;
pub use document::{JsonDocument, Members};
pub use error::{ErrorPosition, NotJson};
pub use number::Number;
pub(crate) use number::exact;
pub use object::Fields;
pub use printable::{is_unprintable, printable, printable_json, printable_lines, write_line};
pub use raw::RawJson;
pub use value::{Json, Object};

/// Returns the JSON text of `value`, as `JSON.stringify` would write it.
///
/// All types of this crate can be serialized. A value of another type that fails to serialize, or
/// that contains a map with keys other than strings, gives `null`.
pub fn write<T: Serialize + ?Sized>(value: &T) -> String {
    write_with_capacity(value, 256)
}

/// As [`write()`], with the initial capacity of the buffer in bytes.
pub(crate) fn write_with_capacity<T: Serialize + ?Sized>(value: &T, capacity: usize) -> String {
    let mut bytes = Vec::with_capacity(capacity);
    let written =
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, EcmaScript));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        _ => "null".to_owned(),
    }
}

/// Compact JSON with the numbers of ECMAScript. `serde_json` already escapes exactly what
/// `JSON.stringify` does.
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
    fn invalid_unicode_is_refused() {
        for bad in [&b"\"\xff\""[..], br#""\ud800""#, br#"{"unknown":"\udc00"}"#, b"\xef\xbb\xbf{}"]
        {
            assert!(Json::read(bad).is_err());
        }
    }

    #[test]
    fn a_fault_says_where_it_is() {
        for (bytes, place) in [
            (&b""[..], "line 1, column 1"),
            (b"{", "line 1, column 2"),
            (b"{\"a\":1,}", "line 1, column 8"),
            (b"{\"a\":1,\n \"b\":tru}", "line 2, column 6"),
            ("{\"é\": x}".as_bytes(), "line 1, column 7"),
            (b"[1 2]", "line 1, column 4"),
            (b"[01]", "line 1, column 2"),
            (b"[1e309]", "line 1, column 2: the number is out of the range of a double"),
            (b"{'a':1}", "line 1, column 2"),
            (b"[\"\\ud800\"]", "line 1, column 2: the string has half of a surrogate pair"),
            (b"[\"\\ud800\\u0041\"]", "line 1, column 2: the string has half of a surrogate pair"),
            (b"[\"\\ud80\"]", "line 1, column 2"),
            (b"[1e309x]", "line 1, column 2: the number is out of the range of a double"),
            (b"\x1f\x8b\x08\x00", "gzip"),
            (b"\n\"a\xff\"", "line 2, column 3"),
            (b"{} {}", "line 1, column 4"),
            (b"{\"x\":{\"a\":1,\"b\":2,\"a\":1}}", "the key \"a\" stands twice"),
        ] {
            let fault = Json::read(bytes).map_err(|fault| fault.position.to_string());
            assert_eq!(fault, Err(place.to_owned()), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn deep_nesting_is_refused_without_stack_overflow() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::read(nested(127).as_bytes()).is_ok());
        for depth in [128, 200_000] {
            let fault = Json::read(nested(depth).as_bytes()).map_err(|it| it.position.to_string());
            let place = "line 1, column 128: there are more than 127 levels of nesting";
            assert_eq!(fault, Err(place.to_owned()));
        }
    }

    #[test]
    fn number_of_values_is_bounded() {
        // The list, the object in it, its member, and a number.
        let text = br#"[{"a":1},2]"#;
        assert!(Json::read_bounded(text, 4).is_ok());
        let fault = Json::read_bounded(text, 3).map_err(|fault| fault.position);
        assert_eq!(fault, Err(ErrorPosition::TooManyValues));
    }

    #[test]
    fn raw_value_is_the_one_that_is_parsed() {
        for text in [
            r#" { "b" : [ 1.50 , true,[],{} ] ,"\u0061":{"c":"\"}]\\"},"d":null,"e":"x,y" } "#,
            r#"[[1,[2,[3,[4,[5,[6,-1E3]]]]]],"",{"":{"":[null,false]}}]"#,
            "  12.0  ",
            "\"a\"",
            "[]",
        ] {
            let (raw, json) = (RawJson::read(text.as_bytes()), Json::read(text.as_bytes()));
            assert_eq!(raw.clone().map(RawJson::as_str), Ok(text.trim()));
            assert_eq!(raw.map(RawJson::to_json), json);
        }
        for bad in [&b"{\"a\":[{\"b\":1,\"b\":2}]}"[..], b"[1,]", b"[1] 2", b"[1e999]", b""] {
            assert_eq!(RawJson::read(bad).map(|_| ()), Json::read(bad).map(|_| ()));
        }
        let text = br#"[{"a":1},2]"#;
        assert!(RawJson::read_bounded(text, 4).is_ok());
        assert!(RawJson::read_bounded(text, 3).is_err());
        let raw = RawJson::read(br#"{"a":null,"b":[1,{"c":2}],"c":"\u0041"}"#);
        let member = |name| raw.clone().map(|raw| raw.member(name).map(RawJson::as_str));
        assert_eq!(member("a"), Ok(None));
        assert_eq!(member("b"), Ok(Some(r#"[1,{"c":2}]"#)));
        assert_eq!(member("c"), Ok(Some(r#""\u0041""#)));
    }

    #[test]
    fn parsed_value_is_written_back_unchanged() {
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
    fn numbers_print_as_in_ecmascript() {
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
        assert!(printed("1e309").is_err());
    }

    #[test]
    fn value_that_is_not_an_object_has_no_members() {
        let mut object = Json::List(vec![]).into_object();
        assert!(object.text("memberId").is_err());
    }
}
