//! The route table (API.md, 4 to 11; MANUAL.md, 10 to 14). A route is one row, at the top of the file of its handler: method,
//! path, credential, body, handler, and its description for the reference.

#[cfg(feature = "committee")]
pub(crate) mod committee;
#[cfg(feature = "pages")]
mod console;
mod discovery;
mod documents;
mod info;
#[cfg(feature = "pages")]
mod list_files;
mod log;
mod members;
mod operations;
#[cfg(feature = "pages")]
mod pages;
#[cfg(not(feature = "pages"))]
#[path = "permalinks.rs"]
mod pages;
mod proofs;
mod scores;
mod sessions;
#[cfg(all(test, feature = "pages", feature = "committee"))]
mod tables;
mod takes;
mod webhooks;

use std::sync::LazyLock;

use crate::discovery::reference::schemas_by_name;
use crate::request::route::Route;
use crate::site::Parts;

pub use info::{BodyFormat, RequestBody, RouteInfo};

/// The routes of interface A and its pages.
pub(crate) fn api() -> Vec<Route> {
    let topics = [
        members::routes,
        documents::routes,
        sessions::routes,
        scores::routes,
        takes::routes,
        log::routes,
        operations::of_tenant,
        webhooks::routes,
        proofs::routes,
    ];
    topics.into_iter().chain([pages::routes as fn() -> _]).flat_map(|routes| routes()).collect()
}

/// The routes of the server itself, health, readiness and metrics, for an address that only its operator can reach.
pub(crate) fn operations_apart() -> Vec<Route> {
    operations::apart()
}

/// All routes of a site, in the order of the reference.
pub(crate) fn site(parts: Parts) -> Vec<Route> {
    let mut routes = discovery::routes(site);
    routes.extend(api());
    #[cfg(feature = "committee")]
    routes.extend(parts.committees.then(committee::routes).into_iter().flatten());
    routes.extend(pages::at_root());
    if parts.operations {
        routes.extend(operations::public());
    }
    routes.sort_by_key(|route| route.section);
    routes
}

/// All routes of a site, with those of the console, which the reference does not describe.
pub(crate) fn all(parts: Parts) -> Vec<Route> {
    #[cfg_attr(not(feature = "pages"), expect(unused_mut, reason = "only pages have a console"))]
    let mut routes = site(parts);
    #[cfg(feature = "pages")]
    routes.extend(console::routes(parts, of_operators));
    routes
}

/// All routes of a site as data.
pub(crate) fn infos(parts: Parts) -> Vec<RouteInfo> {
    let routes = all(parts);
    let schemas = schemas_by_name(&routes);
    routes.iter().map(|route| RouteInfo::of(route, &schemas)).collect()
}

/// The routes of operators: `swarm admin` sends their requests, and the acts of the console are theirs.
pub(crate) fn of_operators() -> &'static [Route] {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
        let mut routes = site(Parts { committees: true, operations: false });
        routes.retain(|route| route.access.role().is_some());
        let schemas = schemas_by_name(&routes);
        routes.into_iter().map(|route| route.with_arguments(&schemas)).collect()
    });
    &ROUTES
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use swarm_core::json::Json;

    use super::*;
    use crate::discovery::reference::Reference;
    use crate::request::command::ArgumentKind;

    #[test]
    fn every_route_is_described() {
        for route in site(Parts::ALL) {
            let (method, path, about) = (&route.method, route.path, &route.about);
            assert!(!about.summary.is_empty(), "{method} {path} needs a summary");
            assert!(!about.answers.is_empty(), "{method} {path} needs an answer");
            let open = path.matches('{').count();
            assert_eq!(about.parts.len(), open, "{method} {path} needs a schema for each part");
        }
    }

    #[test]
    fn every_operation_has_an_id_of_its_own() {
        let document = Reference::of(&site(Parts::ALL)).openapi("http://a.example", None).body;
        let document = Json::read(&document).unwrap().into_object().take("paths").unwrap();
        let mut ids = HashSet::new();
        for (path, methods) in document.into_object().members() {
            for (method, operation) in methods.clone().into_object().members() {
                let id = operation.clone().into_object().text("operationId").unwrap();
                let is_camel_case = id.starts_with(|first: char| first.is_ascii_lowercase())
                    && id.chars().all(|letter| letter.is_ascii_alphanumeric());
                assert!(is_camel_case, "{method} {path}: {id}");
                assert!(ids.insert(id.clone()), "{method} {path}: {id} is another's");
            }
        }
        for id in ["getHome", "postSubmit", "getTakesById", "getSwarmSessionsByIdCsv"] {
            assert!(ids.contains(id), "{id} is not among {ids:?}");
        }
    }

    #[test]
    fn every_path_parameter_is_declared() {
        let document = Reference::of(&site(Parts::ALL)).openapi("http://a.example", None).body;
        let document = Json::read(&document).unwrap().into_object().take("paths").unwrap();
        for (path, methods) in document.into_object().members() {
            let named: Vec<_> =
                path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
            for (method, operation) in methods.clone().into_object().members() {
                let parameters = operation.clone().into_object().take("parameters");
                let Some(Json::List(parameters)) = parameters.or(Some(Json::List(Vec::new())))
                else {
                    panic!("{method} {path}: parameters are a list");
                };
                let declared: Vec<_> = parameters
                    .into_iter()
                    .map(Json::into_object)
                    .filter_map(|mut it| Some((it.text("in").ok()?, it.text("name").ok()?)))
                    .filter(|(place, _)| place == "path")
                    .map(|(_, name)| name)
                    .collect();
                assert_eq!(declared, named, "{method} {path}");
            }
        }
    }

    #[test]
    fn schemas_are_defined_if_and_only_if_referenced() {
        let document = Reference::of(&site(Parts::ALL)).openapi("http://a.example", None).body;
        let text = std::str::from_utf8(&document).unwrap();
        let named: HashSet<_> = text
            .split("\"#/components/schemas/")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let mut document = Json::read(text.as_bytes()).unwrap().into_object();
        let mut components = document.take("components").unwrap().into_object();
        let schemas = components.take("schemas").unwrap().into_object();
        assert_eq!(named, schemas.members().map(|(name, _)| name).collect());
    }

    #[test]
    fn every_change_of_operators_has_a_verb_of_its_own() {
        let (mut verbs, schemas) = (HashSet::new(), schemas_by_name(of_operators()));
        for route in of_operators().iter().filter(|route| route.is_operators_change()) {
            assert!(!route.commands.is_empty(), "no verb for {}", route.path);
            let schema = route.body.map(|body| schemas.clone().take(body.schema).unwrap());
            let properties = schema.and_then(|schema| schema.into_object().take("properties"));
            let properties = properties.unwrap_or(Json::Null).into_object();
            for command in &route.commands {
                let verb = (command.group, command.word);
                assert!(verbs.insert(verb), "{verb:?} is another's");
                for field in command.named_fields() {
                    assert!(properties.has(field), "{verb:?}: {} has no {field}", route.path);
                }
                let texts = [command.done.as_str()].into_iter().chain(command.target);
                for name in texts.flat_map(|text| text.split('{').skip(1)) {
                    let name = name.split('}').next().unwrap();
                    let is_argument = command.arguments.iter().any(|it| it.field == name);
                    let is_of_answer = command
                        .arguments
                        .iter()
                        .any(|argument| matches!(argument.kind, ArgumentKind::Body))
                        || command.row.is_some()
                        || name.contains('.');
                    assert!(is_argument || is_of_answer, "{verb:?}: nothing is called {name}");
                }
            }
        }
    }

    #[cfg(not(feature = "committee"))]
    #[test]
    fn a_build_without_the_committee_does_not_name_it() {
        use crate::metrics::Metrics;

        let parts = Parts { committees: false, operations: true };
        for route in all(parts) {
            let is_named = ["committee", "/ic/"].iter().any(|name| route.path.contains(name));
            assert!(!is_named, "{}", route.path);
        }
        for route in of_operators() {
            let mut groups = route.commands.iter().map(|command| command.group);
            assert!(!groups.any(|group| group.starts_with("committee")), "{}", route.path);
        }
        let document = Reference::of(&site(parts)).openapi("http://a.example", None).body;
        let document = String::from_utf8(document.to_vec()).unwrap();
        for name in ["x-ic-key", "committeeMember", "CommitteeError", "CommitteeReceipt"] {
            assert!(!document.contains(name), "{name}");
        }
        let schemas = schemas_by_name(&all(parts));
        for name in ["CommitteeSubmission", "CommitteeBrief", "SubjectOrder", "CommitteeSession"] {
            assert!(!schemas.has(name), "{name}");
        }
        assert!(!Metrics::default().text().contains("committee"));
    }

    #[cfg(feature = "pages")]
    #[test]
    fn every_change_of_operators_has_a_form() {
        use crate::pages::console::acts;
        for act in acts() {
            assert!(act.route(of_operators()).is_some(), "{}: no route {}", act.path, act.api.1);
            let texts = act.texts(of_operators);
            assert!(!texts.button.is_empty() && !texts.done.is_empty(), "{}: no texts", act.path);
        }
        for route in of_operators().iter().filter(|route| route.is_operators_change()) {
            let row = (route.method.as_str(), route.path);
            assert!(acts().any(|act| act.api == row), "no form for {}", route.path);
        }
    }
}
