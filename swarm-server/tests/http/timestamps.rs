//! Timestamps of the log: an authority made of `openssl ts -reply` (API.md, 11.6; RFC 3161).

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use swarm_core::domain::AdminTokenHash;
use swarm_redis_testing::{free_port, wait_until};
use tempfile::TempDir;

use crate::clients::python;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, swarm};
use crate::scripted_service::ScriptedService;

const DAY: &str = "2026-11-21";

#[test]
fn bundle_of_a_closed_session_has_a_timestamp_that_both_verifiers_check() {
    let authority = Authority::start("Test TSA");
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = serve(&folder, &authority.url);
    let client = &server.client;
    let before = authority.requests();
    close(client, "aurora");
    let bundle = stamped(client, 1);
    assert!(authority.requests() > before);
    let key = log_key(client);
    let ca = authority.certificate("ca.crt");
    let verified = |bundle: &Value, flags: &[&str], status: i32| {
        let file = folder.path().join("bundle.json");
        fs::write(&file, bundle.to_string()).unwrap();
        verify(&file, &[&["--key", &key], flags].concat(), status)
    };
    for said in verified(&bundle, &["--timestamp-ca", &ca], 0) {
        let line = lines(&said, "holds: timestamp: the checkpoint of ");
        assert!(line.contains(" entries existed at 20"), "{said}");
        assert!(line.contains(" by ") && line.contains("/CN=Test TSA"), "{said}");
    }
    // The certificate of the authority itself is enough.
    let own = authority.certificate("tsa.crt");
    verified(&bundle, &["--timestamp-ca", &own], 0);
    for said in verified(&bundle, &[], 0) {
        let line = lines(&said, "unproven: timestamp: that the checkpoint of ");
        assert!(line.contains("there is a timestamp, and it was not checked"), "{said}");
    }

    // A later session has a later timestamp, and that of the first one stays.
    close(client, "borealis");
    let later = stamped(client, 2);
    assert_ne!(later["timestamp"]["checkpoint"], bundle["timestamp"]["checkpoint"]);
    let again = client.get("/api/swarm/sessions/1/bundle").expect(200).json();
    assert_eq!(again["timestamp"]["token"], bundle["timestamp"]["token"]);
    verified(&again, &["--timestamp-ca", &ca], 0);

    let mut other = bundle.clone();
    other["timestamp"]["token"] = later["timestamp"]["token"].clone();
    for said in verified(&other, &["--timestamp-ca", &ca], 1) {
        let line = lines(&said, "fails: timestamp: the token of the checkpoint of ");
        assert!(line.contains("message imprint mismatch"), "{said}");
    }
    let mut other = bundle.clone();
    other["timestamp"]["checkpoint"] = later["timestamp"]["checkpoint"].clone();
    for said in verified(&other, &["--timestamp-ca", &ca], 1) {
        lines(&said, "fails: timestamp: its checkpoint of ");
    }
    let stranger = Authority::start("Another TSA").certificate("ca.crt");
    for said in verified(&bundle, &["--timestamp-ca", &stranger], 1) {
        assert!(lines(&said, "fails: timestamp: ").contains("certificate verify error"), "{said}");
    }
    let mut none = bundle.clone();
    none.as_object_mut().unwrap().remove("timestamp");
    for said in verified(&none, &["--timestamp-ca", &ca], 0) {
        lines(&said, "unproven: timestamp: ");
    }
    for said in verified(&none, &[], 0) {
        assert!(!said.contains("timestamp"), "{said}");
    }
    let no_certificate = folder.path().join("swarm.toml").display().to_string();
    for said in verified(&bundle, &["--timestamp-ca", &no_certificate], 2) {
        assert!(said.contains("no certificate in PEM"), "{said}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time that passes outside of the server")]
fn authority_that_does_not_answer_delays_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = serve(&folder, &format!("http://{}/tsr", silent.local_addr().unwrap()));
    let client = &server.client;
    let began = Instant::now();
    close(client, "aurora");
    let _asked = silent.accept().unwrap();
    wait_until("the bundle is served", || client.get("/api/swarm/sessions/1/bundle").status == 200);
    assert!(client.get("/api/swarm/sessions/1/bundle").json().get("timestamp").is_none());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let began = Instant::now();
    let (status, _) = server.stop("TERM");
    assert!(status.success());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn authority_that_refuses_is_warned_of() {
    let refusing = ScriptedService::responding(
        "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = serve(&folder, &format!("{}/tsr", refusing.url));
    let client = &server.client;
    close(client, "aurora");
    let warned = || client.get("/readyz").expect(200).json()["warnings"].to_string();
    wait_until("/readyz warns", || warned().contains("acme: no timestamp of the checkpoint of "));
    let metrics = client.get("/metrics").expect(200).text;
    assert!(metrics.contains("swarm_missed_timestamps 1\n"), "{metrics}");
    let headers = [("x-admin-token", ADMIN)];
    let status = client.send("GET", "/api/swarm/admin/status", &headers, b"").expect(200).json();
    assert!(status["warnings"].to_string().contains("no timestamp of the checkpoint"), "{status}");
    let alerts = include_str!("../../../deploy/prometheus/alerts.yml");
    assert!(alerts.contains("expr: swarm_missed_timestamps > 0"));
    let (_, logged) = server.stop("TERM");
    assert!(logged.contains("it answered 503"), "{logged}");
}

/// The address of an authority may have a key in its query.
#[test]
fn no_warning_and_no_line_of_the_log_has_the_query_of_the_address() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let host = format!("127.0.0.1:{}", free_port());
    let server = serve(&folder, &format!("http://{host}/tsr?apikey=hush"));
    let client = &server.client;
    close(client, "aurora");
    let warned = || client.get("/readyz").expect(200).json()["warnings"].to_string();
    wait_until("/readyz warns", || warned().contains("no timestamp of the checkpoint"));
    assert!(!warned().contains("hush") && !warned().contains(&host), "{}", warned());
    let (_, logged) = server.stop("TERM");
    assert!(logged.contains("checkpoint not timestamped"), "{logged}");
    assert!(!logged.contains("hush"), "{logged}");
}

/// Tokens of other requests, and what is none.
#[test]
fn tokens_of_other_requests_are_not_kept() {
    for (mischief, reason) in [
        (Mischief::OtherData, "its token is of another request"),
        (Mischief::OtherNonce, "its token is of another request"),
        (Mischief::Refusal, "it refused, with the status 2"),
        (Mischief::Garbage, "its answer is no TimeStampResp"),
    ] {
        let authority = Authority::start_with("Test TSA", Some(mischief));
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let server = serve(&folder, &authority.url);
        let client = &server.client;
        close(client, "aurora");
        let warned = || client.get("/readyz").expect(200).json()["warnings"].to_string();
        wait_until(reason, || warned().contains("no timestamp of the checkpoint"));
        wait_until("the bundle is served", || {
            client.get("/api/swarm/sessions/1/bundle").status == 200
        });
        assert!(client.get("/api/swarm/sessions/1/bundle").json().get("timestamp").is_none());
        let (_, logged) = server.stop("TERM");
        assert!(logged.contains(reason), "{logged}");
    }
}

#[test]
fn timestamp_url_is_checked_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("swarm.toml");
    let check = |url: &str| {
        fs::write(&file, configuration(url)).unwrap();
        let config = format!("--config={}", file.display());
        let output = swarm(&["check", &config, "--store", "memory"], &[]).output().unwrap();
        (
            output.status.success(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    };
    for wrong in ["tsa.example", "ftp://tsa.example", ""] {
        let (is_valid, said) = check(wrong);
        assert!(!is_valid && said.contains("timestamp_url: "), "{wrong}: {said}");
    }
    let (is_valid, said) = check("https://tsa.example/tsr?apikey=hush");
    assert!(is_valid && said.contains("timestamps: by https://tsa.example/tsr?…\n"), "{said}");
    let (is_valid, said) = check("https://tsa.example/tsr?apikey=hush#a");
    assert!(!is_valid && !said.contains("hush"), "{said}");
}

/// What an authority does wrong.
#[derive(Clone, Copy, Debug)]
enum Mischief {
    OtherData,
    OtherNonce,
    Refusal,
    Garbage,
}

const USAGE: &str = "extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n";

/// A time-stamping authority, and the one that certifies it.
struct Authority {
    folder: Arc<TempDir>,
    url: String,
    requests: Arc<AtomicUsize>,
}

impl Authority {
    fn start(name: &str) -> Self {
        Self::start_with(name, None)
    }

    fn start_with(name: &str, mischief: Option<Mischief>) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/tsr", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let this = Self { folder, url, requests };
        fs::write(this.folder.path().join("tsa.cnf"), CONFIGURATION).unwrap();
        fs::write(this.folder.path().join("usage"), USAGE).unwrap();
        fs::write(this.folder.path().join("serial"), "01").unwrap();
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let own = ["-keyout", "ca.key", "-out", "ca.crt", "-days", "30", "-subj", "/CN=Test CA"];
        this.openssl(&[&["req", "-x509"], &curve[..], &own].concat());
        let subject = format!("/CN={name}");
        let own = ["-keyout", "tsa.key", "-out", "tsa.csr", "-subj", &subject];
        this.openssl(&[&["req"], &curve[..], &own].concat());
        this.openssl(&[
            "x509",
            "-req",
            "-in",
            "tsa.csr",
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-out",
            "tsa.crt",
            "-days",
            "30",
            "-extfile",
            "usage",
        ]);
        let (folder, requests) = (Arc::clone(&this.folder), Arc::clone(&this.requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                requests.fetch_add(1, Ordering::SeqCst);
                answer(folder.path(), stream.unwrap(), mischief);
            }
        });
        this
    }

    fn openssl(&self, arguments: &[&str]) {
        openssl(self.folder.path(), arguments);
    }

    fn certificate(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// The tokens have the name of the authority, and a time in milliseconds.
const CONFIGURATION: &str = "
[ tsa ]
default_tsa = test
[ test ]
serial = ./serial
signer_cert = ./tsa.crt
certs = ./ca.crt
signer_key = ./tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
clock_precision_digits = 3
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
";

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).output();
    let output = output.expect("needs the program openssl");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn answer(folder: &Path, stream: TcpStream, mischief: Option<Mischief>) {
    let mut reader = BufReader::new(&stream);
    let (mut length, mut media_type) = (0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "content-type" => media_type = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut request = vec![0; length];
    reader.read_exact(&mut request).unwrap();
    assert_eq!(media_type, "application/timestamp-query");
    let body = response(folder, &request, mischief);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/timestamp-reply\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // The server may have stopped meanwhile.
    let _ = (&stream).write_all(&[head.as_bytes(), &body].concat());
}

fn response(folder: &Path, request: &[u8], mischief: Option<Mischief>) -> Vec<u8> {
    let mut request = request.to_vec();
    let at = |text: &[u8], of: &[u8]| of.windows(text.len()).position(|it| it == text).unwrap();
    match mischief {
        Some(Mischief::OtherData) => {
            let digest = at(&[0x04, 0x20], &request) + 2;
            request[digest] ^= 1;
        }
        Some(Mischief::OtherNonce) => {
            let nonce = request.len() - 4;
            request[nonce] ^= 1;
        }
        // The status `rejection`, without a token.
        Some(Mischief::Refusal) => return vec![0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02],
        Some(Mischief::Garbage) => return b"<html>".to_vec(),
        None => {}
    }
    fs::write(folder.join("request"), request).unwrap();
    openssl(
        folder,
        &["ts", "-reply", "-config", "tsa.cnf", "-queryfile", "request", "-out", "response"],
    );
    fs::read(folder.join("response")).unwrap()
}

fn configuration(url: &str) -> String {
    let hash = AdminTokenHash::of(ADMIN.as_bytes());
    let hash: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[[tenants]]\nid = \"acme\"\nhosts = [\"127.0.0.1\"]\npublic_origin = \"https://acme.example\"\n\
         admin_token_hash = \"sha256:{hash}\"\ntimestamp_url = {url:?}\n"
    )
}

fn serve(folder: &Arc<TempDir>, url: &str) -> Program {
    fs::write(folder.path().join("swarm.toml"), configuration(url)).unwrap();
    Program::start_in(Arc::clone(folder), &["serve", "--config=swarm.toml"], &[])
}

/// A session with a take of a new member, closed.
fn close(client: &Client, subject: &str) {
    let convened = client.convene(DAY, subject);
    let ada = Author::join(client, &format!("Ada of {subject}"));
    client.submit(&ada, ada.draft(DAY, subject)).expect(201);
    let path = format!("/sessions/{convened}/state");
    client.operate(&path, &json!({ "state": "window_closed" })).expect(200);
}

/// The bundle of a session, once it has a timestamp.
fn stamped(client: &Client, session: u64) -> Value {
    let mut bundle = Value::Null;
    wait_until("the bundle has a timestamp", || {
        let answer = client.get(&format!("/api/swarm/sessions/{session}/bundle"));
        bundle = if answer.status == 200 { answer.json() } else { Value::Null };
        bundle.get("timestamp").is_some()
    });
    bundle
}

fn log_key(client: &Client) -> String {
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    manifest["logKey"].as_str().unwrap().to_owned()
}

/// What both verifiers say of a bundle. They must end with this status.
#[track_caller]
fn verify(file: &Path, flags: &[&str], status: i32) -> [String; 2] {
    let arguments = [&[file.to_str().unwrap()], flags].concat();
    let rust = swarm(&[&["verify"], &arguments[..]].concat(), &[]);
    let program: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python");
    let mut other = Command::new(python());
    other.arg("-B").arg(program.join("verify_bundle.py")).args(&arguments);
    [rust, other].map(|mut command| {
        let output = command.output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        said
    })
}

/// The only line that begins like this.
#[track_caller]
fn lines<'s>(said: &'s str, begin: &str) -> &'s str {
    let mut found = said.lines().filter(|line| line.starts_with(begin));
    let first = found.next().unwrap_or_else(|| panic!("{begin}: {said}"));
    assert_eq!(found.next(), None, "{said}");
    first
}
