//! The conformance suite and dumps through PgBouncer in transaction mode, where each statement may get another connection.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::LazyLock;

use swarm_core::TenantId;
use swarm_core::store::Store;
use swarm_postgres_testing::{PgBouncer, Server};
use swarm_store_postgres::PostgresStore;
use swarm_testing::{TestTenant, race};

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));
static PGBOUNCER: LazyLock<PgBouncer> = LazyLock::new(|| PgBouncer::in_front_of(&SERVER));

/// The address of a schema, by way of PgBouncer.
fn url() -> String {
    SERVER.url().replace(&SERVER.port.to_string(), &PGBOUNCER.port.to_string())
}

async fn store() -> ((), Store) {
    ((), PostgresStore::create(&url()).await.unwrap().into())
}

swarm_testing::conformance!(store);

/// Otherwise the suites would test nothing new.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_of_stores_share_those_to_the_server() {
    let url = format!("{}&pool=40", url());
    let store = PostgresStore::create(&url).await.unwrap();
    let members = (0..40).map(|number| {
        let world =
            TestTenant::open(store.clone(), TenantId::parse(format!("desk-{number}")).unwrap());
        async move {
            world.convened("aurora").await;
            world.author("ada").await;
        }
    });
    race(members).await;
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'swarm'";
    let open: usize = SERVER.psql(open).parse().unwrap();
    assert!((1..=PgBouncer::CONNECTIONS).contains(&open), "{open}");
}
