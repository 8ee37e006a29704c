//! Signing in and out.

use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_http::{AdminTokens, HostTable, Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use super::visitor::Visitor;
use crate::harness::{ADMIN, Client, Server, services, tenant};

#[test]
fn token_is_asked_for_once_and_the_cookie_is_bound() {
    let server = Server::start();
    let mut visitor = Visitor::new(&server.client());
    let page = visitor.get("/operate").expect(200);
    page.says("type=\"password\"");
    assert_eq!(page.form("/operate").fields, [("token".to_owned(), String::new())]);
    let seen = visitor.sign_in(ADMIN).expect(303);
    assert_eq!(seen.header("location"), Some("/operate"));
    let cookie = seen.header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with("swarm="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    // 32 random bytes.
    assert_eq!(cookie["swarm=".len()..].split(';').next().unwrap().len(), 43);
    visitor.get("/operate").expect(200).says("What to do");
    let seen = visitor.post("/operate/sign-out", &[]).expect(303);
    assert!(seen.header("set-cookie").unwrap().contains("Max-Age=0"));
    visitor.get("/operate").expect(200).says("type=\"password\"");
}

#[test]
fn page_that_was_asked_for_follows_the_sign_in() {
    let server = Server::start();
    let visitor = Visitor::new(&server.client());
    let seen = visitor.get("/operate/members?q=a%20b").expect(303);
    let asked = visitor.get(seen.header("location").unwrap()).expect(200);
    let seen = visitor.submit(&asked.form("/operate"), &[("token", ADMIN)]);
    assert_eq!(seen.header("location"), Some("/operate/members?q=a%20b"));
    for elsewhere in ["https://evil.example/", "//evil.example", "/operated", "/"] {
        let fields = [("token", ADMIN), ("to", elsewhere)];
        assert_eq!(visitor.post("/operate", &fields).header("location"), Some("/operate"));
    }
}

#[test]
fn plain_http_is_for_the_machine_itself() {
    let server = Server::start();
    let visitor = Visitor::new(&server.client());
    for host in ["localhost:80", "127.0.0.1", "127.8.8.8:1", "[::1]:8080"] {
        visitor.at(host).get("/operate").expect(200);
    }
    for host in ["acme.example", "10.0.0.1", "localhost.example", "[::2]"] {
        let visitor = visitor.at(host);
        let page = visitor.get("/operate").expect(403);
        assert_eq!(page.header("swarm-error"), Some("plain-http"));
        page.says("needs HTTPS");
        visitor.get("/operate/members").expect(403);
        let seen = visitor.post("/operate", &[("token", ADMIN)]).expect(403);
        assert!(seen.header("set-cookie").is_none());
    }
}

#[test]
fn cookie_over_https_has_the_host_prefix() {
    let services = services(&MemoryStore::new());
    let site = Site::single(services, tenant("default", ADMIN, &[])).trust_forwarded(true);
    let server = Server::of(site);
    let mut visitor = Visitor::new(&server.client()).at("acme.example");
    visitor.get("/operate").expect(403);
    visitor.headers = vec![("x-forwarded-proto".to_owned(), "https".to_owned())];
    let cookie = visitor.sign_in(ADMIN).expect(303).header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with("__Host-swarm="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Secure"), "{cookie}");
    visitor.get("/operate").expect(200).says("What to do");
    // The same session under the name for plain HTTP is none.
    visitor.cookie = visitor.cookie.map(|cookie| cookie.replace("__Host-", ""));
    visitor.get("/operate").expect(200).says("type=\"password\"");
}

#[test]
fn changed_token_ends_its_sessions() {
    let tokens = |texts: &[&str]| {
        texts.iter().fold(AdminTokens::new(), |tokens, text| {
            let ada = Actor::operator("ada".to_owned()).unwrap();
            tokens.with(ada, AdminTokenHash::of(text.as_bytes())).unwrap()
        })
    };
    let config = |texts: &[&str]| {
        TenantConfig::new(TenantId::parse("acme").unwrap(), tokens(texts)).on_hosts(["localhost"])
    };
    let table = std::sync::Arc::new(HostTable::new());
    table.replace([config(&["old", "new"])]).unwrap();
    let server =
        Server::of(Site::new(services(&MemoryStore::new()), std::sync::Arc::clone(&table)));
    let visit = |token: &str| {
        let mut visitor = Visitor::new(&server.client()).at("localhost");
        visitor.sign_in(token).expect(303);
        visitor
    };
    let (old, new) = (visit("old"), visit("new"));
    table.replace([config(&["new"])]).unwrap();
    new.get("/operate").expect(200).says("What to do");
    old.get("/operate/members").expect(303);
    old.get("/operate").expect(200).says("type=\"password\"");
    // Also once it is a token again.
    table.replace([config(&["old"])]).unwrap();
    old.get("/operate").expect(200).says("type=\"password\"");
}

#[test]
fn tenants_do_not_share_sessions() {
    let hosts = [("acme", "127.0.0.1"), ("other", "localhost")];
    let tenants = hosts.map(|(id, host)| tenant(id, &format!("token of {id}"), &[host]));
    let site = Site::by_host(services(&MemoryStore::new()), tenants).unwrap();
    let server = Server::of(site);
    let client: Client = server.client();
    let mut acme = Visitor::new(&client).at("127.0.0.1");
    acme.sign_in("token of acme").expect(303);
    acme.get("/operate").expect(200).says("What to do");
    let other = Visitor { cookie: acme.cookie.clone(), ..acme.at("localhost") };
    other.get("/operate").expect(200).says("type=\"password\"");
    other.get("/operate/members").expect(303);
    other.post("/operate/subjects", &[("id", "a"), ("name", "a")]).expect(401);
    let mut other = other.at("localhost");
    other.sign_in("token of acme").expect(401);
}

#[test]
fn unknown_page_leads_back_to_the_console() {
    let server = Server::start();
    let client = server.client();
    let page =
        |path: &str| client.send("GET", path, &[("accept", "text/html")], b"").expect(404).text;
    assert!(page("/operate/nowhere").contains("<a href=\"/operate\">Console</a>"));
    assert!(!page("/operates").contains("href=\"/operate\""));
}
