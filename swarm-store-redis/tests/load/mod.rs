//! Members that file takes without end, whatever becomes of their server, and what they were told.

#![allow(dead_code, reason = "not every test needs every helper")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::domain::{Revision, TakeOnFile};
use swarm_core::rules::Filing;
use swarm_core::store::{Filed, Result, Store};
use swarm_core::{Session, Take, TakeId};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::world::{Author, BOUND, draft};

const FILERS: usize = 8;

/// How many takes a member may file in a session (specification, section 8A).
const CAP: usize = 5;

/// A tenant's world, and members that file in it at once.
pub(crate) struct Load {
    pub(crate) store: Arc<dyn Store>,
    tallies: Vec<Arc<Tally>>,
    at_rest: Vec<Filer>,
    at_work: JoinSet<Filer>,
    enough: Arc<AtomicBool>,
}

/// How often a filer was told of a take on file, and of an error.
#[derive(Default)]
struct Tally {
    filed: AtomicUsize,
    failed: AtomicUsize,
}

impl Load {
    /// Lets members join. They do not file yet.
    pub(crate) async fn new(store: Arc<dyn Store>) -> Self {
        let mut at_rest = Vec::new();
        for number in 0..FILERS {
            at_rest.push(Filer::new(&*store, format!("filer-{number}")).await);
        }
        let tallies = at_rest.iter().map(|filer| Arc::clone(&filer.tally)).collect();
        Self { store, tallies, at_rest, at_work: JoinSet::new(), enough: Arc::default() }
    }

    /// Lets the members file.
    pub(crate) fn begin(&mut self) {
        self.enough.store(false, Ordering::SeqCst);
        for filer in mem::take(&mut self.at_rest) {
            self.at_work.spawn(filer.work(Arc::clone(&self.store), Arc::clone(&self.enough)));
        }
    }

    /// Lets each end with the answer that it waits for, even if that is an error. Fails if any was
    /// answered wrongly.
    pub(crate) async fn end(&mut self) {
        self.enough.store(true, Ordering::SeqCst);
        self.at_rest = mem::take(&mut self.at_work).join_all().await;
    }

    /// Waits until each was acknowledged a take that it began to file after this was called.
    pub(crate) async fn goes_on(&mut self) {
        self.all("acknowledged", |tally| &tally.filed, 2).await;
    }

    /// Waits until each was told of an error.
    pub(crate) async fn fails(&mut self) {
        self.all("told of an error", |tally| &tally.failed, 1).await;
    }

    async fn all(&mut self, what: &str, count: fn(&Tally) -> &AtomicUsize, more: usize) {
        let read = |tally: &Arc<Tally>| count(tally).load(Ordering::SeqCst);
        let goals: Vec<usize> = self.tallies.iter().map(|tally| read(tally) + more).collect();
        for _ in 0..10_000 {
            if self.tallies.iter().zip(&goals).all(|(tally, goal)| read(tally) >= *goal) {
                return;
            }
            assert!(self.at_work.try_join_next().is_none(), "a filer was answered wrongly");
            sleep(Duration::from_millis(2)).await;
        }
        panic!("waited 20 seconds for all filers to be {what}");
    }

    /// How many errors they were told of.
    pub(crate) fn errors(&self) -> usize {
        self.tallies.iter().map(|tally| tally.failed.load(Ordering::SeqCst)).sum()
    }

    /// The verdict, while all are at rest: how many acknowledged takes are not on file. Fails
    /// unless all that is on file was filed, is whole, and is there once.
    pub(crate) async fn lost(&mut self) -> usize {
        let mut verdicts = JoinSet::new();
        for filer in mem::take(&mut self.at_rest) {
            let store = Arc::clone(&self.store);
            verdicts.spawn(async move { (filer.on_file(&*store).await, filer) });
        }
        let (mut lost, mut ids) = (0, Vec::new());
        for (on_file, filer) in verdicts.join_all().await {
            lost += filer.acknowledged.len().saturating_sub(on_file.len());
            ids.extend(on_file);
            self.at_rest.push(filer);
        }
        // What was begun and not done would have left a gap, or be the next.
        ids.sort_unstable();
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
        assert_eq!(self.store.take(TakeId(ids.len() as u64 + 1)).await.unwrap(), None);
        lost
    }
}

/// A member that files as much as it may in one session of its own after another, each take with
/// its number for a nonce.
struct Filer {
    name: String,
    author: Author,
    tally: Arc<Tally>,
    /// How often it tried to convene a session.
    convened: usize,
    sessions: Vec<Arc<Session>>,
    acknowledged: Vec<Arc<Take>>,
    /// Its filing ended in an error: the take is on file or not.
    unknown: Option<Filing>,
}

impl Filer {
    async fn new(store: &dyn Store, name: String) -> Self {
        let author = Author::joined(store, &name).await;
        let (tally, sessions, acknowledged) = (Arc::default(), Vec::new(), Vec::new());
        Self { name, author, tally, convened: 0, sessions, acknowledged, unknown: None }
    }

    async fn work(mut self, store: Arc<dyn Store>, enough: Arc<AtomicBool>) -> Self {
        while !enough.load(Ordering::SeqCst) {
            if self.file(&*store).await.is_ok() {
                self.tally.filed.fetch_add(1, Ordering::SeqCst);
            } else {
                self.tally.failed.fetch_add(1, Ordering::SeqCst);
                sleep(Duration::from_millis(5)).await;
            }
        }
        self
    }

    /// Files the next take, or once more the one that ended in an error. Nobody else files for
    /// this member, so that there is but one right answer.
    async fn file(&mut self, store: &dyn Store) -> Result<()> {
        let filing = match self.unknown.take() {
            Some(filing) => filing,
            None => self.next(store).await?,
        };
        let filing = self.unknown.insert(filing);
        match timeout(BOUND, store.file(filing)).await.unwrap()? {
            Filed::Filed(take) if *take == filing.take(take.id, take.filed_at) => {
                self.acknowledged.push(take);
                self.unknown = None;
                Ok(())
            }
            other => panic!("{other:?} to {filing:?}"),
        }
    }

    async fn next(&mut self, store: &dyn Store) -> Result<Filing> {
        let number = self.acknowledged.len();
        if number == self.sessions.len() * CAP {
            self.convened += 1;
            let subject = format!("{}-{}", self.name, self.convened);
            self.sessions.push(store.convene(&draft(&subject)).await?);
        }
        let session = &self.sessions[number / CAP];
        let filing = self.author.try_judge(store, session, &number.to_string()).await?;
        assert_eq!(usize::from(filing.revision().get()), number % CAP + 1, "after {number} takes");
        Ok(filing)
    }

    /// The ids of its takes on file. Each is whole, and nonces and revisions agree with them.
    async fn on_file(&self, store: &dyn Store) -> Vec<u64> {
        let mut ids = Vec::new();
        for (place, session) in self.sessions.iter().enumerate() {
            let takes = store.takes(session.id).await.unwrap();
            assert!(takes.len() <= CAP);
            for revision in 0..CAP {
                let (number, take) = (place * CAP + revision, takes.get(revision));
                let facts = self.author.basis(store, session, &number.to_string()).await.unwrap();
                assert_eq!(facts.spent.as_ref(), take, "nonce {number}");
                assert_eq!(usize::from(facts.latest.map_or(0, Revision::get)), takes.len());
                let Some(take) = take else { continue };
                assert_eq!(**take, self.told(number, take));
                let superseded_by = takes.get(revision + 1).map(|next| next.id);
                let expected = TakeOnFile { take: Arc::clone(take), superseded_by };
                assert_eq!(store.take(take.id).await.unwrap(), Some(expected));
                ids.push(take.id.0);
            }
        }
        ids
    }

    /// What it was told of the take with this number; or would have been, had it been told.
    fn told(&self, number: usize, on_file: &Take) -> Take {
        let Take { id, filed_at, .. } = *on_file;
        match self.acknowledged.get(number) {
            Some(take) => Take::clone(take),
            None => self.unknown.as_ref().expect("nobody filed this").take(id, filed_at),
        }
    }
}
