//! Consistency of facts that are read together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::yield_now;

use crate::assertions::ensure;
use crate::{Author, TestTenant, race};
use swarm_core::domain::{Session, SessionId, StoredTake};
use swarm_core::store::{Basis, SessionAuthors, Store, TakeQuery, Versioned};

/// A writer repeatedly saves the session, then the member, then files a take. Concurrent readers
/// must see the facts at a single point in time.
pub async fn basis_is_read_in_one_snapshot(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = Arc::new(tenant.author("ada").await);
    for round in 0..12_u64 {
        let session = tenant.convened("subject").await;
        let done = Arc::new(AtomicBool::new(false));
        let run = |racer: u64| {
            let (tenant, author) = (tenant.clone(), Arc::clone(&author));
            let (session, done) = (Arc::clone(&session), Arc::clone(&done));
            async move {
                if racer == 0 {
                    write(&tenant, &author, &session).await;
                    done.store(true, Ordering::SeqCst);
                }
                while !done.load(Ordering::SeqCst) {
                    for revision in 1..=5 {
                        look(&tenant, &author, &session, 5 * round, revision).await;
                        yield_now().await;
                    }
                }
            }
        };
        race((0..5).map(run)).await;
    }
}

/// The same of a session and its takes.
pub async fn session_and_takes_are_read_in_one_snapshot(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = Arc::new(tenant.author("ada").await);
    for _ in 0..12 {
        let session = tenant.convened("subject").await;
        let done = Arc::new(AtomicBool::new(false));
        let run = |racer: u64| {
            let (tenant, author) = (tenant.clone(), Arc::clone(&author));
            let (session, done) = (Arc::clone(&session), Arc::clone(&done));
            async move {
                if racer == 0 {
                    write(&tenant, &author, &session).await;
                    done.store(true, Ordering::SeqCst);
                }
                while !done.load(Ordering::SeqCst) {
                    look_at_takes(&tenant, session.id).await;
                    yield_now().await;
                }
            }
        };
        race((0..5).map(run)).await;
    }
}

async fn look_at_takes(tenant: &TestTenant, session: SessionId) {
    let all = tenant.session_takes(&TakeQuery::all(session)).await.unwrap();
    let (saves, filed) = (all.session.version.0 - 1, all.takes.len() as u64);
    let together = saves == filed || saves == filed + 1;
    ensure!(together, "a session saved before each take", (saves, filed));
    let latest = tenant.session_takes(&TakeQuery::latest(session)).await.unwrap();
    let (saves, filed) = (latest.session.version.0 - 1, &latest.takes);
    ensure!(filed.len() <= 1, "one take of a member", filed);
    let filed = filed.first().map_or(0, |take| u64::from(take.revision().get()));
    let together = saves == filed || saves == filed + 1;
    ensure!(together, "a session saved before its latest take", (saves, filed));
    let SessionAuthors { session, authors } = tenant.session_authors(session).await.unwrap();
    let (saves, authors) = (session.version.0 - 1, authors.len());
    let together = if saves == 1 { authors <= 1 } else { authors == usize::from(saves > 1) };
    ensure!(together, "a session saved before its author filed", (saves, authors));
}

async fn write(tenant: &TestTenant, author: &Author, session: &Session) {
    for revision in 1..=5 {
        tenant.amend(session.id, |_| {}).await;
        tenant.edit(&author.id, |_| {}).await;
        tenant.filed(author, session, &nonce(session, revision)).await;
    }
}

/// `before` is the number of saves of the member before this round.
async fn look(tenant: &TestTenant, author: &Author, session: &Session, before: u64, revision: u8) {
    let submission = author.submission(session, &nonce(session, revision));
    let facts = tenant.facts(author, &submission).await;
    let saves = saves(&facts.session);
    let edits = saves_of_member(&facts) - before;
    let filed = u64::from(facts.latest.map_or(0, |latest| latest.get()));
    let seen = (saves, edits, filed, facts.spent.as_ref().map(StoredTake::revision));
    ensure!(saves == edits || saves == edits + 1, "a session saved before its member", seen);
    ensure!(edits == filed || edits == filed + 1, "a member saved before it filed", seen);
    let spent = filed >= u64::from(revision);
    ensure!(facts.spent.is_some() == spent, "a nonce used with its take", seen);
    if let Some(take) = &facts.spent {
        ensure!(take.filed_at() <= facts.now, "no take filed later than now", (take, facts.now));
    }
}

fn nonce(session: &Session, revision: u8) -> String {
    format!("{}.{revision}", session.id)
}

fn saves<T>(record: &Option<Versioned<T>>) -> u64 {
    record.as_ref().map_or(0, |record| record.version.0 - 1)
}

fn saves_of_member(facts: &Basis) -> u64 {
    saves(&facts.member)
}
