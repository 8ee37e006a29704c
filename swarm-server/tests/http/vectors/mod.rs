//! The test vectors of takes, submitted over HTTP.

mod keys;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};
use swarm_core::domain::{PublicKey, Signature, Signed, TakeDraft, TokenHash};
use swarm_core::json::Json;
use swarm_core::proof::{canonical, verify};
use swarm_core::{MemberId, Submission};

use crate::backend::{Backend, on_every_store};
use crate::fixture::{Fixture, insert_member, key_of, member, now};
use crate::harness::{Answer, Author};
use crate::vector_files::{own, records, unhex};

on_every_store! {
    valid_takes_are_filed_in_order_and_read_back_as_signed,
    invalid_takes_are_refused_and_change_nothing,
    edge_cases_get_the_same_decision_as_in_the_core,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Holder {
    member_id: String,
    http: bool,
    seed: String,
    public_key: String,
    token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionOfVectors {
    date: String,
    subject_id: String,
}

/// A fixture with the members and sessions of the vectors, without takes.
struct VectorFixture {
    fixture: Fixture,
    authors: HashMap<String, Author>,
    /// The member whose id cannot be sent in a header.
    quiet: Vec<String>,
}

impl VectorFixture {
    fn start(backend: &Backend) -> Self {
        let fixture = Fixture::on(backend);
        let holders: Vec<Holder> = serde_json::from_str(&own("interop/members.json")).unwrap();
        let (mut authors, mut quiet) = (HashMap::new(), vec![]);
        for Holder { member_id, http, seed, public_key, token } in holders {
            insert_member(&fixture.port(), member(&member_id, &public_key, &token));
            let id = MemberId::parse(&*member_id).unwrap();
            let author = Author { id, key: key_of(&unhex(&seed)), token };
            authors.insert(member_id.clone(), author);
            quiet.extend((!http).then_some(member_id));
        }
        let sessions: Vec<SessionOfVectors> =
            serde_json::from_str(&own("interop/sessions.json")).unwrap();
        for session in sessions {
            fixture.convene(&session.date, &session.subject_id);
        }
        Self { fixture, authors, quiet }
    }

    fn submit(&self, member: &str, body: &[u8]) -> Answer {
        let bearer = self.authors[member].bearer();
        let headers = [("content-type", "application/json"), ("authorization", &*bearer)];
        self.fixture.client.send("POST", "/api/swarm/submit", &headers, body)
    }

    fn signing_payload(&self, draft: &str) -> Answer {
        self.fixture.client.post("/api/swarm/signing-payload", &[], draft)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Valid {
    id: String,
    member_id: String,
    revision: u8,
    public_key: String,
    draft: String,
    request: String,
    canonical: String,
    signature: String,
}

fn valid_takes_are_filed_in_order_and_read_back_as_signed(backend: &Backend) {
    let vectors = VectorFixture::start(backend);
    let cases: Vec<Valid> = records(&own("interop/takes_valid.jsonl"));
    assert_eq!(cases.len(), 590);
    let mut chains: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (id, case) in (1..).zip(&cases) {
        let payload = vectors.signing_payload(&case.draft).expect(200);
        assert_eq!(payload.json(), json!({ "canonical": case.canonical }), "{}", case.id);
        if !vectors.quiet.contains(&case.member_id) {
            let filed = vectors.submit(&case.member_id, case.request.as_bytes()).expect(201).json();
            let receipt =
                json!({ "ok": true, "status": 201, "recommendationId": id, "verified": true });
            assert_eq!(filed, receipt, "{}", case.id);
        } else {
            let mut fields = Json::read(case.request.as_bytes()).unwrap().into_object();
            let submission = Submission::read(&mut fields).unwrap();
            let token = TokenHash::of(vectors.authors[&case.member_id].token.as_bytes());
            let filed = now(vectors.fixture.tenant().submit(&token, &submission)).unwrap();
            assert_eq!(filed.id.0, id as u64, "{}", case.id);
        }
        let said: Value = serde_json::from_str(&case.canonical).unwrap();
        let text = |field: &str| said[field].as_str().unwrap().to_owned();
        chains.entry((text("date"), text("subjectId"), text("memberId"))).or_default().push(id);
    }
    assert_eq!(vectors.quiet.len(), 4);
    let next: HashMap<usize, usize> =
        chains.values().flat_map(|ids| ids.windows(2).map(|pair| (pair[0], pair[1]))).collect();
    for (id, case) in (1..).zip(&cases) {
        let answer = vectors.fixture.client.get(&format!("/api/swarm/takes/{id}")).expect(200);
        check_record(&answer, id, case, next.get(&id));
    }
    check_sessions(&vectors, &chains);
}

/// Checks that the record contains the signed fields, numbers as written, and that it verifies.
fn check_record(answer: &Answer, id: usize, case: &Valid, next: Option<&usize>) {
    let record = answer.json();
    let mut expected: Value = serde_json::from_str(&case.canonical).unwrap();
    let own = json!({
        "id": id, "sessionId": record["sessionId"], "revision": case.revision,
        "signature": case.signature, "publicKey": case.public_key,
        "filedAt": "2026-11-21T12:00:00.000Z",
    });
    expected.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    if let Some(next) = next {
        expected["supersededBy"] = json!(next);
    }
    assert_eq!(record, expected, "{}", case.id);
    // Inside a string the quotes of these keys would be escaped.
    let confidence = case.canonical.split_once(r#""confidence":"#).unwrap().1;
    let confidence = confidence.split_once(',').unwrap().0;
    assert!(answer.text.contains(&format!(r#""confidence":{confidence},"#)), "{}", answer.text);
    let weights = case.canonical.split_once(r#","weights":["#).map(|split| split.1);
    let weights = weights.map_or("", |text| text.strip_suffix('}').unwrap());
    assert!(answer.text.contains(weights), "{}", answer.text);

    let mut fields = Json::read(answer.text.as_bytes()).unwrap().into_object();
    let signed = Signed {
        payload: TakeDraft::read(&mut fields).unwrap(),
        signature: Signature::parse(fields.text("signature").unwrap()).unwrap(),
    };
    assert_eq!(canonical(&signed.payload), case.canonical, "{}", case.id);
    let key = PublicKey::parse(&fields.text("publicKey").unwrap()).unwrap();
    assert!(verify(&Arc::new(signed), &key).is_some(), "{}", case.id);
}

/// Checks that each session shows the highest revision of each member.
fn check_sessions(
    vectors: &VectorFixture,
    chains: &BTreeMap<(String, String, String), Vec<usize>>,
) {
    let mut latest: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for ((date, subject, _), ids) in chains {
        latest.entry((date, subject)).or_default().push(*ids.last().unwrap());
    }
    for ((date, subject), mut ids) in latest {
        let subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
        let read = vectors.fixture.client.get(&format!("/api/swarm/sessions/{date}/{subject}"));
        let read = read.expect(200).json();
        let takes = read["takes"].as_array().unwrap().iter();
        let mut shown: Vec<_> =
            takes.map(|take| usize::try_from(take["id"].as_u64().unwrap()).unwrap()).collect();
        shown.sort_unstable();
        ids.sort_unstable();
        assert_eq!(shown, ids, "{date} {subject}");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invalid {
    id: String,
    note: String,
    level: String,
    member_id: String,
    request: Option<String>,
    request_b64: Option<String>,
    expect: Value,
    error: Option<String>,
}

impl Invalid {
    fn bytes(&self) -> Vec<u8> {
        match (&self.request, &self.request_b64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(text)) => STANDARD.decode(text).unwrap(),
            _ => panic!("{}: one request", self.id),
        }
    }
}

fn invalid_takes_are_refused_and_change_nothing(backend: &Backend) {
    let mut vectors = VectorFixture::start(backend);
    let cases: Vec<Invalid> = records(&own("interop/takes_invalid.jsonl"));
    assert_eq!(cases.len(), 393);
    for case in cases.iter().filter(|case| case.level == "core") {
        // Their own keys cannot be registered, so they are registered with another.
        let id = MemberId::parse(&*case.member_id).unwrap();
        vectors
            .authors
            .entry(case.member_id.clone())
            .or_insert_with(|| vectors.fixture.author_named(id));
    }
    let before = vectors.fixture.print();
    for case in &cases {
        let answer = vectors.submit(&case.member_id, &case.bytes());
        let allowed = match &case.expect {
            Value::Array(several) => several.contains(&answer.status.into()),
            one => *one == answer.status,
        };
        assert!(allowed, "{} {}: {answer:?}", case.id, case.note);
        if let Some(error) = &case.error {
            answer.refused(400, error);
        } else {
            assert!(answer.json()["error"].is_string(), "{answer:?}");
        }
    }
    assert_eq!(vectors.fixture.print(), before);
    assert_eq!(vectors.fixture.takes().len(), 0);

    // A take refused for its signature can be filed with the same nonce and a valid signature.
    let mut filed: HashMap<_, u8> = HashMap::new();
    let forged = cases.iter().filter(|case| {
        case.error.as_deref() == Some("signature verification failed") && case.expect == 400
    });
    for case in forged {
        let mut fields = Json::read(&case.bytes()).unwrap().into_object();
        let draft = TakeDraft::read(&mut fields).unwrap();
        let author = &vectors.authors[&case.member_id];
        let (date, subject) = (draft.date.to_string(), draft.subject_id.as_str().to_owned());
        let basis = vectors.fixture.basis(author, &date, &subject, draft.nonce.as_str());
        let others = filed.entry((case.member_id.clone(), date, subject)).or_default();
        if *others < 5 && basis.spent.is_none() {
            vectors.fixture.client.submit(author, draft).expect(201);
            *others += 1;
        }
    }
    let filed: u8 = filed.values().sum();
    assert!(filed > 40, "{filed}");
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edge {
    id: String,
    class: String,
    note: String,
    member_id: String,
    draft: String,
    request: String,
    canonical: String,
}

fn edge_cases_get_the_same_decision_as_in_the_core(backend: &Backend) {
    let vectors = VectorFixture::start(backend);
    let cases: Vec<Edge> = records(&own("interop/takes_edge.jsonl"));
    assert_eq!(cases.len(), 36);
    let mut filed = 0;
    for case in &cases {
        let payload = vectors.signing_payload(&case.draft);
        let answer = vectors.submit(&case.member_id, case.request.as_bytes());
        match case.class.as_str() {
            "lone-surrogate" | "duplicate-key" | "bom" => unreadable(payload, answer),
            "extra-field" if case.note.contains("5,000 deep") => unreadable(payload, answer),
            "empty-string" => invalid(payload, answer),
            "weights-sum" if case.note.contains("the total is not") => invalid(payload, answer),
            "date-regex-only" => {
                assert_eq!(payload.expect(200).json(), json!({ "canonical": case.canonical }));
                answer.refused(404, "no session for date/subject");
            }
            "extra-field" | "null-optional" | "length-unit" | "memo-url" | "weights-sum" => {
                assert_eq!(payload.expect(200).json(), json!({ "canonical": case.canonical }));
                answer.expect(201);
                filed += 1;
                let take = Arc::clone(vectors.fixture.takes().last().unwrap());
                assert_eq!(canonical(take.draft()), case.canonical, "{} {}", case.id, case.note);
            }
            class => panic!("{}: what is {class}?", case.id),
        }
    }
    assert_eq!((filed, vectors.fixture.takes().len()), (16, 16));
}

fn unreadable(payload: Answer, answer: Answer) {
    payload.unread(400, "invalid json body");
    answer.unread(400, "invalid json body");
}

fn invalid(payload: Answer, answer: Answer) {
    payload.unread(400, "invalid signing draft");
    answer.refused(400, "invalid submission");
}
