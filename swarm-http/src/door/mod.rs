//! The entry points for a client that knows only the address (API.md, 9.1).

mod doctor;
mod guide;
mod home;
mod manifest;
mod reference;

use crate::request::credential::Access::{Member, Public};
use crate::request::route::{Route, Work, post, read};

pub(crate) use reference::described;

/// What helps with a request before it is made.
pub(crate) fn help() -> Vec<Route> {
    vec![
        post(Public, "/api/swarm/diagnose", doctor::diagnose),
        post(Member, "/api/swarm/preflight", doctor::preflight),
    ]
}

/// What says where everything is.
pub(crate) fn signposts() -> Vec<Route> {
    vec![
        read("/", home::home).with(Work::Long),
        read("/llms.txt", guide::llms).with(Work::Long),
        read("/skill.md", guide::skill).with(Work::Long),
        read("/.well-known/swarm.json", manifest::manifest).with(Work::Long),
        read("/robots.txt", manifest::robots),
    ]
}
