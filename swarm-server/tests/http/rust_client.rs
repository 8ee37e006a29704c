//! The client crate `swarm-client`, over sockets.

use std::time::Duration;

use serde_json::json;
use swarm_client::{
    CommitteeTakeFields, Error, ServedTake, TakeFields, new_key, sign_take, verify_take,
};
use swarm_core::domain::{MemberState, Salt, Signed, SubjectId};
use swarm_core::json::Json;
use swarm_core::{SessionId, TakeDraft, TakeId};

use crate::committee_fixture::chair;
use crate::harness::{ADMIN, Client, Server};
use crate::verification::{answering, endless, scripted};

fn client(server: &Client) -> swarm_client::Client {
    swarm_client::Client::new(&format!("http://{}/", server.address)).unwrap()
}

fn code(error: Error) -> String {
    match error {
        Error::Refused(refused) => refused.code.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn member_joins_files_and_amends() {
    let server = Server::start();
    let operator = server.client();
    let client = client(&operator);
    assert_eq!(client.open_session().unwrap(), None);
    operator.convene("2026-11-21", "aurora");
    operator.operate("/sessions/1/brief", &json!({})).expect(201);

    let key = new_key().unwrap();
    let member = client.apply(&key, "Zoë", "zoe@test.example", "").unwrap();
    assert_eq!(client.application(&member).unwrap().state, MemberState::Applied);
    assert_eq!(code(client.claim(&key, &member).unwrap_err()), "claim-refused");
    assert_eq!(client.operator(ADMIN).activate(&member).unwrap(), MemberState::Approved);
    let token = client.claim(&key, &member).unwrap();

    let session = client.open_session().unwrap().unwrap();
    assert_eq!(client.sessions(None, 1).unwrap().sessions, std::slice::from_ref(&session));
    let brief = client.brief(session.id).unwrap().unwrap();
    assert_eq!((brief.session_id.as_str(), brief.subject_id.as_str()), ("1", "aurora"));
    let take = TakeFields::new("cautious", 0.62).with_body("Utilisation is high.");
    let first = sign_take(client.service(), &key, &member, &session, &take).unwrap();
    let flight = client.preflight(&token, &first).unwrap();
    assert!(flight.ok && flight.session_id == Some(session.id), "{flight:?}");
    assert_eq!(client.submit(&token, &first).unwrap().id, TakeId(1));
    assert_eq!(client.submit(&token, &first).unwrap().id, TakeId(1), "the same take stands");
    let second = sign_take(client.service(), &key, &member, &session, &take).unwrap();
    assert_eq!(client.submit(&token, &second).unwrap().id, TakeId(2));
    let origin = format!("http://{} ", operator.address);
    assert!(second.payload.nonce.as_str().starts_with(&origin), "{:?}", second.payload.nonce);
    let (_, takes) = client.session(session.id).unwrap();
    assert_eq!(takes, [client.take(TakeId(2)).unwrap()]);

    let record = client.get("/api/swarm/takes/2").unwrap();
    let lines = verify_take(
        &record.clone().into_object(),
        Some(&key.public_key().to_string()),
        Some(TakeId(2)),
    );
    assert!(lines.unwrap().holds());
    assert!(client.diagnose(&record).unwrap().verified);
    let aurora = SubjectId::parse("aurora").unwrap();
    client.publish_memo(&token, "On aurora", "Long.", Some(&aurora), Some(SessionId(1))).unwrap();
    assert_eq!(code(client.take(TakeId(3)).unwrap_err()), "not-found");
}

#[test]
fn member_keeps_the_salt_of_a_sealed_take() {
    let server = Server::start();
    let operator = server.client();
    let client = client(&operator);
    let convene = json!({ "date": "2026-11-21", "subjectId": "aurora", "blind": true });
    operator.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" }));
    operator.operate("/sessions", &convene).expect(201);
    let key = new_key().unwrap();
    let member = client.apply(&key, "Zoë", "zoe@test.example", "").unwrap();
    assert_eq!(client.operator(ADMIN).activate(&member).unwrap(), MemberState::Approved);
    let token = client.claim(&key, &member).unwrap();

    let session = client.open_session().unwrap().unwrap();
    let fields = TakeFields::new("cautious", 0.62);
    let take = sign_take(client.service(), &key, &member, &session, &fields).unwrap();
    let filed = client.submit(&token, &take).unwrap();
    let seal = filed.salt.unwrap().seal(&take);
    assert_eq!(client.submit(&token, &take).unwrap().salt, None, "of a replay");
    let ServedTake::Sealed(sealed) = client.take(filed.id).unwrap() else { panic!("open") };
    assert_eq!((sealed.id, &sealed.member_id, sealed.sealed), (filed.id, &member, seal));
    let (session, takes) = client.session(session.id).unwrap();
    assert_eq!(takes, [ServedTake::Sealed(sealed)]);
    let own = client.take_for(&token, filed.id).unwrap();
    let whole = own.open().unwrap();
    assert_eq!((whole.salt, &*whole.signed), (filed.salt, &take));

    let aggregated = json!({ "state": "aggregated" });
    operator.operate(&format!("/sessions/{}/state", session.id), &aggregated).expect(200);
    assert_eq!(client.take(filed.id).unwrap(), own);
    let mut record = client.get("/api/swarm/takes/1").unwrap().into_object();
    assert!(verify_take(&record, None, None).unwrap().holds());
    record.set("salt", Json::from(&*Salt([7; 32]).to_string()));
    assert!(!verify_take(&record, None, None).unwrap().holds(), "another salt");
}

/// Another service could relay it.
#[test]
fn challenge_of_another_service_is_not_signed() {
    let given = |challenge: &str| {
        let expires_at = "2026-11-21T12:10:00.000Z";
        let body = json!({ "memberId": "m", "challenge": challenge, "expiresAt": expires_at });
        (200, body.to_string())
    };
    let (url, bodies) = scripted(vec![given("https://acme.example random"), given("random")]);
    let client = swarm_client::Client::new(&url).unwrap();
    let member = swarm_core::MemberId::parse("m").unwrap();
    for named in ["https://acme.example", ""] {
        let refused = client.claim(&new_key().unwrap(), &member).unwrap_err();
        assert!(
            matches!(&refused, Error::OtherService { named: it, .. } if it == named),
            "{refused}"
        );
    }
    let asked: Vec<_> = bodies.try_iter().collect();
    assert_eq!(asked.len(), 2, "only the challenge was requested");

    // The same origin, written differently.
    let claimed = (201, json!({ "token": "tok_m_0" }).to_string());
    let (url, _) = scripted(vec![given("https://Acme.example:443 random"), claimed]);
    let client = swarm_client::Client::new(&url).unwrap().known_as("https://acme.example").unwrap();
    assert_eq!(client.claim(&new_key().unwrap(), &member).unwrap(), "tok_m_0");
}

#[test]
fn committee_member_submits() {
    let server = Server::start();
    let operator = server.client();
    operator.convene("2026-11-21", "aurora");
    let key = chair(&operator, "/members", &json!({ "id": "zoe", "name": "Zoë" })).expect(201);
    let order = json!({ "deadline_utc": "9999-12-31T00:00:00Z" });
    chair(&operator, "/briefs", &order).expect(201);
    let client = client(&operator);
    assert!(client.committee_brief("zoe").unwrap().into_object().has("submit_to"));
    let body = format!("{}\nSTANCE: cautious | CONFIDENCE: 0.5", "half in cash ".repeat(8));
    let take =
        CommitteeTakeFields { stance: "cautious", confidence: 0.5, body: &body, model: None };
    let key = key.json()["api_key"].as_str().unwrap().to_owned();
    assert!(client.committee_submit(&key, &take).unwrap().commit.starts_with("sha256:"));
}

#[test]
fn unanswered_take_is_retried_with_the_same_bytes() {
    let (url, bodies) = scripted(vec![
        (503, r#"{"ok":false,"status":503,"error":"store unavailable"}"#.to_owned()),
        (409, r#"{"ok":false,"status":409,"error":"…","recommendationId":7}"#.to_owned()),
        (504, "<h1>in between</h1>".to_owned()),
        (408, String::new()),
    ]);
    let client = swarm_client::Client::new(&url).unwrap();
    let take = take();
    assert_eq!(client.submit("tok", &take).unwrap().id, TakeId(7));
    // The outcome is unknown, and the caller still has the take to retry.
    let client = client.without_retries();
    for _ in 0..2 {
        let unanswered = client.submit("tok", &take);
        assert!(matches!(unanswered, Err(Error::NoAnswer(_))), "{unanswered:?}");
    }
    let wait = Duration::from_secs(10);
    let sent: Vec<_> = (0..4).map(|_| bodies.recv_timeout(wait).unwrap()).collect();
    assert!(sent[0].starts_with(br#"{"memberId":"ada""#));
    assert_eq!(sent[1..], vec![sent[0].clone(); 3]);
}

/// A path must not change the host, and a token must not end its header.
#[test]
fn credentials_are_sent_to_the_service_only() {
    for odd in ["http://ada:pw@a.example", "http://a.example/#b", "http://a.example/?b"] {
        assert!(swarm_client::Client::new(odd).is_err(), "{odd}");
    }
    let client = swarm_client::Client::new("http://127.0.0.1:1").unwrap().without_retries();
    for path in ["7/api/x", "@127.0.0.1:2/x", ""] {
        assert!(matches!(client.get(path), Err(Error::Invalid(_))), "{path}");
    }
    let unsent = client.submit("tok\n", &take());
    assert!(matches!(unsent, Err(Error::Invalid(_))), "{unsent:?}");
}

/// Any signed take.
fn take() -> Signed<TakeDraft> {
    let server = Server::start();
    server.client().convene("2026-11-21", "aurora");
    let session = client(&server.client()).open_session().unwrap().unwrap();
    let member = swarm_core::MemberId::parse("ada").unwrap();
    let fields = TakeFields::new("cautious", 0.62);
    sign_take("http://a", &new_key().unwrap(), &member, &session, &fields).unwrap()
}

#[test]
fn oversized_answer_is_not_retried() {
    let (url, bodies) = answering([endless(), endless()]);
    let refused = swarm_client::Client::new(&url).unwrap().submit("tok", &take());
    let error = refused.unwrap_err();
    assert!(matches!(&error, Error::Unreadable(why) if why == "the answer is too long"), "{error}");
    assert_eq!(bodies.try_iter().count(), 1);
}

#[test]
fn only_http_urls_are_accepted() {
    for good in ["http://a", "https://a.example:8443/below/"] {
        assert!(swarm_client::Client::new(good).is_ok(), "{good}");
    }
    for bad in ["", "a.example", "ftp://a", "file:///x", "http://", "http://a/?b"] {
        assert!(swarm_client::Client::new(bad).is_err(), "{bad}");
    }
}
