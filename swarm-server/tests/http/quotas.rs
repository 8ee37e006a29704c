//! Quotas of a tenant. Submit has none.

use serde_json::json;
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_core::{CommitteeTenants, TenantId};
use swarm_http::Site;

use crate::backend::{Backend, on_every_store};
use crate::committee_fixture::{self, KEY, chair};
use crate::harness::{
    ADMIN, Answer, Author, Client, Server, fresh_key, services, signed_text, tenant,
};

on_every_store! {
    applications_are_limited,
    memos_are_limited_per_member_and_day,
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
    let key = fresh_key();
    let application = signed_text(&key.sign(Application {
        name: Name::parse("C").unwrap(),
        contact: Contact::parse("c@test.example").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: key.public_key(),
    }));
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
