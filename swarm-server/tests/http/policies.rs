//! A rule of the program around the service, which refuses takes that all other rules accept (API.md, 5.9).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use swarm_core::store::async_trait;
use swarm_core::{Policy, PolicyKind, PolicyQuestion, PolicyRefusal, Swarm, SystemEntropy};
use swarm_http::Site;
use swarm_store_memory::MemoryStore;

use crate::harness::{ADMIN, Author, Client, Server, services, signed_text, tenant};

/// Lets nobody called Eve file, and no confidence above 0.9. Counts what it is asked.
#[derive(Default)]
struct House(AtomicU32);

#[async_trait]
impl Policy for House {
    async fn check(&self, question: &PolicyQuestion<'_>) -> Result<(), PolicyRefusal> {
        self.0.fetch_add(1, Ordering::SeqCst);
        assert_eq!((question.tenant.as_str(), question.subject_id.as_str()), ("default", "aurora"));
        if question.member.name.as_str() == "Eve" {
            let text = "Eve is being audited.";
            return Err(PolicyRefusal::new(PolicyKind::Forbidden, "under-audit", text).unwrap());
        }
        if question.take.is_some_and(|take| take.confidence.get() > 0.9) {
            let text = "Nobody is surer than 0.9 here.";
            return Err(PolicyRefusal::new(PolicyKind::Conflict, "too-sure", text).unwrap());
        }
        Ok(())
    }
}

fn start(swarm: Swarm) -> (Server, Client, Arc<House>) {
    let house = Arc::<House>::default();
    let mut config = tenant("default", ADMIN, &[]);
    config.policy = Some(Arc::clone(&house) as Arc<dyn Policy>);
    let server = Server::of(Site::single(swarm, config));
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    (server, client, house)
}

fn take(author: &Author, confidence: f64) -> String {
    let draft = author.draft_of(json!({
        "date": "2026-11-21", "subjectId": "aurora", "confidence": confidence,
    }));
    signed_text(&author.key.sign(draft))
}

fn preflight(client: &Client, author: &Author, take: &str) -> Value {
    let bearer = [("authorization", &*author.bearer())];
    client.post("/api/swarm/preflight", &bearer, take).expect(200).json()
}

fn standing(client: &Client, author: &Author) -> Value {
    let bearer = [("authorization", &*author.bearer())];
    let me = client.send("GET", "/api/swarm/me", &bearer, b"").expect(200).json();
    me["sessions"][0].clone()
}

#[test]
fn policy_refuses_with_its_own_code_and_text() {
    // With cached facts, too: the second take of a member is judged on them.
    for cached in [false, true] {
        let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
        let swarm = if cached { swarm.with_basis_cache() } else { swarm };
        let (_server, client, _) = start(swarm);
        let (ada, eve) = (Author::join(&client, "Ada"), Author::join(&client, "Eve"));
        client.submit_text(&ada, &take(&ada, 0.5)).expect(201);
        for (author, status, code, policy, text) in [
            (&eve, 403, "policy-forbids", "under-audit", "Eve is being audited."),
            (&ada, 409, "policy-conflict", "too-sure", "Nobody is surer than 0.9 here."),
        ] {
            let body = take(author, 0.95);
            let refused = client.submit_text(author, &body).expect(status);
            assert_eq!(refused.header("swarm-error"), Some(code));
            let expected =
                json!({ "ok": false, "status": status, "error": text, "policy": policy });
            assert_eq!(refused.json(), expected);
            let found = &preflight(&client, author, &body)["findings"];
            let finding =
                json!({ "status": status, "error": text, "code": code, "policy": policy });
            assert_eq!(*found, json!([finding]));
        }
        assert_eq!(
            client.get("/api/swarm/sessions/1").json()["takes"].as_array().unwrap().len(),
            1
        );
        let mine = standing(&client, &eve);
        assert_eq!((&mine["mayFile"], &mine["code"]), (&json!(false), &json!("policy-forbids")));
        assert_eq!(
            (&mine["policy"], &mine["error"]),
            (&json!("under-audit"), &json!("Eve is being audited."))
        );
        let mine = standing(&client, &ada);
        assert_eq!((&mine["mayFile"], &mine["code"]), (&json!(true), &Value::Null));
        assert!(mine.get("policy").is_none(), "{mine}");
        let metrics = client.get("/metrics").text;
        assert!(
            metrics.contains("swarm_submits_total{outcome=\"policy-conflict\"} 1"),
            "{metrics}"
        );
    }
}

/// Only takes that the rules accept are put before the policy, and a replay is answered as ever.
#[test]
fn rules_come_before_the_policy() {
    let (_server, client, house) = start(services(&MemoryStore::new()).0);
    let ada = Author::join(&client, "Ada");
    let filed = take(&ada, 0.5);
    client.submit_text(&ada, &filed).expect(201);
    let asked = house.0.load(Ordering::SeqCst);
    assert_eq!(asked, 1);
    let replayed = client.submit_text(&ada, &filed).expect(409);
    assert_eq!(replayed.json()["recommendationId"], 1);
    let mut unsigned: Value = serde_json::from_str(&take(&ada, 0.95)).unwrap();
    unsigned["body"] = json!("Another text.");
    client.submit_text(&ada, &unsigned.to_string()).refused(400, "signature verification failed");
    let found = preflight(&client, &ada, &unsigned.to_string());
    assert_eq!(found["findings"][0]["code"], "bad-signature");
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    client.submit_text(&ada, &take(&ada, 0.95)).expect(409);
    assert_eq!(house.0.load(Ordering::SeqCst), asked);
}
