//! The paths of the pages (API.md, 10.1). Whoever prefers JSON gets what the API answers with.

use super::{committee, documents, log, members, sessions, takes};
use crate::pages::{self, page};
use crate::request::route::{Route, Work, read};

/// What stands at the root of a site of its own, beside the home page.
pub(crate) fn root() -> Vec<Route> {
    vec![read("/feed.xml", pages::feed).with(Work::Long)]
}

/// The pages of interface A, and what they load.
pub(crate) fn of_sessions() -> Vec<Route> {
    vec![
        page("/swarm/sessions", sessions::list, pages::sessions::page),
        page("/swarm/sessions/{id}", sessions::by_id, pages::session::page),
        page("/swarm/members", members::list, pages::members::page),
        page("/swarm/members/{id}", members::one, pages::member::page),
        page("/swarm/subjects", documents::subjects, pages::subjects::page),
        page("/swarm/subjects/{id}", documents::subject, pages::subject::page),
        page("/swarm/takes/{id}", takes::record, pages::take::page),
        page("/swarm/memos/{id}", documents::memo, pages::memo::page),
        page("/swarm/log", log::entries, pages::log::page),
        read("/swarm/style.css", pages::style),
        read("/swarm/icon.svg", pages::icon),
    ]
}

/// The pages of interface B.
pub(crate) fn of_committee() -> Vec<Route> {
    vec![
        page("/swarm/committee", committee::sessions, pages::committee::list),
        page("/swarm/committee/{date}", committee::session, pages::committee::session),
    ]
}
