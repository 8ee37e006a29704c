//! The list of takes, newest first, with filters (API.md, 6.2).

use std::collections::HashMap;

use super::numbered::{self, Page};
use super::{Error, Tenant};
use crate::domain::json;
use crate::domain::{SessionId, TakeId, TakeOnFile};
use crate::rules::{PublicTake, TakeFilter};
use crate::store::{SessionTakes, TakeQuery};

/// The number of takes that are read in one round trip.
const AT_ONCE: usize = 64;

/// A page of the list of takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakeListPage {
    /// Takes by id in descending order.
    pub takes: Vec<TakeOnFile<PublicTake>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<TakeId>,
}

impl Page<TakeOnFile<PublicTake>> {
    fn add(&mut self, take: TakeOnFile<PublicTake>) -> bool {
        let bytes = json::write(&take).len();
        self.push(take, bytes)
    }

    /// The page that goes on after its last take.
    fn full(self) -> TakeListPage {
        let next_before = self.items.last().map(|last| last.take.id());
        TakeListPage { takes: self.items, next_before }
    }
}

impl Tenant {
    /// Returns up to `limit` of the takes with ids below `before` that the filter keeps, by id in descending order:
    /// the latest revisions, or all if `superseded`. A page has fewer if they exceed about 4 MiB, or are not among
    /// the next 1,000 takes; [`TakeListPage::next_before`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn take_list(
        &self,
        filter: &TakeFilter,
        superseded: bool,
        before: Option<TakeId>,
        limit: usize,
    ) -> Result<TakeListPage, Error> {
        let newest = self.store.last_take().await?;
        let searched = numbered::searched(before.map(|before| before.0), newest.0);
        let mut page = Page::of(limit);
        for ids in numbered::batches(searched.clone(), limit.clamp(1, AT_ONCE)) {
            for found in self.store.takes_by_id(ids.into_iter().map(TakeId)).await? {
                let TakeOnFile { take, superseded_by } = found;
                let take = PublicTake::of(&take);
                let is_listed = (superseded || superseded_by.is_none()) && filter.keeps(&take);
                if is_listed && !page.add(TakeOnFile { take, superseded_by }) {
                    return Ok(page.full());
                }
            }
        }
        let next_before = (searched.start > 1).then_some(TakeId(searched.start));
        Ok(TakeListPage { takes: page.items, next_before })
    }

    /// Returns what [`take_list`](Self::take_list) does, of the takes of one session, all of which are searched. There are none if
    /// there is no such session.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn session_take_list(
        &self,
        session: SessionId,
        filter: &TakeFilter,
        superseded: bool,
        before: Option<TakeId>,
        limit: usize,
    ) -> Result<TakeListPage, Error> {
        let query = if superseded { TakeQuery::all(session) } else { TakeQuery::latest(session) };
        let mut page = Page::of(limit);
        if let Some(SessionTakes { takes, .. }) = self.store.session_takes(&query).await? {
            let mut successors = HashMap::new();
            for take in takes.iter().rev() {
                let superseded_by = successors.insert(take.member_id(), take.id());
                if before.is_some_and(|before| take.id() >= before) {
                    continue;
                }
                let take = PublicTake::of(take);
                if filter.keeps(&take) && !page.add(TakeOnFile { take, superseded_by }) {
                    return Ok(page.full());
                }
            }
        }
        Ok(TakeListPage { takes: page.items, next_before: None })
    }
}
