//! What each role may do (API.md, 13.2).

use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_http::{AdminTokens, Operator, Role, Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use super::{OperatorRoute, operator_routes};
use crate::harness::{Answer, Client, Server, services};

/// A token of each role, and a second one of the reader.
fn server() -> Server {
    let mut tokens = AdminTokens::new();
    for (name, role) in
        [("reader", "reader"), ("reader 2", "reader"), ("operator", "operator"), ("admin", "admin")]
    {
        let actor = Actor::operator(format!("the {role}")).unwrap();
        let operator = Operator { name: actor, role: Role::parse(role).unwrap() };
        tokens = tokens.with(operator, AdminTokenHash::of(name.as_bytes())).unwrap();
    }
    let tenant = TenantConfig::new(TenantId::parse("default").unwrap(), tokens);
    Server::of(Site::single(services(&MemoryStore::new()), tenant))
}

fn send(client: &Client, route: &OperatorRoute, token: &str) -> Answer {
    let body = if route.body.is_null() { String::new() } else { route.body.to_string() };
    let mut headers = vec![("x-admin-token", token)];
    if !body.is_empty() {
        headers.push(("content-type", "application/json"));
    }
    client.send(route.method, route.path, &headers, body.as_bytes())
}

#[test]
fn each_role_may_do_what_the_table_says() {
    let server = server();
    let client = server.client();
    let roles = ["reader", "operator", "admin"];
    let rank = |role: &str| roles.iter().position(|it| *it == role).unwrap();
    for route in operator_routes() {
        let place = format!("{} {}", route.method, route.path);
        for token in ["reader", "reader 2", "operator", "admin"] {
            let answer = send(&client, &route, token);
            let role = token.split(' ').next().unwrap();
            if rank(role) >= rank(route.role) {
                assert!(!matches!(answer.status, 401 | 403), "{place} as {token}: {answer:?}");
                continue;
            }
            assert_eq!(answer.header("swarm-error"), Some("not-for-role"), "{place} as {token}");
            let (status, body) = (answer.status, answer.json());
            assert_eq!((status, &body["error"]), (403, &"not allowed for this role".into()));
            let has_ok = body.get("ok").is_some();
            assert_eq!(has_ok, !route.path.starts_with("/api/ic/"), "{place}: {body}");
        }
        assert_eq!(send(&client, &route, "nobody").status, 401, "{place}");
    }
}

/// The role is checked before the body, and is not named in the log of acts: the name of the token is.
#[test]
fn role_is_refused_before_the_body_is_read() {
    let server = server();
    let client = server.client();
    let headers = [("x-admin-token", "reader"), ("content-type", "application/json")];
    let path = "/api/swarm/admin/subjects";
    client.send("POST", path, &headers, b"{").refused(403, "not allowed for this role");
    let headers = [("x-admin-token", "operator"), ("content-type", "application/json")];
    let subject = br#"{ "id": "aurora", "name": "Aurora" }"#;
    client.send("POST", path, &headers, subject).expect(201);
    let log = client.get("/api/swarm/log").expect(200).json();
    assert_eq!(log["entries"][0]["by"], "the operator");
}

#[test]
fn openapi_has_every_operator_route_and_its_role() {
    let server = server();
    let document = server.client().get("/openapi.json").expect(200).json();
    let mut described = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let role = &operation["security"][0]["operator"];
            if role.is_array() {
                let role = role[0].as_str().unwrap_or("none");
                described.push(format!("{} {path}: {role}", method.to_uppercase()));
            }
        }
    }
    let listed = operator_routes();
    let mut listed: Vec<_> = listed
        .iter()
        .map(|route| format!("{} {}: {}", route.method, route.template, route.role))
        .collect();
    listed.sort();
    described.sort();
    assert_eq!(described, listed);
    let scheme = &document["components"]["securitySchemes"]["operator"]["description"];
    assert!(scheme.as_str().unwrap().contains("admin may do all"), "{scheme}");
}
