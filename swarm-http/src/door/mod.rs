//! The door: what whoever has only the address needs to come in (contract, section 8).

mod doctor;

use crate::request::credential::Access::{Member, Public};
use crate::request::route::{Route, post};

/// What helps with a request before it is made.
pub(crate) fn help() -> Vec<Route> {
    vec![
        post(Public, "/api/swarm/diagnose", doctor::diagnose),
        post(Member, "/api/swarm/preflight", doctor::preflight),
    ]
}
