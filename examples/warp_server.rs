//! The whole interface inside another warp server: filters of both, a tenant added at run time, operators
//! authenticated by a gateway, and an observer of commits.
//!
//! Run it: `cargo run -p swarm-examples --example warp_server`

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;

use swarm_core::domain::{Actor, AdminTokenHash};
use swarm_core::store::async_trait;
use swarm_core::{Commit, CommittedRecord, Swarm, SystemEntropy, TenantId};
use swarm_http::{
    HostTable, Operator, OperatorRequest, Operators, SignOnUnavailable, Site, TenantConfig,
};
use swarm_server::{Limits, serve};
use swarm_store_memory::MemoryStore;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use warp::Filter as _;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy)
        .observed_by(tell, |task| drop(tokio::spawn(task)));
    let tenants = HostTable::new();
    let site = Arc::new(Site::new(swarm, tenants.clone()));
    tokio::spawn(site.maintenance().run());

    let hello = warp::path!("hello").map(|| "This one is ours.");
    let filters = hello.or(swarm_http::api(&site));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener, warp::service(filters), Limits::default(), pending()));

    println!("{}", visit(address).await?);
    tenants
        .insert(TenantConfig::new(TenantId::parse("acme")?, Gateway).on_hosts(["acme.example"]))?;
    println!("{}", visit(address).await?);
    print!("{}", swarm_http::metrics(&site).lines().next().unwrap_or_default());
    println!(" …");
    Ok(())
}

/// Called after each commit, before it is answered: it must not block.
fn tell(tenant: &TenantId, commit: Commit<'_>) {
    if let CommittedRecord::Document(collection, document) = commit.record {
        println!("{tenant}: {collection} {:?} is on file", document.key);
    }
}

/// Operators are authenticated by a gateway in front, which removes `X-User` from what clients send, and sends it with
/// the name of whom it has authenticated. The program must not be reachable without the gateway. Where the program itself
/// authenticates, an extension is safer than a header: `axum_postgres.rs` shows that.
struct Gateway;

#[async_trait]
impl Operators for Gateway {
    async fn admit(
        &self,
        request: &OperatorRequest<'_>,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        let name = request.headers.get("x-user").and_then(|name| name.to_str().ok());
        Ok(name.and_then(|name| Actor::operator(name).ok()).map(Operator::from))
    }

    /// Operators have no tokens.
    async fn with_token(&self, _: &AdminTokenHash) -> Result<Option<Operator>, SignOnUnavailable> {
        Ok(None)
    }
}

/// Creates a subject of acme, as its operator ada.
async fn visit(server: SocketAddr) -> Outcome<String> {
    spawn_blocking(move || {
        let http = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
        let mut answer = http
            .post(format!("http://{server}/api/swarm/admin/subjects"))
            .header("host", "acme.example")
            .header("content-type", "application/json")
            .header("x-user", "ada")
            .send(r#"{ "id": "aurora", "name": "Aurora" }"#)?;
        Ok(format!("{} {}", answer.status(), answer.body_mut().read_to_string()?))
    })
    .await?
}
