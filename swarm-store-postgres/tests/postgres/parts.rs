//! A program that opens its own connections, and makes schemas with its own tool.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::TenantId;
use swarm_core::store::{StoreErrorKind, async_trait};
use swarm_postgres_testing::Server;
use swarm_store_postgres::tokio_postgres::{Config, Error, NoTls};
use swarm_store_postgres::{ConfigConnect, Connect, Opened, Options, PostgresStore};
use swarm_testing::TestTenant;

fn config(server: &Server, user: &str) -> Config {
    let mut config: Config = server.address().parse().unwrap();
    config.user(user);
    config
}

fn options() -> Options {
    Options::default().schema("desk \"7\"").unwrap().pool_size(3)
}

fn reason(error: &swarm_core::StoreError) -> String {
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    std::error::Error::source(error).unwrap().to_string()
}

/// A password that changes, as services in the cloud have it: each connection asks for it.
struct Renewing {
    asked: Arc<AtomicUsize>,
    config: Config,
}

#[async_trait]
impl Connect for Renewing {
    async fn connect(&self) -> Result<Opened, Error> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut config = self.config.clone();
        let (client, connection) =
            config.password(format!("token {number}")).connect(NoTls).await?;
        Ok(Opened::new(client, connection))
    }

    fn servers(&self) -> String {
        "the database of the desk".to_owned()
    }
}

#[tokio::test]
async fn store_over_connections_of_the_program_files_takes() {
    let server = Server::start(&[]);
    let owner = || ConfigConnect::new(config(&server, "postgres"), NoTls);
    let missing = PostgresStore::over(owner(), options()).await.unwrap_err();
    assert_eq!(reason(&missing), "the schema desk \"7\" is not created yet");
    let none = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'desk%'";
    assert_eq!(server.psql(none), "0", "connecting creates nothing");

    server.psql(&format!("BEGIN; {} COMMIT", PostgresStore::schema_statements(&options())));
    let asked = Arc::new(AtomicUsize::new(0));
    let connect = Renewing { asked: Arc::clone(&asked), config: config(&server, "postgres") };
    let store = PostgresStore::over(connect, options()).await.unwrap();
    let tenant = TestTenant::open(store, TenantId::parse("acme").unwrap());
    let (ada, session) = (tenant.author("ada").await, tenant.convened("aurora").await);
    tenant.filed(&ada, &session, "one").await;
    assert!((1..=3).contains(&asked.load(Ordering::Relaxed)));
    // What was made by hand is what is made by itself.
    PostgresStore::create_schema(owner(), options()).await.unwrap();
    PostgresStore::create_schema(owner(), Options::default()).await.unwrap();
    PostgresStore::over(owner(), Options::default()).await.unwrap();
}

/// The role might create the schema, and the server would let it.
#[tokio::test]
async fn read_only_connection_creates_nothing() {
    let server = Server::start(&[]);
    let missing = PostgresStore::connect_read_only(&server.address()).await.unwrap_err();
    assert_eq!(reason(&missing), "the schema swarm is not created yet");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'swarm'";
    assert!(!PostgresStore::is_created(&server.address()).await.unwrap());
    assert_eq!(server.psql(schemas), "0");

    PostgresStore::create(&server.address()).await.unwrap();
    assert!(PostgresStore::is_created(&server.address()).await.unwrap());
    let store = PostgresStore::connect_read_only(&server.address()).await.unwrap();
    assert!(store.open(&TenantId::parse("acme").unwrap()).now().await.is_ok());
}

/// Under hardened default privileges even functions and types are not for everyone.
#[tokio::test]
async fn missing_rights_are_named_before_the_first_call() {
    let server = Server::start(&[]);
    server.psql(
        "CREATE ROLE clerk LOGIN; ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
         ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC",
    );
    let owner = ConfigConnect::new(config(&server, "postgres"), NoTls);
    PostgresStore::create_schema(owner, Options::default()).await.unwrap();
    server.psql(
        "GRANT USAGE ON SCHEMA swarm TO clerk; GRANT SELECT ON ALL TABLES IN SCHEMA swarm TO clerk",
    );
    let clerk = || ConfigConnect::new(config(&server, "clerk"), NoTls);
    let why = reason(&PostgresStore::over(clerk(), Options::default()).await.unwrap_err());
    for needed in [
        "INSERT ON swarm.takes",
        "EXECUTE ON FUNCTION swarm.begin_2(text,bigint,bigint)",
        "USAGE ON TYPE swarm.state_2",
    ] {
        assert!(why.contains(needed), "{why}");
    }
    assert!(!why.contains("SELECT ON"), "{why}");
    PostgresStore::over(clerk(), Options::default().read_only()).await.unwrap();

    for grant in why.split_once("grant it: ").unwrap().1.split("; ") {
        server.psql(&format!("GRANT {grant} TO clerk"));
    }
    let store = PostgresStore::over(clerk(), Options::default()).await.unwrap();
    TestTenant::open(store, TenantId::parse("acme").unwrap()).convened("aurora").await;
}
