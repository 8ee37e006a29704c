//! What nobody can do without: a warp server that has nothing to do, and the verification of a signature.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use swarm_benches::shipped::load;
use swarm_benches::shipped::process::{MEASURED, Process, stay_on, used};
use swarm_benches::{Author, USUAL};
use swarm_core::proof::canonical;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use warp::Filter as _;
use warp::http::StatusCode;

const ACCEPTED: &str = r#"{"ok":true,"status":201,"recommendationId":12345,"verified":true}"#;

/// The argument with which this program is the bare warp server; a file to serve follows.
const BARE_WARP: &str = "bare-warp";

/// The argument with which this program verifies signatures.
const VERIFY: &str = "verify";

/// Does what the arguments of this process ask for, where it was started by another of its kind.
pub fn serve_if_asked() -> bool {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [BARE_WARP, file] => serve(std::fs::read(file).expect("a file").into()),
        [VERIFY] => println!("{}", verify().as_nanos()),
        _ => return false,
    }
    true
}

/// A bare warp server, which answers `POST /api/swarm/submit` with a constant, `GET /file` with the file,
/// `GET /not-modified` with a 304.
pub fn bare_warp(file: &Path) -> Process {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    Process::start(command.arg(BARE_WARP).arg(file))
}

/// The processor time of one strict verification, the key decoded before. Beside it this core is as busy as with
/// clients that are awake: where both are threads of one physical core, each is slower while the other works.
pub fn strict_verification() -> Duration {
    let program = std::env::current_exe().expect("it runs");
    let mut command = Command::new(program);
    let mut child = command.arg(VERIFY).stdout(Stdio::piped()).spawn().expect("it runs");
    load::stay_awake_until(|| child.try_wait().expect("its state").is_some());
    let output = child.wait_with_output().expect("what it says");
    let text = String::from_utf8(output.stdout).expect("text");
    Duration::from_nanos(text.trim().parse().expect("nanoseconds"))
}

fn serve(file: Bytes) {
    let accept = warp::path!("api" / "swarm" / "submit")
        .and(warp::post())
        .and(warp::header::optional::<String>("authorization"))
        .and(warp::body::content_length_limit(256 << 10))
        .and(warp::body::bytes())
        .map(|token: Option<String>, body: Bytes| {
            black_box((token, body));
            let json = warp::reply::with_header(ACCEPTED, "content-type", "application/json");
            warp::reply::with_status(json, StatusCode::CREATED)
        });
    let read = warp::path!("file").and(warp::get()).map(move || {
        warp::http::Response::builder()
            .header("content-type", "application/json")
            .body(Bytes::clone(&file))
    });
    let unchanged = warp::path!("not-modified")
        .map(|| warp::reply::with_status(warp::reply(), StatusCode::NOT_MODIFIED));
    Runtime::new().expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("listening on http://{}", listener.local_addr().expect("an address"));
        let service = warp::service(accept.or(read).or(unchanged));
        loop {
            let (socket, _) = listener.accept().await.expect("a client");
            socket.set_nodelay(true).expect("a socket");
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
        }
    });
}

fn verify() -> Duration {
    const ROUNDS: u32 = 40;
    stay_on(MEASURED);
    let signed: Vec<_> = (1..=u8::MAX)
        .map(|number| {
            let author = Author::new(number);
            let take = author.signed(0, USUAL);
            let key = VerifyingKey::from_bytes(author.key.as_bytes()).expect("a key");
            let signature = STANDARD.decode(take.signature.as_str()).expect("base64");
            let signature = Signature::from_slice(&signature).expect("64 bytes");
            (key, canonical(&take.payload), signature)
        })
        .collect();
    let before = used(std::process::id());
    for _ in 0..ROUNDS {
        for (key, bytes, signature) in &signed {
            assert!(key.verify_strict(black_box(bytes.as_bytes()), signature).is_ok());
        }
    }
    (used(std::process::id()) - before) / (ROUNDS * u32::from(u8::MAX))
}
