//! The pages and the files of interface B.

use swarm_core::domain::Day;
use swarm_core::wire::Problem::{InvalidQuery, NotFound};

use super::api::{COMMITTEE_LIST, session, sessions};
use crate::pages::{self, page};
use crate::request::route::{Route, Section};
use crate::routes::list_files::{Form, List, list};
use crate::schema::HasSchema as _;

const DAYS: List = List {
    handler: |request| Box::pin(sessions(request)),
    field: "sessions",
    name: "committee",
    query: COMMITTEE_LIST,
};

/// The pages.
pub(super) fn routes() -> Vec<Route> {
    Section::Pages.rows(vec![
        list("/swarm/committee.csv", Form::Csv, DAYS),
        list("/swarm/committee.ndjson", Form::Ndjson, DAYS),
        page("/swarm/committee", "CommitteeSessions", sessions, pages::committee::list)
            .about("The committee's sessions")
            .query(COMMITTEE_LIST),
        page("/swarm/committee/{date}", "CommitteeSession", session, pages::committee::session)
            .about("A session of the committee")
            .part(Day::SCHEMA)
            .refuses(&[NotFound, InvalidQuery]),
    ])
}
