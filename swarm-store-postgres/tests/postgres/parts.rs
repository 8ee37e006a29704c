//! A program that opens its own connections, and makes schemas with its own tool.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use swarm_core::TenantId;
use swarm_core::store::StoreErrorKind;
use swarm_postgres_testing::Server;
use swarm_store_postgres::tokio_postgres::{Config, NoTls};
use swarm_store_postgres::{ConfigConnect, Options, PostgresStore};
use swarm_testing::TestTenant;

fn config(server: &Server, user: &str) -> Config {
    let mut config: Config = server.address().parse().unwrap();
    config.user(user);
    config
}

fn options() -> Options {
    Options::default().schema("desk \"7\"").unwrap().pool_size(3)
}

/// The error of a source of passwords.
#[derive(Debug, thiserror::Error)]
#[error("no token")]
struct NoToken(#[source] std::fmt::Error);

fn reason(error: &swarm_core::StoreError) -> String {
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    error.source().unwrap().to_string()
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
    // The password changes, as services in the cloud have it: each connection asks for it, and the source may fail.
    let (asked, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let (count, is_out) = (Arc::clone(&asked), Arc::clone(&fails));
    let connect =
        owner().with_password(move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            let fails = is_out.load(Ordering::Relaxed);
            async move {
                if fails { Err(NoToken(std::fmt::Error)) } else { Ok(format!("token {number}")) }
            }
        });
    let refused = PostgresStore::over(connect.clone(), options()).await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Unavailable);
    let cause = refused.source().unwrap();
    let why = cause.to_string();
    assert!(why.starts_with("postgres at ") && why.ends_with(": no token"), "{why}");
    assert!(!why.contains('('), "{why}");
    assert!(cause.source().unwrap().is::<std::fmt::Error>(), "the cause of the program stays");
    fails.store(false, Ordering::Relaxed);
    asked.store(0, Ordering::Relaxed);
    let store = PostgresStore::over(connect.clone(), options()).await.unwrap();
    let tenant = TestTenant::open(store, TenantId::parse("acme").unwrap());
    let (ada, session) = (tenant.author("ada").await, tenant.convened("aurora").await);
    tenant.filed(&ada, &session, "one").await;
    let connections = asked.load(Ordering::Relaxed);
    assert!((1..=3).contains(&connections));
    // The program opens its own connections in the same way.
    let (client, connection) = connect.open().await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("SELECT 1").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), connections + 1);
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
    let clerk = || ConfigConnect::new(config(&server, "clerk"), NoTls);
    let all = reason(&PostgresStore::over(clerk(), Options::default()).await.unwrap_err());
    for needed in ["USAGE ON SCHEMA swarm", "SELECT ON swarm.layout", "INSERT ON swarm.takes"] {
        assert!(all.contains(needed), "{all}");
    }
    server.psql(
        "GRANT USAGE ON SCHEMA swarm TO clerk; GRANT SELECT ON ALL TABLES IN SCHEMA swarm TO clerk",
    );
    let why = reason(&PostgresStore::over(clerk(), Options::default()).await.unwrap_err());
    for needed in [
        "INSERT ON swarm.takes",
        "EXECUTE ON FUNCTION swarm.begin_commits(text,bigint,bigint)",
        "USAGE ON TYPE swarm.state",
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
