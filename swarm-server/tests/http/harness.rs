//! The test harness: a server per test, clients, and members that file takes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::domain::{
    AdminTokenHash, Application, Contact, EventPattern, Lens, Name, Signed, TakeDraft, TokenClaim,
    WebhookSecret, WebhookSettings,
};
use swarm_core::json::{Json, write};
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::{KeyPair, Payload};
use swarm_core::service::signed_log::LogSigner;
use swarm_core::store::Store;
use swarm_core::wire::Problem;
use swarm_core::{Committees, MemberId, Swarm, SystemEntropy, TenantId};
use swarm_http::{AdminTokens, Services, Site, TenantConfig};
use swarm_redis_testing::wait_until;
use swarm_server::Limits;
use swarm_store_memory::MemoryStore;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use ureq::http::{HeaderMap, Request};

use crate::openapi::is_described;

pub const ADMIN: &str = "adm_of_the_tests";

/// How long a client waits for an answer. It only bounds a test that has failed.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The pause between two rounds of the background work.
pub const SHORT_PAUSE: Duration = Duration::from_millis(20);

/// A server on a free port; stopped when dropped.
pub struct Server {
    pub address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Server {
    /// One tenant on every host, in memory.
    pub fn start() -> Self {
        Self::on(MemoryStore::new())
    }

    /// One tenant on every host, on this store.
    pub fn on(store: impl Into<Store>) -> Self {
        Self::of(Site::single(services(&store.into()), tenant("default", ADMIN, &[])))
    }

    /// As [`on`](Self::on), with a key for the log. It signs nothing by itself.
    pub fn signing(store: impl Into<Store>) -> Self {
        let services = Services::from(services(&store.into())).with_signer(log_signer());
        Self::of(Site::single(services, tenant("default", ADMIN, &[])))
    }

    pub fn of(site: Site) -> Self {
        let never = std::future::pending();
        Self::running(|listener| async move {
            swarm_server::serve_site(listener, &Arc::new(site), Limits::default(), never).await
        })
    }

    /// A server with its background work, which pauses for [`SHORT_PAUSE`] between rounds.
    pub fn maintained(site: Site) -> Self {
        let site = Arc::new(site);
        Self::running(|listener| async move {
            let maintenance = site.maintenance().pausing_at_most(SHORT_PAUSE);
            let never = std::future::pending();
            tokio::select! {
                served = swarm_server::serve_site(listener, &site, Limits::default(), never) => served,
                ended = maintenance.run() => {
                    ended.map(|never| match never {}).map_err(std::io::Error::other)
                }
            }
        })
    }

    /// Runs this future on a listener.
    pub fn running<F>(serve: impl FnOnce(TcpListener) -> F) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(serve(listener));
        Self { address, runtime: Some(runtime) }
    }

    /// A client with connections of its own.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

/// Both interfaces on this store.
pub fn services(store: &Store) -> (Swarm, Committees) {
    (Swarm::new(store.clone(), SystemEntropy), Committees::new(store.clone(), SystemEntropy))
}

/// A key for logs.
pub fn log_signer() -> LogSigner {
    LogSigner::without_memory(ServerSecret::new([1; 32]))
}

/// A tenant with quotas that no test reaches.
pub fn tenant(id: &str, admin_token: &str, hosts: &[&str]) -> TenantConfig {
    let operators = AdminTokens::single(AdminTokenHash::of(admin_token.as_bytes()));
    let mut tenant =
        TenantConfig::new(TenantId::parse(id).unwrap(), operators).on_hosts(hosts.to_vec());
    // Nothing is delivered to it, and it is told of no commit.
    tenant.webhooks = Arc::new([WebhookSettings {
        url: "https://hooks.test.example/swarm".to_owned(),
        secret: WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap(),
        events: vec![EventPattern::parse("session.closing").unwrap()],
        closing: None,
    }]);
    tenant.quotas.memos_per_day = u32::MAX;
    tenant.quotas.committee_submissions_per_day = u32::MAX;
    tenant
}

/// An HTTP client.
#[derive(Clone)]
pub struct Client {
    agent: ureq::Agent,
    pub address: SocketAddr,
    /// The Host header, if it is not the address.
    host: Option<String>,
    /// What precedes the path of each request.
    base: String,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// The body; one that is no text has replacement characters.
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Checks that an error has a documented code.
    #[track_caller]
    fn has_its_code(&self) {
        let code = self.header("swarm-error");
        let problem = Problem::ALL.iter().find(|problem| Some(problem.code()) == code);
        assert_eq!(self.status >= 400, problem.is_some(), "{self:?}");
        assert!(problem.is_none_or(|problem| problem.status() == self.status), "{self:?}");
    }

    /// Whether a route produced it, not the connection layer.
    pub fn is_of_a_path(&self) -> bool {
        self.headers.contains_key("x-request-id")
    }

    /// The answer, if it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Checks for exactly this refusal, in the form of the domain.
    #[track_caller]
    pub fn refused(self, status: u16, error: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.json(), json!({ "ok": false, "status": status, "error": error }));
    }

    /// Checks for exactly this refusal, in the form of the HTTP layer.
    #[track_caller]
    pub fn unread(self, status: u16, error: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.json(), json!({ "error": error }));
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .build();
        Self { agent: config.into(), address, host: None, base: String::new() }
    }

    /// The same client with another Host header.
    pub fn at(&self, host: &str) -> Self {
        Self { host: Some(host.to_owned()), ..self.clone() }
    }

    /// The address of the site.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.base)
    }

    /// The same client of a site below this path.
    pub fn below(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self.try_send(method, path, headers, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let url = format!("http://{}{}{path}", self.address, self.base);
        let mut request = Request::builder().method(method).uri(url);
        if let Some(host) = &self.host {
            request = request.header("host", host);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = if body.is_empty() && method != "POST" && method != "PATCH" {
            self.agent.run(request.body(()).unwrap())
        } else {
            self.agent.run(request.body(body).unwrap())
        };
        let mut response = sent?;
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let text = match kind {
            Some("application/octet-stream" | "application/wasm" | "image/png") => {
                String::from_utf8_lossy(&response.body_mut().read_to_vec()?).into_owned()
            }
            // It does not end.
            Some("text/event-stream") => String::new(),
            _ => response.body_mut().read_to_string()?,
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let answer = Answer { status, headers, text };
        answer.has_its_code();
        is_described(method, path, body, &answer);
        Ok(answer)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.send("POST", path, &all, body.as_bytes())
    }

    /// A POST with the operator's token, below `/api/swarm/admin`.
    pub fn operate(&self, path: &str, body: &Value) -> Answer {
        let path = format!("/api/swarm/admin{path}");
        self.post(&path, &[("x-admin-token", ADMIN)], &body.to_string())
    }

    /// The entries of the log, of which there are at most a thousand.
    pub fn log_entries(&self) -> Vec<Value> {
        let log = self.get("/api/swarm/log?limit=1000").expect(200).json();
        assert_eq!(log["more"], false);
        log["entries"].as_array().unwrap().clone()
    }

    /// Waits until the checkpoint has all entries of the log.
    pub fn wait_until_all_is_signed(&self) {
        wait_until("all is signed", || {
            let size = self.log_entries().len().to_string();
            self.get("/swarm/log/checkpoint").text.lines().nth(1) == Some(&*size)
        });
    }

    /// Creates a subject and convenes a session on it; returns its id.
    pub fn convene(&self, date: &str, subject: &str) -> u64 {
        let fields = json!({ "id": subject, "name": subject });
        assert!(self.operate("/subjects", &fields).status < 300);
        let session = json!({ "date": date, "subjectId": subject });
        let answer = self.operate("/sessions", &session).expect(201);
        answer.json()["session"]["id"].as_u64().unwrap()
    }

    /// Signs a draft as `author`, and submits it.
    pub fn submit(&self, author: &Author, draft: TakeDraft) -> Answer {
        self.submit_text(author, &signed_text(&author.key.sign(draft)))
    }

    /// Submits this text; an error if the server is gone.
    pub fn try_submit(&self, author: &Author, body: &str) -> Result<Answer, ureq::Error> {
        let headers = [("content-type", "application/json"), ("authorization", &author.bearer())];
        self.try_send("POST", "/api/swarm/submit", &headers, body.as_bytes())
    }

    pub fn submit_text(&self, author: &Author, body: &str) -> Answer {
        self.post("/api/swarm/submit", &[("authorization", &author.bearer())], body)
    }
}

/// A member with its key and token.
pub struct Author {
    pub id: MemberId,
    pub key: KeyPair,
    pub token: String,
}

impl Author {
    /// Applies, is activated, and claims its token.
    pub fn join(client: &Client, name: &str) -> Self {
        let (id, key) = Self::apply(client, name);
        client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
        let token = Self::claim(client, &id, &key).expect(201).json()["token"].clone();
        Self { id, key, token: token.as_str().unwrap().to_owned() }
    }

    /// Applies with a fresh key.
    pub fn apply(client: &Client, name: &str) -> (MemberId, KeyPair) {
        let key = fresh_key();
        let application = key.sign(Application {
            name: Name::parse(name).unwrap(),
            contact: Contact::parse(format!("{name}@test.example")).unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: key.public_key().to_string(),
        });
        let answer = client.post("/api/swarm/apply", &[], &signed_text(&application)).expect(201);
        let id = answer.json()["memberId"].as_str().unwrap().to_owned();
        (MemberId::parse(id).unwrap(), key)
    }

    /// Requests a challenge and claims the token.
    pub fn claim(client: &Client, id: &MemberId, key: &KeyPair) -> Answer {
        client.post("/api/swarm/token-claim", &[], &Self::proof(client, id, key))
    }

    /// Requests a challenge and signs it; returns the body of the claim.
    pub fn proof(client: &Client, id: &MemberId, key: &KeyPair) -> String {
        let asked = json!({ "memberId": id.as_str() }).to_string();
        let given = client.post("/api/swarm/token-claim/challenge", &[], &asked).expect(200).json();
        let text = |field: &str| given[field].as_str().unwrap().to_owned();
        signed_text(&key.sign(TokenClaim {
            member_id: id.clone(),
            challenge: text("challenge"),
            expires_at: text("expiresAt"),
        }))
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A take with a fresh nonce.
    pub fn draft(&self, date: &str, subject: &str) -> TakeDraft {
        self.draft_of(json!({ "date": date, "subjectId": subject }))
    }

    /// A take with these fields, and defaults for the others.
    pub fn draft_of(&self, fields: Value) -> TakeDraft {
        let mut whole = json!({
            "memberId": self.id.as_str(), "nonce": fresh_nonce(), "stance": "neutral",
            "confidence": 0.5, "body": "A take.",
        });
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut object = Json::read(whole.to_string().as_bytes()).unwrap().into_object();
        TakeDraft::read(&mut object).unwrap()
    }
}

/// A payload with its signature as one more field, as it is sent.
pub fn signed_text<T: Payload>(signed: &Signed<T>) -> String {
    let mut value: Value = serde_json::from_str(&write(&signed.payload)).unwrap();
    value["signature"] = signed.signature.as_str().into();
    value.to_string()
}

pub fn fresh_nonce() -> String {
    format!("nonce-{}", count())
}

pub fn fresh_key() -> KeyPair {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&count().to_le_bytes());
    KeyPair::from_seed(&seed)
}

fn count() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    COUNT.fetch_add(1, Ordering::Relaxed)
}
