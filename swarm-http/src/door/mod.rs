//! The entry points for a client that knows only the address (API.md, 9.1).

pub(crate) mod doctor;
mod guide;
mod home;
mod manifest;
mod reference;

use crate::request::route::{Route, Section, Work, read};

/// What says where everything is.
pub(crate) fn routes() -> Vec<Route> {
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
        read("/openapi.json", reference::openapi)
            .with(Work::Long)
            .about("This description")
            .answers(200, &["OpenApi"]),
        read("/docs", reference::docs)
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
