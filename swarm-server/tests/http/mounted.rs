//! The interface mounted in another server: as filters next to others, and as a service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash, Timestamp};
use swarm_core::store::async_trait;
use swarm_http::prometheus_client::encoding::text::encode;
use swarm_http::prometheus_client::metrics::gauge::Gauge;
use swarm_http::prometheus_client::registry::Registry;
use swarm_http::{
    AdminTokens, HostTable, Operator, OperatorRequest, Operators, Role, SignOnUnavailable, Site,
    TenantConfig,
};
use swarm_redis_testing::wait_until;
use swarm_server::{Limits, serve, serve_site};
use swarm_store_memory::MemoryStore;
use warp::Filter as _;

use crate::harness::{ADMIN, Author, Client, Server, services, tenant};
use crate::raw_http;

/// A program's own test sets the clock of its store years ahead, and the background work is done by it.
#[test]
fn background_work_runs_by_the_clock_of_a_test() {
    const HOUR: i64 = 60 * 60 * 1_000;
    let millis = Arc::new(AtomicI64::new(2_208_988_800_000));
    let clock = Arc::clone(&millis);
    let now = move || Timestamp::EPOCH.plus_millis(clock.load(Ordering::SeqCst));
    let store = MemoryStore::with_clock(now.clone());
    let site = Site::single(services(&store), tenant("default", ADMIN, &[])).with_clock(now);
    let server = Server::maintained(site);
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({
        "date": "2040-01-01", "subjectId": "aurora", "windowClosesAt": "2040-01-01T01:00:00Z",
    });
    client.operate("/sessions", &session).expect(201);
    let state = || client.get("/api/swarm/sessions/1").json()["session"]["state"].clone();
    assert_eq!(state(), "collecting");
    millis.fetch_add(2 * HOUR, Ordering::SeqCst);
    wait_until("the window is closed", || state() == "window_closed");
}

/// A program's own registry has what the server's operator sees in `/metrics`, beside metrics of the program.
#[test]
fn registry_of_the_program_has_the_metrics_of_the_site() {
    let store = MemoryStore::new();
    let site = Site::single(services(&store), tenant("default", ADMIN, &[]))
        .with_build_info("1.2.3", "abc")
        .with_dropped_log_lines(|| 7)
        .with_export_faults(BTreeMap::new)
        .with_certificate_expiry(|| Some(Timestamp::EPOCH));
    let mut registry = Registry::default();
    let theirs = Gauge::<i64>::default();
    registry.register("desks", "Desks of the program", theirs.clone());
    site.register_metrics(&mut registry);
    theirs.set(3);
    let site = Arc::new(site);
    let served = Arc::clone(&site);
    let operations = Server::running(|listener| async move {
        let operations = swarm_http::operations(&served);
        serve(listener, operations, Limits::default(), std::future::pending()).await
    });
    let served = Arc::clone(&site);
    let server = Server::running(|listener| async move {
        tokio::spawn(served.maintenance().run());
        serve_site(listener, &served, Limits::default(), std::future::pending()).await
    });
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    client.post("/api/swarm/submit", &[], "{}").expect(401);
    client.post("/api/ic/submit", &[], "{}").expect(401);

    let registered = || {
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    };
    // An operator's session, and its subject.
    wait_until("the records are counted", || {
        registered().contains("\nswarm_tenant_log_size{tenant=\"default\"} 2\n")
    });
    let operations = operations.client();
    let served = operations.get("/metrics").expect(200).text;
    let registered = registered();
    let names = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect()
    };
    let mut expected = names(&served);
    assert!(expected.len() > 20 && expected.iter().all(|name| name.starts_with("swarm_")));
    assert!(expected.insert("desks".to_owned()));
    assert_eq!(names(&registered), expected);
    for line in [
        "desks 3",
        "swarm_build_info{version=\"1.2.3\",commit=\"abc\"} 1",
        "swarm_log_lines_dropped_total 7",
        "swarm_submits_total{outcome=\"missing-bearer\"} 1",
    ] {
        assert!(registered.lines().any(|found| found == line), "no {line}: {registered}");
    }
    assert_eq!(registered.matches("# EOF").count(), 1);
    assert_eq!(served.matches("# EOF").count(), 1);
}

/// A server with the filters of the site, and one more filter.
fn mounted(site: Site) -> Server {
    let site = Arc::new(site);
    let theirs = warp::path!("hello").map(|| "theirs");
    let all = swarm_http::api(&site).or(swarm_http::committee_api(&site)).or(theirs);
    Server::running(|listener| {
        serve(listener, warp::service(all), Limits::default(), std::future::pending())
    })
}

#[test]
fn filters_leave_other_paths_to_other_filters() {
    let store = MemoryStore::new();
    let server = mounted(Site::single(services(&store), tenant("default", ADMIN, &[])));
    let client = server.client();
    assert_eq!(client.get("/hello").expect(200).text, "theirs");
    let request = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_eq!(
        raw_http::exchange(server.address, request).status,
        404,
        "it is another's to answer"
    );
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    client.get("/api/swarm/takes/1").expect(200);
    client.get("/api/ic/sessions?limit=1").expect(200);
    client.post("/api/swarm/takes/1", &[], "{}").unread(405, "method not allowed");
    assert_eq!(client.send("HEAD", "/api/swarm/takes/1", &[], b"").expect(200).text, "");
}

/// TLS may be terminated before the site gets the request.
#[test]
fn links_have_the_scheme_of_the_request() {
    let site = || Site::single(services(&MemoryStore::new()), tenant("default", ADMIN, &[]));
    let origin = |site: Site, headers: &[(&str, &str)]| {
        let manifest =
            Server::of(site).client().send("GET", "/.well-known/swarm.json", headers, b"").json();
        manifest["origin"].as_str().unwrap().split_once("://").unwrap().0.to_owned()
    };
    assert_eq!(origin(site(), &[]), "http");
    let proto = ("x-forwarded-proto", "http");
    assert_eq!(origin(site().over_tls(true), &[proto]), "https");
    assert_eq!(origin(site().over_tls(true).trust_forwarded(true), &[]), "https");
    assert_eq!(origin(site().over_tls(true).trust_forwarded(true), &[proto]), "http");
}

#[test]
fn tenants_are_added_and_removed_while_the_site_serves() {
    let table = HostTable::new();
    let server = Server::of(Site::new(services(&MemoryStore::new()), table.clone()));
    let acme = server.client().at("acme.example");
    acme.get("/api/swarm/subjects").unread(421, "unknown host");
    table.insert(tenant("acme", ADMIN, &["acme.example"])).unwrap();
    acme.convene("2026-11-21", "aurora");
    assert!(table.remove(&TenantId::parse("acme").unwrap()));
    acme.get("/api/swarm/subjects/aurora").unread(421, "unknown host");
    table.insert(tenant("acme", "another_token_of_it", &["acme.example"])).unwrap();
    acme.get("/api/swarm/subjects/aurora").expect(200);
    acme.operate("/subjects", &json!({})).expect(401);
}

/// Admits operators by a header that a gateway sets.
struct Gateway;

#[async_trait]
impl Operators for Gateway {
    async fn admit(
        &self,
        request: &OperatorRequest<'_>,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        let name = request.headers.get("x-user").and_then(|name| name.to_str().ok());
        Ok(name.and_then(|name| Actor::operator(name).ok()).map(Operator::from))
    }

    async fn with_token(&self, _: &AdminTokenHash) -> Result<Option<Operator>, SignOnUnavailable> {
        Ok(None)
    }
}

#[test]
fn operators_can_be_admitted_by_another_credential() {
    let config = TenantConfig::new(TenantId::parse("default").unwrap(), Gateway);
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client: Client = server.client();
    let subject = json!({ "id": "aurora", "name": "Aurora" }).to_string();
    let put =
        |headers: &[(&str, &str)]| client.post("/api/swarm/admin/subjects", headers, &subject);
    put(&[("x-admin-token", ADMIN)]).refused(401, "admin token required");
    put(&[("x-user", "schedule")]).refused(401, "admin token required");
    put(&[("x-user", "ada"), ("x-admin-token", ADMIN)]).refused(401, "admin token required");
    put(&[("x-user", "ada")]).expect(201);
}

/// What a browser sends for a form without fields on a page of another site. A gateway recognises its cookie.
#[test]
fn page_of_another_site_changes_nothing_in_the_name_of_an_operator() {
    let config = TenantConfig::new(TenantId::parse("default").unwrap(), Gateway);
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client: Client = server.client();
    let by = |sent: &[(&'static str, &'static str)]| [&[("x-user", "ada")], sent].concat();
    let subject = json!({ "id": "aurora", "name": "Aurora" }).to_string();
    client.post("/api/swarm/admin/subjects", &by(&[]), &subject).expect(201);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora" }).to_string();
    client.post("/api/swarm/admin/sessions", &by(&[]), &session).expect(201);
    let withdraw = "/api/swarm/admin/sessions/1/withdraw";
    for forged in [
        &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")][..],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        client.post(withdraw, &by(forged), "").unread(403, "request of another site");
        client.post("/api/ic/admin/briefs", &by(forged), "").unread(403, "request of another site");
        client.send("GET", "/api/swarm/admin/applications", &by(forged), b"").expect(200);
    }
    client.post(withdraw, &by(&[("sec-fetch-site", "same-origin")]), "").expect(200);
}

#[test]
fn operators_cannot_share_a_token() {
    let (ada, token) = (Actor::operator("ada").unwrap(), AdminTokenHash::of(ADMIN.as_bytes()));
    assert!(AdminTokens::single(token).with(ada.clone(), token).is_err());
    let other = AdminTokenHash::of(b"another_token_of_it");
    assert!(AdminTokens::single(token).with(ada, other).is_ok());
}

#[test]
fn operator_has_two_tokens_while_one_is_changed() {
    let ada = |role| Operator::new(Actor::operator("ada").unwrap(), role);
    let token = |text: &str| AdminTokenHash::of(text.as_bytes());
    let both = AdminTokens::new().with(ada(Role::Reader), token("old")).unwrap();
    assert!(both.clone().with(ada(Role::Admin), token("new")).is_err(), "another role");
    let both = both.with(ada(Role::Reader), token("new")).unwrap();
    assert_eq!(both.operators().collect::<Vec<_>>(), [&ada(Role::Reader)]);
    assert!(both.with(ada(Role::Reader), token("third")).is_err());
}
