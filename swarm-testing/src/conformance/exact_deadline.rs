//! Tests of exact deadlines with a clock that a case can neither set nor stop.

use std::time::Duration;

use tokio::time::sleep;

use crate::promise::{ensure, promised};
use swarm_core::domain::Timestamp;
use swarm_core::store::Clock;

/// How long a case tries, in milliseconds.
const PATIENCE: i64 = 30_000;

/// How often some must have landed and others been late before a case gives up.
const TRIES: usize = 60;

/// Commits many changes at once, each with a deadline of its own, one for each of some milliseconds
/// that follow each other, until one of them lands at its very deadline: sooner or later one does,
/// and where a deadline is taken for past when it is reached, none ever does. None may land later.
///
/// `prepare` judges one change for each deadline; what it answers commits them and tells, in their
/// order, when each landed; `None`: it was late.
pub(super) async fn meet<P, F>(clock: &dyn Clock, mut prepare: P)
where
    P: AsyncFnMut(Vec<Timestamp>) -> F,
    F: AsyncFnOnce() -> Vec<Option<Timestamp>>,
{
    let (give_up, mut lead, mut tries) = (now(clock).await.plus_millis(PATIENCE), 20, 0);
    while now(clock).await < give_up && tries < TRIES {
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
            ensure!(moment <= deadline, "nothing lands after its deadline", (deadline, moment));
            if moment == deadline {
                return;
            }
        }
    }
    let at_their_deadlines = 0;
    promised!(at_their_deadlines, 1, "of all that landed in {tries} tries around a deadline");
}

async fn now(clock: &dyn Clock) -> Timestamp {
    clock.now().await.unwrap()
}
