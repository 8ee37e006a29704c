//! Many takes and sessions are moved from SQLite to PostgreSQL and back, in memory that does not grow with them. A few in
//! each run of the tests; `SWARM_MOVED_TAKES` says how many otherwise.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use swarm_core::domain::{LogRow, Logged, Revision, Seq, SessionId, TakeId, TenantId};
use swarm_core::store::{Restored, Stored, Transfer as _};
use swarm_core::{Session, Take, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::backend::now;
use crate::harness::{Author, Client, Server};
use crate::program::swarm;

const DAY: &str = "2026-11-21";
const MEMBERS: usize = 20;

/// Takes of each member in each session.
const REVISIONS: u8 = 5;

/// The memory of a command that moves a store, in bytes, whatever the number of takes.
const MAX_MEMORY: usize = 96 << 20;

#[test]
fn takes_are_moved_to_postgres_and_back_in_bounded_memory() {
    let takes = std::env::var("SWARM_MOVED_TAKES").map_or(300, |takes| takes.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    fill(&folder, takes);
    let postgres = swarm_postgres_testing::Server::start(&[]);
    let url = postgres.url();
    let run = |arguments: &[&str]| measured(&folder, takes, arguments);
    run(&["dump", "--store=sqlite:swarm.db", "--out=before.dump"]);
    run(&["copy", "--from=sqlite:swarm.db", "--to", &url]);
    run(&["copy", "--from", &url, "--to=sqlite:after.db"]);
    run(&["dump", "--store=sqlite:after.db", "--out=after.dump"]);
    let [before, after] = ["before.dump", "after.dump"].map(|name| last_line(folder.path(), name));
    assert!(before.contains(&format!("\"take\":{takes}")), "{before}");
    // The last line has the digest of all others.
    assert_eq!(after, before);
}

/// Runs a command; prints how long it took, and its peak memory.
#[allow(clippy::disallowed_methods, reason = "the time is printed, and nothing depends on it")]
fn measured(folder: &TempDir, takes: usize, arguments: &[&str]) {
    let begun = Instant::now();
    let mut command = swarm(arguments, &[]);
    let mut child = command.current_dir(folder.path()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_memory(&child));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => sleep(Duration::from_millis(50)),
        }
    };
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(status.success(), "{said}");
    let (seconds, mebibytes) = (begun.elapsed().as_secs_f64(), peak >> 20);
    println!("{} of {takes} takes: {seconds:.1} s, at most {mebibytes} MiB", arguments[0]);
    assert!(peak <= MAX_MEMORY, "{arguments:?}: {peak} bytes");
}

/// The most memory that a process has had, in bytes; 0 once it has ended.
fn peak_memory(child: &Child) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.split_whitespace().next().unwrap().parse::<usize>().unwrap() << 10)
}

fn last_line(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap().lines().last().unwrap().to_owned()
}

/// Writes a store with so many takes, and as many sessions without takes.
fn fill(folder: &TempDir, takes: usize) {
    let memory = MemoryStore::new();
    let server = Server::on(memory.clone());
    let authors = desk(&server.client(), takes.div_ceil(MEMBERS * usize::from(REVISIONS)));
    let store = SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    let tenant = TenantId::parse("default").unwrap();
    now(async {
        let mut records = records(&memory, &tenant).await;
        let Some(Stored::Log(LogRow { seq, at, .. })) = records.last().cloned() else { panic!() };
        add_sessions(&mut records, takes as u64);
        if let Some(Stored::Head(head)) = records.first_mut() {
            head.log = Seq(seq.0 + takes as u64);
        }
        let mut restore = store.restore().await.unwrap();
        for records in records.chunks(500) {
            restore.write(&tenant, records.to_vec()).await.unwrap();
        }
        let ids: Vec<u64> = (1..=takes as u64).collect();
        for ids in ids.chunks(500) {
            let row = |id: &u64| Stored::Log(row(&authors, *id, Seq(seq.0 + id), at));
            restore.write(&tenant, ids.iter().map(row).collect()).await.unwrap();
        }
        assert_eq!(restore.commit().await.unwrap(), Restored::Complete);
    });
}

async fn records(store: &MemoryStore, tenant: &TenantId) -> Vec<Stored> {
    let mut dump = store.dump(tenant).await.unwrap();
    let mut all = Vec::new();
    loop {
        let records = dump.next().await.unwrap();
        if records.is_empty() {
            return all;
        }
        all.extend(records);
    }
}

/// Adds copies of the last session, as a log that began later does not have them.
fn add_sessions(records: &mut Vec<Stored>, count: u64) {
    let last = records.iter().rposition(|record| matches!(record, Stored::Session(_))).unwrap();
    let Stored::Session(session) = records[last].clone() else { unreachable!() };
    let copy = |more: u64| {
        let id = SessionId(session.id.0 + more);
        Stored::Session(Arc::new(Session { id, ..(*session).clone() }))
    };
    records.splice(last + 1..last + 1, (1..=count).map(copy));
    if let Some(Stored::Head(head)) = records.first_mut() {
        head.sessions = SessionId(session.id.0 + count);
    }
}

/// Members, and so many sessions.
fn desk(client: &Client, sessions: usize) -> Vec<Author> {
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for _ in 0..sessions {
        client.convene(DAY, "aurora");
    }
    (0..MEMBERS).map(|_| Author::join(client, "Ada")).collect()
}

/// The row of a take in the log: the members file in turn, and one session after another.
fn row(authors: &[Author], id: u64, seq: Seq, at: Timestamp) -> LogRow {
    let place = usize::try_from(id - 1).unwrap();
    let (round, member) = (place / MEMBERS, place % MEMBERS);
    let (session, revision) = (round / usize::from(REVISIONS), round % usize::from(REVISIONS));
    let author = &authors[member];
    let draft = author.draft_of(json!({
        "date": DAY, "subjectId": "aurora", "nonce": id.to_string(), "body": "Liquidity is back. ".repeat(10),
    }));
    let take = Take {
        id: TakeId(id),
        filed_at: at,
        session_id: SessionId(session as u64 + 1),
        session_version: 1,
        revision: Revision::new(u8::try_from(revision + 1).unwrap()).unwrap(),
        public_key: author.key.public_key(),
        salt: None,
        withheld: None,
        signed: Arc::new(author.key.sign(draft)),
    };
    LogRow { seq, at, logged: Logged::Take(Arc::new(take).into()) }
}
