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
    pub(super) fn written(text: &str) -> Self {
        let value = nearest(text);
        let is_usual = is_small_integer(text) || ryu_js::Buffer::new().format_finite(value) == text;
        Self { value, text: (!is_usual).then(|| text.into()) }
    }

    /// The double nearest to the number.
    pub fn get(&self) -> f64 {
        self.value
    }

    /// The number, if it is an integer from 0 to 2^53.
    pub fn whole(&self) -> Option<u64> {
        const END: f64 = 9_007_199_254_740_992.0;
        let is_whole = (0.0..=END).contains(&self.value) && self.value.fract() == 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        is_whole.then_some(self.value as u64)
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
            None => exact(&self.value, serializer),
            Some(text) => raw(text.to_string(), self.value, serializer),
        }
    }
}

/// Serializes a double as ECMAScript writes it, also through a serializer of other numbers: `serde_json` alone writes `1.0` for
/// 1, and `1e-6` for 0.000001. For fields: `#[serde(serialize_with = "crate::domain::json::exact")]`.
pub(crate) fn exact<T: Copy + Into<Option<f64>>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    /// Below it, an integer is one of 64 bits.
    const MAX_WHOLE: f64 = 1e15;
    /// From it on, the digits of a fraction are written without an exponent.
    const MIN_PLAIN: f64 = 1e-5;
    let Some(value) = (*value).into() else { return serializer.serialize_none() };
    let size = value.abs();
    if size < MAX_WHOLE && value.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in range")]
        return serializer.serialize_i64(value as i64);
    }
    if (MIN_PLAIN..MAX_WHOLE).contains(&size) || !value.is_finite() {
        return serializer.serialize_f64(value);
    }
    raw(ryu_js::Buffer::new().format_finite(value).to_owned(), value, serializer)
}

/// Serializes a number by its text. Only `serde_json` understands that; of other formats, those that are binary can be told, and get the
/// nearest double.
fn raw<S: Serializer>(text: String, value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if !serializer.is_human_readable() {
        return serializer.serialize_f64(value);
    }
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

/// Whether a number of JSON is in the range of a double; `None` if the text is no number.
pub(super) fn is_in_range(text: &str) -> Option<bool> {
    /// A text that is shorter, and has no exponent, is in the range.
    const MAX_SURE_LENGTH: usize = 300;
    let has_exponent = is_in_grammar(text.as_bytes())?;
    Some((!has_exponent && text.len() <= MAX_SURE_LENGTH) || nearest(text).is_finite())
}

/// The double nearest to a number of JSON; infinite if the number is out of range.
pub(super) fn nearest(text: &str) -> f64 {
    // The grammar of Rust contains that of JSON.
    text.parse().unwrap_or(f64::NAN)
}

/// Whether ECMAScript writes the number like this: an integer of at most 15 digits without a sign.
fn is_small_integer(text: &str) -> bool {
    let is_canonical = text == "0" || !text.starts_with('0');
    is_canonical && text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks the grammar of RFC 8259, section 6. Returns whether there is an exponent; `None` if the text is not a
/// number.
fn is_in_grammar(text: &[u8]) -> Option<bool> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, mut rest) = digits(text)?;
    if whole.len() > 1 && whole.starts_with(b"0") {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        (_, rest) = digits(fraction)?;
    }
    let has_exponent = matches!(rest, [b'e' | b'E', ..]);
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        (_, rest) = digits(exponent)?;
    }
    rest.is_empty().then_some(has_exponent)
}

/// Splits the text after its first digits, of which there must be one.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 { None } else { text.split_at_checked(length) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::fmt::Error;

    use proptest::prelude::*;
    use serde::ser::{Impossible, Serialize, Serializer};

    use super::super::{Json, write};
    use super::{Number, exact};

    /// A binary format that writes doubles alone.
    struct Doubles;

    macro_rules! refusing {
        ($($name:ident($($value:ty),*) -> $done:ty;)*) => {
            $(fn $name(self, $(_: $value),*) -> Result<$done, Error> { Err(Error) })*
        };
    }

    type Never = Impossible<f64, Error>;

    impl Serializer for Doubles {
        type Ok = f64;
        type Error = Error;
        type SerializeSeq = Never;
        type SerializeTuple = Never;
        type SerializeTupleStruct = Never;
        type SerializeTupleVariant = Never;
        type SerializeMap = Never;
        type SerializeStruct = Never;
        type SerializeStructVariant = Never;

        fn is_human_readable(&self) -> bool {
            false
        }

        fn serialize_f64(self, value: f64) -> Result<f64, Error> {
            Ok(value)
        }

        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<f64, Error> {
            value.serialize(self)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            value: &T,
        ) -> Result<f64, Error> {
            value.serialize(self)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            value: &T,
        ) -> Result<f64, Error> {
            value.serialize(self)
        }

        refusing! {
            serialize_bool(bool) -> f64;
            serialize_i8(i8) -> f64;
            serialize_i16(i16) -> f64;
            serialize_i32(i32) -> f64;
            serialize_i64(i64) -> f64;
            serialize_u8(u8) -> f64;
            serialize_u16(u16) -> f64;
            serialize_u32(u32) -> f64;
            serialize_u64(u64) -> f64;
            serialize_f32(f32) -> f64;
            serialize_char(char) -> f64;
            serialize_str(&str) -> f64;
            serialize_bytes(&[u8]) -> f64;
            serialize_none() -> f64;
            serialize_unit() -> f64;
            serialize_unit_struct(&'static str) -> f64;
            serialize_unit_variant(&'static str, u32, &'static str) -> f64;
            serialize_seq(Option<usize>) -> Never;
            serialize_tuple(usize) -> Never;
            serialize_tuple_struct(&'static str, usize) -> Never;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
            serialize_map(Option<usize>) -> Never;
            serialize_struct(&'static str, usize) -> Never;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
        }
    }

    #[test]
    fn binary_formats_get_doubles() {
        let number = Number::written("1.50");
        assert_eq!(number.serialize(Doubles), Ok(1.5));
        assert_eq!(exact(&1e-7, Doubles), Ok(1e-7));
    }

    #[derive(serde::Serialize)]
    struct Record {
        #[serde(serialize_with = "exact")]
        value: f64,
        #[serde(serialize_with = "exact")]
        other: Option<f64>,
    }

    proptest! {
        /// Whatever serializer of `serde_json` writes a double, its digits are those of ECMAScript.
        #[test]
        fn doubles_are_exact_through_serde_json_alone(
            value in prop_oneof![
                any::<f64>().prop_filter("JSON has no other", |value| value.is_finite()),
                (-1_000_000_i32..1_000_000, -12_i32..25).prop_map(|(value, power)| f64::from(value) * 10_f64.powi(power)),
            ],
        ) {
            let record = Record { value, other: Some(value) };
            let expected = ryu_js::Buffer::new().format_finite(value).to_owned();
            let expected = format!(r#"{{"value":{expected},"other":{expected}}}"#);
            prop_assert_eq!(serde_json::to_string(&record).unwrap(), &*expected);
            prop_assert_eq!(write(&record), expected);
        }

        /// `serde_json` accepts the same numbers and gives the same doubles.
        #[test]
        fn numbers_are_those_of_serde_json(
            text in prop_oneof![
                "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?",
                "[-+.eE0-9]{1,8}",
                "[1-9][0-9]{290,400}(\\.[0-9]{1,20})?",
            ],
        ) {
            let expected = serde_json::from_str::<f64>(&text).ok();
            let read = match Json::read(text.as_bytes()) {
                Ok(Json::Number(number)) => Some(number.get()),
                _ => None,
            };
            prop_assert_eq!(read.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}
