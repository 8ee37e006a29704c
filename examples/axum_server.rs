//! The core behind axum: two routes, without `swarm-http`.
//!
//! [`wire::Answer`] has status and body as API.md describes them, for takes and refusals; the front end
//! adds paths and headers.
//!
//! Run it: `cargo run -p swarm-examples --example axum_server`

mod common;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use swarm_core::domain::TokenHash;
use swarm_core::{Refusal, Submission, Swarm, SystemEntropy, TakeId, Tenant, TenantId, wire};
use swarm_store_memory::MemoryStore;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

use common::{Agent, Outcome};

#[tokio::main]
async fn main() -> Outcome<()> {
    let tenant = Swarm::new(MemoryStore::new(), SystemEntropy).tenant(&TenantId::parse("acme")?);
    let agent = Agent::join(&tenant).await?;
    let routes = Router::new()
        .route("/takes", post(file))
        .route("/takes/{id}", get(read))
        .with_state(tenant);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/takes", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, routes).await });
    spawn_blocking(move || visit(&url, &agent)).await?
}

// The server.

async fn file(State(tenant): State<Tenant>, headers: HeaderMap, body: Bytes) -> Reply {
    let Some(token) = bearer(&headers) else { return (&Refusal::MissingBearer).into() };
    let submission = match Submission::from_json(&body) {
        Ok(submission) => submission,
        Err(invalid) => return (&Refusal::InvalidSubmission(invalid)).into(),
    };
    match tenant.submit(&TokenHash::of(token), &submission).await {
        Ok(take) => Reply(wire::takes::filed(&take)),
        Err(error) => Reply((&error).into()),
    }
}

async fn read(State(tenant): State<Tenant>, Path(id): Path<u64>) -> Reply {
    match tenant.take(TakeId(id)).await {
        Ok(take) => Reply(wire::Answer::ok(&take)),
        Err(error) => Reply((&error).into()),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION)?.as_bytes().strip_prefix(b"Bearer ")
}

/// An answer of the core as a response of axum.
struct Reply(wire::Answer);

impl From<&Refusal> for Reply {
    fn from(refusal: &Refusal) -> Self {
        Self(refusal.into())
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(CONTENT_TYPE, "application/json")], self.0.body).into_response()
    }
}

// A client.

fn visit(url: &str, agent: &Agent) -> Outcome<()> {
    let http = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let take = agent.signed_take("n-1")?;
    let submit = |token: &str| http.post(url).header("authorization", token).send(&take);
    let token = format!("Bearer {}", agent.token.reveal());
    for (token, expected) in [("Basic eA==", 401), (&*token, 201), (&*token, 409)] {
        let mut answer = submit(token)?;
        println!("{} {}", answer.status(), answer.body_mut().read_to_string()?);
        if answer.status() != expected {
            return Err(format!("not {expected}").into());
        }
    }
    println!("{}", http.get(format!("{url}/1")).call()?.body_mut().read_to_string()?);
    Ok(())
}
