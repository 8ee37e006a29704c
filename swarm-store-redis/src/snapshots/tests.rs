#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};

use std::sync::atomic::{AtomicBool, Ordering};

use swarm_core::domain::{Figures, SessionState, Snapshot, Timestamp};
use swarm_core::store::{
    Saved, SessionChange, SessionQuery, Sessions as _, StoreErrorKind, TakeQuery, Transfer as _,
};
use swarm_core::{Session, SessionId};
use swarm_redis_testing::Server;
use swarm_testing::{TestTenant, figures, quote};

use super::*;
use crate::RedisStore;
use crate::tenant::new_attempt;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&["--appendonly", "no"]));

async fn store() -> Arc<RedisStore> {
    Arc::new(RedisStore::connect(&SERVER.url()).await.unwrap())
}

#[test]
fn row_is_cut_before_the_weights_of_its_snapshot() {
    let quotes = "\u{fc}".repeat(333);
    let text = format!(
        r#"1 aggregated 1 0 {{"quorum":1,"snapshot":{{"n":1,"weights":null,"quotes":"{quotes}"}}}}"#
    );
    let (row, pieces) = divided(text.clone());
    assert!(is_cut(&row) && !is_cut(&text));
    assert_eq!(row, r#"1 aggregated 1 0 {"quorum":1,"snapshot":{"n":1,"weights":"#);
    assert!(same_figures(&row, &row.replace("quorum", "other")));
    assert!(!same_figures(&row, &row.replace("\"n\":1", "\"n\":2")));
    assert!(pieces.len() > 6 && pieces.iter().all(|piece| piece.len() <= PIECE + 3));
    assert_eq!(row + &pieces.concat(), text);
}

#[test]
fn row_without_a_snapshot_is_not_cut() {
    let text = r#"1 collecting 1 0 {"weights":null}"#.to_owned();
    assert_eq!(divided(text.clone()), (text, Vec::new()));
}

/// As if its process were killed before the commit.
#[tokio::test]
async fn pieces_without_a_commit_expire_and_are_read_by_nobody() {
    let Fixture { tenant, change, before, .. } = Fixture::new().await;
    let (id, attempt) = (change.session.id, new_attempt("test").unwrap());
    let staged = tenant.keys.staged_snapshot(id, attempt);
    let (_, pieces) = divided(codec::encode_session(change.expected.next(), &change.session));
    tenant.stage("test", &staged, &pieces).await.unwrap();
    assert_eq!(number(&["llen", &staged]), pieces.len());
    assert!((590_000..=600_000).contains(&number(&["pttl", &staged])));
    assert_eq!(tenant.session(id).await.unwrap().unwrap().record, before);
    assert_eq!(tenant.sessions(&ALL).await.unwrap(), [before]);
    assert_eq!(number(&["exists", &tenant.keys.session_snapshot(id)]), 0);
}

/// They expired, or a failover lost them.
#[tokio::test]
async fn commit_without_all_of_its_pieces_is_stale() {
    let Fixture { tenant, change, before, .. } = Fixture::new().await;
    let id = change.session.id;
    let (row, pieces) = divided(codec::encode_session(change.expected.next(), &change.session));
    for left in 0..=pieces.len() {
        let attempt = new_attempt("test").unwrap();
        let staged = tenant.keys.staged_snapshot(id, attempt);
        tenant.stage("test", &staged, &pieces).await.unwrap();
        let lost = pieces.len() - left;
        SERVER.cli(&["rpop", &staged, &lost.to_string()]);
        // A piece that does not follow the others is not added.
        if lost > 1 {
            let mut script = ScriptCall::of(&scripts::STAGE, [&staged]);
            script.arg(pieces.len() - 1).arg("piece").arg(STAGED_MILLIS);
            tenant.client.run_bulk::<()>("test", &script).await.unwrap();
        }
        let saved = tenant.commit_session("test", &change, &row, (attempt, pieces.len())).await;
        let expected = if lost == 0 { Saved::Saved } else { Saved::Stale };
        assert_eq!(saved.unwrap(), expected, "{lost} pieces lost");
        let on_file = tenant.session(id).await.unwrap().unwrap();
        assert_eq!(on_file.record == before, lost > 0);
        assert_eq!(*on_file.record == change.session, lost == 0);
        assert_eq!(number(&["exists", &staged]), usize::from(lost > 0 && left > 0));
    }
    assert_eq!(SERVER.cli(&["pttl", &tenant.keys.session_snapshot(id)]).trim(), "-1");
}

/// For example after its answer was lost. The pieces are not where they were staged any more.
#[tokio::test]
async fn commit_that_is_sent_again_is_saved_once() {
    let Fixture { world, tenant, change, .. } = Fixture::new().await;
    let id = change.session.id;
    let (row, pieces) = divided(codec::encode_session(change.expected.next(), &change.session));
    let attempt = new_attempt("test").unwrap();
    let staged = tenant.keys.staged_snapshot(id, attempt);
    tenant.stage("test", &staged, &pieces).await.unwrap();
    let before = world.log_size().await.0;
    for _ in 0..3 {
        let saved = tenant.commit_session("test", &change, &row, (attempt, pieces.len())).await;
        assert_eq!(saved.unwrap(), Saved::Saved);
        let on_file = tenant.session(id).await.unwrap().unwrap();
        assert_eq!(on_file.version, change.expected.next());
        assert_eq!(*on_file.record, change.session);
        assert_eq!(world.log_size().await.0, before + 1);
    }
    // Another attempt at the same change is not it.
    let attempt = new_attempt("test").unwrap();
    let saved = tenant.commit_session("test", &change, &row, (attempt, pieces.len())).await;
    assert_eq!(saved.unwrap(), Saved::Stale);
}

/// Rules do not replace a snapshot, but the port lets them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_read_has_the_snapshot_that_belongs_to_its_session() {
    const ROUNDS: u32 = 100;
    let Fixture { world, .. } = Fixture::new().await;
    let other = world.convened("other").await.id;
    let done = Arc::new(AtomicBool::new(false));
    let write = async {
        for round in 1..=ROUNDS {
            for id in [SessionId(1), other] {
                world.amend(id, |session| aggregate(session, 1 + round % 7)).await;
            }
        }
        done.store(true, Ordering::SeqCst);
    };
    let read = |reader: u32| {
        let (world, done) = (world.clone(), Arc::clone(&done));
        async move {
            let mut read = 0;
            while !done.load(Ordering::SeqCst) {
                let found = match reader {
                    0 => vec![world.session(other).await.unwrap().record],
                    1 => world.sessions(&ALL).await,
                    _ => {
                        let query = TakeQuery::latest(other);
                        vec![world.session_takes(&query).await.unwrap().session.record]
                    }
                };
                for session in found {
                    let quotes = session.snapshot.as_ref().map(|it| it.quotes.len());
                    assert_eq!(session.quorum, quotes.map(|it| u32::try_from(it).unwrap()));
                    read += quotes.unwrap_or_default().min(1);
                }
            }
            assert!(read > 0, "reader {reader} saw no snapshot");
        }
    };
    tokio::join!(write, read(0), read(1), read(2));
}

#[tokio::test]
async fn dump_fails_if_a_snapshot_is_replaced_meanwhile() {
    let Fixture { world, store, .. } = Fixture::new().await;
    world.amend(SessionId(1), |session| aggregate(session, 9)).await;
    for replaced in [false, true] {
        let mut dump = store.dump(&world.id).await.unwrap();
        let state = SessionState::Published;
        world.amend(SessionId(1), |session| session.state = state).await;
        if replaced {
            world.amend(SessionId(1), |session| aggregate(session, 8)).await;
        }
        let read = loop {
            match dump.next().await {
                Ok(records) if records.is_empty() => break None,
                Ok(_) => {}
                Err(error) => break Some(error.kind()),
            }
        };
        assert_eq!(read, replaced.then_some(StoreErrorKind::Contended));
    }
}

/// A tenant with a session, and a change that aggregates it.
struct Fixture {
    store: Arc<RedisStore>,
    tenant: TenantStore,
    world: TestTenant,
    before: Arc<Session>,
    change: SessionChange,
}

impl Fixture {
    async fn new() -> Self {
        let store = store().await;
        let world = TestTenant::fresh(store.clone()).await;
        let before = world.convened("subject").await;
        let change = world.amended(before.id, |session| aggregate(session, 9)).await;
        Self { tenant: store.tenant(&world.id), store, world, before, change }
    }
}

const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 9, without_snapshots: false };

/// Gives a session a quorum, and a snapshot with as many quotes, at a time of as many milliseconds.
fn aggregate(session: &mut Session, count: u32) {
    let aggregated_at = Timestamp::EPOCH.plus_millis(count.into());
    let figures = Figures { aggregated_at, ..figures() };
    let quotes = vec![quote("ada", "Words."); count as usize];
    session.state = SessionState::Aggregated;
    session.quorum = Some(count);
    session.snapshot = Some(Arc::new(Snapshot { figures, weights: None, quotes }));
}

fn number(command: &[&str]) -> usize {
    SERVER.cli(command).trim().parse().unwrap()
}

/// Cases of the conformance suites in which there are snapshots, while all of them are long.
mod conformance {
    use super::*;

    macro_rules! cases {
        ($($case:ident)*) => {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                swarm_testing::conformance::$case(store().await).await;
            }
        )*};
    }

    cases! {
        saved_session_round_trips
        sessions_are_listed_without_snapshots
        summary_shows_its_session
        session_is_aggregated_once
        session_save_can_guard_the_number_of_takes
        aggregation_includes_exactly_the_takes_filed_before_it
        aggregation_ends_while_takes_arrive
        aggregation_opens_a_blind_session
        racing_takes_are_opened_or_not_sealed
        session_change_at_another_version_is_stale
        concurrent_session_saves_commit_once
        session_is_withdrawn_or_filed_in
        aggregations_are_isolated_by_tenant
        session_and_takes_are_read_in_one_snapshot
        member_takes_are_the_latest_of_each_session
        restored_tenant_dumps_the_same
        restored_tenant_reads_the_same
        restored_tenant_keeps_its_guards
        dump_shows_one_moment
        restore_without_commit_leaves_nothing
        tenants_restored_together_are_separate
    }
}
