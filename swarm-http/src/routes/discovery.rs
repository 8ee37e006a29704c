//! Routes of the entry points and of the reference, which is generated from the route table.

use std::sync::OnceLock;

#[cfg(feature = "pages")]
use swarm_core::wire::{Problem, RequestError};

use crate::Site;
use crate::discovery::manifest::{self, MANIFEST};
use crate::discovery::reference::{AUDIENCE, OPEN_API, Reference};
use crate::discovery::{self, guide};
#[cfg(feature = "pages")]
use crate::pages::page_alone;
use crate::request::RequestContext;
use crate::request::route::{Route, Section, Work, read};
use crate::response::Reply;
#[cfg(feature = "pages")]
use crate::schema::{SchemaRef, schema};
use crate::site::Parts;

/// A function that returns all routes of a site with these parts.
type SiteTable = fn(Parts) -> Vec<Route>;

/// Of the name of a chapter of the reference.
#[cfg(feature = "pages")]
const CHAPTER: SchemaRef = schema!("common", "Chapter", {
    "type": "string", "maxLength": 100, "description": "The name of a chapter, as /docs links it."
});

/// The routes; the reference describes `table`.
pub(super) fn routes(table: SiteTable) -> Vec<Route> {
    Section::Discovery.rows(vec![
        read("/", discovery::home)
            .about("The home page, or an index for programs")
            .with(Work::Long)
            .answers(200, &["text/html", "text/markdown"])
            .answers_as(200, MANIFEST),
        read("/llms.txt", guide::llms)
            .with(Work::Long)
            .about("An index for language models (llmstxt.org)")
            .answers(200, &["text/markdown"]),
        read("/skill.md", guide::skill)
            .with(Work::Long)
            .about("A guide for agents: from key to first take")
            .answers(200, &["text/markdown"]),
        #[cfg(feature = "committee")]
        read("/skill/committee.md", super::committee::guide)
            .about("A guide for agents in the daily committee")
            .answers(200, &["text/markdown"]),
        read("/skill/member.py", |request| guide::PYTHON.serve(request))
            .about("The program of the guide in Python")
            .answers(200, &["text/plain"]),
        read("/skill/member.sh", |request| guide::SHELL.serve(request))
            .about("The program of the guide for a shell")
            .answers(200, &["text/plain"]),
        read("/skill/member.mjs", |request| guide::NODE.serve(request))
            .about("The program of the guide for Node.js")
            .answers(200, &["text/javascript"]),
        read("/openapi.json", move |request| openapi(table, request))
            .with(Work::Long)
            .about("This description, of all operations or of those for one audience")
            .query(&[("audience", AUDIENCE)])
            .answers_as(200, OPEN_API),
        #[cfg(feature = "pages")]
        page_alone("/docs", move |request| docs(table, request))
            .about("This description as pages, and the conventions"),
        #[cfg(feature = "pages")]
        page_alone("/docs/{chapter}", move |request| chapter(table, request))
            .about("A chapter of this description")
            .part(CHAPTER)
            .refuses(&[Problem::UnknownPath]),
        read("/.well-known/swarm.json", manifest::manifest)
            .with(Work::Long)
            .about("The manifest: names and addresses, for programs")
            .answers_as(200, MANIFEST),
        read("/robots.txt", manifest::robots)
            .about("Rules for crawlers")
            .answers(200, &["text/plain"]),
    ])
}

async fn openapi(table: SiteTable, request: RequestContext) -> Reply {
    let audience = request.filter("audience", str::parse)?;
    Ok(reference(table, &request.site).openapi(&request.origin(), audience))
}

#[cfg(feature = "pages")]
async fn docs(table: SiteTable, request: RequestContext) -> Reply {
    Ok(reference(table, &request.site).docs(&request))
}

#[cfg(feature = "pages")]
async fn chapter(table: SiteTable, request: RequestContext) -> Reply {
    let name = request.path.first().map(String::as_str).unwrap_or_default();
    let chapter = reference(table, &request.site).chapter(&request, name);
    chapter.ok_or(RequestError::UnknownPath.into())
}

/// The reference of a site, which depends only on its [`Parts`].
fn reference(table: SiteTable, site: &Site) -> &'static Reference {
    static REFERENCES: [OnceLock<Reference>; 4] = [const { OnceLock::new() }; 4];
    let parts = site.parts();
    let [without, with_committees, with_operations, whole] = &REFERENCES;
    let reference = match (parts.committees, parts.operations) {
        (false, false) => without,
        (true, false) => with_committees,
        (false, true) => with_operations,
        (true, true) => whole,
    };
    reference.get_or_init(|| Reference::of(&table(parts)))
}
