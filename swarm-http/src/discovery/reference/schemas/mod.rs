//! The JSON schemas of all bodies.

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

/// An example of each request body, by the name of its schema. All signed examples are signed with one key.
const EXAMPLES: &str = include_str!("examples.json");

/// All schemas (JSON Schema, 2020-12) by name.
pub(super) fn all() -> Vec<(String, Json)> {
    by_topic().into_iter().flat_map(|(_, schemas)| schemas).collect()
}

/// The schemas of each topic, by name.
pub(super) fn by_topic() -> Vec<(&'static str, Vec<(String, Json)>)> {
    let mut examples = examples();
    TOPICS.into_iter().map(|(topic, file)| (topic, of_file(&read(file), &mut examples))).collect()
}

/// The examples of request bodies, by the names of their schemas.
pub(crate) fn examples() -> Object {
    read(EXAMPLES)
}

fn read(text: &str) -> Object {
    Json::read(text.as_bytes()).unwrap_or(Json::Null).into_object()
}

fn of_file(file: &Object, examples: &mut Object) -> Vec<(String, Json)> {
    let with_example = |(name, schema): (&str, &Json)| {
        let mut schema = schema.clone().into_object();
        if let Some(example) = examples.take(name) {
            schema.set("examples", Json::List(vec![example]));
        }
        (name.to_owned(), Json::Object(schema))
    };
    file.members().map(with_example).collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    [("$ref", Json::Text(format!("#/components/schemas/{name}")))].into()
}
