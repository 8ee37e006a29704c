//! API keys: their format, lookup in constant work, and secrecy.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use swarm_core::domain::committee::KeyPrefix;
use swarm_core::domain::{ApiKeyHash, TimeOfDay};
use swarm_core::{CommitteeSettings, TenantId};
use swarm_http::Site;

use crate::committee_fixture::{self, KEY, chair, refused, submit, take};
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer, Server, services, tenant};
use crate::program::Program;
use crate::raw_http;
use crate::secrets::SpiedFixture;

const HEX: &str = "0123456789abcdef0123456789abcdef";
const MALFORMED: &str = "missing or malformed x-ic-key";

/// Submits with these header lines.
fn submit_raw(fixture: &Fixture, lines: &[&[u8]]) -> Answer {
    let body = take("bullish").to_string();
    let head = "POST /api/ic/submit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    let mut request = head.as_bytes().to_vec();
    for line in lines {
        request.extend([*line, b"\r\n"].concat());
    }
    request.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    raw_http::exchange(fixture.server.address, &request)
}

#[test]
fn malformed_keys_are_refused() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    let line = |value: &[u8]| [b"x-ic-key: ", value].concat();
    let long = |length| format!("ic_m_{}", "0".repeat(length));
    let key = |text: String| text.into_bytes();
    for value in [
        vec![],
        key(HEX.to_owned()),
        key("ic_m".to_owned()),
        key(format!("ic_{HEX}")),
        key(format!("ic__{HEX}")),
        key(format!("_m_{HEX}")),
        key(format!("m_{HEX}")),
        key(format!("IC_m_{HEX}")),
        key(format!("ic_M_{HEX}")),
        key(format!("i1_m_{HEX}")),
        key(format!("{}_m_{HEX}", "x".repeat(17))),
        key(format!("ic_{}_{HEX}", "x".repeat(101))),
        key(KEY.to_uppercase()),
        key(long(31)),
        key(long(33)),
        key(long(8 << 10)),
        key(format!("ic_m_{}g", &HEX[1..])),
        key(format!("ic_m_ {}", &HEX[1..])),
        key(format!("ic_m_0x{}", &HEX[2..])),
        key(format!("ic-m-{HEX}")),
        key(format!("ic_m_{HEX}_")),
        key(format!("Bearer {KEY}")),
        key(format!("{KEY}, {KEY}")),
        key(format!("{KEY};")),
        key(format!("\"{KEY}\"")),
        key(format!("%69{}", &KEY[1..])),
        key(format!("ic_\u{43c}_{HEX}")),
        key(format!("ic_m_\u{ff10}{}", &HEX[1..])),
        key(format!("{KEY}\u{200b}")),
        [KEY.as_bytes(), b"\xff"].concat(),
        [KEY.as_bytes(), b"\xc3\xa9"].concat(),
        b"\xff\xfe\x80".to_vec(),
        b"{\"$ne\":1}".to_vec(),
    ] {
        let answer = submit_raw(&fixture, &[&line(&value)]);
        refused(answer, 401, MALFORMED);
    }
    refused(submit_raw(&fixture, &[]), 401, MALFORMED);
    // Two keys are ambiguous.
    let (good, bad) = (line(KEY.as_bytes()), line(b"x"));
    for two in [[&good, &good], [&good, &bad], [&bad, &good]] {
        refused(submit_raw(&fixture, &[two[0], two[1]]), 401, MALFORMED);
    }
    let elsewhere = format!("Authorization: Bearer {KEY}");
    refused(submit_raw(&fixture, &[elsewhere.as_bytes()]), 401, MALFORMED);
    assert_eq!(fixture.print(), before);
    // White space around a value is ignored, and header names are case-insensitive.
    let padded = format!("X-IC-KEY: \t {KEY} \t");
    submit_raw(&fixture, &[padded.as_bytes()]).expect(200);
}

#[test]
fn well_formed_key_must_belong_to_a_member() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    let last = |digit: char| format!("{}{digit}", &KEY[..KEY.len() - 1]);
    for key in [
        last('0'),
        last('F'),
        format!("ic_n_{HEX}"),
        format!("ic_m__{HEX}"),
        format!("i_m_{HEX}"),
        format!("icc_m_{HEX}"),
        format!("ic_m_{}", HEX.to_uppercase()),
        format!("ic_{}_{HEX}", "x".repeat(100)),
        format!("{}_m_{HEX}", "x".repeat(16)),
    ] {
        refused(submit(&fixture.client, &key, &take("bullish")), 401, "invalid key");
    }
    assert_eq!(fixture.print(), before);
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
}

/// A prefix belongs to a tenant: with another prefix, the key of a member is invalid.
#[test]
fn key_with_another_prefix_is_invalid() {
    let store = Clock::noon().store();
    let minutes = TimeOfDay::from_minutes;
    let with_prefix = |id: &str, prefix: &str| {
        let prefix = KeyPrefix::parse(prefix).unwrap();
        let committee = CommitteeSettings::new(prefix, minutes(1), minutes(2)).unwrap();
        let mut tenant = tenant(id, ADMIN, &[&format!("{id}.example")]);
        tenant.committee = committee;
        tenant
    };
    let tenants = [with_prefix("acme", "acme"), with_prefix("bolt", "bolt")];
    let server = Server::of(Site::by_host(services(&store), tenants).unwrap());
    let [acme, bolt] = ["acme.example", "bolt.example"].map(|host| server.client().at(host));
    let join = |client| {
        let made = chair(client, "/members", &json!({ "id": "m", "name": "M" })).expect(201);
        made.json()["api_key"].as_str().unwrap().to_owned()
    };
    let keys = [join(&acme), join(&bolt)];
    assert!(keys[0].starts_with("acme_m_") && keys[1].starts_with("bolt_m_"), "{keys:?}");
    for (client, key, other) in [(&acme, &keys[0], &keys[1]), (&bolt, &keys[1], &keys[0])] {
        refused(submit(client, key, &take("bullish")), 409, "no brief published yet for today");
        refused(submit(client, other, &take("bullish")), 401, "invalid key");
    }
    // Its hash is stored, but the prefix is not that of the tenant.
    committee_fixture::insert_member(&store.open(&TenantId::parse("acme").unwrap()), "n", KEY);
    refused(submit(&acme, KEY, &take("bullish")), 401, "invalid key");
}

/// The answer, and the store calls made for it.
fn asked(spied: &SpiedFixture, key: &str, body: &str) -> (String, Vec<&'static str>) {
    spied.heard();
    let answer = spied.fixture.client.post("/api/ic/submit", &[("x-ic-key", key)], body);
    let calls = spied.heard().into_iter().map(|(method, _)| method).collect();
    (answer.json()["error"].as_str().unwrap_or("none").to_owned(), calls)
}

/// The store calls do not reveal whether a key or its member exists.
#[test]
fn all_well_formed_keys_cost_the_same_store_calls() {
    let spied = SpiedFixture::start();
    let committee = spied.fixture.committee();
    committee_fixture::insert_member(&committee, "m", KEY);
    committee_fixture::insert_member(&committee, "n", &format!("ic_n_{HEX}"));
    let inactive = json!({ "status": "inactive" });
    chair(&spied.fixture.client, "/members/n/status", &inactive).expect(200);
    let good = take("bullish").to_string();
    let one = vec!["committee basis"];
    for (key, body, error) in [
        (format!("ic_x_{HEX}"), &*good, "invalid key"),
        (format!("ic_m_{}", HEX.replace('0', "1")), &*good, "invalid key"),
        (format!("desk_m_{HEX}"), &*good, "invalid key"),
        (format!("ic_x_{HEX}"), "{", "invalid key"),
        (format!("ic_n_{HEX}"), &*good, "member is not active"),
        (KEY.to_owned(), "{", "invalid json body"),
        (KEY.to_owned(), "{}", "bad stance"),
        (KEY.to_owned(), &*good, "no brief published yet for today"),
    ] {
        assert_eq!(asked(&spied, &key, body), (error.to_owned(), one.clone()), "{key}");
    }
    spied.fixture.client.convene("2026-11-21", "aurora");
    chair(&spied.fixture.client, "/briefs", &json!({})).expect(201);
    let filed = (String::from("none"), vec!["committee basis", "file committee"]);
    assert_eq!(asked(&spied, KEY, &good), filed);
    assert_eq!(asked(&spied, "ic_m_0", &good), (MALFORMED.to_owned(), vec![]));
}

/// The key in an answer.
fn shown(answer: Answer) -> String {
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    let fields: BTreeSet<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, BTreeSet::from(["api_key", "member_id", "ok"]));
    body["api_key"].as_str().unwrap().to_owned()
}

/// What must never appear of a key: the key, its secret part, and its hash.
fn secrets(key: &str) -> Vec<String> {
    let hash = ApiKeyHash::of(key.as_bytes());
    let hash = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    vec![key.to_owned(), key[key.len() - 32..].to_owned(), hash]
}

#[test]
fn key_is_shown_once_and_never_sent_to_the_store() {
    let spied = SpiedFixture::start();
    let client = &spied.fixture.client;
    client.convene("2026-11-21", "aurora");
    let created = shown(chair(client, "/members", &json!({ "id": "m", "name": "M" })).expect(201));
    let rotated = shown(chair(client, "/members/m/rotate-key", &Value::Null).expect(200));
    assert_ne!(created, rotated);
    chair(client, "/briefs", &json!({})).expect(201);
    refused(submit(client, &created, &take("bullish")), 401, "invalid key");
    submit(client, &rotated, &take("bullish")).expect(200);
    refused(submit(client, &rotated, &json!({})), 400, "bad stance");
    spied.fixture.clock.move_by(24 * 60 * 60 * 1_000);
    for path in ["/api/ic/sessions", "/api/ic/sessions/2026-11-21", committee_fixture::BRIEF] {
        let read = client.get(path).text;
        assert!(!read.contains(&rotated[5..]) && !read.contains("api_key"), "{path}: {read}");
    }
    let heard = spied.heard();
    let methods: BTreeSet<_> = heard.iter().map(|(method, _)| *method).collect();
    for method in ["save committee member", "committee basis", "file committee"] {
        assert!(methods.contains(method), "{method} was not heard: {methods:?}");
    }
    assert!(heard.iter().any(|(_, said)| said.contains("half in cash")), "the recording works");
    // Their hashes are what is stored.
    for secret in [&secrets(&created)[..2], &secrets(&rotated)[..2]].concat() {
        for (method, said) in &heard {
            assert!(!said.contains(&secret), "{method} was told {secret}: {said}");
        }
    }
    // The hash of the newest key is stored.
    let hash = ApiKeyHash::of(rotated.as_bytes());
    let members = crate::fixture::now(spied.fixture.committee().committee_members()).unwrap();
    assert!(members.iter().all(|member| member.record.key == hash));
}

#[test]
fn keys_are_never_logged() {
    for format in ["text", "json"] {
        let environment = [("SWARM_ADMIN_TOKEN", ADMIN), ("RUST_LOG", "trace")];
        let program = Program::start(&["serve", &format!("--log-format={format}")], &environment);
        let client = program.client.clone();
        client.convene("2026-11-21", "aurora");
        let created = chair(&client, "/members", &json!({ "id": "m", "name": "M" })).expect(201);
        let rotated = chair(&client, "/members/m/rotate-key", &Value::Null).expect(200);
        let [created, rotated] = [shown(created), shown(rotated)];
        let order = json!({ "deadline_utc": "9999-12-31T00:00:00Z" });
        chair(&client, "/briefs", &order).expect(201);
        let unknown = format!("ic_m_{}", HEX.replace('0', "7"));
        let malformed = format!("{unknown}-malformed");
        submit(&client, &created, &take("bullish")).expect(401);
        submit(&client, &rotated, &take("bullish")).expect(200);
        submit(&client, &rotated, &json!({})).expect(400);
        submit(&client, &unknown, &take("bullish")).expect(401);
        submit(&client, &malformed, &take("bullish")).expect(401);
        let (_, log) = program.stop("TERM");
        assert!(log.contains("/api/ic/submit"), "{log}");
        for key in [&created, &rotated, &unknown] {
            for secret in secrets(key) {
                assert!(!log.contains(&secret), "{secret} is in the log");
            }
        }
    }
}
