//! The reference: what every route takes and answers, as OpenAPI 3.1 and as a page (API.md, 9.1).
//!
//! Both are made once, of the table of routes, the schemas in `schemas/`, and the codes of the errors.

mod described;
mod document;
mod page;
mod schemas;

use std::sync::OnceLock;

use http::StatusCode;

use crate::request::RequestContext;
use crate::request::route::Route;
use crate::response::{Answer, Reply};
use crate::{Site, routes};
use document::Document;
use page::Page;

pub(super) async fn openapi(request: RequestContext) -> Reply {
    let text = reference(&request.site).document.text(&request.origin());
    Ok(Answer::new(StatusCode::OK, "application/json", text))
}

pub(super) async fn docs(request: RequestContext) -> Reply {
    Ok(reference(&request.site).page.answer(&request))
}

struct Reference {
    document: Document,
    page: Page,
}

impl Reference {
    fn of(routes: &[Route]) -> Self {
        Self { document: Document::of(routes), page: Page::of(routes) }
    }
}

/// The reference of a site: what it says depends on nothing but whether there are committees.
fn reference(site: &Site) -> &'static Reference {
    static WITHOUT_COMMITTEES: OnceLock<Reference> = OnceLock::new();
    static WITH_COMMITTEES: OnceLock<Reference> = OnceLock::new();
    let has_committees = site.has_committees();
    let reference = if has_committees { &WITH_COMMITTEES } else { &WITHOUT_COMMITTEES };
    reference.get_or_init(|| Reference::of(&routes::site(has_committees)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use swarm_core::proof::diagnose::Code;

    use super::*;

    #[test]
    fn every_route_is_described() {
        for route in routes::site(true) {
            let (method, path, about) = (&route.method, route.path, &route.about);
            assert!(!about.summary.is_empty(), "{method} {path} needs a summary");
            assert!(!about.answers.is_empty(), "{method} {path} needs an answer");
            let open = path.matches('{').count();
            assert_eq!(about.parts.len(), open, "{method} {path} needs a schema for each part");
        }
    }

    #[test]
    fn every_schema_that_is_named_is_there_and_every_other_is_named() {
        let document = Reference::of(&routes::site(true)).document.text("http://a.example");
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
