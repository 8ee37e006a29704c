//! What each role may do (MANUAL.md, 13.2).

use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_http::{AdminTokens, Operator, Role, Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use crate::desk::Request;
use crate::harness::{Answer, Client, Server, services};
use crate::routes::{self, Route};

/// A token of each role, and a second one of the reader.
fn server() -> Server {
    let mut tokens = AdminTokens::new();
    for (name, role) in
        [("reader", "reader"), ("reader 2", "reader"), ("operator", "operator"), ("admin", "admin")]
    {
        let actor = Actor::operator(format!("the {role}")).unwrap();
        let operator = Operator::new(actor, Role::parse(role).unwrap());
        tokens = tokens.with(operator, AdminTokenHash::of(name.as_bytes())).unwrap();
    }
    let tenant = TenantConfig::new(TenantId::parse("default").unwrap(), tokens);
    Server::of(Site::single(services(&MemoryStore::new()), tenant))
}

fn send(client: &Client, request: &Request, token: &str) -> Answer {
    let Request { route, path, body } = request;
    let headers = [("x-admin-token", token), ("content-type", "application/json")];
    client.send(route.method(), path, &headers, body.as_bytes())
}

/// What changes of an operator without more rights are about, as MANUAL.md, 13.2 says it. The others take an admin.
const OF_OPERATORS: [&str; 9] = [
    "/api/swarm/admin/subjects",
    "/api/swarm/admin/sessions",
    "/api/swarm/admin/memos",
    "/api/swarm/admin/takes",
    "/api/swarm/admin/regime",
    "/api/swarm/admin/signals",
    "/api/ic/admin/day",
    "/api/ic/admin/briefs",
    "/api/ic/admin/synthesis",
];

/// The least role that may use a route of operators.
fn documented_role(route: &Route) -> Role {
    let mut rests = OF_OPERATORS.iter().filter_map(|thing| route.info.path.strip_prefix(thing));
    match rests.any(|rest| rest.is_empty() || rest.starts_with('/')) {
        _ if route.is_read() => Role::Reader,
        true => Role::Operator,
        false => Role::Admin,
    }
}

#[test]
fn each_role_may_do_what_is_documented() {
    let server = server();
    let client = server.client();
    for request in Request::of_operators() {
        let (route, place) = (request.route, request.route.name());
        for token in ["reader", "reader 2", "operator", "admin"] {
            let answer = send(&client, &request, token);
            let role = Role::parse(token.split(' ').next().unwrap()).unwrap();
            if role >= documented_role(route) {
                assert!(!matches!(answer.status, 401 | 403), "{place} as {token}: {answer:?}");
                continue;
            }
            assert_eq!(answer.header("swarm-error"), Some("not-for-role"), "{place} as {token}");
            let (status, body) = (answer.status, answer.json());
            assert_eq!((status, &body["error"]), (403, &"not allowed for this role".into()));
            let has_ok = body.get("ok").is_some();
            assert_eq!(has_ok, !route.info.path.starts_with("/api/ic/"), "{place}: {body}");
        }
        assert_eq!(send(&client, &request, "nobody").status, 401, "{place}");
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
fn openapi_names_the_role_of_each_route() {
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
    let listed = routes::of_operators().map(|route| {
        format!("{} {}: {}", route.method(), route.template(), documented_role(route).as_str())
    });
    let mut listed: Vec<_> = listed.collect();
    listed.sort();
    described.sort();
    assert_eq!(described, listed);
    let scheme = &document["components"]["securitySchemes"]["operator"]["description"];
    assert!(scheme.as_str().unwrap().contains("admin may do all"), "{scheme}");
}
