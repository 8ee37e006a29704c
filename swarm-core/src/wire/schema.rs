//! The JSON Schemas of answers, derived from the types that are serialized.

use std::borrow::Cow;
use std::collections::HashSet;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::answer::{Fault, Written};
use super::error::Refused;
use super::{documents, members, scores, sessions, takes, webhooks};
use crate::answers::{
    ApplicationState, Applications, OperatorActs, Outbox, PreflightAnswer, Status, Webhooks,
};
use crate::audit::BundleRecord;
use crate::domain::committee::{CommitteeMemberId, CommitteeStance};
use crate::domain::json::Json;
use crate::domain::schema::with_fields_first;
use crate::domain::{
    Brief, Confidence, Day, Digest, MemberId, MemberState, PublicKey, Session, SessionId,
    SessionState, Signature, Stance, SubjectId, Take, TakeOnFile, TenantId, Timestamp, Weights,
};
use crate::proof::diagnose::Diagnosis;
use crate::rules::{Forecast, PublicTake, SessionScores};
use crate::service::LogPage;

/// The types of the answers of interface B.
#[cfg(feature = "committee")]
mod committee {
    pub(super) use crate::answers::{
        CommitteeMembers, CommitteeReceipt, DayFiling, GeneratedBriefs,
    };
    pub(super) use crate::domain::committee::BriefFile;
    pub(super) use crate::rules::committee::CommitteeSession;
    pub(super) use crate::wire::committee::{
        CommitteeKey, CommitteeMemberUpdated, CommitteeSessions, CommitteeWritten, Detailed,
    };
}

/// Adds the schema of a type, and returns its name.
type Declared = fn(&mut SchemaGenerator) -> Cow<'static, str>;

/// Declares the schemas by topic: those of types, and with `ok`, those of the fields that follow `ok: true` in an answer, or
/// `ok: true` and its status, if there are any.
macro_rules! topics {
    (@add $type:ty) => {
        |generator| {
            generator.subschema_for::<$type>();
            <$type>::schema_name()
        }
    };
    (@add $type:ty, $($status:literal)*) => { |generator| done::<$type>(generator, &[$($status),*]) };
    ($($(#[$only:meta])* $topic:literal: $($type:ty $(= ok $($status:literal)*)?),*;)*) => {
        &[$($(#[$only])* ($topic, &[$(topics!(@add $type $(, $($status)*)?)),*])),*]
    };
}

/// The schemas by topic. One that is not listed belongs to the topic in which another one refers to it first.
const TOPICS: &[(&str, &[Declared])] = topics! {
    "takes": takes::Canonical, takes::Receipt = ok 201, PreflightAnswer, Diagnosis, Take, takes::Takes, PublicTake,
        TakeOnFile, takes::TakeMarked = ok 200;
    "sessions": SessionState, Session, sessions::SessionSummaries, sessions::Sessions, sessions::OpenSessions,
        sessions::SessionWithTakes, BundleRecord, sessions::SessionConvened = ok 201, sessions::SessionChanged = ok 200;
    "scores": Forecast, SessionScores, scores::MemberRecord, scores::Ranking;
    "members": MemberState, members::PublicMember, members::Members, members::Me, members::Applied, ApplicationState,
        members::Challenge, members::Token = ok 201, members::Reviewed = ok 200, members::KeyReplaced = ok 200,
        members::KeyRotated = ok 200, Applications, Outbox, members::MessageChanged = ok 200,
        Webhooks, webhooks::DeliveryChanged = ok 200;
    "documents": documents::Subjects, documents::SubjectWritten = ok 200 201, documents::SubjectSnapshots,
        documents::SnapshotAdded = ok 201, documents::Memos, documents::MemoReceipt = ok 201,
        documents::BriefPublished = ok 201, Written = ok 200;
    "log": LogPage;
    #[cfg(feature = "committee")]
    "committee": committee::CommitteeReceipt = ok, committee::CommitteeSessions, committee::CommitteeSession, committee::BriefFile,
        committee::CommitteeMemberUpdated = ok, committee::DayFiling, committee::CommitteeMembers,
        committee::CommitteeKey = ok, committee::GeneratedBriefs = ok, committee::CommitteeWritten = ok, committee::Detailed;
    "server": OperatorActs, Status;
    "common": TenantId, SessionId, Day, Timestamp, MemberId, SubjectId, CommitteeMemberId, Stance, CommitteeStance,
        Confidence, PublicKey, Signature, Digest, Weights, Refused, Fault;
};

/// Unions, which have no type of their own, by topic.
const UNIONS: &[(&str, Declared)] = &[
    ("sessions", |generator| {
        union::<sessions::Sessions<'_>, sessions::SessionSummaries<'_>>(
            generator,
            "SessionList",
            "",
        )
    }),
    ("sessions", |generator| union::<Session, ()>(generator, "OpenSession", "")),
    ("documents", |generator| union::<Brief, ()>(generator, "BriefOrNull", "")),
    ("common", |generator| {
        let description = "A refusal, or an error before any rule was applied. The code is in the header Swarm-Error.";
        union::<Refused<'_>, Fault<'_>>(generator, "Error", description)
    }),
];

/// Returns the JSON Schemas (2020-12) of answers, by topic and name.
pub fn answers() -> Vec<(&'static str, Vec<(String, Json)>)> {
    let mut generator = generator();
    let topics: Vec<_> = TOPICS
        .iter()
        .map(|(topic, declared)| {
            let unions = UNIONS.iter().filter(|(of, _)| of == topic).map(|(_, union)| union);
            let names = declared.iter().chain(unions).map(|add| add(&mut generator).into_owned());
            let names: Vec<_> = names.collect();
            let reached: Vec<_> = generator.definitions().keys().cloned().collect();
            (*topic, names, reached)
        })
        .collect();
    let mut seen: HashSet<_> = topics.iter().flat_map(|(_, names, _)| names.clone()).collect();
    let mut schemas = generator.take_definitions(true);
    let mut topic = |(topic, mut names, reached): (_, Vec<String>, Vec<String>)| {
        names.extend(reached.into_iter().filter(|name| seen.insert(name.clone())));
        let named =
            names.into_iter().filter_map(|name| Some((json(&schemas.remove(&name)?), name)));
        (topic, named.map(|(schema, name)| (name, schema)).collect())
    };
    topics.into_iter().map(&mut topic).collect()
}

/// Returns the name and the JSON Schema of an answer that the front end writes itself.
pub fn of<T: JsonSchema>() -> (String, Json) {
    let (mut generator, name) = (generator(), T::schema_name().into_owned());
    generator.subschema_for::<T>();
    let schema = generator.take_definitions(true).remove(&name);
    (name, json(&schema.unwrap_or_default()))
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings =
        settings.with(|settings| settings.definitions_path = "/components/schemas".into());
    settings.with_transform(RecursiveTransform(tidy)).into_generator()
}

/// Returns a schema as JSON with exact numbers.
pub fn json(schema: &Value) -> Json {
    Json::read(schema.to_string().as_bytes()).unwrap_or(Json::Null)
}

/// Adds the schema of an answer with these fields, and returns its name.
fn done<T: JsonSchema>(generator: &mut SchemaGenerator, statuses: &[u16]) -> Cow<'static, str> {
    let mut done = Map::from_iter([("ok".to_owned(), json!({ "const": true }))]);
    match statuses {
        [] => {}
        [status] => drop(done.insert("status".to_owned(), json!({ "const": status }))),
        _ => drop(done.insert("status".to_owned(), json!({ "type": "integer", "enum": statuses }))),
    }
    let schema = with_fields_first(&done, T::json_schema(generator));
    generator.definitions_mut().insert(T::schema_name().into_owned(), schema.into());
    T::schema_name()
}

/// Adds the schema of what is the one or the other, and returns its name.
fn union<A: JsonSchema, B: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &'static str,
    description: &'static str,
) -> Cow<'static, str> {
    let mut union = Map::new();
    if !description.is_empty() {
        union.insert("description".to_owned(), description.into());
    }
    let either = [generator.subschema_for::<A>(), generator.subschema_for::<B>()];
    union.insert("anyOf".to_owned(), json!(either));
    generator.definitions_mut().insert(name.to_owned(), union.into());
    name.into()
}

/// Makes a schema that generators of clients understand. A field that is not required is left out if it is `None`, so it is never
/// null.
fn tidy(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    if format == "double" || format.trim_start_matches('u').starts_with("int") {
        schema.remove("format");
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("`None`", "null").split_whitespace().collect::<Vec<_>>().join(" ");
    }
    // Of a type beside it, openapi-generator for Python makes a check that the value is a text.
    if schema.get("const").is_some_and(Value::is_boolean) {
        schema.remove("type");
    }
    // The variants of an enum, each with its documentation.
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let names = variants.and_then(|all| all.iter().map(|it| it.get("const").cloned()).collect());
    if let Some(names) = names {
        schema.remove("oneOf");
        schema.insert("enum".to_owned(), Value::Array(names));
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    fields
        .filter(|(name, _)| !required.contains(&json!(name)))
        .for_each(|(_, field)| refuse_null(field));
}

/// Removes null from the schema of a field.
fn refuse_null(field: &mut Value) {
    let Some(field) = field.as_object_mut() else { return };
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|it| it != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            field.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(either)) = field.get_mut("anyOf") {
        either.retain(|it| it["type"] != "null");
        if let [Value::Object(one)] = either.as_slice() {
            let one = one.clone();
            field.remove("anyOf");
            field.extend(one);
        }
    }
}
