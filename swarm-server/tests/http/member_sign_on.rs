//! Members whom the program around the service has authenticated, and the clients that it says requests come from.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Request, Response, StatusCode};
use hyper::body::Body as _;
use swarm_core::domain::{
    Actor, AdminTokenHash, Attribution, Confidence, Contact, Day, Enrolment, Name, SessionDraft,
    Subject,
};
use swarm_core::proof::KeyPair;
use swarm_core::store::async_trait;
use swarm_core::{MemberId, Swarm, SystemEntropy, TakeDraft};
use swarm_http::{
    AdminTokens, ClientAddress, MemberRequest, MemberSignOn, ResponseBody, SignOnUnavailable, Site,
    SiteService, TenantConfig,
};
use swarm_store_memory::MemoryStore;
use tower_service::Service as _;

const TOKEN: &str = "choose-sixteen-or-more";

/// What the program around says of a request.
#[derive(Clone)]
struct SignedOn(&'static str);

/// The sign-on, which may not answer.
#[derive(Clone, Default)]
struct SignOn(Arc<AtomicBool>);

#[async_trait]
impl MemberSignOn for SignOn {
    async fn admit(
        &self,
        request: &MemberRequest<'_>,
    ) -> Result<Option<MemberId>, SignOnUnavailable> {
        if self.0.load(Ordering::Relaxed) {
            return Err(SignOnUnavailable::new("connection refused"));
        }
        let id = request.extensions.get().map(|SignedOn(id)| id.parse());
        id.transpose().map_err(SignOnUnavailable::new)
    }
}

struct Desk {
    service: SiteService,
    sign_on: SignOn,
    keys: KeyPair,
}

impl Desk {
    /// A desk with a blind session, and one member, `ada`.
    async fn new() -> Self {
        let sign_on = SignOn::default();
        let mut config = TenantConfig::new("acme".parse().unwrap(), AdminTokens::new());
        config.members = Some(Arc::new(sign_on.clone()));
        let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
        let site = Arc::new(Site::single(swarm, config));
        let served = site.tenant(&"acme".parse().unwrap()).unwrap();
        let (desk, by) = (served.tenant(), Actor::OPERATOR);
        let keys = KeyPair::from_seed(&[7; 32]);
        let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("ada").unwrap());
        let ada = Enrolment::new("ada".parse().unwrap(), name, contact, keys.public_key());
        desk.enrol(&ada, &by).await.unwrap();
        let subject = Subject::new("aurora".parse().unwrap(), "Aurora");
        let _ = desk.put_subject(&subject, &by).await.unwrap();
        let draft = SessionDraft::new(Day::parse("2026-11-21").unwrap(), subject.id);
        let closes = desk.now().await.unwrap().plus_millis(3_600_000);
        let draft = SessionDraft { blind: true, window_closes_at: Some(closes), ..draft };
        desk.convene(&draft, &Attribution::from(by)).await.unwrap();
        Self { service: swarm_http::service(&site), sign_on, keys }
    }

    fn take(&self) -> String {
        let take = TakeDraft::new(
            "ada".parse().unwrap(),
            Day::parse("2026-11-21").unwrap(),
            "aurora".parse().unwrap(),
            "n-1".parse().unwrap(),
            "bullish".parse().unwrap(),
            Confidence::parse(0.7).unwrap(),
        );
        self.keys.sign(take).to_json()
    }

    /// Sends a request of this member; with a token of the program, which is none of Swarm.
    async fn send(
        &self,
        member: Option<&'static str>,
        path: &str,
        body: String,
    ) -> Response<ResponseBody> {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://acme.example{path}"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer of-the-program")
            .body(body)
            .unwrap();
        if let Some(id) = member {
            request.extensions_mut().insert(SignedOn(id));
        }
        self.service.clone().call(request).await.unwrap()
    }
}

#[tokio::test]
async fn member_of_the_sign_on_needs_no_token() {
    let desk = Desk::new().await;
    let ada = Some("ada");
    let status = async |member, path, body| desk.send(member, path, body).await.status();
    for path in ["/api/swarm/preflight", "/api/swarm/submit"] {
        assert_eq!(status(None, path, desk.take()).await, StatusCode::UNAUTHORIZED);
        assert_eq!(status(Some("eve"), path, desk.take()).await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(status(ada, "/api/swarm/preflight", desk.take()).await, StatusCode::OK);
    let filed = desk.send(ada, "/api/swarm/submit", desk.take()).await;
    assert_eq!(filed.status(), StatusCode::CREATED);
    assert!(filed.headers().contains_key("swarm-seal"));
    assert_eq!(status(ada, "/api/swarm/me", String::new()).await, StatusCode::OK);

    let text = async |member| {
        let take = desk.send(member, "/api/swarm/takes/1", String::new()).await;
        let is_private = take.headers()["cache-control"] == "no-store";
        let (mut body, mut bytes) = (take.into_body(), Vec::new());
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            bytes.extend(frame.unwrap().into_data().unwrap());
        }
        (is_private, String::from_utf8(bytes).unwrap())
    };
    let own = text(ada).await;
    assert!(own.0 && own.1.contains("bullish"), "{own:?}");
    for other in [None, Some("eve")] {
        let seen = text(other).await;
        assert!(!seen.1.contains("bullish"), "{seen:?}");
    }
}

#[tokio::test]
async fn page_of_another_site_files_nothing_in_the_name_of_a_member() {
    let desk = Desk::new().await;
    let status = async |site: &'static str| {
        let mut request = Request::post("http://acme.example/api/swarm/submit")
            .header("content-type", "application/json")
            .header("sec-fetch-site", site)
            .body(desk.take())
            .unwrap();
        request.extensions_mut().insert(SignedOn("ada"));
        desk.service.clone().call(request).await.unwrap().status()
    };
    assert_eq!(status("cross-site").await, StatusCode::FORBIDDEN);
    assert_eq!(status("same-site").await, StatusCode::FORBIDDEN);
    assert_eq!(status("same-origin").await, StatusCode::CREATED);
}

#[tokio::test]
async fn outage_of_the_sign_on_is_a_503_where_a_member_is_asked_for() {
    let desk = Desk::new().await;
    desk.sign_on.0.store(true, Ordering::Relaxed);
    let status = async |path| desk.send(Some("ada"), path, String::new()).await.status();
    assert_eq!(status("/api/swarm/me").await, StatusCode::SERVICE_UNAVAILABLE);
    for public in ["/api/swarm/sessions", "/api/swarm/sessions/1", "/"] {
        assert_eq!(status(public).await, StatusCode::OK, "{public}");
    }
    desk.sign_on.0.store(false, Ordering::Relaxed);
    let filed = desk.send(Some("ada"), "/api/swarm/submit", desk.take()).await;
    assert_eq!(filed.status(), StatusCode::CREATED);
    desk.sign_on.0.store(true, Ordering::Relaxed);
    assert_eq!(status("/api/swarm/takes/1").await, StatusCode::OK);
}

/// 1,000 wrong tokens cost no wait, and the next one does (API.md, 4.5).
#[tokio::test]
async fn wrong_tokens_are_counted_by_the_address_that_the_program_around_says() {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
    let operator = AdminTokens::single(AdminTokenHash::of(TOKEN.as_bytes()));
    let tenant = TenantConfig::new("acme".parse().unwrap(), operator);
    let service = swarm_http::service(&Arc::new(Site::single(swarm, tenant)));
    let status = async |client: [u8; 4], token: &str| {
        let request = Request::get("http://acme.example/api/swarm/admin/applications");
        let request = request
            .header("x-admin-token", token)
            .extension(ClientAddress(client.into()))
            .body(String::new());
        service.clone().call(request.unwrap()).await.unwrap().status().as_u16()
    };
    let (guesser, other) = ([192, 0, 2, 7], [192, 0, 2, 8]);
    for number in 0..1_001 {
        assert_eq!(status(guesser, &format!("guess {number}")).await, 401);
    }
    assert_eq!(status(guesser, TOKEN).await, 429);
    assert_eq!(status(other, TOKEN).await, 200);
}
