//! Servers killed, or without power, during concurrent submissions: acknowledged takes are stored once and complete.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;
use swarm_core::domain::{Signed, TakeDraft, TenantId};
use swarm_core::store::Store;
use swarm_core::{Take, Tenants as _};
use swarm_redis_testing::wait_until;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

use super::{TOKEN, library};
use crate::fixture::{convene, insert_member, member, takes};
use crate::harness::{Author, Client, fresh_key, fresh_nonce, signed_text};
use crate::program::Program;

const DATE: &str = "2026-11-21";
const MEMBERS: usize = 64;

/// The number of takes acknowledged before a server is killed.
const ACKNOWLEDGED: usize = 150;

/// The number of sessions per round; each accepts five takes per member.
const SESSIONS: usize = 20;

#[test]
fn killed_server_loses_no_acknowledged_take() {
    let mut outages = Outages::new(16, &[]);
    for round in 0..16 {
        outages.end_a_server(round);
        assert_eq!(outages.lost(), 0, "round {round}");
    }
}

#[test]
fn power_loss_loses_no_acknowledged_take() {
    let library = library("power.c");
    let mut outages = Outages::new(12, &[("LD_PRELOAD", &library)]);
    for round in 0..12 {
        outages.end_a_server(round);
        outages.cut_power(round);
        assert_eq!(outages.lost(), 0, "round {round}");
    }
}

/// Shows that the test above would detect a loss.
#[test]
fn power_loss_with_a_lying_disk_loses_acknowledged_takes() {
    let library = library("power.c");
    let lies = [("LD_PRELOAD", library.as_str()), ("SWARM_TEST_DISK_LIES", "1")];
    let mut outages = Outages::new(1, &lies);
    outages.end_a_server(0);
    outages.cut_power(0);
    assert!(outages.lost() > 0);
}

/// A folder with the file that servers use one after another, and all takes sent to them.
struct Outages {
    folder: Arc<TempDir>,
    environment: Vec<(String, String)>,
    authors: Vec<Arc<Author>>,
    sent: Vec<Sent>,
}

/// A take that was sent.
struct Sent {
    take: Signed<TakeDraft>,
    /// Its id, if it was acknowledged.
    id: Option<u64>,
}

impl Outages {
    /// Prepares sessions for this many rounds.
    fn new(rounds: usize, environment: &[(&str, &str)]) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let environment = TOKEN.iter().chain(environment);
        let environment = environment.map(|(name, text)| (name.to_string(), text.to_string()));
        let outages =
            Self { environment: environment.collect(), folder, authors: vec![], sent: vec![] };
        let port = outages.port();
        for subject in (0..rounds).flat_map(|round| (0..SESSIONS).map(move |at| (round, at))) {
            convene(&*port, DATE, &name(subject));
        }
        let authors = (0..MEMBERS).map(|number| Arc::new(joined(&*port, number))).collect();
        Self { authors, ..outages }
    }

    /// Opens the file directly.
    fn port(&self) -> Arc<dyn Store> {
        let store = SqliteStore::open(self.folder.path().join("swarm.db")).unwrap();
        store.open(&TenantId::parse("default").unwrap())
    }

    /// Starts a server, lets all members file concurrently, and kills it meanwhile.
    fn end_a_server(&mut self, round: usize) {
        for file in self.files() {
            // Everything from before this round is synced.
            let _ = fs::remove_file(synced(&file));
            let _ = fs::copy(&file, synced(&file));
        }
        let environment = self.environment.iter().map(|(name, text)| (&**name, &**text));
        let environment: Vec<_> = environment.collect();
        let program = Program::start_in(Arc::clone(&self.folder), &["serve"], &environment);
        let acknowledged = Arc::new(AtomicUsize::new(0));
        let file = |author: &Arc<Author>| {
            let (author, acknowledged) = (Arc::clone(author), Arc::clone(&acknowledged));
            let client = Client::new(program.client.address);
            thread::spawn(move || file(&client, &author, round, &acknowledged))
        };
        let filing: Vec<_> = self.authors.iter().map(file).collect();
        wait_until("takes are acknowledged", || {
            acknowledged.load(Ordering::SeqCst) >= ACKNOWLEDGED
        });
        drop(program);
        self.sent.extend(filing.into_iter().flat_map(|member| member.join().unwrap()));
    }

    /// Reverts the files to what was synced. In two of three rounds, some unsynced sectors survive too, in any
    /// order.
    fn cut_power(&self, round: usize) {
        for file in self.files() {
            cut(&file, round);
        }
        // It is never synced, and rebuilt when missing.
        let _ = fs::remove_file(self.folder.path().join("swarm.db-shm"));
    }

    fn files(&self) -> [PathBuf; 2] {
        ["swarm.db", "swarm.db-wal"].map(|name| self.folder.path().join(name))
    }

    /// The number of acknowledged takes that are not stored. Fails unless all stored takes were sent, are
    /// complete, and are there once.
    fn lost(&self) -> usize {
        let on_file = takes(&*self.port());
        let ids: Vec<u64> = on_file.iter().map(|take| take.id.0).collect();
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
        let by_nonce = |take: &Arc<Take>| (take.draft().nonce.clone(), Arc::clone(take));
        let mut found: HashMap<_, _> = on_file.iter().map(by_nonce).collect();
        assert_eq!(found.len(), on_file.len());
        let mut lost = 0;
        for sent in &self.sent {
            let Some(take) = found.remove(&sent.take.payload.nonce) else {
                lost += usize::from(sent.id.is_some());
                continue;
            };
            assert_eq!(*take.signed, sent.take);
            assert!(sent.id.is_none_or(|id| id == take.id.0));
        }
        assert!(found.is_empty(), "stored but not sent: {found:?}");
        lost
    }
}

/// Files takes until the server is gone.
fn file(client: &Client, author: &Author, round: usize, acknowledged: &AtomicUsize) -> Vec<Sent> {
    let mut sent = vec![];
    for session in 0..SESSIONS {
        for _ in 0..5 {
            let subject = name((round, session));
            let fields = json!({ "date": DATE, "subjectId": subject, "nonce": fresh_nonce() });
            let take = author.key.sign(author.draft_of(fields));
            let answer = client.try_submit(author, &signed_text(&take));
            let id = answer.map(|answer| answer.expect(201).json()["recommendationId"].as_u64());
            sent.push(Sent { take, id: id.ok().flatten() });
            if sent.last().is_some_and(|sent| sent.id.is_none()) {
                return sent;
            }
            acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }
    panic!("the server was not killed in time");
}

/// A member that has claimed its token.
fn joined(port: &dyn Store, number: usize) -> Author {
    let (id, key) = (format!("member-{number}"), fresh_key());
    let token = format!("tok_{id}_0");
    let member = member(&id, &key.public_key().to_string(), &token);
    let id = member.id.clone();
    insert_member(port, member);
    Author { id, key, token }
}

fn name((round, session): (usize, usize)) -> String {
    format!("subject-{round}-{session}")
}

/// Reverts a file to its state after a loss of power: each unsynced sector may have survived or not.
fn cut(path: &Path, round: usize) {
    const SECTOR: usize = 512;
    let written = fs::read(path).unwrap_or_default();
    let Ok(mut kept) = fs::read(synced(path)) else { return drop(fs::remove_file(path)) };
    if !round.is_multiple_of(3) {
        kept.resize(kept.len().max(written.len()), 0);
        for (number, sector) in written.chunks(SECTOR).enumerate() {
            // Pseudo-random.
            if (number * 2_654_435_761 + round).count_ones().is_multiple_of(2) {
                kept[number * SECTOR..][..sector.len()].copy_from_slice(sector);
            }
        }
    }
    fs::write(path, kept).unwrap();
}

/// The copy of the synced state that the preloaded library keeps.
fn synced(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.synced", path.file_name().unwrap().display()))
}
