//! The table of routes (API.md, 6 to 13). A route is one row, at the top of the file of its handler: method,
//! path, credential, body, handler, and what the reference says of it.

mod committee;
mod documents;
mod log;
mod members;
mod operations;
mod pages;
mod sessions;
mod takes;

use crate::door;
use crate::request::route::Route;

/// The largest body of a memo, in bytes: every legal memo fits, however its JSON escapes it (API.md, 1.1).
const MEMO_LIMIT: usize = 2 << 20;

/// Interface A, with its pages.
pub(crate) fn api() -> Vec<Route> {
    let topics = [members::routes, documents::routes, sessions::routes, takes::routes, log::routes];
    topics.into_iter().chain([pages::routes as fn() -> _]).flat_map(|routes| routes()).collect()
}

/// Interface B, with its pages.
pub(crate) fn committee() -> Vec<Route> {
    let mut routes = committee::routes();
    routes.extend(pages::of_committee());
    routes
}

/// All routes of a site of its own, in the order of the reference.
pub(crate) fn site(with_committees: bool) -> Vec<Route> {
    let mut routes = door::routes();
    routes.extend(api());
    if with_committees {
        routes.extend(committee());
    }
    routes.extend(pages::at_root());
    routes.extend(operations::routes());
    routes.sort_by_key(|route| route.section);
    routes
}
