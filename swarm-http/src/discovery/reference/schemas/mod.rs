//! The JSON schemas of all bodies. Those of requests have an example; all signed examples are signed with one key.

use swarm_core::json::{Json, Object};

/// The schemas by topic, in the order of the reference.
const TOPICS: [(&str, &str); 9] = [
    ("takes", include_str!("takes.json")),
    ("sessions", include_str!("sessions.json")),
    ("scores", include_str!("scores.json")),
    ("members", include_str!("members.json")),
    ("documents", include_str!("documents.json")),
    ("log", include_str!("log.json")),
    ("committee", include_str!("committee.json")),
    ("server", include_str!("server.json")),
    ("common", include_str!("common.json")),
];

/// All schemas (JSON Schema, 2020-12) by name.
pub(super) fn all() -> Vec<(String, Json)> {
    by_topic().into_iter().flat_map(|(_, schemas)| schemas).collect()
}

/// The schemas of each topic, by name.
pub(super) fn by_topic() -> Vec<(&'static str, Vec<(String, Json)>)> {
    TOPICS.into_iter().map(|(topic, file)| (topic, of_file(file))).collect()
}

/// All schemas, as one object.
pub(crate) fn by_name() -> Object {
    all().into_iter().collect()
}

fn of_file(file: &str) -> Vec<(String, Json)> {
    let schemas = Json::read(file.as_bytes()).unwrap_or(Json::Null).into_object();
    schemas.members().map(|(name, schema)| (name.to_owned(), schema.clone())).collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    [("$ref", Json::Text(format!("#/components/schemas/{name}")))].into()
}
