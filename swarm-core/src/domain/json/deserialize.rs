//! Deserializing any type from a parsed value, so that every type is read from what the strict parser accepts.

use std::vec;

use serde::de::value::{Error, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::value::{Json, Object};

/// A whole number up to 2^53 is an unsigned integer, any other number a double. An error names the fields on the way to the
/// value that has it.
impl<'de> Deserializer<'de> for Json {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
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

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(name) => visitor.visit_enum(name.into_deserializer()),
            other => other.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de> for Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The members of an object, and the value of the one whose name was read last.
struct Members {
    rest: vec::IntoIter<(String, Json)>,
    value: Option<(String, Json)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.value = self.rest.next();
        let name = self.value.as_ref().map(|(name, _)| name.as_str());
        name.map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.value.take().ok_or_else(|| Error::custom("no value"))?;
        seed.deserialize(value).map_err(|error| Error::custom(format!("{name}: {error}")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::domain::{Day, SessionId, SessionState};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed {
        id: Option<SessionId>,
        state: Option<SessionState>,
        dates: Vec<Day>,
        rate: Option<f64>,
        part: Option<Part>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Part {
        is_met: bool,
        #[serde(flatten)]
        kind: Kind,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Kind {
        Plain { count: u8 },
    }

    fn read(text: &str) -> Result<Listed, String> {
        let json = Json::read(text.as_bytes()).unwrap();
        Listed::deserialize(json).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_deserialized() {
        let text = r#"{
            "id": 9007199254740992, "state": "collecting", "dates": ["2026-11-21"], "rate": 1, "other": [{}],
            "part": {"is_met": true, "kind": "plain", "count": 255}
        }"#;
        let part = Part { is_met: true, kind: Kind::Plain { count: 255 } };
        let listed = Listed {
            id: Some(SessionId(1 << 53)),
            state: Some(SessionState::Collecting),
            dates: vec![Day::parse("2026-11-21").unwrap()],
            rate: Some(1.0),
            part: Some(part),
        };
        assert_eq!(read(text), Ok(listed));
        let nulls = r#"{"id": null, "dates": [], "rate": 0.5}"#;
        assert_eq!(read(nulls), Ok(Listed { rate: Some(0.5), ..Listed::default() }));
    }

    #[test]
    fn error_names_the_fields_on_the_way_to_the_value() {
        for (text, error) in [
            ("{}", "missing field `dates`"),
            (r#"{"dates": "x"}"#, "dates: invalid type: string \"x\", expected a sequence"),
            (r#"{"dates": [], "id": -1}"#, "id: invalid type: floating point `-1.0`, expected u64"),
            (r#"{"dates": [], "id": 1.5}"#, "id: invalid type: floating point `1.5`, expected u64"),
            (
                r#"{"dates": [], "part": {"is_met": 1}}"#,
                "part: is_met: invalid type: integer `1`, expected a boolean",
            ),
        ] {
            assert_eq!(read(text), Err(error.to_owned()), "{text}");
        }
        assert!(read(r#"{"dates": ["today"]}"#).unwrap_err().starts_with("dates: "));
    }
}
