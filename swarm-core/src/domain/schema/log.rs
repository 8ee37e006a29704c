//! The JSON Schemas of the lines of the log: one for each kind, and their union.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::with_fields_first;
use crate::domain::{LogEntry, LogLine, Timestamp};

impl JsonSchema for LogLine {
    fn schema_name() -> Cow<'static, str> {
        "LogEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let seq = json!({
            "type": "integer", "minimum": 1, "description": "The number of the entry, counted from 1."
        });
        let mut at = generator.subschema_for::<Timestamp>();
        at.insert("description".to_owned(), "The time of the commit, by the store's clock.".into());
        let fields = Map::from_iter([("seq".to_owned(), seq), ("at".to_owned(), at.into())]);
        let entry = LogEntry::json_schema(generator);
        union(generator, "kind", &fields, entry)
    }
}

/// Names the variants of a union after their tags, adds these fields to each, and refers to them. A variant that is a union
/// itself has the tag `act`.
fn union(
    generator: &mut SchemaGenerator,
    tag: &str,
    fields: &Map<String, Value>,
    mut union: Schema,
) -> Schema {
    let (mut references, mut mapping) = (Vec::new(), Map::new());
    let variants = union.get_mut("oneOf").and_then(Value::as_array_mut).map(std::mem::take);
    for variant in variants.into_iter().flatten() {
        let value = variant["properties"][tag]["const"].as_str().unwrap_or_default().to_owned();
        let name = format!("{}Entry", value.split('-').map(capitalized).collect::<String>());
        let reference = format!("#/components/schemas/{name}");
        references.push(json!({ "$ref": reference }));
        mapping.insert(value, reference.into());
        let variant = Schema::try_from(variant).unwrap_or_default();
        let mut variant = with_fields_first(fields, variant);
        if variant.get("oneOf").is_some() {
            let fields = variant.remove("properties");
            variant.remove("required");
            variant.remove("type");
            let fields = fields.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            variant = self::union(generator, "act", &fields, variant);
        }
        generator.definitions_mut().insert(name, variant.into());
    }
    union.insert("oneOf".to_owned(), references.into());
    let discriminator = json!({ "propertyName": tag, "mapping": mapping });
    union.insert("discriminator".to_owned(), discriminator);
    union
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}
