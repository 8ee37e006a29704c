//! The permalinks of takes and memos as JSON, in place of the pages, if the feature `pages` is off.

use swarm_core::wire::Problem::NotFound;

use super::{documents, takes};
use crate::request::route::{Route, Section, read};

pub(super) fn routes() -> Vec<Route> {
    Section::Pages.rows(vec![
        read("/swarm/takes/{id}", takes::record)
            .or_member()
            .about("A take")
            .part("Id")
            .answers(200, &["PublicTake"])
            .refuses(&[NotFound]),
        read("/swarm/memos/{id}", documents::memo)
            .or_member()
            .about("A memo")
            .part("Id")
            .answers(200, &["Memo"])
            .refuses(&[NotFound]),
    ])
}

/// Nothing beside the home page.
pub(super) fn at_root() -> Vec<Route> {
    Vec::new()
}
