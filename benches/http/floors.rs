//! Lower bounds: a bare warp server, and the verification of a signature.

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
use serde_json::json;
use swarm_benches::shipped::load;
use swarm_benches::shipped::process::{MEASURED, Process, stay_on, used};
use swarm_benches::{Author, USUAL};
use swarm_core::proof::canonical;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use warp::Filter as _;
use warp::http::header::DATE;
use warp::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

const ACCEPTED: &str = r#"{"ok":true,"status":201,"recommendationId":12345,"verified":true}"#;

/// The argument with which this program is the bare warp server; a folder with its [`Reads`] follows.
const BARE_WARP: &str = "bare-warp";

/// The argument with which this program verifies signatures.
const VERIFY: &str = "verify";

/// Runs the child's part when this process was started as one.
pub fn serve_if_asked() -> bool {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [BARE_WARP, folder] => serve(Reads::load(Path::new(folder))),
        [VERIFY] => println!("{}", verify().as_nanos()),
        _ => return false,
    }
    true
}

/// The answers of the bare warp server: the same bytes as the measured server, head and body.
pub struct Reads {
    headers: [HeaderMap; 2],
    body: Bytes,
}

impl Reads {
    /// The answer to a read, and to its revalidation.
    pub fn of(whole: Response<Bytes>, unchanged: &Response<Bytes>) -> Self {
        let headers = [whole.headers().clone(), unchanged.headers().clone()];
        Self { headers, body: whole.into_body() }
    }

    fn save(&self, folder: &Path) {
        for (file, headers) in FILES.iter().zip(&self.headers) {
            let text = |value: &HeaderValue| value.to_str().expect("text").to_owned();
            let lines: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
            std::fs::write(folder.join(file), json!(lines).to_string()).expect("a file");
        }
        std::fs::write(folder.join(BODY), &self.body).expect("a file");
    }

    fn load(folder: &Path) -> Self {
        let read = |file| std::fs::read(folder.join(file)).expect("a file");
        let headers = FILES.map(|file| {
            let lines: Vec<(String, String)> =
                serde_json::from_slice(&read(file)).expect("what was saved");
            let header = |(name, value): (String, String)| {
                (name.parse::<HeaderName>().expect("a name"), value.parse().expect("a value"))
            };
            let mut headers: HeaderMap = lines.into_iter().map(header).collect();
            // Of its own.
            headers.remove(DATE);
            headers
        });
        Self { headers, body: read(BODY).into() }
    }
}

/// The files that hand over the headers of reads and the body.
const FILES: [&str; 2] = ["whole.json", "unchanged.json"];
const BODY: &str = "body";

/// A bare warp server: `POST /api/swarm/submit` answers a constant, `GET /whole` and `GET /unchanged` the
/// given reads, the latter with a 304. The folder is for these answers.
pub fn bare_warp(reads: &Reads, folder: &Path) -> Process {
    reads.save(folder);
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    Process::start(command.arg(BARE_WARP).arg(folder))
}

/// The processor time of one strict verification, with a decoded key. This core is kept busy meanwhile, as
/// by polling clients: where both are threads of one physical core, each slows the other down.
pub fn strict_verification() -> Duration {
    let program = std::env::current_exe().expect("it runs");
    let mut command = Command::new(program);
    let mut child = command.arg(VERIFY).stdout(Stdio::piped()).spawn().expect("it runs");
    load::stay_awake_until(|| child.try_wait().expect("its state").is_some());
    let output = child.wait_with_output().expect("what it says");
    let text = String::from_utf8(output.stdout).expect("text");
    Duration::from_nanos(text.trim().parse().expect("nanoseconds"))
}

fn serve(reads: Reads) {
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
    let [whole, unchanged] = reads.headers;
    let read = warp::path!("whole")
        .and(warp::get())
        .map(move || answered(StatusCode::OK, &whole, reads.body.clone()));
    let unchanged = warp::path!("unchanged")
        .and(warp::get())
        .map(move || answered(StatusCode::NOT_MODIFIED, &unchanged, Bytes::new()));
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

fn answered(status: StatusCode, headers: &HeaderMap, body: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers.clone();
    answer
}

fn verify() -> Duration {
    const ROUNDS: u32 = 40;
    stay_on(MEASURED);
    let signed: Vec<_> = (1..=u8::MAX)
        .map(|number| {
            let author = Author::new(number.into());
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
