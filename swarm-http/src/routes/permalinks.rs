//! The permalinks of takes and memos as JSON, in place of the pages, if the feature `pages` is off.

use swarm_core::TakeId;
use swarm_core::domain::MemoId;
use swarm_core::wire::Problem::NotFound;

use super::{documents, takes};
use crate::request::route::{Route, Section, read};
use crate::schema::HasSchema as _;

pub(super) fn routes() -> Vec<Route> {
    Section::Pages.rows(vec![
        read("/swarm/takes/{id}", takes::record)
            .or_member()
            .about("A take")
            .part(TakeId::SCHEMA)
            .answers(200, &["PublicTake"])
            .refuses(&[NotFound]),
        read("/swarm/memos/{id}", documents::memo)
            .or_member()
            .about("A memo")
            .part(MemoId::SCHEMA)
            .answers(200, &["Memo"])
            .refuses(&[NotFound]),
    ])
}

/// Nothing beside the home page.
pub(super) fn at_root() -> Vec<Route> {
    Vec::new()
}
