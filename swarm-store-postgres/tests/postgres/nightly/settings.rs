//! Addresses, roles, layouts, and settings of the server.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use swarm_core::domain::{Attribution, SessionId};
use swarm_core::rules::convene;
use swarm_core::store::{Filed, MemberSaved, StoreErrorKind, other_layout};
use swarm_core::{StoreError, TenantId};
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;
use swarm_testing::{Author, TestTenant, session_draft};
use tokio::net::TcpSocket;
use tokio::time::sleep;
use tokio_postgres::NoTls;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

/// Why a store cannot be opened.
async fn refused(url: &str) -> (StoreErrorKind, String) {
    kind_and_reason(&PostgresStore::create(url).await.unwrap_err())
}

fn kind_and_reason(error: &StoreError) -> (StoreErrorKind, String) {
    (error.kind(), error.source().unwrap().to_string())
}

async fn can_convene(url: &str) {
    let store = PostgresStore::create(url).await.unwrap();
    TestTenant::open(store, TenantId::parse("acme").unwrap()).convened("aurora").await;
}

fn schema(url: &str) -> &str {
    url.split_once("schema=").unwrap().1
}

#[tokio::test]
async fn other_layout_is_refused_and_open_handles_stop_committing() {
    let url = SERVER.url();
    let store = PostgresStore::create(&url).await.unwrap();
    // Of a newer program, and of an older one.
    for layout in [6, 4] {
        SERVER.psql(&format!("UPDATE {}.layout SET number = {layout}", schema(&url)));
        let expected = (StoreErrorKind::Misconfigured, other_layout(layout, 5));
        assert_eq!(refused(&url).await, expected);
        assert_eq!(kind_and_reason(&store.ready().await.unwrap_err()), expected);
        let tenant = store.open(&TenantId::parse("acme").unwrap());
        let creation = Author::named("ada").creation();
        let refused = tenant.save_member(&creation).await.unwrap_err();
        assert_eq!(kind_and_reason(&refused), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_processes_create_one_schema() {
    for has_schema in [false, true] {
        let url = SERVER.url();
        if has_schema {
            SERVER.psql(&format!("CREATE SCHEMA {}", schema(&url)));
        }
        let opened = swarm_testing::race((0..8).map(|_| {
            let url = url.clone();
            async move { PostgresStore::create(&url).await.map(drop) }
        }));
        for opened in opened.await {
            opened.unwrap();
        }
        can_convene(&url).await;
    }
}

#[tokio::test]
async fn role_without_rights_on_the_schema_uses_it_once_the_owner_has_created_it() {
    let url = SERVER.url();
    let schema = schema(&url).to_owned();
    SERVER.psql(&format!("CREATE ROLE clerk_{schema} LOGIN"));
    let clerk = url.replace("postgres@", &format!("clerk_{schema}@"));
    let (kind, why) = refused(&clerk).await;
    assert_eq!(kind, StoreErrorKind::Misconfigured);
    assert!(why.contains("its owner"), "{why}");

    PostgresStore::create(&url).await.unwrap();
    SERVER.psql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO clerk_{schema};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO clerk_{schema}"
    ));
    can_convene(&clerk).await;
}

#[tokio::test]
async fn role_that_may_not_make_temporary_functions_is_refused() {
    let server = Server::start(&[]);
    let url = server.url();
    PostgresStore::create(&url).await.unwrap();
    let schema = schema(&url);
    server.psql(&format!(
        "CREATE ROLE clerk LOGIN;
         GRANT USAGE ON SCHEMA {schema} TO clerk;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO clerk;
         REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC"
    ));
    let (kind, why) = refused(&url.replace("postgres@", "clerk@")).await;
    assert_eq!(kind, StoreErrorKind::Misconfigured);
    assert!(why.contains("grant it TEMPORARY"), "{why}");
}

#[tokio::test]
async fn host_that_takes_writes_is_found() {
    // Nothing listens on the first.
    let hosts = format!("127.0.0.1:1,127.0.0.1:{}", SERVER.port);
    let url = SERVER.url().replace(&format!("127.0.0.1:{}", SERVER.port), &hosts);
    can_convene(&url).await;
    // A server that takes no writes is as good as none.
    let url = SERVER.url();
    let read_only = format!("{url}&options=-c%20default_transaction_read_only%3Don");
    let (kind, why) = refused(&read_only).await;
    assert_eq!(kind, StoreErrorKind::Unavailable);
    assert!(why.contains("takes no writes"), "{why}");
    // Nothing can be read of it either, until it has the tables.
    let error = PostgresStore::connect_read_only(&read_only).await.unwrap_err();
    assert!(kind_and_reason(&error).1.contains("not created yet"), "{error:?}");

    can_convene(&url).await;
    let store = PostgresStore::connect_read_only(&read_only).await.unwrap();
    let warnings = store.ready().await.unwrap().warnings;
    assert!(warnings[0].contains("takes no writes"), "{warnings:?}");
    let acme = store.open(&TenantId::parse("acme").unwrap());
    assert!(acme.session(SessionId(1)).await.unwrap().is_some());
}

/// Of the hosts before it, one accepts connections and says nothing, and one accepts none.
#[tokio::test]
async fn live_host_is_found_behind_others_that_do_not_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let full = TcpSocket::new_v4().unwrap();
    full.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = full.listen(0).unwrap();
    let address = full.local_addr().unwrap();
    // It has room for one connection, which it does not accept.
    let _waiting = TcpStream::connect(address).unwrap();
    let hosts = format!("{},{address},127.0.0.1:{}", silent.local_addr().unwrap(), SERVER.port);
    can_convene(&SERVER.url().replace(&format!("127.0.0.1:{}", SERVER.port), &hosts)).await;
}

#[tokio::test]
async fn standby_is_only_read() {
    let server = Server::start(&[]);
    let url = server.url();
    can_convene(&url).await;
    let standby = server.with_standby();
    let standby = url.replace(&server.port.to_string(), &standby.port.to_string());
    assert!(refused(&standby).await.1.contains("takes no writes"));
    let store = PostgresStore::connect_read_only(&standby).await.unwrap();
    let acme = store.open(&TenantId::parse("acme").unwrap());
    for _ in 0..200 {
        if acme.session(SessionId(1)).await.unwrap().is_some() {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the standby does not follow");
}

#[tokio::test]
async fn outage_names_the_servers_and_no_password() {
    let url = "postgres://ada:secret@127.0.0.1:1,127.0.0.1:2/desk";
    let (kind, why) = refused(url).await;
    assert_eq!(kind, StoreErrorKind::Unavailable);
    assert!(why.contains("127.0.0.1:1, 127.0.0.1:2") && !why.contains("secret"), "{why}");
}

#[tokio::test]
async fn sockets_are_connected_to_without_tls() {
    let (port, folder) = (SERVER.port, SERVER.socket_folder().display().to_string());
    let encoded = folder.replace('/', "%2F");
    let url = SERVER.url();
    let schema = schema(&url);
    for address in [
        format!("postgres://postgres@:{port}/postgres?host={folder}"),
        format!("postgres://postgres@/postgres?port={port}&host={encoded}"),
        format!("postgres://postgres@{encoded}:{port}/postgres?sslmode=prefer"),
        format!("postgres://postgres@{encoded}:{port}/postgres?sslmode=verify-full"),
        format!("postgres://postgres@127.0.0.1:1,{encoded}:{port}/postgres?sslmode=require"),
        format!("postgres://postgres@/postgres?host=/missing,{folder}&port={port}"),
    ] {
        let store = PostgresStore::create(&format!("{address}&schema={schema}")).await;
        store.unwrap_or_else(|error| panic!("{address}: {error:?}")).ready().await.unwrap();
    }
    can_convene(&format!("postgres://postgres@{encoded}:{port}/postgres?schema={schema}")).await;
}

#[tokio::test]
async fn socket_without_a_file_is_connected_to() {
    let name = format!("swarm-{}", std::process::id());
    let server = Server::start(&[&format!("unix_socket_directories=@{name}")]);
    let port = server.port;
    can_convene(&format!("postgres://postgres@%40{name}:{port}/postgres?schema=desk")).await;
}

#[tokio::test]
async fn commits_are_made_under_any_default_isolation_level() {
    for level in ["serializable", "repeatable%20read", "read%20uncommitted"] {
        let url = SERVER.url();
        let level = level.replace("%20", "%5C%20");
        let url = format!("{url}&options=-c%20default_transaction_isolation%3D{level}");
        let store = PostgresStore::create(&url).await.unwrap();
        let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
        let (author, session) = (world.author("ada").await, world.convened("aurora").await);
        let filing = world.judged(&author, &author.submission(&session, "nonce")).await;
        let filed = world.store().file(&filing).await.unwrap();
        assert!(matches!(filed, Filed::Filed(..)), "{level}: {filed:?}");
        let saved = world.store().save_member(&Author::named("bob").creation()).await.unwrap();
        assert_eq!(saved, MemberSaved::Saved);
        // A commit that is refused is undone.
        let again = world.store().save_member(&Author::named("bob").creation()).await.unwrap();
        assert_eq!(again, MemberSaved::Stale);
        store.ready().await.unwrap();
    }
}

#[tokio::test]
async fn passwords_come_from_a_file_and_do_not_show() {
    SERVER.psql("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'hunter2'");
    // The first rule that fits decides.
    let rules = SERVER.folder.join("data/pg_hba.conf");
    let open = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("host all guarded 127.0.0.1/32 scram-sha-256\n{open}")).unwrap();
    SERVER.psql("SELECT pg_reload_conf()");
    let url = SERVER.url().replace("postgres@", "guarded@");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "*:*:*:guarded:hunter2\n").unwrap();
    can_convene(&format!("{url}&passfile={}", file.path().display())).await;
    for wrong in [url.replace("guarded@", "guarded:hunter3@"), url] {
        let error = format!("{:?}", PostgresStore::create(&wrong).await.unwrap_err());
        assert!(!error.contains("hunter"), "{error}");
    }
}

#[tokio::test]
async fn settings_that_lose_takes_are_warned_of_and_refused_when_strict() {
    let safe = PostgresStore::create(&format!("{}&strict=true", SERVER.url())).await.unwrap();
    assert!(safe.ready().await.unwrap().warnings.is_empty());
    for (options, named) in [
        (&["fsync=off"][..], "fsync is off"),
        (&["full_page_writes=off"], "full_page_writes is off"),
        (&["synchronous_commit=off"], "synchronous_commit is off"),
        (
            &["synchronous_standby_names=*", "synchronous_commit=local"],
            "synchronous_commit is local",
        ),
    ] {
        let server = Server::start(options);
        let store = PostgresStore::create(&server.url()).await.unwrap();
        let warnings = store.ready().await.unwrap().warnings;
        assert!(warnings.iter().any(|warning| warning.contains(named)), "{warnings:?}");
        let (kind, why) = refused(&format!("{}&strict=true", server.url())).await;
        assert_eq!(kind, StoreErrorKind::Misconfigured);
        assert!(why.contains(named), "{why}");
    }
}

#[tokio::test]
async fn standbys_that_no_commit_waits_for_and_missing_ones_are_warned_of() {
    let server = Server::start(&[]);
    let (url, standby) = (server.url(), server.with_standby());
    let store = PostgresStore::create(&url).await.unwrap();
    let strict = PostgresStore::create(&format!("{url}&strict=true")).await.unwrap();
    server.psql("ALTER SYSTEM SET synchronous_standby_names = ''");
    server.psql("SELECT pg_reload_conf()");
    warns(&store, "there are standbys").await;
    assert_eq!(strict.ready().await.unwrap_err().kind(), StoreErrorKind::Misconfigured);
    server.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    server.psql("SELECT pg_reload_conf()");
    drop(standby);
    warns(&store, "no write is acknowledged").await;
}

/// Waits for a warning: settings and standbys change with a delay.
async fn warns(store: &PostgresStore, text: &str) {
    let mut warnings = Vec::new();
    for _ in 0..200 {
        warnings = store.ready().await.unwrap().warnings;
        if warnings.iter().any(|warning| warning.contains(text)) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("{text}: {warnings:?}");
}

#[tokio::test]
async fn few_connections_left_are_warned_of() {
    let server = Server::start(&["max_connections=12"]);
    let store = PostgresStore::create(&server.url()).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    let mut others = Vec::new();
    for _ in 0..10 {
        let (client, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        others.push(client);
    }
    let warnings = store.ready().await.unwrap().warnings;
    assert!(warnings[0].contains("max_connections is 12"), "{warnings:?}");
}

#[tokio::test]
async fn full_disk_is_warned_of_until_a_commit_succeeds() {
    let url = SERVER.url();
    let store = PostgresStore::create(&url).await.unwrap();
    let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
    world.convened("aurora").await;
    let draft = convene(&session_draft("bolt"), &Attribution::SCHEDULE);
    let begin = SERVER
        .psql(&format!("SELECT pg_get_functiondef('{}.begin_commits'::regproc)", schema(&url)));
    SERVER.psql(&format!(
        "CREATE OR REPLACE FUNCTION {schema}.begin_commits(the_tenant text, patience bigint, known_layout bigint)
         RETURNS {schema}.state LANGUAGE plpgsql
         AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'",
        schema = schema(&url)
    ));
    let error = world.store().convene(&draft).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let warnings = store.ready().await.unwrap().warnings;
    assert!(warnings[0].contains("no space left"), "{warnings:?}");
    SERVER.psql(&begin);
    world.store().convene(&draft).await.unwrap();
    assert!(store.ready().await.unwrap().warnings.is_empty());
}

#[tokio::test]
async fn certificate_is_verified_as_sslmode_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (key, certificate, other) = (path("server.key"), path("server.crt"), path("other.crt"));
    for (key, certificate) in [(&key, &certificate), (&path("other.key"), &other)] {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-subj", "/CN=db.example"])
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-keyout", key, "-out", certificate])
            .output()
            .unwrap();
        assert!(made.status.success());
    }
    let server = Server::start(&[]);
    let (into, from) = (server.folder.join("data"), folder.path());
    for name in ["server.key", "server.crt"] {
        fs::copy(from.join(name), into.join(name)).unwrap();
    }
    server.own(&into.join("server.key"));
    server.psql("ALTER SYSTEM SET ssl = on");
    server.psql("SELECT pg_reload_conf()");

    let by_address = server.url();
    let by_name = by_address.replace("127.0.0.1", "localhost");
    can_convene(&format!("{by_address}&sslmode=require")).await;
    // The certificate is part of what proves the password.
    server.psql("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'hunter2'");
    let rules = into.join("pg_hba.conf");
    let open = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("hostssl all guarded all scram-sha-256\n{open}")).unwrap();
    server.psql("SELECT pg_reload_conf()");
    let guarded = by_address.replace("postgres@", "guarded:hunter2@");
    can_convene(&format!("{guarded}&sslmode=require&channel_binding=require")).await;
    let (_, why) = refused(&format!("{guarded}&sslmode=disable&channel_binding=require")).await;
    assert!(!why.contains("hunter2"), "{why}");
    can_convene(&format!("{by_name}&sslmode=verify-full&sslrootcert={certificate}")).await;
    can_convene(&format!("{by_address}&sslmode=verify-ca&sslrootcert={certificate}")).await;
    // TLS needs a name, which an address alone has not.
    let addressed = by_address.replace("127.0.0.1", "");
    can_convene(&format!("{addressed}&hostaddr=127.0.0.1&sslmode=require")).await;
    for wrong in [
        format!("{by_address}&sslmode=verify-full&sslrootcert={certificate}"),
        format!("{by_name}&sslmode=verify-full&sslrootcert={other}"),
        format!("{by_name}&sslmode=verify-ca&sslrootcert={other}"),
        format!("{by_name}&sslmode=require&sslrootcert={other}"),
        format!("{by_name}&sslmode=verify-full"),
    ] {
        let (kind, why) = refused(&wrong).await;
        assert_eq!(kind, StoreErrorKind::Unavailable, "{wrong}");
        if wrong.ends_with(&other) {
            assert!(why.contains(&format!("those of sslrootcert, {other}")), "{why}");
        }
    }
    let missing = format!("{by_name}&sslmode=verify-full&sslrootcert=/missing.crt");
    assert_eq!(refused(&missing).await.0, StoreErrorKind::Misconfigured);
}
