//! Faults of a store whose clock runs back.

use std::sync::Arc;

use swarm_core::rules::Filing;
use swarm_core::store::Act;
use swarm_core::store::{Filed, Result, Saved, SessionChange, async_trait, time_of_commit};
use swarm_core::{Take, Tenants, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::conformance::{
    accepted_clock_is_used_again, commit_time_is_constant_while_the_clock_is_behind,
    commits_are_refused_while_the_clock_is_far_behind,
    deadline_cannot_move_before_a_take_filed_with_a_wrong_clock,
    passed_deadline_stays_passed_when_the_clock_runs_back,
    resent_attempt_is_answered_while_the_clock_is_far_behind,
};
use swarm_testing::{ManualClock, takes_of};

use crate::broken_stores::broken::{Broken, Fault, Intact, TenantStores};
use crate::broken_stores::expect_broken;

/// The cases that catch these faults.
pub(crate) const CASES: &[&str] = &[
    "commit_time_is_constant_while_the_clock_is_behind",
    "commits_are_refused_while_the_clock_is_far_behind",
    "resent_attempt_is_answered_while_the_clock_is_far_behind",
    "accepted_clock_is_used_again",
    "deadline_cannot_move_before_a_take_filed_with_a_wrong_clock",
    "passed_deadline_stays_passed_when_the_clock_runs_back",
];

/// Filings get the clock's time even when it is behind the log.
struct FiledByTheClock(ManualClock);

#[async_trait]
impl Fault for FiledByTheClock {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        Ok(match stores.own.file(filing).await? {
            Filed::Filed(take, entry) => {
                let take = Take { filed_at: self.0.now(), ..Take::clone(&take) };
                Filed::Filed(Arc::new(take), entry)
            }
            other => other,
        })
    }
}

/// Commits are delayed, not refused, while the clock is far behind.
struct LateWhenBehind;

#[async_trait]
impl Fault for LateWhenBehind {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        stores.own.file(filing).await.or(Ok(Filed::Late))
    }
}

/// The clock is compared with the log before a resent attempt is looked up.
struct ClockReadFirst(ManualClock);

#[async_trait]
impl Fault for ClockReadFirst {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let last = stores.own.now().await?;
        time_of_commit(self.0.now(), Some(last))?;
        stores.own.file(filing).await
    }
}

/// A deadline is judged by the clock even when it is behind the log.
struct DeadlineByTheClock(ManualClock);

#[async_trait]
impl Fault for DeadlineByTheClock {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let in_time = filing.commit_deadline().is_none_or(|deadline| self.0.now() <= deadline);
        Ok(match stores.own.file(filing).await? {
            Filed::Late if in_time => Filed::Stale,
            other => other,
        })
    }
}

#[tokio::test]
async fn a_clock_that_runs_back_is_kept_from_what_is_on_file() {
    let (clock, store) = on_a_clock(|_| Intact);
    commit_time_is_constant_while_the_clock_is_behind(store, |now| clock.set(now)).await;
}

#[tokio::test]
async fn a_store_whose_takes_go_back_in_time_is_caught() {
    let (clock, store) = on_a_clock(FiledByTheClock);
    expect_broken(commit_time_is_constant_while_the_clock_is_behind(store, |now| clock.set(now)))
        .await;
}

#[tokio::test]
async fn a_store_that_hides_that_it_is_behind_is_caught() {
    let (clock, store) = on_a_clock(|_| LateWhenBehind);
    let case = commits_are_refused_while_the_clock_is_far_behind(store, |now| clock.set(now));
    expect_broken(case).await;
}

#[tokio::test]
async fn a_store_that_reads_its_clock_before_the_attempts_is_caught() {
    let (clock, store) = on_a_clock(ClockReadFirst);
    let set = |now| clock.set(now);
    expect_broken(resent_attempt_is_answered_while_the_clock_is_far_behind(store, set)).await;
}

/// An acceptance is recorded without effect.
struct AcceptanceIdle;

#[async_trait]
impl Fault for AcceptanceIdle {
    async fn accept_clock(&self, _: &TenantStores, _: &Act) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_store_whose_clock_cannot_be_accepted_is_caught() {
    let (clock, store) = on_a_clock(|_| AcceptanceIdle);
    expect_broken(accepted_clock_is_used_again(store, |now| clock.set(now))).await;
}

/// Only the last take of a session is checked.
struct LastTakeAlone;

#[async_trait]
impl Fault for LastTakeAlone {
    async fn save_session(&self, stores: &TenantStores, change: &SessionChange) -> Result<Saved> {
        let last = takes_of(&*stores.own, change.session.id).await?.pop();
        let none_after = change.none_filed_after;
        let none_filed_after = none_after.filter(|end| last.is_some_and(|it| it.filed_at > *end));
        stores.own.save_session(&SessionChange { none_filed_after, ..change.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_takes_the_last_take_for_the_latest_is_caught() {
    let (clock, store) = on_a_clock(|_| LastTakeAlone);
    let set = |now| clock.set(now);
    let case = deadline_cannot_move_before_a_take_filed_with_a_wrong_clock(store, set);
    expect_broken(case).await;
}

#[tokio::test]
async fn a_store_that_opens_windows_again_is_caught() {
    let (clock, store) = on_a_clock(DeadlineByTheClock);
    expect_broken(passed_deadline_stays_passed_when_the_clock_runs_back(store, |now| {
        clock.set(now)
    }))
    .await;
}

/// A store with a fault, and its clock.
fn on_a_clock<F: Fault>(fault: impl FnOnce(ManualClock) -> F) -> (ManualClock, Arc<dyn Tenants>) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    let memory = MemoryStore::with_clock(move || shown.now());
    (clock.clone(), Broken::over(memory, fault(clock)))
}
