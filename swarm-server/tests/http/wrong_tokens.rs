//! The wait after wrong tokens of operators, which console and APIs share (API.md, 4.5).

use std::sync::Arc;

use serde_json::json;
use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_core::proof::hex;
use swarm_http::{AdminTokens, Site};
use swarm_store_memory::MemoryStore;

use crate::console::visitor::Visitor;
use crate::harness::{ADMIN, Answer, Author, Client, Server, services, tenant};

const ADA: &str = "adm_of_ada_0123456789";
const ADDRESS: &str = "192.0.2.7";

/// A server with two operators, behind a proxy that says where requests come from.
fn serve() -> Server {
    let mut config = tenant("default", ADMIN, &[]);
    let operators = AdminTokens::single(AdminTokenHash::of(ADMIN.as_bytes()));
    let ada = Actor::operator("ada").unwrap();
    let operators = operators.with(ada, AdminTokenHash::of(ADA.as_bytes()));
    config.operators = Arc::new(operators.unwrap());
    Server::of(Site::single(services(&MemoryStore::new()), config).trust_forwarded(true))
}

fn operate(client: &Client, address: &str, token: &str) -> Answer {
    let headers = [("x-forwarded-for", address), ("x-admin-token", token)];
    client.send("GET", "/api/swarm/admin/outbox", &headers, b"")
}

fn verify(client: &Client, address: &str, token: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("x-forwarded-for", address), ("authorization", &bearer)];
    client.send("GET", "/api/swarm/verify-token", &headers, b"")
}

fn committee(client: &Client, address: &str, number: u32) -> Answer {
    let key = format!("ic_ada_{}", hex(&u128::from(number).to_be_bytes()));
    let headers = [("x-forwarded-for", address), ("x-ic-key", &key)];
    let headers = [&headers[..], &[("content-type", "application/json")]].concat();
    client.send("POST", "/api/ic/submit", &headers, b"{}")
}

#[track_caller]
fn waits(answer: &Answer) {
    assert_eq!(answer.status, 429, "{answer:?}");
    assert_eq!(answer.json(), json!({ "error": "too many attempts" }));
    assert_eq!(answer.header("swarm-error"), Some("too-many-attempts"));
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

#[test]
fn guesses_of_operator_tokens_wait() {
    let server = serve();
    let client = server.client();
    operate(&client, ADDRESS, ADA).expect(200);
    for guess in 0..1_020 {
        let answer = operate(&client, ADDRESS, &format!("guess {guess}"));
        if guess <= 1_000 {
            answer.refused(401, "admin token required");
        } else {
            waits(&answer);
        }
    }
    // Nor does the right one get through, unless it did before from there.
    waits(&operate(&client, ADDRESS, ADMIN));
    operate(&client, ADDRESS, ADA).expect(200);
    operate(&client, ADDRESS, "guess 3").refused(401, "admin token required");
    operate(&client, "192.0.2.8", ADMIN).expect(200);
    // The console waits with the API.
    let from = |address: &str| Visitor {
        headers: vec![("x-forwarded-for".to_owned(), address.to_owned())],
        ..Visitor::new(&client)
    };
    let seen = from(ADDRESS).sign_in(ADA).expect(429);
    assert_eq!(seen.header("swarm-error"), Some("too-many-attempts"));
    from("192.0.2.8").sign_in(ADA).expect(303);
    // So do the routes of the committee.
    let headers = [("x-forwarded-for", ADDRESS), ("x-admin-token", ADMIN)];
    waits(&client.send("GET", "/api/ic/admin/members", &headers, b""));
}

/// A program that keeps sending a replaced token gets 401 each time, and costs other clients of its address no wait.
#[test]
fn stale_token_counts_once() {
    let server = serve();
    let client = server.client();
    for _ in 0..100 {
        operate(&client, ADDRESS, "stale").refused(401, "admin token required");
        verify(&client, ADDRESS, "stale").expect(401);
    }
    operate(&client, ADDRESS, ADMIN).expect(200);
}

/// The interface has no limit on the rate of requests, by address or by token.
#[test]
fn wrong_tokens_of_members_cost_no_wait() {
    let server = serve();
    let client = server.client();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name).token);
    for guess in 0..1_100 {
        verify(&client, ADDRESS, &format!("tok_guess_{guess}"))
            .refused(401, "unknown member token");
        committee(&client, ADDRESS, guess).expect(401);
    }
    for token in [ada, grace] {
        verify(&client, ADDRESS, &token).expect(200);
    }
    operate(&client, ADDRESS, "wrong").refused(401, "admin token required");
    operate(&client, ADDRESS, ADMIN).expect(200);
}
