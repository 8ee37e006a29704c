//! The pages and the files of interface B.

use swarm_core::domain::Day;
use swarm_core::wire::Problem::{InvalidQuery, NotFound};

use super::api::{COMMITTEE_LIST, session, sessions};
use crate::pages::{self, page};
use crate::request::route::{Route, Section};
use crate::routes::list_files::files;
use crate::routes::pages::{CSV, NDJSON, list};
use crate::schema::HasSchema as _;

files! {
    committee_csv committee_ndjson = sessions, "sessions", "committee";
}

/// The pages.
pub(super) fn routes() -> Vec<Route> {
    Section::Pages.rows(vec![
        list("/swarm/committee.csv", committee_csv, CSV, COMMITTEE_LIST),
        list("/swarm/committee.ndjson", committee_ndjson, NDJSON, COMMITTEE_LIST),
        page("/swarm/committee", "CommitteeSessions", sessions, pages::committee::list)
            .about("The committee's sessions")
            .query(COMMITTEE_LIST),
        page("/swarm/committee/{date}", "CommitteeSession", session, pages::committee::session)
            .about("A session of the committee")
            .part(Day::SCHEMA)
            .refuses(&[NotFound, InvalidQuery]),
    ])
}
