//! The reference: what every route takes and answers, as OpenAPI 3.1 and as a page (API.md, 9.1).
//!
//! Both are made once, of the table of routes (paths, methods, credentials, bodies), a line for each
//! route in `operations.txt`, the schemas in `schemas/`, and the codes of the errors.

mod document;
mod operation;
mod page;
mod schemas;

use std::sync::{Arc, OnceLock};

use http::StatusCode;

use crate::request::RequestContext;
use crate::request::route::{Route, Work, read};
use crate::response::{Answer, Reply};
use document::Document;
use operation::{Operation, lines};
use page::Page;

/// These routes, and two that describe them all.
pub(crate) fn described(mut routes: Vec<Route>) -> Vec<Route> {
    let reference = Arc::new(OnceLock::new());
    let (document, page) = (Arc::clone(&reference), Arc::clone(&reference));
    // Their size does not depend on what is stored, but it takes milliseconds to hash and compress.
    let openapi = read("/openapi.json", move |request| openapi(Arc::clone(&document), request));
    let docs = read("/docs", move |request| docs(Arc::clone(&page), request));
    routes.extend([openapi.with(Work::Long), docs.with(Work::Long)]);
    reference.get_or_init(|| Reference::of(&routes));
    routes
}

struct Reference {
    document: Document,
    page: Page,
}

impl Reference {
    fn of(routes: &[Route]) -> Self {
        let lines = lines();
        let operations = lines.iter().filter_map(|line| Operation::of(line, routes));
        let operations: Vec<_> = operations.collect();
        Self { document: Document::of(&operations), page: Page::of(&operations) }
    }
}

type Shared = Arc<OnceLock<Reference>>;

async fn openapi(reference: Shared, request: RequestContext) -> Reply {
    let text = reference.get().map(|made| made.document.text(&request.origin()));
    Ok(Answer::new(StatusCode::OK, "application/json", text.unwrap_or_default()))
}

async fn docs(reference: Shared, request: RequestContext) -> Reply {
    Ok(match reference.get() {
        Some(made) => made.page.answer(&request),
        None => Answer::empty(StatusCode::NOT_FOUND),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use swarm_core::proof::diagnose::Code;

    use super::*;

    /// Every route that a site has.
    fn routes() -> Vec<Route> {
        crate::all_routes(true)
    }

    #[test]
    fn every_route_is_described_and_nothing_else_is() {
        let (routes, lines) = (routes(), lines());
        for route in &routes {
            let (method, path) = (&route.method, route.path);
            let of = lines.iter().filter(|line| line.is_of(route)).count();
            assert_eq!(of, 1, "{method} {path} must have one line in operations.txt");
        }
        for line in &lines {
            let is_served = routes.iter().any(|route| line.is_of(route));
            assert!(is_served, "there is no route for {} {}", line.method, line.path());
        }
    }

    #[test]
    fn every_line_is_read_whole() {
        let text = include_str!("operations.txt");
        let written = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let columns = |line: &str| line.split(" | ").count();
        assert!(written.clone().all(|line| columns(line) == 6), "a line has six columns");
        assert_eq!(written.clone().count(), lines().len());
        for line in written {
            for code in line.rsplit(" | ").next().unwrap_or_default().split(' ') {
                assert!(code == "-" || operation::problem(code).is_some(), "{code}: {line}");
            }
        }
        let routes = routes();
        for operation in lines().iter().filter_map(|line| Operation::of(line, &routes)) {
            let (method, path) = (&operation.method, operation.path);
            let route = routes.iter().find(|route| route.path == path && route.method == *method);
            assert_eq!(operation.body.is_some(), route.unwrap().body.is_some(), "{method} {path}");
            assert!(!operation.answers.is_empty(), "{method} {path}");
        }
    }

    #[test]
    fn every_schema_that_is_named_is_there_and_every_other_is_named() {
        let document = Reference::of(&routes()).document.text("http://a.example");
        let named: HashSet<_> = document
            .split("\"#/components/schemas/")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let defined: Vec<_> = schemas::all().into_iter().map(|(name, _)| name).collect();
        let defined: HashSet<_> = defined.iter().map(String::as_str).collect();
        assert_eq!(named, defined);
    }

    #[test]
    fn the_doctor_has_the_codes_that_it_is_described_with() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| format!("\"{}\"", code.as_str())).collect();
        let described = include_str!("schemas/takes.json").replace(['\n', ' '], "");
        assert!(described.contains(&codes.join(",")), "{codes:?}");
    }
}
