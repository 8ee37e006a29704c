//! The reference of all routes, as an OpenAPI 3.1 document and as pages (API.md, 9.1).
//!
//! It is generated from the route table, the schemas of what its rows refer to, and the error codes.

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
use crate::schema::{SchemaRef, schema};
use document::Document;
#[cfg(feature = "pages")]
use page::Pages;
pub(crate) use route_properties::{AUDIENCE, Audience};
pub(crate) use schemas::by_name as schemas_by_name;

/// Of the OpenAPI document.
pub(crate) const OPEN_API: SchemaRef =
    schema!("server", "OpenApi", {"type": "object", "description": "An OpenAPI 3.1 document."});

/// The reference of some routes, without origin and tenant.
pub(crate) struct Reference {
    /// The document of all routes.
    document: Document,
    /// The documents of the routes of each audience.
    by_audience: [(Audience, Document); 4],
    #[cfg(feature = "pages")]
    pages: Pages,
}

impl Reference {
    pub(crate) fn of(routes: &[Route]) -> Self {
        let schemas = schemas::by_topic(routes);
        let document = Document::of(routes, &schemas, |_| true);
        Self {
            by_audience: Audience::ALL.map(|audience| {
                let is_for = |route: &Route| Audience::of(route) == audience;
                (audience, Document::of(routes, &schemas, is_for))
            }),
            #[cfg(feature = "pages")]
            pages: Pages::of(routes, schemas, document.schemas()),
            document,
        }
    }

    /// The OpenAPI document, for a site at this origin; of the routes of this audience, if one is given.
    pub(crate) fn openapi(&self, origin: &str, audience: Option<Audience>) -> Answer {
        let of_audience = self.by_audience.iter().find(|(of, _)| Some(*of) == audience);
        let document = of_audience.map_or(&self.document, |(_, document)| document);
        Answer::new(StatusCode::OK, "application/json", document.text(origin))
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
    use swarm_core::json::Json;

    use super::*;
    use crate::routes;
    use crate::site::Parts;

    #[test]
    fn every_schema_is_in_the_document() {
        let document = Reference::of(&routes::site(Parts::ALL)).openapi("http://a.example", None);
        let mut document = Json::read(&document.body).unwrap().into_object();
        let mut components = document.take("components").unwrap().into_object();
        let described = components.take("schemas").unwrap().into_object();
        let described: Vec<_> = described.members().map(|(name, _)| name.to_owned()).collect();
        let all = schemas::by_name(&routes::site(Parts::ALL));
        let all: Vec<_> = all.members().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(described, all);
    }

    /// Descriptions come from the documentation of types, which REST readers see too.
    #[test]
    fn descriptions_have_no_links_of_rustdoc() {
        let document = Reference::of(&routes::site(Parts::ALL)).openapi("http://a.example", None);
        let document = String::from_utf8(document.body.to_vec()).unwrap();
        let links: Vec<_> = document.match_indices("[`").map(|(at, _)| at).collect();
        assert_eq!(links.len(), 0, "{}", &document[links[0]..][..80]);
    }
}
