//! Operators whom the program around the service has authenticated, in the console and at the API.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http::Request;
use serde_json::json;
use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_core::store::async_trait;
use swarm_http::{
    AdminTokens, Operator, OperatorRequest, Operators, Role, SignOnUnavailable, Site, SiteService,
    TenantConfig, TenantDirectory, TenantRequest,
};
use swarm_server::{Limits, serve};
use swarm_store_memory::MemoryStore;
use tower_service::Service;

use super::visitor::{Form, Visitor};
use crate::harness::{ADMIN, Author, Client, Server, services};

/// What the program around passes on: the name and the role of whom it has authenticated.
#[derive(Clone)]
struct SignedOn(String, Role);

/// Whether the sign-on of the organisation answers.
type Answers = Arc<AtomicBool>;

/// Operators are those of the extension, and those with a token.
struct SignOn(Answers, AdminTokens);

impl SignOn {
    fn answers(&self) -> Result<(), SignOnUnavailable> {
        match self.0.load(Ordering::SeqCst) {
            true => Ok(()),
            false => Err(SignOnUnavailable::new("connection refused")),
        }
    }
}

#[async_trait]
impl Operators for SignOn {
    async fn admit(
        &self,
        request: &OperatorRequest<'_>,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        self.answers()?;
        let signed_on = request.extensions.get::<SignedOn>();
        Ok(signed_on.and_then(|SignedOn(name, role)| {
            Some(Operator::new(Actor::operator(name.as_str()).ok()?, *role))
        }))
    }

    async fn with_token(
        &self,
        token: &AdminTokenHash,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        self.answers()?;
        self.1.with_token(token).await
    }
}

/// The program around: it authenticates by a header that stands for what a sign-on does.
#[derive(Clone)]
struct Around(SiteService);

impl<B> Service<Request<B>> for Around
where
    SiteService: Service<Request<B>, Error = Infallible>,
{
    type Response = <SiteService as Service<Request<B>>>::Response;
    type Error = Infallible;
    type Future = <SiteService as Service<Request<B>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<B>>::poll_ready(&mut self.0, context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let person = request.headers().get("x-person").and_then(|it| it.to_str().ok());
        if let Some((name, role)) = person.and_then(|person| person.split_once('/')) {
            let signed_on = SignedOn(name.to_owned(), Role::parse(role).unwrap());
            request.extensions_mut().insert(signed_on);
        }
        self.0.call(request)
    }
}

fn start() -> (Server, Client, Answers) {
    let answers = Answers::new(AtomicBool::new(true));
    let tokens = AdminTokens::single(AdminTokenHash::of(ADMIN.as_bytes()));
    let operators = SignOn(Arc::clone(&answers), tokens);
    let config = TenantConfig::new(TenantId::parse("default").unwrap(), operators);
    let site = Arc::new(Site::single(services(&MemoryStore::new()), config));
    let around = Around(swarm_http::service(&site));
    let server = Server::running(|listener| {
        serve(listener, around, Limits::default(), std::future::pending())
    });
    let client = server.client();
    (server, client, answers)
}

/// A browser of somebody whom the program around has authenticated.
fn browser(client: &Client, person: &str) -> Visitor {
    let mut visitor = Visitor::new(client);
    visitor.headers.push(("x-person".to_owned(), person.to_owned()));
    visitor
}

#[test]
fn signed_on_operator_needs_no_token() {
    let (_server, client, _) = start();
    client.convene("2026-11-21", "aurora");
    let mut ada = browser(&client, "ada/admin");
    let seen = ada.get("/operate").expect(200);
    seen.says("<p class=\"who\"><bdi>ada</bdi>, admin</p>");
    seen.is_silent_on("Sign out");
    seen.is_silent_on("Your admin token");
    let cookie = seen.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    ada.keep(&seen);
    assert!(ada.get("/operate/sessions/1").expect(200).header("set-cookie").is_none());
    let closed =
        ada.fill_in("/operate/sessions/1", "/operate/sessions/1/quorum", &[("quorum", "3")]);
    ada.follow(&closed);
    let log = client.get("/api/swarm/log").json();
    let act = log["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&act["act"], &act["by"]), (&json!("quorum"), &json!("ada")), "{act}");
}

/// The cookie is of no use without the sign-on, nor to another person.
#[test]
fn sign_in_ends_with_the_sign_on() {
    let (_server, client, _) = start();
    let mut ada = browser(&client, "ada/admin");
    let seen = ada.get("/operate").expect(200);
    ada.keep(&seen);
    let without = Visitor { headers: Vec::new(), ..ada.clone() };
    without.get("/operate").expect(200).says("Your admin token");
    let seen = ada.get("/operate").expect(200);
    ada.keep(&seen);
    let mut eve = browser(&client, "eve/reader");
    eve.cookie = ada.cookie.clone();
    let seen = eve.get("/operate").expect(200);
    seen.says("<bdi>eve</bdi>, reader");
    assert!(seen.header("set-cookie").is_some());
}

/// The sign-on vouches for each request, so that a form counts without the cookie: after a restart, or where another process of
/// the service showed it. The second of two clicks has no cookie either.
#[test]
fn form_of_a_signed_on_operator_needs_no_cookie() {
    let (_server, client, _) = start();
    client.convene("2026-11-21", "aurora");
    let mut ada = browser(&client, "ada/admin");
    let form = ada.get("/operate/sessions/1").expect(200).form("/operate/sessions/1/quorum");
    let fields: Vec<_> = form.fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    for headers in
        [&[("sec-fetch-site", "cross-site")][..], &[("sec-fetch-site", "same-site")], &[]]
    {
        let refused = ada.post_as(&form.action, headers, &fields).expect(403);
        assert_eq!(refused.header("swarm-error"), Some("cross-site"));
    }
    assert_eq!(acts(&client, "quorum"), 0);
    let (first, second) =
        (ada.submit(&form, &[("quorum", "3")]), ada.submit(&form, &[("quorum", "3")]));
    ada.keep(&first);
    ada.follow(&first);
    ada.keep(&second);
    ada.follow(&second).says("This form was sent before, and took effect once.");
    assert_eq!(acts(&client, "quorum"), 1);
    assert_eq!(client.get("/api/swarm/sessions/1").json()["session"]["quorum"], 3);
    // What the rules refuse comes back as it was typed.
    let ada = browser(&client, "ada/admin");
    let form = ada.get("/operate/sessions/1").expect(200).form("/operate/sessions/1/quorum");
    let refused = ada.submit(&form, &[("quorum", "many")]).expect(400);
    assert!(refused.form(&form.action).fields.contains(&("quorum".to_owned(), "many".to_owned())));
    // The role counts as ever.
    let eve = browser(&client, "eve/reader");
    let refused = eve.submit(&form, &[("quorum", "4")]).expect(403);
    assert_eq!(refused.header("swarm-error"), Some("not-for-role"));
    assert_eq!(acts(&client, "quorum"), 1);
}

/// How many acts of this kind are in the log.
fn acts(client: &Client, act: &str) -> usize {
    let log = client.get("/api/swarm/log").json();
    log["entries"].as_array().unwrap().iter().filter(|entry| entry["act"] == act).count()
}

/// A secret is shown by the page after the change, to the sign-in alone: none is minted for a browser that may not keep the cookie.
#[test]
fn no_secret_is_minted_without_the_cookie() {
    let (_server, client, _) = start();
    let member = Author::join(&client, "Zoe");
    let mut ada = browser(&client, "ada/admin");
    let page = format!("/operate/members/{}", member.id);
    let action = format!("{page}/rotate-key");
    let form = ada.get(&page).expect(200).form(&action);
    let refused = ada.submit(&form, &[("confirm", "Zoe")]).expect(401);
    assert_eq!(refused.header("swarm-error"), Some("signed-out"));
    refused.says("Nothing was changed: you were not signed in.");
    assert_eq!(acts(&client, "key-rotated"), 0);
    ada.keep(&refused);
    let asked = ada.submit(&refused.form(&action), &[]).expect(200);
    let minted = ada.submit(&asked.form(&action), &[("confirm", "Zoe")]);
    ada.follow(&minted).says("Shown this once.");
    assert_eq!(acts(&client, "key-rotated"), 1);
}

#[test]
fn what_cannot_be_undone_is_confirmed_by_typing_its_name() {
    let (_server, client, _) = start();
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2100-01-01T00:00:00Z" });
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.operate("/sessions", &session).expect(201);
    let member = Author::join(&client, "Zoë  Quinn");
    let mut ada = browser(&client, "ada/admin");
    let seen = ada.get("/operate").expect(200);
    ada.keep(&seen);
    for (page, action, wrong, right) in [
        ("/operate/sessions/1", "/operate/sessions/1/aggregate", "session 2", "Session 1 "),
        (
            &*format!("/operate/members/{}", member.id),
            &*format!("/operate/members/{}/rotate-key", member.id),
            "Zoe Quinn",
            "zoë quinn",
        ),
    ] {
        let asked = ada.fill_in(page, action, &[]).expect(200);
        asked.says("Nothing is changed yet.");
        asked.is_silent_on("token\"");
        let form: Form = asked.form(action);
        let refused = ada.submit(&form, &[("confirm", wrong)]).expect(400);
        assert_eq!(refused.header("swarm-error"), Some("invalid-request"));
        refused.says("what you typed is not");
        ada.follow(&ada.submit(&refused.form(action), &[("confirm", right)]));
    }
    assert_eq!(client.get("/api/swarm/sessions/1").json()["session"]["state"], "aggregated");
}

/// Nothing that a client sends counts, but a token.
#[test]
fn strangers_and_roles_are_as_ever() {
    let (_server, client, _) = start();
    let stranger = Visitor::new(&client);
    stranger.get("/operate").expect(200).says("Your admin token");
    let subject = json!({ "id": "aurora", "name": "Aurora" }).to_string();
    let put =
        |headers: &[(&str, &str)]| client.post("/api/swarm/admin/subjects", headers, &subject);
    put(&[]).refused(401, "admin token required");
    put(&[("x-person", "ada/reader")]).refused(403, "not allowed for this role");
    put(&[("x-person", "ada/operator")]).expect(201);
    let mut token = Visitor::new(&client);
    assert_eq!(token.sign_in(ADMIN).status, 303);
    token.get("/operate").expect(200).says("Sign out");
    // The console takes no token but in its form.
    let sent = stranger.send("GET", "/operate/members", &[("x-admin-token", ADMIN)], "");
    assert_eq!(sent.status, 303);
    // A token counts alone. A wrong one makes the address wait.
    put(&[("x-person", "ada/operator"), ("x-admin-token", "wrong")])
        .refused(401, "admin token required");
}

#[test]
fn outage_of_the_sign_on_is_a_503() {
    let (_server, client, answers) = start();
    let mut ada = browser(&client, "ada/admin");
    let seen = ada.get("/operate").expect(200);
    ada.keep(&seen);
    answers.store(false, Ordering::SeqCst);
    let subject = json!({ "id": "aurora", "name": "Aurora" }).to_string();
    for headers in [&[("x-person", "ada/admin")], &[("x-admin-token", ADMIN)]] {
        let put = client.post("/api/swarm/admin/subjects", headers, &subject);
        put.unread(503, "sign-on unavailable");
    }
    for visitor in [&ada, &Visitor::new(&client)] {
        let seen = visitor.get("/operate").expect(503);
        assert_eq!(seen.header("swarm-error"), Some("sign-on-unavailable"));
        seen.says("The sign-on does not answer");
    }
    let entered = Visitor::new(&client).sign_in(ADMIN);
    assert_eq!((entered.status, entered.header("swarm-error")), (503, Some("sign-on-unavailable")));
    // Nobody is signed out by it.
    answers.store(true, Ordering::SeqCst);
    assert!(ada.get("/operate").expect(200).header("set-cookie").is_none());
}

/// A directory finds a tenant by what the program around says of a request.
#[test]
fn extensions_select_the_tenant() {
    struct ByExtension(Arc<TenantConfig>);

    impl TenantDirectory for ByExtension {
        fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
            request.extensions.get::<SignedOn>().map(|_| Arc::clone(&self.0))
        }

        fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>> {
            (self.0.id == *id).then(|| Arc::clone(&self.0))
        }

        fn tenants(&self) -> Vec<Arc<TenantConfig>> {
            vec![Arc::clone(&self.0)]
        }
    }

    let config = TenantConfig::new(TenantId::parse("acme").unwrap(), AdminTokens::new());
    let site = Site::new(services(&MemoryStore::new()), ByExtension(Arc::new(config)));
    let around = Around(swarm_http::service(&Arc::new(site)));
    let server = Server::running(|listener| {
        serve(listener, around, Limits::default(), std::future::pending())
    });
    let client = server.client();
    client.get("/api/swarm/sessions").unread(421, "unknown host");
    client.send("GET", "/api/swarm/sessions", &[("x-person", "ada/reader")], b"").expect(200);
}
