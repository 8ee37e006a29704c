//! What operators did, for operators (API.md, 7.11).

use super::{Error, Tenant};
use crate::answers::OperatorActs;
use crate::domain::{Actor, OperatorAct};
use crate::store::{ActQuery, Saved};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// How long acts are kept, in milliseconds: 400 days.
const KEPT_MILLIS: i64 = 400 * DAY_MILLIS;

/// The maximum number of acts that are kept of a day and that anybody can cause.
const MAX_BY_STRANGERS: u32 = 100;

impl Tenant {
    /// Returns the acts of operators in the last 400 days, the latest first. A page ends between two times, so it may
    /// be shorter than the limit, or longer if all of its acts have one time.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn operator_acts(&self, query: &ActQuery) -> Result<OperatorActs, Error> {
        let oldest = self.store.now().await?.plus_millis(-KEPT_MILLIS);
        let since = query.since.map_or(oldest, |since| since.max(oldest));
        let limit = query.limit.saturating_add(1);
        let query = ActQuery { since: Some(since), limit, ..query.clone() };
        let mut acts = self.store.operator_acts(&query).await?;
        if acts.len() < limit {
            return Ok(OperatorActs { acts, next_before: None });
        }
        let Some(at) = acts.pop().map(|next| next.at) else {
            return Ok(OperatorActs { acts, next_before: None });
        };
        if acts.first().is_none_or(|first| first.at == at) {
            let of_this_time = ActQuery {
                since: Some(at),
                before: Some(at.plus_millis(1)),
                limit: usize::MAX,
                ..query
            };
            acts = self.store.operator_acts(&of_this_time).await?;
            return Ok(OperatorActs { acts, next_before: Some(at) });
        }
        acts.retain(|act| act.at != at);
        let next_before = acts.last().map(|last| last.at);
        Ok(OperatorActs { acts, next_before })
    }

    /// Records that an operator signed in to a front end.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn record_sign_in(&self, by: &Actor) -> Result<(), Error> {
        self.record_act(&OperatorAct::signed_in(by)).await
    }

    /// Records that a sign-in was refused. At most 100 are recorded in a day (UTC): anybody can cause them.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn record_refused_sign_in(&self) -> Result<(), Error> {
        let day = self.store.now().await?.day();
        let act = OperatorAct::unnamed("console.refused");
        // Stale: the day has as many as are kept.
        let (Saved::Saved | Saved::Stale) =
            self.store.record_act(&act, Some((day, MAX_BY_STRANGERS))).await?;
        Ok(())
    }

    /// Records that the operator of the machine changed the tenant's configuration.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn record_reload(&self) -> Result<(), Error> {
        self.record_act(&OperatorAct::unnamed("configuration.reloaded")).await
    }

    async fn record_act(&self, act: &OperatorAct) -> Result<(), Error> {
        let (Saved::Saved | Saved::Stale) = self.store.record_act(act, None).await?;
        Ok(())
    }

    /// Removes the acts that are older than 400 days.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn forget_old_acts(&self) -> Result<(), Error> {
        let oldest = self.store.now().await?.plus_millis(-KEPT_MILLIS);
        Ok(self.store.forget_acts(oldest).await?)
    }
}
