//! The paths of the operators' console (MANUAL.md, 14), which the reference does not describe: they are pages and forms. What
//! they show and where they are sent is listed in `pages/console`: `PageId` and `acts`.

use crate::pages::console::{self, OperatorRoutes, PageId};
use crate::request::credential::Access::{Console, Public};
use crate::request::route::{Route, post, read_as};
use crate::site::Parts;

/// Maximum forms of a sign-in, with a token and a path, and of a sign-out, in bytes. Others are those of the API.
const SIGN_IN_LIMIT: usize = 8 << 10;
const SIGN_OUT_LIMIT: usize = 1 << 10;

/// The routes; `api` are the routes of the operators' API, which the forms call.
pub(super) fn routes(parts: Parts, api: OperatorRoutes) -> Vec<Route> {
    let mut routes = vec![
        read_as(Public, "/swarm/console.css", console::style),
        read_as(Console, "/operate/secret", move |request| console::secret(api, request)),
        post(Console, PageId::Overview.path(), console::sign_in).form().up_to(SIGN_IN_LIMIT),
        post(Console, "/operate/sign-out", console::sign_out).form().up_to(SIGN_OUT_LIMIT),
    ];
    let is_served = |page_id: PageId| parts.committees || !page_id.needs_committee();
    let pages = PageId::ALL.iter().copied().filter(|page_id| is_served(*page_id));
    routes.extend(pages.map(|page_id| {
        read_as(Console, page_id.path(), move |request| console::show(page_id, api, request))
            .about(page_id.name())
    }));
    let acts = console::acts().filter(|act| is_served(act.page_id));
    routes.extend(acts.map(|act| {
        post(Console, act.path, move |request| console::change(act, api, request)).form()
    }));
    routes
}
