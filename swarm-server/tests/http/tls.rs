//! TLS of the binary (MANUAL.md, 13.1), with OpenSSL as the client.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_redis_testing::wait_until;
use tokio::time::Instant;

use crate::program::{Program, refusal, send, swarm};

/// A server with TLS; killed when dropped.
struct TlsServer {
    child: Child,
    address: String,
    log: Arc<Mutex<String>>,
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
        let (log, read) =
            (Arc::<Mutex<String>>::default(), BufReader::new(child.stderr.take().unwrap()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in read.lines().map_while(Result::ok) {
                *written.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, address, log }
    }

    fn hang_up(&self) {
        send("HUP", &self.child.id().to_string());
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
pub fn make_certificate(folder: &Path, name: &str) {
    make_certificate_with(folder, name, "basicConstraints=critical,CA:FALSE");
}

fn make_certificate_with(folder: &Path, name: &str, constraints: &str) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", "/CN=swarm.test.example", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", constraints, "-days", "2"])
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
    let says = |answer: &str| {
        answer.to_lowercase().contains("strict-transport-security: max-age=31536000")
    };
    assert!(says(&answer) && says(&server.get("/nowhere", &at("first.pem"))), "{answer}");
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
    fs::write(at("text.pem"), "no PEM\n").unwrap();
    let wrong = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(at("wrong.pem"), wrong).unwrap();
    // As variables of some platforms hand keys over.
    let key = fs::read_to_string(at("one.key")).unwrap();
    fs::write(at("line.key"), key.replace('\n', " ")).unwrap();
    fs::write(at("escaped.key"), key.replace('\n', "\\n")).unwrap();
    fs::write(at("cut.key"), key.replacen('\n', "\n*", 1)).unwrap();
    // As `cat` joins files without a line end.
    let [one, two] =
        ["one", "two"].map(|name| fs::read_to_string(at(&format!("{name}.pem"))).unwrap());
    fs::write(at("joined.pem"), [one.trim_end(), &two].concat()).unwrap();
    fs::write(at("disordered.pem"), [two, one].concat()).unwrap();
    for (cert, key, words, flags) in [
        (
            "disordered.pem",
            "one.key",
            "the server's own comes first",
            &["--tls-cert", "--tls-key"][..],
        ),
        ("joined.pem", "one.key", "lines of its own", &["--tls-cert"]),
        ("one.pem", "two.key", "cannot be used together", &["--tls-cert", "--tls-key"]),
        ("wrong.pem", "one.key", "cannot be used together", &["--tls-cert"]),
        ("one.key", "one.key", "no certificate", &["--tls-cert"]),
        ("text.pem", "one.key", "no certificate", &["--tls-cert"]),
        ("one.pem", "one.pem", "no private key", &["--tls-key"]),
        ("one.pem", "text.pem", "no private key", &["--tls-key"]),
        ("one.pem", "line.key", "lines of its own", &["--tls-key"]),
        ("one.pem", "escaped.key", "lines of its own", &["--tls-key"]),
        ("one.pem", "cut.key", "is not base64", &["--tls-key"]),
        ("line.key", "one.key", "lines of its own", &["--tls-cert"]),
        ("none.pem", "one.key", "No such file", &["--tls-cert"]),
        ("one.pem", "none.key", "No such file", &["--tls-key"]),
    ] {
        let refused = start(cert, key);
        assert!(refused.contains(words), "{cert} {key}: {refused}");
        // rustls quotes a line that it does not understand, as numbers.
        assert!(!refused.contains("[4") && !refused.contains("PRIVATE"), "{cert} {key}: {refused}");
        for flag in flags {
            let file = at(if *flag == "--tls-cert" { cert } else { key });
            assert!(refused.contains(&format!("({flag}): {file}")), "{cert} {key}: {refused}");
        }
    }
    let alone =
        refusal(&["serve", "--store=memory", &format!("--tls-cert={}", at("one.pem"))], &[]);
    assert!(alone.contains("tls_cert needs tls_key"), "{alone}");
}

/// Some editors write a byte order mark before a text, and carriage returns.
#[test]
fn certificates_may_begin_with_a_byte_order_mark() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    for name in ["tls.pem", "tls.key"] {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
    }
    let server = TlsServer::start(folder.path());
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let (url, ca) = (format!("https://localhost:{port}"), folder.path().join("tls.pem"));
    let arguments = ["member", "--url", &url, "--ca-file", ca.to_str().unwrap(), "sessions"];
    let output = swarm(&arguments, &[("HOME", folder.path().to_str().unwrap())]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The libraries that read it take it for the name of a file, and would trust nobody.
#[test]
fn empty_file_of_authorities_is_not_given() {
    let environment = [("SSL_CERT_FILE", ""), ("SWARM_LOG_FORMAT", "json")];
    let program = Program::start(&["serve"], &environment);
    let environment = program.environment();
    assert_eq!(environment, "SWARM_LOG_FORMAT=json\0");
}

/// A program that speaks HTTP/1.0 may offer that alone in the handshake.
#[test]
fn probe_that_offers_http_1_0_alone_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let server = TlsServer::start(folder.path());
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let answer = Command::new("curl")
        .args(["-sSi", "--http1.0", "-H", "Host:", "--cacert", "tls.pem"])
        .arg(format!("https://localhost:{port}/healthz"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8([answer.stdout, answer.stderr].concat()).unwrap();
    assert!(said.starts_with("HTTP/1.0 200"), "{said}");
}

/// The certificates of these tests are valid for two days.
#[test]
fn certificate_that_expires_soon_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let server = TlsServer::start(folder.path());
    let trusted = folder.path().join("tls.pem");
    let ready = server.get("/readyz", &trusted);
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    assert!(ready.contains("the TLS certificate expires at 20"), "{ready}");
    server.hang_up();
    wait_until("it is warned of at the start and after a reload", || {
        let log = server.log.lock().unwrap();
        let is_warning = |line: &&str| {
            line.contains("WARN") && line.contains("tls.pem") && line.contains("expires at 20")
        };
        log.lines().filter(is_warning).count() == 2
    });
    let metrics = server.get("/metrics", &trusted);
    assert!(
        metrics.contains("\nswarm_store_warnings 0\n"),
        "it is no fault of the store: {metrics}"
    );
    let line =
        metrics.lines().find(|line| line.starts_with("swarm_tls_not_after_seconds ")).unwrap();
    let seconds: u64 = line.split(' ').nth(1).unwrap().parse().unwrap();
    let dates = Command::new("openssl")
        .args(["x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in"])
        .arg(&trusted)
        .output()
        .unwrap();
    let end = String::from_utf8(dates.stdout).unwrap().replace("notAfter=", "").replace(' ', "T");
    let end = swarm_core::Timestamp::parse("notAfter", end.trim()).unwrap();
    assert_eq!(seconds, end.millis() as u64 / 1_000);
    let [cert, key] = [("cert", "pem"), ("key", "key")]
        .map(|(flag, end)| format!("--tls-{flag}={}", trusted.with_extension(end).display()));
    let checked = swarm(&["check", "--store=memory", &cert, &key], &[]).output().unwrap();
    let text = String::from_utf8(checked.stdout).unwrap();
    assert!(text.contains(&format!("certificate: until {end}")), "{text}");
    assert!(text.contains("certificate: warning: the TLS certificate expires at"), "{text}");

    let plain = Program::start(&["serve", "--store=memory"], &[]);
    assert!(!plain.client.get("/metrics").text.contains("swarm_tls_not_after"));
}

/// The roots of the system do not include the server's certificate, and the flag or the variables do.
#[test]
fn commands_trust_the_authorities_that_they_are_given() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let server = TlsServer::start(folder.path());
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let url = &*format!("https://localhost:{port}");
    let ca = folder.path().join("tls.pem");
    let certificates = folder.path().join("certificates");
    fs::create_dir(&certificates).unwrap();
    fs::copy(&ca, certificates.join("00000000.0")).unwrap();
    let (ca, certificates) = (ca.to_str().unwrap(), certificates.to_str().unwrap());
    let home = folder.path().to_str().unwrap();
    let state = &*folder.path().join("state").display().to_string();
    let openapi = &*format!("{url}/openapi.json");
    let run = |arguments: &[&str], environment: &[(&str, &str)]| {
        let own = [("HOME", home), ("SWARM_ADMIN_TOKEN", crate::harness::ADMIN)];
        let output = swarm(arguments, &[&own, environment].concat()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    for command in [
        &["admin", "--url", url, "members"][..],
        &["member", "--url", url, "sessions"],
        &["watch", url, "--state", state, "--once"],
        &["verify", openapi],
    ] {
        let began = Instant::now();
        let (_, refused) = run(command, &[]);
        assert!(refused.contains("UnknownIssuer"), "{command:?}: {refused}");
        // The pauses before other attempts are as long as this.
        assert!(began.elapsed() < Duration::from_millis(7_500), "{command:?}");
        if matches!(command[0], "admin" | "member") {
            assert!(refused.contains("--ca-file FILE"), "{command:?}: {refused}");
        }
        let with_flag = [command, &["--ca-file", ca]].concat();
        for (code, said) in [
            run(&with_flag, &[]),
            run(command, &[("SSL_CERT_FILE", ca)]),
            run(command, &[("SSL_CERT_DIR", certificates)]),
            run(&with_flag, &[("SSL_CERT_FILE", "/dev/null")]),
        ] {
            assert!(!said.contains("UnknownIssuer") && code != Some(3), "{command:?}: {said}");
            assert!(
                code == Some(0) || matches!(command[0], "verify" | "watch"),
                "{command:?}: {said}"
            );
        }
    }
    let none = ["admin", "--url", url, "--ca-file", "/dev/null", "members"];
    let (code, refused) = run(&none, &[]);
    assert!(refused.contains("--ca-file") && refused.contains("/dev/null"), "{code:?} {refused}");
    let joined = folder.path().join("joined.pem");
    fs::write(&joined, fs::read_to_string(ca).unwrap().trim_end().repeat(2)).unwrap();
    let joined = joined.to_str().unwrap();
    for (flags, environment) in
        [(&["--ca-file", joined][..], &[][..]), (&[], &[("SSL_CERT_FILE", joined)])]
    {
        let command = [&["admin", "--url", url, "members"][..], flags].concat();
        let (code, refused) = run(&command, environment);
        assert!(code != Some(0) && refused.contains("lines of"), "{code:?} {refused}");
    }
}

/// `openssl req -x509` makes certificates of authorities, unless told otherwise.
#[test]
fn certificate_of_an_authority_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate_with(folder.path(), "tls", "basicConstraints=critical,CA:TRUE");
    let server = TlsServer::start(folder.path());
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let url = format!("https://localhost:{port}");
    let ca = folder.path().join("tls.pem");
    let arguments = ["admin", "--url", &url, "--ca-file", ca.to_str().unwrap(), "members"];
    let environment = [("SWARM_ADMIN_TOKEN", crate::harness::ADMIN)];
    let output = swarm(&arguments, &environment).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("CA:FALSE"), "{said}");
}

/// Keys that people have, and that cannot be used.
#[test]
fn key_that_cannot_be_used_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let make = |arguments: &[&str]| {
        let made = Command::new("openssl").args(arguments).current_dir(folder.path()).output();
        assert!(made.unwrap().status.success(), "{arguments:?}");
    };
    let curve = "ec_paramgen_curve:P-521";
    make(&["genpkey", "-algorithm", "EC", "-pkeyopt", curve, "-out", "large.key"]);
    make(&["pkcs8", "-topk8", "-in", "tls.key", "-passout", "pass:a", "-out", "new.key"]);
    make(&["ec", "-in", "tls.key", "-aes128", "-passout", "pass:a", "-out", "old.key"]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let cert = format!("--tls-cert={}", path("tls.pem"));
    for (name, why) in [("new.key", "encrypted"), ("old.key", "encrypted"), ("large.key", "P-384")]
    {
        let key = format!("--tls-key={}", path(name));
        let said = refusal(&["serve", "--store=memory", &cert, &key], &[]);
        assert!(said.contains(&path(name)) && said.contains(why), "{said}");
    }
}

/// The command by which the image is found healthy, on a server that speaks TLS.
#[test]
fn health_check_of_the_image_speaks_tls() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "tls");
    let server = TlsServer::start(folder.path());
    let text = crate::proxies::deployed("docker/Dockerfile");
    let (_, rest) = text.split_once("HEALTHCHECK").unwrap();
    let command = rest.split_once("CMD").unwrap().1.lines().next().unwrap();
    let command: Vec<String> = serde_json::from_str(command.trim()).unwrap();
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let mut check = Command::new(&command[0]);
    check.args(&command[1..]).env_remove("SWARM_METRICS_LISTEN");
    let checked = check.env("SWARM_LISTEN", format!("0.0.0.0:{port}")).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
