//! The reference: what every route takes and answers, as OpenAPI 3.1 and as a page (API.md, 9.1).
//!
//! It is made of the table of routes, the schemas in `schemas/`, and the codes of the errors.

mod described;
mod document;
#[cfg(feature = "pages")]
mod page;
mod schemas;

use http::StatusCode;

#[cfg(feature = "pages")]
use crate::request::RequestContext;
use crate::request::route::Route;
use crate::response::Answer;
use document::Document;
#[cfg(feature = "pages")]
use page::Page;

/// The reference of these routes, but for the origin and the tenant.
pub(crate) struct Reference {
    document: Document,
    #[cfg(feature = "pages")]
    page: Page,
}

impl Reference {
    pub(crate) fn of(routes: &[Route]) -> Self {
        Self {
            document: Document::of(routes),
            #[cfg(feature = "pages")]
            page: Page::of(routes),
        }
    }

    /// As an OpenAPI document of a site at this origin.
    pub(crate) fn openapi(&self, origin: &str) -> Answer {
        Answer::new(StatusCode::OK, "application/json", self.document.text(origin))
    }

    /// As a page.
    #[cfg(feature = "pages")]
    pub(crate) fn docs(&self, request: &RequestContext) -> Answer {
        self.page.answer(request)
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::proof::diagnose::Code;

    #[test]
    fn the_doctor_has_the_codes_that_it_is_described_with() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| format!("\"{}\"", code.as_str())).collect();
        let described = include_str!("schemas/takes.json").replace(['\n', ' '], "");
        assert!(described.contains(&codes.join(",")), "{codes:?}");
    }
}
