//! Quotas of a tenant. Submit has none.

use serde_json::json;
use swarm_core::domain::{Application, Contact, Lens, Name, Quotas};
use swarm_core::proof::KeyPair;
use swarm_core::{CommitteeTenants, Swarm, SystemEntropy, TenantId};
use swarm_http::Site;
use swarm_redis_testing::wait_until;

use crate::backend::{Backend, now, on_every_store};
use crate::committee_fixture::{self, KEY, chair};
use crate::harness::{
    ADMIN, Answer, Author, Client, Server, fresh_key, services, signed_text, tenant,
};

on_every_store! {
    applications_are_limited,
    applications_of_an_address_are_limited,
    pending_applications_expire,
    memos_are_limited_per_member_and_day,
    subjects_are_limited,
    signals_are_limited_per_day,
    document_bytes_are_limited,
    committee_submissions_are_limited_per_member_and_day,
    submits_reads_and_claims_have_no_quota,
}

const DATE: &str = "2026-11-21";
const HALF_A_DAY: i64 = 12 * 60 * 60 * 1_000;

/// A server with all quotas set to two.
fn serve(backend: &Backend) -> Server {
    let mut config = tenant("default", ADMIN, &[]);
    config.quotas.pending_applications = 2;
    config.quotas.memos_per_day = 2;
    config.quotas.committee_submissions_per_day = 2;
    Server::of(Site::single(services(&backend.store), config))
}

#[track_caller]
fn reached(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 429, "{answer:?}");
    assert_eq!(answer.json()["error"], "quota reached");
    assert_eq!(answer.header("swarm-error"), Some("quota-reached"));
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    let hint = answer.header("swarm-hint").unwrap();
    assert!(hint.starts_with(what), "{hint}");
}

fn applications_are_limited(backend: &Backend) {
    let server = serve(backend);
    let client = server.client();
    let (first, _) = Author::apply(&client, "A");
    let (second, _) = Author::apply(&client, "B");
    let application = application_of(&fresh_key());
    let apply = || client.post("/api/swarm/apply", &[], &application);
    reached(&apply(), "applications that wait for an operator");
    assert_eq!(apply().json(), json!({ "ok": false, "status": 429, "error": "quota reached" }));
    for (path, member) in [("/reject", first), ("/activate", second)] {
        client.operate(path, &json!({ "memberId": member.as_str() })).expect(200);
    }
    apply().expect(201);
    // A duplicate key is reported before the quota.
    Author::apply(&client, "D");
    assert_eq!(apply().expect(409).json()["error"], "public key already registered");
}

pub fn application_of(key: &KeyPair) -> String {
    signed_text(&key.sign(Application {
        name: Name::parse("C").unwrap(),
        contact: Contact::parse("c@test.example").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: key.public_key().to_string(),
    }))
}

fn applications_of_an_address_are_limited(backend: &Backend) {
    let mut config = tenant("default", ADMIN, &[]);
    config.quotas.applications_per_address = 2;
    let server = Server::of(Site::single(services(&backend.store), config).trust_forwarded(true));
    let client = server.client();
    let apply = |address: &str, application: &str| {
        client.post("/api/swarm/apply", &[("x-forwarded-for", address)], application)
    };
    let new = || application_of(&fresh_key());
    let first = new();
    apply("192.0.2.1", &first).expect(201);
    // One that is refused does not count.
    apply("192.0.2.1", &first).expect(409);
    apply("192.0.2.1", &new()).expect(201);
    reached(&apply("192.0.2.1", &new()), "applications from an address and day");
    // One that is parsed on the worker pool counts too.
    let large = new() + &" ".repeat(40_000);
    reached(&apply("192.0.2.1", &large), "applications from an address and day");
    apply("192.0.2.1", "{}").refused(400, "invalid application");
    // Whatever else is wrong is reported before the quota.
    apply("192.0.2.1", &first).expect(409);
    apply("192.0.2.2", &new()).expect(201);
    apply("2001:db8::1", &new()).expect(201);
    apply("2001:db8::2", &new()).expect(201);
    reached(&apply("2001:db8::3", &new()), "applications from an address and day");
    apply("2001:db8:0:1::1", &new()).expect(201);
    // Without an address, all are those of one client.
    apply("unknown", &new()).expect(201);
    client.post("/api/swarm/apply", &[], &new()).expect(201);
    reached(&apply("", &new()), "applications from an address and day");
    backend.clock.move_by(HALF_A_DAY);
    apply("192.0.2.1", &new()).expect(201);
}

fn pending_applications_expire(backend: &Backend) {
    let server = Server::of(Site::single(services(&backend.store), tenant("default", ADMIN, &[])));
    let client = server.client();
    let tenant = Swarm::new(backend.store.clone(), SystemEntropy);
    let tenant = tenant.tenant(&TenantId::parse("default").unwrap());
    let expired = || now(tenant.expire_applications()).unwrap().done;
    let key = fresh_key();
    let old = apply_with(&client, &key);
    let member = Author::join(&client, "Ada").id;
    backend.clock.move_by(60 * HALF_A_DAY);
    assert_eq!((expired(), state(&client, &old)), (0, 200));
    let (new, _) = Author::apply(&client, "B");
    backend.clock.move_by(1);
    assert_eq!((expired(), state(&client, &old)), (1, 404));
    assert_eq!((state(&client, member.as_str()), state(&client, new.as_str())), (200, 200));
    assert_ne!(apply_with(&client, &key), old);
    client.operate("/activate", &json!({ "memberId": old })).expect(404);
}

#[test]
fn maintenance_removes_expired_applications() {
    let backend = Backend::memory();
    // Work by the clock pauses while the one of the store differs from the one of the machine.
    backend.clock.move_to_system_time_plus(-61 * HALF_A_DAY);
    let site = Site::single(services(&backend.store), tenant("default", ADMIN, &[]));
    let server = Server::maintained(site);
    let client = server.client();
    let old = apply_with(&client, &fresh_key());
    backend.clock.move_to_system_time_plus(0);
    wait_until("the application has expired", || state(&client, &old) == 404);
}

/// The memberId of an application with this key.
fn apply_with(client: &Client, key: &KeyPair) -> String {
    let applied = client.post("/api/swarm/apply", &[], &application_of(key)).expect(201);
    applied.json()["memberId"].as_str().unwrap().to_owned()
}

/// The status of the answer about an application.
fn state(client: &Client, member: &str) -> u16 {
    client.get(&format!("/api/swarm/apply/{member}")).status
}

fn memos_are_limited_per_member_and_day(backend: &Backend) {
    let server = serve(backend);
    let client = server.client();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    let publish = |author: &Author| {
        let memo = r#"{ "title": "T", "body": "B" }"#;
        client.post("/api/swarm/memos", &[("authorization", &author.bearer())], memo)
    };
    for (author, another) in [(&ada, 1), (&grace, 2), (&ada, 3)] {
        assert_eq!(publish(author).expect(201).json()["memoId"], another);
    }
    reached(&publish(&ada), "memos of a member and day");
    publish(&grace).expect(201);
    client.convene(DATE, "aurora");
    client.submit(&ada, ada.draft(DATE, "aurora")).expect(201);
    backend.clock.move_by(HALF_A_DAY);
    publish(&ada).expect(201);
    publish(&ada).expect(201);
    reached(&publish(&ada), "memos of a member and day");
}

/// A server with the quotas that `set` sets.
fn serve_with(backend: &Backend, set: impl FnOnce(&mut Quotas)) -> Server {
    let mut config = tenant("default", ADMIN, &[]);
    set(&mut config.quotas);
    Server::of(Site::single(services(&backend.store), config))
}

fn subjects_are_limited(backend: &Backend) {
    let server = serve_with(backend, |quotas| quotas.subjects = 2);
    let client = server.client();
    let put =
        |id: &str, name: &str| client.operate("/subjects", &json!({ "id": id, "name": name }));
    put("a", "A").expect(201);
    put("b", "B").expect(201);
    let refused = put("c", "C");
    assert_eq!(refused.header("retry-after"), Some("3600"));
    reached(&refused, "subjects");
    put("a", "Another").expect(200);
    backend.clock.move_by(HALF_A_DAY * 4);
    reached(&put("c", "C"), "subjects");
    client.get("/api/swarm/subjects/c").expect(404);
}

/// Whatever day they are of. One that is replaced does not count again.
fn signals_are_limited_per_day(backend: &Backend) {
    let server = serve_with(backend, |quotas| quotas.signals_per_day = 2);
    let client = server.client();
    let put = |key: &str, date: &str| {
        let signal = json!({ "signal_key": key, "date": date, "payload": 1 });
        client.operate("/signals", &signal)
    };
    put("a", DATE).expect(200);
    put("a", "2026-11-22").expect(200);
    reached(&put("b", "2026-11-23"), "signals of a day");
    put("a", DATE).expect(200);
    backend.clock.move_by(HALF_A_DAY);
    put("b", DATE).expect(200);
}

fn document_bytes_are_limited(backend: &Backend) {
    let server = serve_with(backend, |quotas| quotas.documents_bytes = 4_000);
    let client = server.client();
    let subject = |length: usize| {
        let note = "n".repeat(length);
        client.operate("/subjects", &json!({ "id": "a", "name": "A", "structuralNotes": [note] }))
    };
    let snapshot = || {
        let snapshot = json!({ "date": DATE, "notable": ["s".repeat(1_000)] });
        client.operate("/subjects/a/snapshots", &snapshot)
    };
    let what = "bytes of subjects, snapshots and signals";
    reached(&subject(4_000), what);
    subject(2_000).expect(201);
    snapshot().expect(201);
    reached(&snapshot(), what);
    let signal = json!({ "signal_key": "k", "date": DATE, "payload": "p".repeat(1_000) });
    reached(&client.operate("/signals", &signal), what);
    reached(&subject(3_000), what);
    subject(1_000).expect(200);
    client.operate("/signals", &signal).expect(200);
}

fn committee_submissions_are_limited_per_member_and_day(backend: &Backend) {
    let server = serve(backend);
    let client = server.client();
    let port = backend.store.open_committee(&TenantId::parse("default").unwrap());
    let other = "ic_n_0123456789abcdef0123456789abcdef";
    committee_fixture::insert_member(&*port, "m", KEY);
    committee_fixture::insert_member(&*port, "n", other);
    client.operate("/subjects", &json!({ "id": "aurora", "name": "A" })).expect(201);
    let generate = |client: &Client| chair(client, "/briefs", &json!({})).expect(201);
    generate(&client);
    let submit = |key| committee_fixture::submit(&client, key, &committee_fixture::take("neutral"));
    for key in [KEY, other, KEY] {
        submit(key).expect(200);
    }
    for _ in 0..2 {
        reached(&submit(KEY), "submissions of a member and day");
        // Generating again does not reset the quota of the day.
        generate(&client);
    }
    assert_eq!(submit(KEY).json(), json!({ "error": "quota reached" }));
    submit(other).expect(200);
    backend.clock.move_by(HALF_A_DAY);
    generate(&client);
    submit(KEY).expect(200);
}

/// Five of these succeed where the quotas are two.
fn submits_reads_and_claims_have_no_quota(backend: &Backend) {
    let server = serve(backend);
    let client = server.client();
    client.convene(DATE, "aurora");
    let author = Author::join(&client, "Ada");
    let member = json!({ "memberId": author.id.as_str() }).to_string();
    for _ in 0..5 {
        client.submit(&author, author.draft(DATE, "aurora")).expect(201);
        client.get("/api/swarm/sessions/1").expect(200);
        client.post("/api/swarm/token-claim/challenge", &[], &member).expect(200);
        Author::claim(&client, &author.id, &author.key).refused(409, "token already claimed");
    }
}
