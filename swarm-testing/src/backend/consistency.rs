//! Whole commits, of which each sees all those before it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use swarm_core::domain::{Seq, TenantId, Version};
use swarm_core::store::backend::*;
use tokio::task::yield_now;

use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};
use crate::race;

/// How many commits are made at the same time.
const RACERS: i64 = 16;

/// Each reader reads until it has seen twenty commits.
pub async fn read_shows_whole_commits(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let readers = (0..3).map(|_| {
        let tenant = tenant.clone();
        tokio::spawn(async move {
            while expect_whole(&tenant.read(moves()).await) < 20 {
                let mut snapshot = tenant.snapshot().await;
                expect_whole(&snapshot.read(moves()).await.unwrap());
                yield_now().await;
            }
        })
    });
    let (readers, mut made): (Vec<_>, _) = (readers.collect(), 0);
    while readers.iter().any(|reader| !reader.is_finished()) {
        tenant.committed(moving()).await;
        made += 1;
        yield_now().await;
    }
    for reader in readers {
        if let Err(error) = reader.await {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    expect_eq!(expect_whole(&tenant.read(moves()).await), made);
}

/// A call whose future is dropped makes its commit or not.
pub async fn dropped_commit_is_whole_or_not_made(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for round in 0..40 {
        let mut committing = Box::pin(tenant.commit(moving()));
        for _ in 0..=round % 4 {
            let is_made =
                poll_fn(|context| Poll::Ready(committing.as_mut().poll(context).is_ready()));
            if is_made.await {
                break;
            }
            yield_now().await;
        }
        drop(committing);
        expect_whole(&tenant.read(moves()).await);
    }
    let made = expect_whole(&tenant.read(moves()).await);
    tenant.committed(moving()).await;
    let later = expect_whole(&tenant.read(moves()).await);
    ensure!(later > made, "more commits than {made}", later);
}

pub async fn one_of_concurrent_commits_at_a_version_is_made(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![parcel(1, &[])]).await;
    let key = vec![int(1)];
    let expected = Some(Version(1));
    let check = Check::Version { table: &PARCELS, key, expected };
    let made = made(&tenant, |racer| Transaction {
        checks: vec![check.clone()],
        writes: vec![parcel(1, &[(CODE, racer.to_string().into())])],
        ..transaction()
    })
    .await;
    expect_eq!(made.len(), 1);
    let record = tenant.records(with_id(1)).await.remove(0);
    expect_eq!((record.version, &record.columns[CODE]), (Version(2), &made[0].to_string().into()));
}

pub async fn one_of_concurrent_records_with_a_unique_value_is_inserted(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let with_the_code = indexed(BY_CODE, &["code".into()]);
    let check = Check::None { range: with_the_code.clone(), except: Vec::new() };
    let made = made(&tenant, |racer| Transaction {
        checks: vec![check.clone()],
        writes: vec![parcel(racer, &[(CODE, "code".into())])],
        ..transaction()
    })
    .await;
    expect_eq!(made.len(), 1);
    expect_eq!(
        (tenant.ids(with_the_code).await, tenant.ids(all(&PARCELS)).await),
        (made.clone(), made)
    );
}

pub async fn concurrent_commits_take_consecutive_numbers(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let racers = (0..RACERS).map(|_| {
        let tenant = tenant.clone();
        async move {
            let columns = columns(Term::Assigned(0), &[(CODE, Term::AssignedText(0))]);
            let insert = Write::Insert { table: &PARCELS, columns, body: Body::empty() };
            let (sequences, writes) = (vec!["parcels"], vec![insert, Write::Add("weight", 5)]);
            let assigned = Transaction { sequences, writes, ..transaction() };
            tenant.committed(assigned).await.numbers[0]
        }
    });
    let mut taken = race(racers).await;
    taken.sort_unstable();
    expect_eq!(taken, (1..=16).collect::<Vec<u64>>());
    expect_eq!(tenant.ids(all(&PARCELS)).await, (1..=16).collect::<Vec<i64>>());
    expect_eq!(tenant.sequence("weight").await, 80, "amounts that are added concurrently");
}

/// Their times do not decrease.
pub async fn concurrent_commits_append_consecutive_entries(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let racers = (0..RACERS).map(|_| {
        let tenant = tenant.clone();
        async move {
            let sent = Transaction { entries: vec![entry("text"); 2], ..transaction() };
            let id = sent.id;
            (tenant.commit(sent).await.head.size.0, id)
        }
    });
    let mut made = race(racers).await;
    made.sort_unstable_by_key(|(size, _)| *size);
    let log = tenant.log().await;
    expect_eq!(numbers(&log), (1..=32).collect::<Vec<_>>());
    let commits: Vec<_> = log.chunks(2).map(|pair| (pair[1].seq.0, pair[1].commit)).collect();
    expect_eq!(commits, made);
    expect_eq!(log.chunks(2).all(|pair| pair[0].commit == pair[1].commit), true);
    ensure!(log.is_sorted_by_key(|entry| entry.at), "times that do not decrease", log);
}

/// A commit waits for its critical section until its deadline has passed: it is late.
///
/// `hold` enters the critical section of the tenant's commits, and leaves it when what it returns is dropped. The case is in no list,
/// because few backends let a test do this.
pub async fn wait_of_a_commit_counts_towards_its_deadline<H>(
    backend: Arc<dyn Backend>,
    hold: impl AsyncFnOnce(&TenantId) -> H,
) {
    let tenant = Tenant::fresh(&backend).await;
    let deadline = tenant.clock().await.plus_millis(100);
    let held = hold(&tenant.id).await;
    let waiting = tokio::spawn({
        let tenant = tenant.clone();
        async move { tenant.is_met(Check::NotAfter(deadline)).await }
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    drop(held);
    expect_eq!(waiting.await.unwrap(), false, "in time");
}

/// Makes a commit of each racer at the same time; returns those whose checks were met.
async fn made(tenant: &Tenant, transaction: impl Fn(i64) -> Transaction) -> Vec<i64> {
    let racers = (1..=RACERS).map(|racer| {
        let (tenant, transaction) = (tenant.clone(), transaction(racer));
        async move {
            let decision = tenant.commit(transaction).await.decision;
            matches!(decision, Decision::Committed(_)).then_some(racer)
        }
    });
    race(racers).await.into_iter().flatten().collect()
}

/// A commit that moves two shelves, a sum and the log on by one.
pub(super) fn moving() -> Transaction {
    Transaction {
        sequences: vec!["moves"],
        writes: vec![
            shelf("a", 1, Term::Assigned(0)),
            shelf("b", 1, Term::Assigned(0)),
            Write::Add("sum", 1),
        ],
        entries: vec![entry("moved")],
        ..transaction()
    }
}

/// The queries for what [`moving`] writes.
pub(super) fn moves() -> Vec<Query> {
    let shelf = |depot: &str| Query::Rows(Range::key(&SHELVES, vec![depot.into(), int(1)]));
    let entries = Query::Entries(Entries {
        topic: None,
        after: Seq(0),
        limit: usize::MAX,
        parts: PartSet::ALL,
    });
    vec![shelf("a"), Query::Sequence("moves"), entries, Query::Sequence("sum"), shelf("b")]
}

/// Returns how often [`moving`] was committed.
pub(super) fn expect_whole(reading: &Reading) -> u64 {
    let [a, moves, Answer::Entries(entries), sum, b] = &reading.answers[..] else {
        ensure!(false, "answers to the queries", reading);
        return 0;
    };
    let entries = entries.len() as u64;
    let [a, b] = [a, b].map(|shelf| integers(shelf, LOAD).first().map_or(0, |load| *load as u64));
    let found = [a, b, number(sum), entries, reading.head.size.0];
    expect_eq!(found, [number(moves); 5], "shelves, the sum and the log, as many as moves");
    entries
}
