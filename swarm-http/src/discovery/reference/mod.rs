//! The reference of all routes, as an OpenAPI 3.1 document and as pages (API.md, 9.1).
//!
//! It is generated from the route table, the schemas in `schemas/` and the error codes.

mod document;
#[cfg(feature = "pages")]
mod page;
mod route_properties;
mod schemas;

use http::StatusCode;

#[cfg(feature = "pages")]
use crate::request::RequestContext;
use crate::request::route::Route;
use crate::response::Answer;
use document::Document;
#[cfg(feature = "pages")]
use page::Pages;
pub(crate) use schemas::examples;

/// The reference of some routes, without origin and tenant.
pub(crate) struct Reference {
    document: Document,
    #[cfg(feature = "pages")]
    pages: Pages,
}

impl Reference {
    pub(crate) fn of(routes: &[Route]) -> Self {
        Self {
            document: Document::of(routes),
            #[cfg(feature = "pages")]
            pages: Pages::of(routes),
        }
    }

    /// The OpenAPI document, for a site at this origin.
    pub(crate) fn openapi(&self, origin: &str) -> Answer {
        Answer::new(StatusCode::OK, "application/json", self.document.text(origin))
    }

    /// The index of its pages.
    #[cfg(feature = "pages")]
    pub(crate) fn docs(&self, request: &RequestContext) -> Answer {
        self.pages.index(request)
    }

    /// A chapter of its pages; `None` if there is none of this name.
    #[cfg(feature = "pages")]
    pub(crate) fn chapter(&self, request: &RequestContext, name: &str) -> Option<Answer> {
        self.pages.chapter(request, name)
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::proof::diagnose::Code;

    #[test]
    fn diagnosis_codes_match_the_schema() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| format!("\"{}\"", code.as_str())).collect();
        let described = include_str!("schemas/takes.json").replace(['\n', ' '], "");
        assert!(described.contains(&codes.join(",")), "{codes:?}");
    }
}
