//! The JSON schemas of the reference: those that rows declare ([`Route::schemas`]), and those of answers, which are derived from the
//! types that the core serializes ([`wire::schema`]). All signed examples are signed with one key.

use std::collections::HashSet;

use swarm_core::domain::{FormSchema, NamedSchema};
use swarm_core::json::{Json, Object};
use swarm_core::wire;

use crate::request::route::Route;
use crate::response::PROBLEM_DETAILS;

/// Schemas by topic and name.
pub(super) type Topics = Vec<(&'static str, Vec<(String, Json)>)>;

/// The schemas of each topic, by name: those of bodies, of answers, and others, each in the order of the rows. An answer may
/// contain a request as it was sent.
pub(super) fn by_topic(routes: &[Route]) -> Topics {
    let bodies: HashSet<_> = routes.iter().filter_map(|route| Some(route.body?.schema)).collect();
    let (mut requests, mut others, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let declared = routes.iter().flat_map(Route::schemas).chain(PROBLEM_DETAILS.declared());
    for schema in declared.filter(|schema| seen.insert(schema.name)) {
        let kind = if bodies.contains(schema.name) { &mut requests } else { &mut others };
        kind.push(schema);
    }
    let complete = |(topic, answers): (&'static str, Vec<(String, Json)>)| {
        let mut schemas = of_topic(topic, &requests);
        schemas.extend(answers.into_iter().filter(|(name, _)| !seen.contains(name.as_str())));
        schemas.extend(of_topic(topic, &others));
        (topic, schemas)
    };
    // The core may have the committee for another crate of the program.
    let is_served = |topic: &str| cfg!(feature = "committee") || topic != "committee";
    let answers = wire::schema::answers().into_iter().filter(|(topic, _)| is_served(topic));
    answers.map(complete).collect()
}

fn of_topic(topic: &str, schemas: &[NamedSchema]) -> Vec<(String, Json)> {
    let of_topic = schemas.iter().filter(|schema| schema.topic == topic);
    of_topic.map(|schema| (schema.name.to_owned(), (schema.schema)())).collect()
}

/// The schemas to which these rows may refer, as one object.
pub(crate) fn by_name(routes: &[Route]) -> Object {
    by_topic(routes).into_iter().flat_map(|(_, schemas)| schemas).collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    FormSchema::reference(name)
}
