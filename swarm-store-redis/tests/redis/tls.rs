//! TLS: certificates are verified for servers and sentinels.
#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::fs;
use std::path::Path;
use std::process::Command;

use swarm_redis_testing::{Server, free_port};
use swarm_store_redis::RedisStore;

/// Trusted authorities come from the environment, so each case runs in its own process.
#[test]
fn tls_connection_needs_a_trusted_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours", "theirs"].map(|name| certificate(folder.path(), name));
    let [port, watch] = [free_port(), free_port()].map(|port| port.to_string());
    let [key, cert] = [format!("{ours}.key"), format!("{ours}.pem")];
    let tls = ["--tls-key-file", &key, "--tls-cert-file", &cert, "--tls-ca-cert-file", &cert];
    let tls = [&tls[..], &["--tls-auth-clients", "no"]].concat();
    let _server = Server::start(&[&tls[..], &["--tls-port", &port]].concat());
    let _sentinel = sentinel(folder.path(), &port, &[&tls[..], &["--tls-port", &watch]].concat());

    let sentinels = format!("rediss-sentinel://localhost:{watch}/swarm");
    for url in [format!("rediss://localhost:{port}"), sentinels] {
        for (trusted, reached) in [(&ours, true), (&theirs, false)] {
            let connects = || {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--ignored", "--exact", "tls::connects"])
                    .env("SWARM_TEST_URL", &url)
                    .env("SSL_CERT_FILE", format!("{trusted}.pem"))
                    .output()
                    .unwrap()
            };
            let mut output = connects();
            // A sentinel may not have found its server yet.
            for _ in 0..if reached { 9 } else { 0 } {
                if output.status.success() {
                    break;
                }
                output = connects();
            }
            assert_eq!(output.status.success(), reached, "{url}: {output:?}");
            let refused =
                String::from_utf8_lossy(&output.stdout).contains("invalid peer certificate");
            assert_eq!(refused, !reached, "{url}: {output:?}");
        }
    }
}

/// What is installed in rustls is of the whole process, so this runs in one of its own.
#[cfg(feature = "ring")]
#[test]
fn connection_without_tls_installs_no_cryptography_provider() {
    let server = Server::start(&[]);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "tls::connects_without_a_provider"])
        .env("SWARM_TEST_URL", server.url())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

#[cfg(feature = "ring")]
#[tokio::test]
#[ignore = "run by the other test, in a process of its own"]
async fn connects_without_a_provider() {
    connects_to_the_url().await;
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
}

#[tokio::test]
#[ignore = "run by the other test, in a process of its own"]
async fn connects() {
    connects_to_the_url().await;
}

async fn connects_to_the_url() {
    let store = RedisStore::connect(&std::env::var("SWARM_TEST_URL").unwrap()).await.unwrap();
    store.ready().await.unwrap();
}

/// A sentinel that announces its primary by the host name in the certificate.
fn sentinel(folder: &Path, port: &str, options: &[&str]) -> Server {
    let file = folder.join("sentinel.conf");
    let lines = format!(
        "sentinel resolve-hostnames yes\n\
         sentinel announce-hostnames yes\n\
         sentinel monitor swarm localhost {port} 1\n"
    );
    fs::write(&file, lines).unwrap();
    let options = [options, &["--tls-replication", "yes", "--sentinel"]].concat();
    Server::start_in(&[("SWARM_TEST_SENTINEL", file.to_str().unwrap())], &options)
}

/// Makes a key and a certificate for `localhost`; returns their path without the extension.
fn certificate(folder: &Path, name: &str) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-days", "2"])
        .args(["-keyout", &format!("{path}.key"), "-out", &format!("{path}.pem")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    path
}
