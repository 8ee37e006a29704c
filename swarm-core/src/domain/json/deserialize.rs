//! Reading types that derive `serde::Deserialize` from a parsed value, so that each is read from what the strict parser accepts.
//!
//! What can be read: texts, booleans, doubles, integers from 0 to 2^53, lists, objects, and enums of names alone. As for
//! [`Object`], a member that is `null` counts as absent.

use std::fmt::{self, Display};
use std::vec;

use serde::de::value::SeqDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::value::{Json, Object};

/// Why a value cannot be read as a type: the field, and its rule. It does not quote the value, unless a rule of the type does.
///
/// A field of a part that is flattened into its object has no name here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The names of the fields on the way to the value, with dots between them; empty for the whole value.
    field: String,
    /// What the value must be, which completes a sentence, or the error of its type.
    rule: String,
    is_sentence: bool,
}

impl Mismatch {
    /// `rule` completes a sentence about the value: "must be a number".
    fn new(rule: impl Into<String>) -> Self {
        Self { field: String::new(), rule: rule.into(), is_sentence: false }
    }

    /// A sentence about the field itself, as types of the domain write it, becomes its rule.
    fn in_field(mut self, name: &str) -> Self {
        let rule = self.rule.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
        if let Some(rule) = rule.filter(|_| self.is_sentence && self.field.is_empty()) {
            (self.rule, self.is_sentence) = (rule.to_owned(), false);
        }
        let field = match self.field.is_empty() {
            true => name.to_owned(),
            false => format!("{name}.{}", self.field),
        };
        Self { field, ..self }
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, rule, is_sentence } = self;
        match (field.is_empty(), is_sentence) {
            (true, true) => f.write_str(rule),
            (true, false) => write!(f, "it {rule}"),
            (false, true) => write!(f, "{field}: {rule}"),
            (false, false) => write!(f, "{field} {rule}"),
        }
    }
}

impl std::error::Error for Mismatch {}

impl Error for Mismatch {
    fn custom<T: Display>(error: T) -> Self {
        Self { is_sentence: true, ..Self::new(error.to_string()) }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::new(match expected.as_str() {
            "u8" | "u16" | "u32" | "u64" | "usize" => "must be a whole number, not negative",
            "f64" => "must be a number",
            "a boolean" => "must be true or false",
            "a sequence" => "must be an array",
            name if name.starts_with("struct ") => "must be an object",
            other => return Self::new(format!("must be {other}")),
        })
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match expected.to_string().as_str() {
            "u8" | "u16" | "u32" | "u64" | "usize" => Self::new("is too large"),
            other => Self::new(format!("must be {other}")),
        }
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("must be one of {}", expected.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("is missing").in_field(field)
    }
}

impl Object {
    /// Takes a field of any type that `serde` reads. An `Option` may be absent.
    ///
    /// # Errors
    /// [`Mismatch`] if the field is absent, or has no such value.
    pub fn take_as<T: DeserializeOwned>(&mut self, field: &str) -> Result<T, Mismatch> {
        match self.take(field) {
            Some(value) => T::deserialize(value).map_err(|error| error.in_field(field)),
            None => T::deserialize(Json::Null)
                .map_err(|_: Mismatch| Mismatch::new("is missing").in_field(field)),
        }
    }
}

impl<'de> Deserializer<'de> for Json {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Number(number) => match number.whole() {
                Some(whole) => visitor.visit_u64(whole),
                None => visitor.visit_f64(number.get()),
            },
            Self::Text(text) => visitor.visit_string(text),
            Self::List(items) => {
                let mut items = SeqDeserializer::new(items.into_iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Self::Object(Object(members)) => {
                visitor.visit_map(Members { rest: members.into_iter(), value: None })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    /// Only from an object: a derived struct would accept a list of its fields too.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self {
            Self::Object(_) => self.deserialize_any(visitor),
            _ => Err(Mismatch::new("must be an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self {
            Self::Text(name) => visitor.visit_enum(name.into_deserializer()),
            _ => Err(Mismatch::unknown_variant("", names)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Mismatch> for Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The members of an object, and the one whose name was read last.
struct Members {
    rest: vec::IntoIter<(String, Json)>,
    value: Option<(String, Json)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mismatch> {
        self.value = self.rest.find(|(_, value)| *value != Json::Null);
        let name = self.value.as_ref().map(|(name, _)| name.as_str());
        name.map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mismatch> {
        let (name, value) = self.value.take().ok_or_else(|| Mismatch::new("is missing"))?;
        seed.deserialize(value).map_err(|error| error.in_field(&name))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::domain::{Day, DeliveryState, SessionId, SessionState};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed {
        id: Option<SessionId>,
        state: Option<SessionState>,
        delivery: Option<DeliveryState>,
        dates: Vec<Day>,
        rate: Option<f64>,
        part: Option<Part>,
        #[serde(default)]
        others: Vec<u8>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Part {
        is_met: bool,
    }

    fn read(text: &str) -> Result<Listed, String> {
        let json = Json::read(text.as_bytes()).unwrap();
        Listed::deserialize(json).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_deserialized() {
        let text = r#"{
            "id": 9007199254740992, "state": "collecting", "delivery": "failed", "dates": ["2026-11-21"], "rate": 1,
            "other": [{}], "part": {"is_met": true}, "others": [255]
        }"#;
        let listed = Listed {
            id: Some(SessionId(1 << 53)),
            state: Some(SessionState::Collecting),
            delivery: Some(DeliveryState::Failed),
            dates: vec![Day::parse("2026-11-21").unwrap()],
            rate: Some(1.0),
            part: Some(Part { is_met: true }),
            others: vec![255],
        };
        assert_eq!(read(text), Ok(listed));
        let nulls = r#"{"id": null, "dates": [], "rate": 0.5, "others": null}"#;
        assert_eq!(read(nulls), Ok(Listed { rate: Some(0.5), ..Listed::default() }));
    }

    #[test]
    fn error_names_the_field_and_its_rule_without_the_value() {
        for (text, error) in [
            ("{}", "dates is missing"),
            (r#"{"dates": null}"#, "dates is missing"),
            ("[[]]", "it must be an object"),
            (r#"{"dates": "hush"}"#, "dates must be an array"),
            (r#"{"dates": [], "id": -1}"#, "id must be a whole number, not negative"),
            (r#"{"dates": [], "id": 1.5}"#, "id must be a whole number, not negative"),
            (r#"{"dates": [], "others": [256]}"#, "others is too large"),
            (r#"{"dates": [], "rate": "hush"}"#, "rate must be a number"),
            (r#"{"dates": [], "part": [true]}"#, "part must be an object"),
            (r#"{"dates": [], "part": {"is_met": 1}}"#, "part.is_met must be true or false"),
            (r#"{"dates": [], "part": {}}"#, "part.is_met is missing"),
            (
                r#"{"dates": [], "delivery": "hush"}"#,
                "delivery must be one of queued, delivered, failed",
            ),
            (
                r#"{"dates": [], "delivery": {"hush": 1}}"#,
                "delivery must be one of queued, delivered, failed",
            ),
        ] {
            assert_eq!(read(text), Err(error.to_owned()), "{text}");
        }
        // A type of the domain says what its texts are.
        let error = read(r#"{"dates": ["hush"]}"#).unwrap_err();
        assert!(error.starts_with("dates: "), "{error}");
    }

    #[test]
    fn field_is_taken_as_a_type() {
        let mut fields = Json::read(br#"{"id": 7, "rate": null}"#).unwrap().into_object();
        assert_eq!(fields.take_as::<Option<f64>>("rate"), Ok(None));
        assert_eq!(fields.take_as("id"), Ok(SessionId(7)));
        let error = fields.take_as::<SessionId>("id").unwrap_err();
        assert_eq!(error.to_string(), "id is missing");
    }
}
