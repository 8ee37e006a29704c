//! The tree over the log, and a log that is blocked because it went back (API.md, 11.4 and 11.6).

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{TestTenant, act, race, session_draft};
use swarm_core::domain::{Actor, Attribution, LogBefore, OperatorAct, Seq, Version};
use swarm_core::proof::tile::TileId;
use swarm_core::rules::{convene, store_accepted};
use swarm_core::store::{ActQuery, Saved, Store, StoreErrorKind, TreeChange, TreeState, Versioned};

const FIRST: TileId = TileId { level: 0, index: 0 };
const SECOND: TileId = TileId { level: 0, index: 1 };
const ABOVE: TileId = TileId { level: 1, index: 0 };

pub async fn tree_is_initially_absent(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.tree().await, None);
    expect_eq!(tenant.tiles(1, &[FIRST, ABOVE]).await, [None, None]);
    expect_eq!(tenant.tiles(1, &[]).await, [None; 0]);
}

/// Tiles are any bytes; a checkpoint has several lines, and letters of any script.
pub async fn tree_and_its_tiles_round_trip(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (bytes, full) = ((0..=255).collect::<Vec<u8>>(), vec![0; 8_192]);
    let first = change(None, 256, None, &[(FIRST, &full), (ABOVE, &bytes)]);
    expect_eq!(tenant.save_tree(&first).await, Saved::Saved);
    let stored = Versioned { version: Version(1), record: Arc::new(first.state) };
    expect_eq!(tenant.tree().await, Some(stored.clone()));

    let note = "acme.example/log\n300\nAAAA\n\n\u{2014} acme.example/log BBBB\n";
    let second = change(Some(&stored), 300, Some(note), &[(SECOND, &bytes)]);
    expect_eq!(tenant.save_tree(&second).await, Saved::Saved);
    let stored = Versioned { version: Version(2), record: Arc::new(second.state) };
    expect_eq!(tenant.tree().await, Some(stored));
    let tiles = tenant.tiles(1, &[ABOVE, TileId { level: 0, index: 2 }, FIRST, SECOND]).await;
    expect_eq!(tiles, [Some(bytes.clone()), None, Some(full), Some(bytes)]);
    expect_eq!(tenant.log_size().await, Seq(0), "the tree is no entry");
}

pub async fn grown_tile_replaces_the_stored_one(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.save_tree(&change(None, 1, None, &[(FIRST, &[1])])).await, Saved::Saved);
    let grown = change(tenant.tree().await.as_ref(), 2, None, &[(FIRST, &[1, 2])]);
    expect_eq!(tenant.save_tree(&grown).await, Saved::Saved);
    expect_eq!(tenant.tiles(1, &[FIRST]).await, [Some(vec![1, 2])]);
}

pub async fn tree_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let missing = Versioned { version: Version(1), record: Arc::new(state(1, None)) };
    let early = change(Some(&missing), 9, Some("early"), &[(FIRST, &[9])]);
    expect_eq!(tenant.save_tree(&early).await, Saved::Stale);
    expect_eq!((tenant.tree().await, tenant.tiles(1, &[FIRST]).await), (None, vec![None]));

    expect_eq!(tenant.save_tree(&change(None, 1, None, &[(FIRST, &[1])])).await, Saved::Saved);
    let stored = tenant.tree().await;
    let again = change(None, 2, Some("again"), &[(FIRST, &[2]), (SECOND, &[2])]);
    expect_eq!(tenant.save_tree(&again).await, Saved::Stale);
    expect_eq!(tenant.tree().await, stored);
    expect_eq!(tenant.tiles(1, &[FIRST, SECOND]).await, [Some(vec![1]), None]);
}

pub async fn concurrent_tree_changes_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.save_tree(&change(None, 1, None, &[])).await, Saved::Saved);
    let stored = tenant.tree().await;
    let racers = (2..10_u8).map(|racer| {
        let (tenant, stored) = (tenant.clone(), stored.clone());
        async move {
            let change = change(stored.as_ref(), racer.into(), None, &[(FIRST, &[racer])]);
            (racer, tenant.save_tree(&change).await)
        }
    });
    let outcomes = race(racers).await;
    let saved: Vec<_> = outcomes.iter().filter(|(_, saved)| *saved == Saved::Saved).collect();
    expect_eq!(saved.len(), 1);
    expect_eq!(tenant.tiles(1, &[FIRST]).await, [Some(vec![saved[0].0])]);
}

pub async fn tiles_of_logs_are_independent(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.save_tree(&change(None, 1, None, &[(FIRST, &[1])])).await, Saved::Saved);
    let mut next = change(tenant.tree().await.as_ref(), 1, None, &[(FIRST, &[2])]);
    next.state.log = 2;
    expect_eq!(tenant.save_tree(&next).await, Saved::Saved);
    expect_eq!(tenant.tiles(1, &[FIRST]).await, [Some(vec![1])]);
    expect_eq!(tenant.tiles(2, &[FIRST]).await, [Some(vec![2])]);
    expect_eq!(tenant.tree().await.map(|stored| stored.record.log), Some(2));
}

pub async fn tree_is_isolated_by_tenant(tenants: Store) {
    let one = TestTenant::fresh(tenants.clone()).await;
    let other = TestTenant::fresh(tenants).await;
    expect_eq!(one.save_tree(&change(None, 1, None, &[(FIRST, &[1])])).await, Saved::Saved);
    expect_eq!((other.tree().await, other.tiles(1, &[FIRST]).await), (None, vec![None]));
    expect_eq!(other.save_tree(&change(None, 2, None, &[(FIRST, &[2])])).await, Saved::Saved);
    expect_eq!(one.tiles(1, &[FIRST]).await, [Some(vec![1])]);
    expect_eq!(one.tree().await.map(|stored| stored.record.size), Some(Seq(1)));
}

/// Until a log with a higher number begins, even if this process has seen none of the log.
pub async fn went_back_log_refuses_commits(tenants: Store) {
    let tenant = TestTenant::fresh(tenants.clone()).await;
    tenant.convened("subject").await;
    let convocation = convene(&session_draft("other"), &Attribution::SCHEDULE);
    tenant.store().mark_went_back(3, Seq(1));
    let refused = tenant.store().convene(&convocation).await;
    let kind = refused.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::WentBack)), "that the store went back", refused);
    let may_commit = tenant.store().may_commit().await.map_err(|error| error.kind());
    expect_eq!(may_commit, Err(StoreErrorKind::WentBack));
    expect_eq!(tenants.ready().await.is_err(), true, "the store is not ready");
    expect_eq!(tenant.log_size().await, Seq(1), "nothing is committed");
    let clock = tenant.store().accept_clock(&act("accepted")).await.map_err(|error| error.kind());
    expect_eq!(clock, Err(StoreErrorKind::WentBack));

    let accepted = store_accepted(LogBefore::seen(Seq(1)), &Actor::OPERATOR);
    tenant.accept_store(&accepted).await;
    expect_eq!(tenant.log_position().await.log, 4, "more than the number marked");
    expect_eq!(tenants.ready().await.is_ok(), true, "once the store was accepted");
    expect_eq!(tenant.store().may_commit().await.is_ok(), true, "once the store was accepted");
    tenant.store().mark_went_back(3, Seq(9));
    tenant.convened("later").await;
    expect_eq!(tenant.log_size().await, Seq(3));
}

/// What serves proofs, and acts that the log does not have, are no part of it.
pub async fn records_beside_a_log_that_went_back_are_kept(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.convened("subject").await;
    tenant.store().mark_went_back(3, Seq(1));
    expect_eq!(tenant.save_tree(&change(None, 1, None, &[(FIRST, &[1])])).await, Saved::Saved);
    expect_eq!(tenant.tiles(1, &[FIRST]).await, [Some(vec![1])]);
    let refused = OperatorAct::unnamed("console.refused");
    expect_eq!(tenant.record_act(&refused, None).await, Saved::Saved);
    let now = tenant.now().await;
    tenant.forget_acts(now.plus_millis(1)).await;
    expect_eq!(tenant.operator_acts(&ActQuery { limit: 9, ..ActQuery::default() }).await, []);
}

fn state(size: u64, checkpoint: Option<&str>) -> TreeState {
    TreeState { log: 1, size: Seq(size), checkpoint: checkpoint.map(Arc::from) }
}

fn change(
    stored: Option<&Versioned<TreeState>>,
    size: u64,
    checkpoint: Option<&str>,
    tiles: &[(TileId, &[u8])],
) -> TreeChange {
    let tiles = tiles.iter().map(|(id, hashes)| (*id, hashes.to_vec())).collect();
    TreeChange { tiles, ..TreeChange::to(state(size, checkpoint), stored) }
}
