//! A client whose server may be gone, and members that sign.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name, TakeDraft, TokenClaim};
use swarm_core::json::{Json, write};
use swarm_core::proof::{KeyPair, Payload};
use swarm_core::{MemberId, domain::Signed};
use ureq::http::Request;

pub const ADMIN: &str = "adm_of_the_histories";

/// Asks one server.
pub struct Client {
    agent: ureq::Agent,
    address: SocketAddr,
}

/// Observation came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)))
            .build();
        Self { agent: config.into(), address }
    }

    /// `None` where there is no answer: the server is gone, and what it did is not known.
    pub fn get(&self, path: &str) -> Option<Answer> {
        self.send("GET", path, &[], "")
    }

    /// A change by the operator, below `/api/swarm/admin`.
    pub fn operate(&self, method: &str, path: &str, body: &Value) -> Option<Answer> {
        let path = format!("/api/swarm/admin{path}");
        self.send(method, &path, &[("x-admin-token", ADMIN)], &body.to_string())
    }

    pub fn submit(&self, member: &Member, body: &str) -> Option<Answer> {
        let bearer = format!("Bearer {}", member.token);
        self.send("POST", "/api/swarm/submit", &[("authorization", &bearer)], body)
    }

    pub fn post(&self, path: &str, body: &str) -> Option<Answer> {
        self.send("POST", path, &[], body)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Option<Answer> {
        let url = format!("http://{}{path}", self.address);
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = if method == "GET" {
            self.agent.run(request.body(()).unwrap())
        } else {
            let request = request.header("content-type", "application/json");
            self.agent.run(request.body(body.as_bytes()).unwrap())
        };
        let mut answer = answer.ok()?;
        let text = answer.body_mut().with_config().limit(1 << 30).read_to_string().ok()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Some(Answer { status: answer.status().as_u16(), body })
    }
}

/// A member with its key and token.
pub struct Member {
    pub id: String,
    key: KeyPair,
    token: String,
}

impl Member {
    /// Applies, is activated, and claims its token.
    pub fn join(client: &Client, number: u64) -> Self {
        let mut seed = [9; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let key = KeyPair::from_seed(&seed);
        let application = key.sign(Application {
            name: Name::parse(format!("Member {number}")).unwrap(),
            contact: Contact::parse(format!("{number}@test.example")).unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: key.public_key().to_string(),
        });
        let applied = client.post("/api/swarm/apply", &signed_text(&application)).unwrap();
        let id = applied.body["memberId"].as_str().expect("a member").to_owned();
        let member = json!({ "memberId": id });
        client.operate("POST", "/activate", &member).unwrap();
        let challenge = client.post("/api/swarm/token-claim/challenge", &member.to_string());
        let challenge = challenge.unwrap().body;
        let text = |field: &str| challenge[field].as_str().unwrap().to_owned();
        let claim = key.sign(TokenClaim {
            member_id: MemberId::parse(id.clone()).unwrap(),
            challenge: text("challenge"),
            expires_at: text("expiresAt"),
        });
        let claimed = client.post("/api/swarm/token-claim", &signed_text(&claim)).unwrap();
        let token = claimed.body["token"].as_str().expect("a token").to_owned();
        Self { id, key, token }
    }

    /// The body of a signed submission.
    pub fn sign(&self, date: &str, subject: &str, nonce: &str) -> String {
        let fields = json!({
            "memberId": self.id, "date": date, "subjectId": subject, "nonce": nonce,
            "stance": "neutral", "confidence": 0.5, "body": "A take.",
        });
        let mut fields = Json::read(fields.to_string().as_bytes()).unwrap().into_object();
        signed_text(&self.key.sign(TakeDraft::read(&mut fields).unwrap()))
    }
}

fn signed_text<T: Payload>(signed: &Signed<T>) -> String {
    let mut value: Value = serde_json::from_str(&write(&signed.payload)).unwrap();
    value["signature"] = signed.signature.as_str().into();
    value.to_string()
}
