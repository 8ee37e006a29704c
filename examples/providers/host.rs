//! A service with one cryptography provider of rustls: it serves a desk over TLS on the store that it is given, and asks it for its
//! sessions.
//!
//! Run it: `cargo run --features aws-lc-rs -- memory CERTIFICATE KEY`

use std::error::Error;
use std::future::pending;
use std::sync::Arc;

use rustls::ClientConfig;
use swarm_client::Client;
use swarm_core::{Swarm, SystemEntropy};
use swarm_http::{AdminTokens, Site, TenantConfig};
use swarm_server::{Limits, Listener, TlsCertificate, serve_site};
use swarm_store_memory::MemoryStore;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or("STORE CERTIFICATE KEY");
    let (store, certificate, key) = (argument()?, argument()?, argument()?);
    // The service has TLS of its own. This installs the provider that the program links, and panics if it links two, or none.
    let _ = ClientConfig::builder();

    let swarm = on(&store).await?;
    let certificate = TlsCertificate::from_pem(&std::fs::read(certificate)?, &std::fs::read(key)?)?;
    let desk = TenantConfig::new("acme".parse()?, AdminTokens::new());
    let site = Arc::new(Site::single(swarm, desk));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("https://localhost:{}", listener.local_addr()?.port());
    let serving = tokio::spawn(async move {
        let listener = Listener::with_tls(listener, certificate);
        serve_site(listener, &site, Limits::default(), pending()).await
    });
    let asked = spawn_blocking(move || Outcome::Ok(Client::new(&url)?.sessions(None, 1)?));
    println!("{store}: {} sessions", asked.await??.sessions.len());
    serving.abort();
    Ok(())
}

/// The service on the store at this address: `memory`, `postgres://…`, `rediss://…`, or else a file of SQLite.
async fn on(store: &str) -> Outcome<Swarm> {
    Ok(match store.split_once("://").map_or(store, |(scheme, _)| scheme) {
        "memory" => Swarm::new(MemoryStore::new(), SystemEntropy),
        "postgres" => Swarm::new(PostgresStore::create(store).await?, SystemEntropy),
        "rediss" => Swarm::new(RedisStore::connect(store).await?, SystemEntropy),
        file => {
            let file = file.to_owned();
            Swarm::new(spawn_blocking(|| SqliteStore::open(file)).await??, SystemEntropy)
        }
    })
}
