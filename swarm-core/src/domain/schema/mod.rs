//! The JSON Schemas of values that the types of Rust say too little of. Those of structs and enums are derived.

mod log;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::domain::committee::{CommitteeBody, CommitteeMemberId, Model, Voice};
use crate::domain::form::{self, text_schema};
use crate::domain::json::{Json, Object, write};
use crate::domain::take::Record;
use crate::domain::{
    Actor, Body, BriefId, Bucket, Confidence, Contact, Day, DeliveryId, Described, Digest, Lens,
    MemberId, MemoId, MemoUrl, MessageId, Name, Nonce, Note, OutcomeSource, OutcomeValue, Prompt,
    PublicKey, QuestionText, Resolution, Revision, Salt, Seq, SessionId, Signal, Signature, Stance,
    Stances, SubjectId, SubjectSnapshotId, Take, TakeId, TakeOnFile, TenantId, Timestamp,
};

/// Implements [`JsonSchema`]. Other schemas refer to one with a name, and contain one without.
macro_rules! schema {
    ($($name:literal $($type:ident)+ = $schema:expr;)+) => {$($(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                $name.is_empty()
            }

            fn schema_name() -> Cow<'static, str> {
                if $name.is_empty() { stringify!($type).into() } else { $name.into() }
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+)+};
}

schema! {
    "TenantId" TenantId = json_schema!({"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"});
    "Id" SessionId TakeId MessageId DeliveryId BriefId MemoId SubjectSnapshotId = json_schema!({
        "type": "integer", "minimum": 1, "description": "Counted from 1, per tenant and kind."
    });
    "Day" Day = json_schema!({
        "type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        "description": "A day in UTC."
    });
    "Instant" Timestamp = json_schema!({
        "type": "string", "format": "date-time",
        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
        "description": "A time in UTC, with milliseconds."
    });
    "MemberId" MemberId = of(&text_schema(1, Self::MAX));
    "SubjectId" SubjectId = of(&text_schema(1, Self::MAX));
    "Stance" Stance = json_schema!({
        "type": "string", "minLength": 1, "maxLength": Self::MAX,
        "description": "Any text; aggregation knows bearish, cautious, neutral, constructive and bullish."
    });
    "Confidence" Confidence = json_schema!({"type": "number", "minimum": 0, "maximum": 1});
    "PublicKey" PublicKey = json_schema!({
        "type": "string", "pattern": "^[A-Za-z0-9+/]{43}=$",
        "description": "Ed25519: standard base64, with padding, of the raw 32 bytes."
    });
    "Signature" Signature = json_schema!({
        "type": "string", "pattern": "^[A-Za-z0-9+/]{86}==$",
        "description": "Ed25519: standard base64, with padding, of the raw 64 bytes."
    });
    "Digest" Digest = json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"});
    "StanceCounts" Stances = json_schema!({
        "type": "object", "additionalProperties": {"type": "integer", "minimum": 0},
        "description": "The number of takes for each stance: bearish, cautious, neutral, constructive, bullish and other, \
            or those that the session declares."
    });
    "CommitteeMemberId" CommitteeMemberId =
        json_schema!({"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,99}$"});
    "Prompt" Prompt = of(&<Self as Described>::schema());
    "Signal" Signal = of(&<Self as Described>::schema());
    "" Body Bucket Contact Lens MemoUrl Model Name Nonce Note OutcomeSource OutcomeValue QuestionText Resolution Revision Voice =
        of(&<Self as form::Value>::schema());
    "" Seq = json_schema!({"type": "integer", "minimum": 0});
    "" Salt = json_schema!({"type": "string", "minLength": 44, "maxLength": 44});
    "" Actor = json_schema!({"type": "string", "minLength": 1, "maxLength": 100});
    "" CommitteeBody = json_schema!({"type": "string"});
    "" Object = json_schema!({"type": "object"});
    "" Json = json_schema!({});
}

impl JsonSchema for Take {
    fn schema_name() -> Cow<'static, str> {
        "Take".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        record_of_take(generator, &["body", "memoUrl"], &["withheld"])
    }
}

/// The record of a take whose texts are withheld.
struct WithheldTake;

impl JsonSchema for WithheldTake {
    fn schema_name() -> Cow<'static, str> {
        "WithheldTake".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = record_of_take(generator, &["withheld"], &["body", "memoUrl"]);
        let description = "A take on file whose write-up and memo address an operator withheld. All else stays and counts; its \
            signature cannot be verified from this record.";
        schema.insert("description".to_owned(), description.into());
        schema.insert("not".to_owned(), json!({ "required": ["body"] }));
        schema
    }
}

/// The record of a take that has some of the optional fields, and never has others.
fn record_of_take(generator: &mut SchemaGenerator, with: &[&str], without: &[&str]) -> Schema {
    let mut schema = Record::json_schema(generator);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.extend(with.iter().map(|name| Value::from(*name)));
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| !without.contains(&name.as_str()));
    }
    schema
}

impl JsonSchema for TakeOnFile {
    fn schema_name() -> Cow<'static, str> {
        "BundledTake".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let variants =
            [generator.subschema_for::<Take>(), generator.subschema_for::<WithheldTake>()];
        json_schema!({ "anyOf": variants })
    }
}

/// Returns the schema of an object with these required fields before its own.
pub(crate) fn with_fields_first(first: &Map<String, Value>, mut object: Schema) -> Schema {
    let required: Vec<_> = first.keys().cloned().map(Value::from).collect();
    for (keyword, mut first) in
        [("required", Value::Array(required)), ("properties", Value::Object(first.clone()))]
    {
        match (&mut first, object.remove(keyword)) {
            (Value::Array(first), Some(Value::Array(rest))) => first.extend(rest),
            (Value::Object(first), Some(Value::Object(rest))) => first.extend(rest),
            _ => {}
        }
        object.insert(keyword.to_owned(), first);
    }
    object
}

/// The schema that a field of a request has too.
fn of(schema: &Json) -> Schema {
    serde_json::from_str(&write(schema)).unwrap_or_default()
}
