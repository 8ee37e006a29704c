//! Two tenants on one server: isolation, hosts, origins.

use serde_json::{Value, json};
use swarm_core::store::Store;
use swarm_core::{MemberId, Swarm, SystemEntropy, TenantId};
use swarm_http::{Services, Site};

use crate::backend::{Backend, on_every_store};
use crate::committee_fixture;
use crate::fixture::{add_records, insert_member, member, print, sign_log, takes};
use crate::harness::{
    Answer, Author, Client, Server, fresh_key, log_signer, services, signed_text, tenant,
};
use crate::raw_http::{self, ONCE};
use crate::routes::{self, RECORDS, Samples};

on_every_store! {
    records_of_one_tenant_are_not_in_the_other,
    same_ids_are_independent_between_tenants,
    token_of_one_tenant_is_unknown_in_the_other,
    keys_and_challenges_belong_to_one_tenant,
    hosts_match_in_any_case_and_on_any_port,
    forwarded_host_is_used_only_when_trusted,
    forwarded_origin_appears_in_links,
    unknown_host_is_421_for_any_path,
}

const DATE: &str = "2026-11-21";

struct Tenant {
    id: &'static str,
    admin: &'static str,
    client: Client,
}

impl Tenant {
    fn operate(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [ONCE, ("content-type", "application/json"), ("x-admin-token", self.admin)];
        let body = if method == "GET" { String::new() } else { body.to_string() };
        self.client.send(method, path, &headers, body.as_bytes())
    }

    fn tenant_id(&self) -> TenantId {
        TenantId::parse(self.id).unwrap()
    }

    /// The member `m`, with a key and a token that only this tenant knows; and one of that name in
    /// the committee.
    fn insert_members(&self, store: &Store) -> Author {
        let (key, token) = (fresh_key(), format!("tok_m_{}", self.id));
        committee_fixture::insert_member(&store.open(&self.tenant_id()), "m", &self.api_key());
        let port = store.open(&self.tenant_id());
        insert_member(&port, member("m", &key.public_key().to_string(), &token));
        Author { id: MemberId::parse("m").unwrap(), key, token }
    }

    /// The key of the member `m` of the committee.
    fn api_key(&self) -> String {
        format!("ic_m_{:x<32}", "").replace('x', if self.id == "acme" { "a" } else { "b" })
    }

    fn print(&self, store: &Store) -> String {
        let committee = committee_fixture::print(&store.open(&self.tenant_id()));
        print(&store.open(&self.tenant_id())) + &committee
    }
}

struct TwoTenants {
    server: Server,
    store: Store,
    acme: Tenant,
    bolt: Tenant,
}

fn site(store: &Store) -> Site {
    let acme = tenant("acme", "adm_acme", &["acme.example", "www.acme.example"]);
    let bolt = tenant("bolt", "adm_bolt", &["BOLT.example"]);
    let services = Services::from(services(store)).with_signer(log_signer());
    Site::by_host(services, [acme, bolt]).unwrap()
}

impl TwoTenants {
    fn start(backend: &Backend) -> Self {
        let store = backend.store.clone();
        let server = Server::of(site(&store));
        let at = |host| server.client().at(host);
        let acme = Tenant { id: "acme", admin: "adm_acme", client: at("acme.example") };
        let bolt = Tenant { id: "bolt", admin: "adm_bolt", client: at("bolt.example") };
        Self { server, store, acme, bolt }
    }
}

/// All reads at a tenant, by the public and by operators, of the records of `acme`.
fn reads(tenant: &Tenant) -> Vec<(String, Answer)> {
    let samples = Samples { tenant: "acme", ..RECORDS };
    let public = routes::public_reads().map(|route| samples.path(route.info.path));
    let public = public.map(|path| (path.clone(), tenant.client.get(&path)));
    let own = routes::of_operators().filter(|route| route.is_read());
    let own = own.map(|route| route.path.clone());
    let own = own.map(|path| (path.clone(), tenant.operate("GET", &path, &Value::Null)));
    public.chain(own).collect()
}

fn records_of_one_tenant_are_not_in_the_other(backend: &Backend) {
    let TwoTenants { store, acme, bolt, .. } = &TwoTenants::start(backend);
    let empty = bolt.print(store);
    let nothing: Vec<_> =
        reads(bolt).into_iter().map(|(path, answer)| (path, answer.text)).collect();

    // All records of the first tenant.
    let author = acme.insert_members(store);
    let subject = json!({ "id": "aurora", "name": "Only at acme" });
    acme.operate("POST", "/api/swarm/admin/subjects", &subject).expect(201);
    let session = json!({ "date": DATE, "subjectId": "aurora" });
    acme.operate("POST", "/api/swarm/admin/sessions", &session).expect(201);
    acme.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
    add_records(&acme.client, acme.admin, &author);
    let (applicant, _) = Author::apply(&acme.client, "applicant");
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    sign_log(&swarm.tenant(&acme.tenant_id()));
    for (path, answer) in reads(acme) {
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }

    assert_eq!(bolt.print(store), empty);
    for ((path, answer), (_, nothing)) in reads(bolt).into_iter().zip(nothing) {
        assert_eq!(answer.text, nothing, "{path}");
        assert!(answer.status == 404 || !nothing.contains("acme"), "{path}");
    }
    bolt.client.get(&format!("/api/swarm/apply/{applicant}")).refused(404, "no such application");
    let activate = json!({ "memberId": applicant.as_str() });
    let answer = bolt.operate("POST", "/api/swarm/admin/activate", &activate);
    answer.refused(404, "no such member");
    bolt.operate("POST", "/api/swarm/admin/sessions", &session).refused(404, "no such subject");
    // A challenge of one tenant is invalid in the other.
    let acme_activated = acme.operate("POST", "/api/swarm/admin/activate", &activate);
    acme_activated.expect(200);
}

fn same_ids_are_independent_between_tenants(backend: &Backend) {
    let TwoTenants { store, acme, bolt, .. } = &TwoTenants::start(backend);
    let authors = [acme.insert_members(store), bolt.insert_members(store)];
    for tenant in [acme, bolt] {
        for name in ["aurora", "basalt"] {
            let subject = json!({ "id": name, "name": tenant.id });
            tenant.operate("POST", "/api/swarm/admin/subjects", &subject).expect(201);
            let session = json!({ "date": DATE, "subjectId": name });
            let convened =
                tenant.operate("POST", "/api/swarm/admin/sessions", &session).expect(201);
            let expected = if name == "aurora" { 1 } else { 2 };
            assert_eq!(convened.json()["session"]["id"], expected);
        }
    }
    // The same member files takes with the same nonces; ids count from 1.
    for id in 1..=5 {
        for (tenant, author) in [acme, bolt].into_iter().zip(&authors) {
            let fields = json!({
                "date": DATE, "subjectId": "aurora", "nonce": format!("n{id}"), "body": tenant.id,
            });
            let filed = tenant.client.submit(author, author.draft_of(fields)).expect(201).json();
            assert_eq!(filed["recommendationId"], id);
        }
    }
    for tenant in [acme, bolt] {
        let take = tenant.client.get("/api/swarm/takes/1").expect(200).json();
        assert_eq!((&take["body"], &take["supersededBy"]), (&json!(tenant.id), &json!(2)));
        let subject = tenant.client.get("/api/swarm/subjects/aurora").expect(200).json();
        assert_eq!(subject["name"], tenant.id);
        let port = store.open(&TenantId::parse(tenant.id).unwrap());
        assert_eq!(takes(&port).len(), 5);
    }
}

fn token_of_one_tenant_is_unknown_in_the_other(backend: &Backend) {
    let TwoTenants { store, acme, bolt, .. } = &TwoTenants::start(backend);
    let (author, other) = (acme.insert_members(store), bolt.insert_members(store));
    for tenant in [acme, bolt] {
        let subject = json!({ "id": "aurora", "name": "Aurora" });
        tenant.operate("POST", "/api/swarm/admin/subjects", &subject).expect(201);
        let session = json!({ "date": DATE, "subjectId": "aurora" });
        tenant.operate("POST", "/api/swarm/admin/sessions", &session).expect(201);
        tenant.operate("POST", "/api/ic/admin/briefs", &json!({})).expect(201);
    }
    let before = bolt.print(store);
    let bearer = author.bearer();
    let headers = [("authorization", bearer.as_str())];
    let who = |tenant: &Tenant| tenant.client.send("GET", "/api/swarm/verify-token", &headers, b"");
    who(acme).expect(200);
    who(bolt).refused(401, "unknown member token");
    let text = signed_text(&author.key.sign(author.draft(DATE, "aurora")));
    bolt.client.submit_text(&author, &text).refused(401, "unknown member token");
    // The token is valid, the key is that of the other tenant.
    bolt.client.submit_text(&other, &text).refused(400, "signature verification failed");
    for route in routes::of_operators() {
        let (method, path) = (route.method(), route.path.as_str());
        let stranger = Tenant { admin: acme.admin, client: bolt.client.clone(), ..*bolt };
        let answer = stranger.operate(method, path, &json!({})).expect(401);
        assert_eq!(answer.json()["error"], "admin token required", "{path}");
    }
    let take = committee_fixture::take("neutral");
    let submitted = committee_fixture::submit(&bolt.client, &acme.api_key(), &take);
    committee_fixture::refused(submitted, 401, "invalid key");
    assert_eq!(bolt.print(store), before);
    acme.client.submit_text(&author, &text).expect(201);
    committee_fixture::submit(&acme.client, &acme.api_key(), &take).expect(200);
}

fn keys_and_challenges_belong_to_one_tenant(backend: &Backend) {
    let TwoTenants { acme, bolt, .. } = &TwoTenants::start(backend);
    let key = fresh_key();
    let body = signed_text(&key.sign(swarm_core::domain::Application {
        name: swarm_core::domain::Name::parse("A").unwrap(),
        contact: swarm_core::domain::Contact::parse("c").unwrap(),
        lens: swarm_core::domain::Lens::parse("").unwrap(),
        public_key: key.public_key().to_string(),
    }));
    let apply = |tenant: &Tenant| {
        let applied = tenant.client.post("/api/swarm/apply", &[], &body).expect(201).json();
        let id = applied["memberId"].as_str().unwrap().to_owned();
        tenant.operate("POST", "/api/swarm/admin/activate", &json!({ "memberId": id })).expect(200);
        MemberId::parse(id).unwrap()
    };
    let (here, there) = (apply(acme), apply(bolt));
    assert_ne!(here, there);
    let proof = Author::proof(&acme.client, &here, &key);
    bolt.client.post("/api/swarm/token-claim", &[], &proof).refused(401, "token claim refused");
    let forged = Author::proof(&acme.client, &there, &key);
    bolt.client.post("/api/swarm/token-claim", &[], &forged).refused(401, "token claim refused");
    acme.client.post("/api/swarm/token-claim", &[], &proof).expect(201);
    Author::claim(&bolt.client, &there, &key).expect(201);
}

/// The id of the tenant that answers, identified by its subject.
fn answered(server: &Server, target: &str, headers: &str) -> Option<String> {
    let head = format!("GET {target} HTTP/1.1\r\n{headers}\r\n");
    let answer = raw_http::exchange(server.address, head.as_bytes());
    match answer.status {
        421 => {
            answer.unread(421, "unknown host");
            None
        }
        _ => Some(answer.expect(200).json()["name"].as_str().unwrap().to_owned()),
    }
}

fn named(tenants: &TwoTenants) {
    for tenant in [&tenants.acme, &tenants.bolt] {
        let subject = json!({ "id": "aurora", "name": tenant.id });
        tenant.operate("POST", "/api/swarm/admin/subjects", &subject).expect(201);
    }
}

const PATH: &str = "/api/swarm/subjects/aurora";

fn hosts_match_in_any_case_and_on_any_port(backend: &Backend) {
    let tenants = TwoTenants::start(backend);
    named(&tenants);
    let ask = |host: &str| answered(&tenants.server, PATH, &format!("Host: {host}\r\n"));
    for host in ["acme.example", "ACME.Example", "acme.example:80", "www.acme.EXAMPLE:65535"] {
        assert_eq!(ask(host).as_deref(), Some("acme"), "{host}");
    }
    for host in ["bolt.example", "BOLT.EXAMPLE:8080"] {
        assert_eq!(ask(host).as_deref(), Some("bolt"), "{host}");
    }
    for host in [
        "example",
        "acme",
        "acme.example.evil",
        "x.acme.example",
        "www.bolt.example",
        "127.0.0.1",
        "[::1]",
        "default",
        "acme.example..",
        "xacme.example",
        "acme-example",
    ] {
        assert_eq!(ask(host), None, "{host}");
    }
    for host in ["acme.example:+80", "acme.example:http", "acme.example:65536", "x;$(id)"] {
        let head = format!("GET {PATH} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let answer = raw_http::exchange(tenants.server.address, head.as_bytes());
        answer.unread(400, "invalid host");
    }
    // The target takes precedence over the header.
    let target = format!("http://acme.example{PATH}");
    let absolute = answered(&tenants.server, &target, "Host: bolt.example\r\n");
    assert_eq!(absolute.as_deref(), Some("acme"));
}

fn forwarded_host_is_used_only_when_trusted(backend: &Backend) {
    let mut tenants = TwoTenants::start(backend);
    named(&tenants);
    for trust in [false, true] {
        tenants.server = Server::of(site(&tenants.store).trust_forwarded(trust));
        for (host, forwarded, trusted) in [
            ("acme.example", "bolt.example", Some("bolt")),
            ("acme.example", "BOLT.example:443", Some("bolt")),
            ("acme.example", "bolt.example, proxy.internal", Some("bolt")),
            ("acme.example", "unknown.example", None),
            // Invalid hosts are ignored.
            ("acme.example", "", Some("acme")),
            ("acme.example", ":443", Some("acme")),
            ("acme.example", ", bolt.example", Some("acme")),
            ("acme.example", "bolt.example/x", Some("acme")),
            ("acme.example", "bolt example", Some("acme")),
            ("acme.example", "user@bolt.example", Some("acme")),
            ("acme.example", "bolt.example:http", Some("acme")),
            ("acme.example", "bolt.example:99999", Some("acme")),
            ("acme.example", "bolt.example:+80", Some("acme")),
            ("acme.example", "bolt.example:$(id)", Some("acme")),
            ("acme.example", "bolt.example;$(id)", Some("acme")),
            ("unknown.example", "no host", None),
            ("unknown.example", "acme.example", Some("acme")),
        ] {
            let headers = format!("Host: {host}\r\nX-Forwarded-Host: {forwarded}\r\n");
            let expected = match (trust, host) {
                (true, _) => trusted,
                (false, "acme.example") => Some("acme"),
                (false, _) => None,
            };
            let got = answered(&tenants.server, PATH, &headers);
            assert_eq!(got.as_deref(), expected, "trust {trust}: {headers}");
        }
        let plain = answered(&tenants.server, PATH, "Host: acme.example\r\n");
        assert_eq!(plain.as_deref(), Some("acme"));
    }
}

/// Invalid hosts and schemes are ignored, and links have the requested origin.
fn forwarded_origin_appears_in_links(backend: &Backend) {
    let mut tenants = TwoTenants::start(backend);
    tenants.server = Server::of(site(&tenants.store).trust_forwarded(true));
    for (forwarded_host, scheme, origin) in [
        ("WWW.acme.example:8443", "HTTPS", "https://www.acme.example:8443"),
        ("acme.example", "HTTP", "http://acme.example"),
        ("bolt.example:http", "https", "https://acme.example:81"),
        ("acme.example:$(id)", "ftp", "http://acme.example:81"),
        ("", "", "http://acme.example:81"),
    ] {
        let head = format!(
            "GET /.well-known/swarm.json HTTP/1.1\r\nHost: acme.example:81\r\n\
             X-Forwarded-Host: {forwarded_host}\r\nX-Forwarded-Proto: {scheme}\r\n\r\n"
        );
        let answer = raw_http::exchange(tenants.server.address, head.as_bytes());
        assert_eq!(answer.expect(200).json()["origin"], origin, "{forwarded_host} {scheme}");
    }
}

fn unknown_host_is_421_for_any_path(backend: &Backend) {
    let TwoTenants { server, .. } = &TwoTenants::start(backend);
    let stranger = server.client().at("stranger.example");
    for (method, path) in [
        ("GET", "/api/swarm/members"),
        ("GET", "/nowhere"),
        ("PUT", "/api/swarm/members"),
        ("OPTIONS", "/api/swarm/members"),
    ] {
        stranger.send(method, path, &[ONCE], b"").unread(421, "unknown host");
    }
    stranger.get("/healthz").expect(200);
    // A browser gets a page, which does not repeat the host.
    for path in ["/", "/swarm/sessions", "/nowhere"] {
        let page = stranger.send("GET", path, &[("accept", "text/html"), ONCE], b"").expect(421);
        let kind = page.header("content-type").unwrap();
        assert!(kind.starts_with("text/html"), "{path}: {page:?}");
        assert!(page.header("content-security-policy").is_some(), "{path}: {page:?}");
        assert_eq!(page.header("swarm-error"), Some("unknown-host"), "{path}");
        assert_eq!(page.header("vary"), Some("Accept"), "{path}");
        assert!(page.text.contains("<h1>Unknown host</h1>"), "{path}: {page:?}");
        assert!(!page.text.contains("stranger") && !page.text.contains("href"), "{page:?}");
    }
    let api = stranger.send("GET", "/api/swarm/members", &[("accept", "text/html"), ONCE], b"");
    api.unread(421, "unknown host");
}
