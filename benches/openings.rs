//! How long other commits wait while a blind session is opened: fills one in every store, opens it by its deadline or by its
//! aggregation, and files takes of another session meanwhile. Prints the longest of their commits during the opening, and
//! beside it their 99th percentile before.
//!
//! The argument is the number of takes, 10,000 by default; names of stores choose among them.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use swarm_benches::{Author, Fixture, SESSIONS, USUAL, session_draft};
use swarm_core::domain::{
    Attribution, Nonce, SessionDraft, SessionPatch, SessionState, Subject, TakeDraft,
};
use swarm_core::json::Json;
use swarm_core::store::Store;
use swarm_core::{Session, Submission, Tenant};
use swarm_store_memory::MemoryStore;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// The revisions that each member files.
const REVISIONS: usize = 5;

/// The sessions that are opened in each way.
const ROUNDS: usize = 5;

/// How many takes are filed at the same time to fill a session.
const AT_ONCE: usize = 64;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let takes = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(10_000);
    let names: Vec<_> = arguments.iter().filter(|it| it.chars().all(char::is_alphabetic)).collect();
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|it| *it == name);
    let runtime = Runtime::new().expect("a runtime");
    if is_chosen("memory") {
        measure(&runtime, "memory", &MemoryStore::new(), takes);
    }
    if is_chosen("sqlite") {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let sqlite = SqliteStore::open(folder.path().join("swarm.db")).expect("a file");
        measure(&runtime, "SQLite", &sqlite, takes);
    }
    if is_chosen("redis") {
        let server = swarm_redis_testing::Server::start(&[]);
        let redis = runtime.block_on(RedisStore::connect(&server.url())).expect("it answers");
        measure(&runtime, "Redis", &redis, takes);
    }
    if is_chosen("postgres") {
        let server = swarm_postgres_testing::Server::start(&[]);
        let store = runtime.block_on(PostgresStore::create(&server.url())).expect("it answers");
        measure(&runtime, "PostgreSQL", &store, takes);
    }
}

fn measure(runtime: &Runtime, name: &str, store: &Store, takes: usize) {
    let count = u32::try_from(takes / REVISIONS).expect("a small number");
    let authors: Vec<_> = (0..count).map(|number| Arc::new(Author::new(number))).collect();
    let members: Vec<_> = authors.iter().map(|author| &**author).collect();
    let fixture = Arc::new(runtime.block_on(Fixture::set_up(store, "acme", &members)));
    for (way, by_aggregation) in [("its deadline", false), ("its aggregation", true)] {
        let mut longest: Vec<_> = (0..ROUNDS)
            .map(|round| {
                let number = SESSIONS + round + if by_aggregation { ROUNDS } else { 0 };
                runtime.block_on(opened(&fixture, &authors, number, by_aggregation))
            })
            .collect();
        longest.sort_unstable();
        let millis: Vec<_> = longest
            .iter()
            .map(|[during, before]| format!("{:.1} ({:.1})", millis(*during), millis(*before)))
            .collect();
        println!("{name}, {takes} takes, by {way}: {} ms", millis.join(", "));
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Fills a session and opens it; returns the longest commit during it, and before it.
async fn opened(
    fixture: &Arc<Fixture>,
    authors: &[Arc<Author>],
    number: usize,
    by_aggregation: bool,
) -> [Duration; 2] {
    let tenant = fixture.tenant();
    let draft = SessionDraft { blind: true, window_closes_at: None, ..session_draft(number) };
    put_subject(tenant, &draft).await;
    let by = Attribution::SCHEDULE;
    let session = tenant.convene(&draft, &by).await.expect("a session");
    fill(fixture, authors, number).await;
    if !by_aggregation {
        let deadline = tenant.now().await.expect("a time").plus_millis(1);
        let patch = SessionPatch {
            window_closes_at: Some(Some(deadline)),
            quorum: None,
            ..SessionPatch::default()
        };
        tenant.amend_session(session.id, &patch, &by).await.expect("it moves");
        while tenant.now().await.expect("a time") <= deadline {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let (opens, is_over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let committing = tokio::spawn(commit(
        Arc::clone(fixture),
        draft.clone(),
        Arc::clone(&opens),
        Arc::clone(&is_over),
    ));
    tokio::time::sleep(Duration::from_millis(300)).await;
    opens.store(true, Ordering::SeqCst);
    let state = if by_aggregation { SessionState::Aggregated } else { SessionState::WindowClosed };
    let opened: Arc<Session> = tenant.advance(session.id, state, &by).await.expect("it opens");
    is_over.store(true, Ordering::SeqCst);
    assert!(opened.opened_at.is_some());
    committing.await.expect("it ends")
}

/// Commits one after another until the opening is over; returns the longest commit that was under way during it, and the
/// 99th percentile of those before.
async fn commit(
    fixture: Arc<Fixture>,
    draft: SessionDraft,
    opens: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
) -> [Duration; 2] {
    let (mut before, mut during) = (Vec::new(), Duration::ZERO);
    while !is_over.load(Ordering::SeqCst) {
        let start = Instant::now();
        put_subject(fixture.tenant(), &draft).await;
        let took = start.elapsed();
        if opens.load(Ordering::SeqCst) {
            during = during.max(took);
        } else {
            before.push(took);
        }
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    before.sort_unstable();
    let percentile = before.get(before.len() * 99 / 100).copied().unwrap_or_default();
    [during, percentile]
}

async fn fill(fixture: &Arc<Fixture>, authors: &[Arc<Author>], number: usize) {
    let mut filing = JoinSet::new();
    for part in authors.chunks(authors.len().div_ceil(AT_ONCE)) {
        let (fixture, part) = (Arc::clone(fixture), part.to_vec());
        filing.spawn(async move {
            for author in part {
                for revision in 0..REVISIONS {
                    let nonce = Nonce::parse(format!("{number}-{revision}")).expect("a nonce");
                    let draft = TakeDraft { nonce, ..author.draft(number, USUAL) };
                    let take = Submission::new(author.keys.sign(draft));
                    fixture.submit(&author, &take).await;
                }
            }
        });
    }
    filing.join_all().await;
}

async fn put_subject(tenant: &Tenant, draft: &SessionDraft) {
    let text = format!(r#"{{"id":"{0}","name":"{0}"}}"#, draft.subject_id);
    let fields = Json::read(text.as_bytes()).expect("JSON");
    let subject = Subject::read(&mut fields.into_object()).expect("a subject");
    tenant.put_subject(&subject, &Attribution::SCHEDULE.by).await.expect("it answers");
}
