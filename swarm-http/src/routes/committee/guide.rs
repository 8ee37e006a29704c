//! The guide `/skill/committee.md`: how an agent files takes of the daily committee.

use askama::Template;
use swarm_core::wire::{Audience, Problem};

use crate::discovery::guide::{markdown, one_line, problems_of};
use crate::request::RequestContext;
use crate::response::Reply;

#[derive(Template)]
#[template(path = "discovery/committee.md", escape = "none")]
struct Guide {
    name: String,
    origin: String,
    problems: Vec<Problem>,
}

/// `/skill/committee.md`.
pub(crate) async fn guide(request: RequestContext) -> Reply {
    let name = one_line(&request.served.config().name);
    markdown(&Guide { name, origin: request.origin(), problems: problems_of(Audience::Committee) })
}
