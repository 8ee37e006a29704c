//! The JSON schemas of all bodies.

use swarm_core::json::Json;

/// By topic, in the order in which the page shows them.
const FILES: [&str; 8] = [
    include_str!("takes.json"),
    include_str!("sessions.json"),
    include_str!("members.json"),
    include_str!("documents.json"),
    include_str!("log.json"),
    include_str!("committee.json"),
    include_str!("server.json"),
    include_str!("common.json"),
];

/// An example of each request body, by the name of its schema. All signed examples are signed with one key.
const EXAMPLES: &str = include_str!("examples.json");

/// All schemas (JSON Schema, 2020-12) by name.
pub(super) fn all() -> Vec<(String, Json)> {
    let read = |text: &str| Json::read(text.as_bytes()).unwrap_or(Json::Null).into_object();
    let mut examples = read(EXAMPLES);
    let files: Vec<_> = FILES.into_iter().map(read).collect();
    let members = files.iter().flat_map(|file| file.members());
    let with_example = |(name, schema): (&str, &Json)| {
        let mut schema = schema.clone().into_object();
        if let Some(example) = examples.take(name) {
            schema.set("examples", Json::List(vec![example]));
        }
        (name.to_owned(), Json::Object(schema))
    };
    members.map(with_example).collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    [("$ref", Json::Text(format!("#/components/schemas/{name}")))].into()
}
