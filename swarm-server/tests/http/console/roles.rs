//! What each role sees, and may send.

use std::collections::BTreeSet;

use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_http::{AdminTokens, Operator, Role, Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use super::visitor::{Visitor, unescaped};
use crate::harness::{Author, Client, Server, services};
use crate::routes::{self, RECORDS, Samples};

/// All pages, of this member where a page is of one.
fn pages(member: &str) -> impl Iterator<Item = String> {
    let pages = routes::all().filter(|route| route.is_of_console() && route.is_read());
    let paths = pages.map(move |route| Samples { member, ..RECORDS }.path(route.info.path));
    paths.chain(["/operate/convene?subject=aurora".to_owned()])
}

fn server() -> Server {
    let token = |role: Role| {
        let name = Actor::operator(format!("the {}", role.as_str())).unwrap();
        (Operator::new(name, role), AdminTokenHash::of(role.as_str().as_bytes()))
    };
    let tokens = Role::ALL.into_iter().fold(AdminTokens::new(), |tokens, role| {
        let (operator, hash) = token(role);
        tokens.with(operator, hash).unwrap()
    });
    let admin = Actor::operator("the test".to_owned()).unwrap();
    let tokens = tokens.with(admin, AdminTokenHash::of(crate::harness::ADMIN.as_bytes())).unwrap();
    let tenant = TenantConfig::new(TenantId::parse("default").unwrap(), tokens);
    Server::of(Site::single(services(&MemoryStore::new()), tenant))
}

/// The paths of all forms that a role is shown, but the one of the sign-out.
fn forms(client: &Client, token: &str, member: &str) -> Vec<String> {
    let visitor = Visitor::signed_in_with(client, token);
    let mut paths = Vec::new();
    for page in pages(member) {
        let seen = visitor.get(&page);
        let is_hidden = page.starts_with("/operate/convene") && token == "reader";
        assert_eq!(seen.status, if is_hidden { 403 } else { 200 }, "{page} as {token}");
        paths.extend(seen.forms().into_iter().map(|form| form.action));
    }
    paths.retain(|path| path != "/operate/sign-out");
    paths
}

#[test]
fn role_is_shown_what_it_may_do_and_nothing_else() {
    let server = server();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let member = author.id;
    Author::apply(&client, "Bo");
    let [reader, operator, admin] =
        ["reader", "operator", "admin"].map(|token| forms(&client, token, member.as_str()));
    assert!(reader.is_empty(), "{reader:?}");
    let of_admins =
        ["/operate/members/", "/operate/applications", "/operate/outbox", "/operate/store"];
    let is_admins = |path: &String| {
        of_admins.iter().any(|prefix| path.starts_with(prefix))
            || path.contains("committee/members")
    };
    assert!(operator.len() > 10 && !operator.iter().any(is_admins), "{operator:?}");
    assert!(admin.iter().any(is_admins), "{admin:?}");
    assert!(operator.iter().all(|path| admin.contains(path)), "{admin:?}");
    // What is not shown is not done either.
    for (token, least) in [("reader", &operator), ("operator", &admin)] {
        let visitor = Visitor::signed_in_with(&client, token);
        let shown = forms(&client, token, member.as_str());
        for path in least.iter().filter(|path| !shown.contains(path)) {
            let seen = visitor.post(path, &[("token", token)]).expect(403);
            assert_eq!(seen.header("swarm-error"), Some("not-for-role"), "{path}");
        }
    }
}

/// Links of every page, and of the pages that these lead to.
#[test]
fn no_link_of_the_console_leads_to_a_refusal() {
    let server = server();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let member = author.id;
    Author::apply(&client, "Bo");
    for token in ["reader", "operator", "admin"] {
        let visitor = Visitor::signed_in_with(&client, token);
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<_> = pages(member.as_str())
            .filter(|page| token != "reader" || !page.starts_with("/operate/convene"))
            .collect();
        while let Some(page) = ahead.pop().filter(|_| seen.len() < 200) {
            if !seen.insert(page.clone()) {
                continue;
            }
            let shown = visitor.get(&page).expect(200);
            let links = shown.text.split(" href=\"").skip(1).filter_map(|it| it.split('"').next());
            ahead.extend(links.filter(|it| it.starts_with("/operate")).map(unescaped));
        }
        assert!(seen.len() >= 15, "{token}: {seen:?}");
    }
}

#[test]
fn token_of_another_operator_confirms_nothing() {
    let server = server();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in_with(&client, "operator");
    let path = "/operate/sessions/1/aggregate";
    let asked = visitor.fill_in("/operate/sessions/1", path, &[]).expect(200);
    visitor.submit(&asked.form(path), &[("token", "admin")]).expect(401);
    assert_eq!(client.get("/api/swarm/sessions/1").json()["session"]["state"], "collecting");
}
