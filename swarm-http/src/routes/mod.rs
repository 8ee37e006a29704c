//! The route table (API.md, 6 to 13). A route is one row, at the top of the file of its handler: method,
//! path, credential, body, handler, and its description for the reference.

mod committee;
mod documents;
mod door;
mod log;
mod members;
mod operations;
#[cfg(feature = "pages")]
mod pages;
#[cfg(not(feature = "pages"))]
#[path = "permalinks.rs"]
mod pages;
mod proofs;
mod sessions;
mod takes;

use crate::request::route::Route;
use crate::site::Parts;

/// The routes of interface A and its pages.
pub(crate) fn api() -> Vec<Route> {
    let topics = [
        members::routes,
        documents::routes,
        sessions::routes,
        takes::routes,
        log::routes,
        proofs::routes,
    ];
    topics.into_iter().chain([pages::routes as fn() -> _]).flat_map(|routes| routes()).collect()
}

/// The routes of interface B and its pages.
pub(crate) fn committee() -> Vec<Route> {
    let mut routes = committee::routes();
    routes.extend(pages::of_committee());
    routes
}

/// The routes of the server itself: health, readiness, metrics.
pub(crate) fn operations() -> Vec<Route> {
    operations::routes()
}

/// All routes of a site, in the order of the reference.
pub(crate) fn site(parts: Parts) -> Vec<Route> {
    let mut routes = door::routes(site);
    routes.extend(api());
    if parts.committees {
        routes.extend(committee());
    }
    routes.extend(pages::at_root());
    if parts.operations {
        routes.extend(operations());
    }
    routes.sort_by_key(|route| route.section);
    routes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use swarm_core::json::Json;

    use super::*;
    use crate::door::reference::Reference;

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
    fn schemas_are_defined_if_and_only_if_referenced() {
        let document = Reference::of(&site(Parts::ALL)).openapi("http://a.example").body;
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
}
