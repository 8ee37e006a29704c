//! The service on every store, with the provider that this is built with.

use std::fs;
use std::process::Command;

use swarm_redis_testing::free_port;

#[test]
fn every_store_is_served_by_the_provider_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path("server.crt"), path("server.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");

    let postgres = swarm_postgres_testing::Server::start(&[]);
    let data = postgres.folder.join("data");
    for name in ["server.key", "server.crt"] {
        fs::copy(folder.path().join(name), data.join(name)).unwrap();
    }
    postgres.own(&data.join("server.key"));
    postgres.psql("ALTER SYSTEM SET ssl = on");
    postgres.psql("SELECT pg_reload_conf()");
    let on_postgres = postgres.url().replace("127.0.0.1", "localhost");
    let on_postgres = format!("{on_postgres}&sslmode=verify-full&sslrootcert={certificate}");

    let port = free_port().to_string();
    let tls = ["--tls-port", &port, "--tls-key-file", &key, "--tls-cert-file", &certificate];
    let tls = [&tls[..], &["--tls-ca-cert-file", &certificate, "--tls-auth-clients", "no"]];
    let _redis = swarm_redis_testing::Server::start(&tls.concat());

    let on_redis = format!("rediss://localhost:{port}");
    for store in ["memory", &path("swarm.db"), &on_postgres, &on_redis] {
        let served = Command::new(env!("CARGO_BIN_EXE_host"))
            .args([store, &certificate, &key])
            .env("SSL_CERT_FILE", &certificate)
            .output()
            .unwrap();
        assert!(served.status.success(), "{store}: {served:?}");
    }
}
