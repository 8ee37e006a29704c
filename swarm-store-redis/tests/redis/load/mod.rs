//! Load: members that file takes and submit to the committee until stopped, while faults are injected. Checks every
//! answer.

#![allow(dead_code, reason = "not every test needs every helper")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod submissions;
mod takes;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::store::{CommitteeTakesQuery, Records, Result};
use swarm_core::{TakeId, TenantId};
use swarm_store_redis::RedisStore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::world::committee::{convened, today};
use submissions::Submitter;

const FILERS: usize = 8;

/// A tenant, and members that file in it concurrently.
pub(crate) struct Load {
    pub(crate) store: Records,
    committee: Records,
    tallies: Vec<Arc<Tally>>,
    idle: Vec<Filer>,
    running: JoinSet<Filer>,
    stopped: Arc<AtomicBool>,
}

/// The number of acknowledged and of failed filings, of takes or of submissions.
#[derive(Default)]
struct Tally {
    filed: AtomicUsize,
    failed: AtomicUsize,
}

impl Tally {
    async fn count(&self, outcome: Result<()>) {
        if outcome.is_ok() {
            self.filed.fetch_add(1, Ordering::SeqCst);
        } else {
            self.failed.fetch_add(1, Ordering::SeqCst);
            sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Load {
    /// Creates the members in the tenant and its committee. They do not file yet.
    pub(crate) async fn new(store: &RedisStore, tenant: &str) -> Self {
        let tenant = TenantId::parse(tenant).unwrap();
        let (store, committee) = (store.open(&tenant), store.open(&tenant));
        let names: [String; FILERS] = std::array::from_fn(|number| format!("filer-{number}"));
        convened(&committee, &names).await;
        let mut idle = Vec::new();
        for name in names {
            idle.push(Filer::new(&store, name).await);
        }
        let tallies = idle.iter().flat_map(|filer| filer.tallies.clone()).collect();
        Self { store, committee, tallies, idle, running: JoinSet::new(), stopped: Arc::default() }
    }

    /// Starts filing.
    pub(crate) fn begin(&mut self) {
        self.stopped.store(false, Ordering::SeqCst);
        for filer in mem::take(&mut self.idle) {
            let (store, committee) = (self.store.clone(), self.committee.clone());
            self.running.spawn(filer.work(store, committee, Arc::clone(&self.stopped)));
        }
    }

    /// Stops filing; each member ends with the answer it is waiting for, even if it is an error. Fails if any
    /// answer was wrong.
    pub(crate) async fn end(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.idle = mem::take(&mut self.running).join_all().await;
    }

    /// Waits until each member had a take and a submission acknowledged that it began to file after
    /// this call.
    pub(crate) async fn goes_on(&mut self) {
        self.all("acknowledged", |tally| &tally.filed, 2).await;
    }

    /// Waits until each member had an error for a take and for a submission.
    pub(crate) async fn fails(&mut self) {
        self.all("answered with an error", |tally| &tally.failed, 1).await;
    }

    async fn all(&mut self, what: &str, count: fn(&Tally) -> &AtomicUsize, more: usize) {
        let read = |tally: &Arc<Tally>| count(tally).load(Ordering::SeqCst);
        let goals: Vec<usize> = self.tallies.iter().map(|tally| read(tally) + more).collect();
        for _ in 0..10_000 {
            if self.tallies.iter().zip(&goals).all(|(tally, goal)| read(tally) >= *goal) {
                return;
            }
            assert!(self.running.try_join_next().is_none(), "a filer got a wrong answer");
            sleep(Duration::from_millis(2)).await;
        }
        panic!("waited 20 seconds for all filers to be {what}");
    }

    /// The number of errors so far.
    pub(crate) fn errors(&self) -> usize {
        self.tallies.iter().map(|tally| tally.failed.load(Ordering::SeqCst)).sum()
    }

    /// After [`end`](Self::end): how many acknowledged takes and submissions are not stored. Fails unless
    /// everything stored was filed, is complete, and is there once.
    pub(crate) async fn lost(&mut self) -> [usize; 2] {
        [self.lost_takes().await, self.lost_submissions().await]
    }

    async fn lost_takes(&mut self) -> usize {
        let mut verdicts = JoinSet::new();
        for filer in mem::take(&mut self.idle) {
            let store = self.store.clone();
            verdicts.spawn(async move { (filer.takes.on_file(&store).await, filer) });
        }
        let (mut lost, mut ids) = (0, Vec::new());
        for (on_file, filer) in verdicts.join_all().await {
            lost += filer.takes.acknowledged.len().saturating_sub(on_file.len());
            ids.extend(on_file);
            self.idle.push(filer);
        }
        // A half-done commit would leave a gap, or an additional take.
        ids.sort_unstable();
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
        assert_eq!(self.store.take(TakeId(ids.len() as u64 + 1)).await.unwrap(), None);
        lost
    }

    async fn lost_submissions(&self) -> usize {
        let day = CommitteeTakesQuery::On(&[today()]);
        let day = self.committee.committee_takes(&day).await.unwrap();
        assert!(day.is_sorted_by_key(|take| take.received_at));
        let (mut lost, mut found) = (0, 0);
        for Filer { submissions, .. } in &self.idle {
            let on_file = submissions.on_file(&self.committee, &day).await;
            lost += submissions.acknowledged.len().saturating_sub(on_file);
            found += on_file;
        }
        assert_eq!(found, day.len());
        lost
    }
}

/// A member of tenant and committee that files takes and submits concurrently.
struct Filer {
    takes: takes::Filer,
    submissions: Submitter,
    tallies: [Arc<Tally>; 2],
}

impl Filer {
    async fn new(store: &Records, name: String) -> Self {
        let takes = takes::Filer::new(store, name.clone()).await;
        Self { takes, submissions: Submitter::new(name), tallies: Default::default() }
    }

    async fn work(mut self, store: Records, committee: Records, stopped: Arc<AtomicBool>) -> Self {
        let Self { takes, submissions, tallies: [filed, submitted] } = &mut self;
        let goes_on = || !stopped.load(Ordering::SeqCst);
        let filing = async {
            while goes_on() {
                filed.count(takes.file(&store).await).await;
            }
        };
        let submitting = async {
            while goes_on() {
                submitted.count(submissions.submit(&committee).await).await;
            }
        };
        tokio::join!(filing, submitting);
        self
    }
}
