//! TLS of the binary (API.md, 13.1), with OpenSSL as the client.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use swarm_redis_testing::wait_until;

use crate::program::{refusal, swarm};

/// A server with TLS; killed when dropped.
struct TlsServer {
    child: Child,
    address: String,
}

impl TlsServer {
    fn start(folder: &Path) -> Self {
        let [cert, key] = ["pem", "key"].map(|end| format!("--tls-{end}=tls.{end}"));
        let cert = cert.replace("tls-pem", "tls-cert");
        let arguments = ["serve", "--store=memory", "--listen=127.0.0.1:0", &cert, &key];
        let environment = [("SWARM_ADMIN_TOKEN", crate::harness::ADMIN)];
        let mut child = swarm(&arguments, &environment).current_dir(folder).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on https://").expect(&line).to_owned();
        Self { child, address }
    }

    fn hang_up(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "HUP", &id]).status().unwrap().success());
    }

    /// The answer to a GET through OpenSSL, which trusts this certificate; empty if it refuses the server's.
    fn get(&self, path: &str, trusted: &Path) -> String {
        let mut openssl = Command::new("openssl")
            .args(["s_client", "-quiet", "-verify_return_error", "-servername", "localhost"])
            .args(["-verify_hostname", "localhost", "-connect", &self.address, "-CAfile"])
            .arg(trusted)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let _ = openssl.stdin.as_mut().unwrap().write_all(request.as_bytes());
        let mut answer = String::new();
        openssl.stdout.as_mut().unwrap().read_to_string(&mut answer).unwrap();
        openssl.wait().unwrap();
        answer
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes `NAME.pem` and `NAME.key` for `localhost`.
fn make_certificate(folder: &Path, name: &str) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-days", "2"])
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

#[test]
fn serves_tls_and_reloads_the_certificate_on_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make_certificate(folder.path(), "tls");
    make_certificate(folder.path(), "next");
    fs::copy(at("tls.pem"), at("first.pem")).unwrap();
    let server = TlsServer::start(folder.path());

    let answer = server.get("/.well-known/swarm.json", &at("first.pem"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"https://localhost\""), "links are https: {answer}");
    assert_eq!(server.get("/healthz", &at("next.pem")), "", "an untrusted certificate");

    // A key that does not match the certificate changes nothing.
    fs::copy(at("next.pem"), at("tls.pem")).unwrap();
    server.hang_up();
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.get("/healthz", &at("first.pem")).starts_with("HTTP/1.1 200"));

    fs::copy(at("next.key"), at("tls.key")).unwrap();
    server.hang_up();
    wait_until("the new certificate is used", || {
        server.get("/healthz", &at("next.pem")).starts_with("HTTP/1.1 200")
    });
}

#[test]
fn client_without_tls_gets_no_answer_and_disturbs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let server = TlsServer::start(folder.path());
    let _silent = TcpStream::connect(&server.address).unwrap();
    let mut plain = TcpStream::connect(&server.address).unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    let answer = server.get("/healthz", &folder.path().join("tls.pem"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn unusable_certificates_fail_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        make_certificate(folder.path(), name);
    }
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let start = |cert: &str, key: &str| {
        let [cert, key] =
            [("cert", cert), ("key", key)].map(|(flag, name)| format!("--tls-{flag}={}", at(name)));
        refusal(&["serve", "--store=memory", &cert, &key], &[])
    };
    assert!(start("one.pem", "two.key").contains("cannot be used together"));
    assert!(start("one.key", "one.key").contains("no certificate"));
    assert!(start("one.pem", "one.pem").contains("no private key"));
    assert!(start("none.pem", "one.key").contains("tls_cert"));
    let alone =
        refusal(&["serve", "--store=memory", &format!("--tls-cert={}", at("one.pem"))], &[]);
    assert!(alone.contains("tls_cert needs tls_key"), "{alone}");
}
