//! Latency of honest requests while 200 attackers request the most expensive diagnoses in a loop. Server and
//! clients share this machine.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use swarm_benches::{Author, USUAL};
use swarm_client::Client;
use swarm_core::domain::AdminTokenHash;
use swarm_core::json::Json;
use swarm_core::{Swarm, SystemEntropy, TenantId};
use swarm_http::{AdminTokens, Site, TenantConfig};
use swarm_server::{Limits, serve};
use swarm_store_memory::MemoryStore;

/// The number of attackers.
const STRANGERS: usize = 200;

/// The number of honest requests that are timed, one after another.
const HONEST: usize = 400;

fn main() {
    println!("signatures: {}", swarm_benches::signature_backend());
    let url = server();
    let client = Client::new(&url).expect("an address").without_retries();
    honest(&client);
    let alone = honest(&client);
    let (done, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let (ill, rounds) = (undiagnosable(), 3);
    let beside = thread::scope(|scope| {
        for _ in 0..STRANGERS {
            scope.spawn(|| {
                let stranger = Client::new(&url).expect("an address").without_retries();
                while !done.load(Ordering::Relaxed) {
                    match stranger.diagnose(&ill) {
                        Ok(_) => {
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                        // The time of Retry-After.
                        Err(_) => thread::sleep(Duration::from_secs(1)),
                    }
                }
            });
        }
        thread::sleep(Duration::from_secs(1));
        let beside: Vec<_> = (0..rounds).map(|_| honest(&client)).collect();
        done.store(true, Ordering::Relaxed);
        beside.into_iter().min().expect("rounds")
    });
    println!(
        "an honest read takes {alone:?} without, {beside:?} with {STRANGERS} attackers: {:.2} times; {} diagnoses",
        beside.as_secs_f64() / alone.as_secs_f64(),
        answered.into_inner()
    );
}

/// The median time of an honest request.
fn honest(client: &Client) -> Duration {
    let mut times: Vec<_> = (0..HONEST)
        .map(|_| {
            let start = Instant::now();
            client.open_session().expect("an answer");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(HONEST / 2).copied().unwrap_or_default()
}

/// A take whose signature matches no known mistake, with its key: the diagnosis tries them all.
fn undiagnosable() -> Json {
    let author = Author::new(1);
    let signed = author.signed(0, USUAL);
    let mut other = author.draft(1, USUAL);
    other.stance = signed.payload.stance.clone();
    let signature = signed.signature.clone();
    let text = swarm_core::domain::Signed { payload: other, signature }.to_json();
    let beside = format!(r#","publicKey":"{}"}}"#, author.key);
    let text = text.strip_suffix('}').expect("an object").to_owned() + &beside;
    Json::read(text.as_bytes()).expect("JSON")
}

/// Starts a server with a memory store; returns its address.
fn server() -> String {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let operators = AdminTokens::single(AdminTokenHash::of(b"of the benchmark"));
    let tenant = TenantConfig::new(TenantId::parse("default").expect("an id"), operators);
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
    let service = swarm_http::service(&Arc::new(Site::single(swarm, tenant)));
    thread::spawn(move || {
        runtime.block_on(serve(listener, service, Limits::default(), std::future::pending()))
    });
    format!("http://{address}")
}
