//! A test of exact deadlines with a clock that a case cannot control.

use std::time::Duration;

use tokio::time::sleep;

use crate::assertions::{ensure, expect_eq};
use swarm_core::domain::Timestamp;
use swarm_core::store::Records;

/// The maximum duration of the test, in milliseconds.
const MAX_MILLIS: i64 = 240_000;

/// The maximum number of rounds in which some changes were committed and others were late.
const MAX_TRIES: usize = 60;

/// Asserts that a change can be committed exactly at its deadline, and none later.
///
/// Each round commits many changes concurrently, with deadlines at consecutive milliseconds, until
/// one is committed exactly at its deadline. If a store wrongly treats a deadline as passed when it
/// is reached, this never happens.
///
/// `prepare` judges one change for each deadline. The future that it returns commits them and
/// returns, in order, the time of each commit, or `None` if it was late.
pub(super) async fn meet<P, F>(clock: &Records, mut prepare: P)
where
    P: AsyncFnMut(Vec<Timestamp>) -> F,
    F: AsyncFnOnce() -> Vec<Option<Timestamp>>,
{
    let (give_up, mut lead, mut tries) = (now(clock).await.plus_millis(MAX_MILLIS), 20, 0);
    while now(clock).await < give_up && tries < MAX_TRIES {
        let first = now(clock).await.plus_millis(lead);
        let deadlines: Vec<_> = (0..32).map(|number| first.plus_millis(number)).collect();
        let commit = prepare(deadlines.clone()).await;
        if now(clock).await > first {
            // The preparations took longer than expected.
            lead = (2 * lead).min(2_000);
            continue;
        }
        while now(clock).await.plus_millis(2) < first {
            sleep(Duration::from_millis(1)).await;
        }
        let moments = commit().await;
        tries += usize::from(moments.contains(&None) && moments.iter().any(Option::is_some));
        for (deadline, moment) in deadlines.into_iter().zip(moments) {
            let moment = moment.unwrap_or(Timestamp::EPOCH);
            ensure!(moment <= deadline, "no commit after its deadline", (deadline, moment));
            if moment == deadline {
                return;
            }
        }
    }
    let at_their_deadlines = 0;
    expect_eq!(at_their_deadlines, 1, "commits exactly at their deadline in {tries} tries");
}

async fn now(clock: &Records) -> Timestamp {
    clock.now().await.unwrap()
}
