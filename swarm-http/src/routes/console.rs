//! The paths of the operators' console (API.md, 14), which the reference does not describe: they are pages and forms. What
//! they show and where they are sent is listed in `pages/console`: `Place` and `ACTS`.

use crate::pages::console::{self, ACTS, Place, Rows};
use crate::request::credential::Access::{Console, Public};
use crate::request::route::{Route, post, read_as};
use crate::site::Parts;

/// The routes; `rows` are those of the operators' API, which the forms stand for.
pub(super) fn routes(parts: Parts, rows: Rows) -> Vec<Route> {
    let mut routes = vec![
        read_as(Public, "/swarm/console.css", console::style),
        read_as(Console, "/operate/secret", move |request| console::secret(rows, request)),
        post(Console, Place::Overview.path(), console::sign_in).form(),
        post(Console, "/operate/sign-out", console::sign_out).form(),
    ];
    let is_served = |place: Place| parts.committees || !place.is_of_committee();
    let places = Place::ALL.into_iter().filter(|place| is_served(*place));
    routes.extend(places.map(|place| {
        read_as(Console, place.path(), move |request| console::show(place, rows, request))
            .about(place.name())
    }));
    let acts = ACTS.iter().filter(|act| is_served(act.place));
    routes.extend(acts.map(|act| {
        post(Console, act.path, move |request| console::change(act, rows, request)).form()
    }));
    routes
}
