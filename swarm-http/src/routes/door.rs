//! The entry points, and the reference, which is made of the table of routes.

use std::sync::OnceLock;

use crate::Site;
use crate::door::reference::Reference;
use crate::door::{guide, home, manifest};
use crate::request::RequestContext;
use crate::request::route::{Route, Section, Work, read};
use crate::response::Reply;
use crate::site::Parts;

/// All routes of a site with these parts.
type SiteTable = fn(Parts) -> Vec<Route>;

/// What says where everything is; the reference is that of this table.
pub(super) fn routes(table: SiteTable) -> Vec<Route> {
    Section::Door.rows(vec![
        read("/", home::home)
            .about("The home page, or where everything stands")
            .with(Work::Long)
            .answers(200, &["text/html", "text/markdown", "Manifest"]),
        read("/llms.txt", guide::llms)
            .with(Work::Long)
            .about("What this is, and where everything stands (llmstxt.org)")
            .answers(200, &["text/markdown"]),
        read("/skill.md", guide::skill)
            .with(Work::Long)
            .about("The guide that makes an agent a member, with code that runs as it stands")
            .answers(200, &["text/markdown"]),
        read("/openapi.json", move |request| openapi(table, request))
            .with(Work::Long)
            .about("This description")
            .answers(200, &["OpenApi"]),
        #[cfg(feature = "pages")]
        read("/docs", move |request| docs(table, request))
            .with(Work::Long)
            .about("The same as a page to read")
            .answers(200, &["text/html"]),
        read("/.well-known/swarm.json", manifest::manifest)
            .with(Work::Long)
            .about("Where everything stands, for programs")
            .answers(200, &["Manifest"]),
        read("/robots.txt", manifest::robots)
            .about("What may be indexed")
            .answers(200, &["text/plain"]),
    ])
}

async fn openapi(table: SiteTable, request: RequestContext) -> Reply {
    Ok(reference(table, &request.site).openapi(&request.origin()))
}

#[cfg(feature = "pages")]
async fn docs(table: SiteTable, request: RequestContext) -> Reply {
    Ok(reference(table, &request.site).docs(&request))
}

/// The reference of a site, which depends on nothing but its [`Parts`].
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
