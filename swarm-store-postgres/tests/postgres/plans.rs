//! Lookups read few rows, also before the planner knows any statistics: in a new store, and after a restore.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::time::Duration;

use swarm_core::TenantId;
use swarm_core::domain::Seq;
use swarm_core::proof::tile::TileId;
use swarm_core::store::{Saved, TreeChange, TreeState};
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;
use swarm_testing::TestTenant;
use tokio::time::sleep;

/// The sessions in which a member files five takes.
const SESSIONS: u64 = 8;

const TILES: u64 = 500;

#[tokio::test]
async fn lookups_of_nonces_and_tiles_use_their_indexes_without_statistics() {
    let server = Server::start(&["autovacuum=off"]);
    let store = PostgresStore::create(&format!("{}&pool=1", server.url())).await.unwrap();
    let world = TestTenant::open(store, TenantId::parse("acme").unwrap());
    let author = world.author("ada").await;
    for number in 0..SESSIONS {
        let session = world.convened(&format!("subject-{number}")).await;
        for revision in 0..5 {
            world.filed(&author, &session, &format!("{number}-{revision}")).await;
        }
    }
    let tile = |index| TileId { level: 0, index };
    let change = TreeChange {
        tiles: (0..TILES).map(|index| (tile(index), vec![7; 32])).collect(),
        ..TreeChange::to(TreeState { log: 1, size: Seq(1), checkpoint: None }, None)
    };
    assert_eq!(world.store().save_tree(&change).await.unwrap(), Saved::Saved);
    let tiles = world.store().tiles(1, &[tile(1), tile(TILES), tile(2)]).await.unwrap();
    assert_eq!(tiles.iter().flatten().count(), 2);

    // The server's figures are complete once the connection is closed.
    drop(world);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'swarm'";
    while server.psql(open) != "0" {
        sleep(Duration::from_millis(50)).await;
    }
    // Each take was looked up as it was judged, and as it was filed.
    let looked_up = figure(&server, "idx_scan", "takes_by_nonce");
    assert!(looked_up >= 2 * 5 * SESSIONS, "{looked_up}");
    let read = figure(&server, "idx_tup_read", "tiles_pkey");
    assert!((2..10).contains(&read), "{read}");
}

/// A figure of an index.
fn figure(server: &Server, column: &str, index: &str) -> u64 {
    let sql = format!("SELECT {column} FROM pg_stat_user_indexes WHERE indexrelname = '{index}'");
    server.psql(&sql).parse().unwrap()
}
