//! Flags and environment of `swarm serve` that change what it does as a whole (MANUAL.md, 13.1).

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use crate::harness::ADMIN;
use crate::program::{Program, refusal, swarm};

#[test]
fn read_only_serves_reads_and_refuses_commits() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    let convene = json!({ "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2026-11-21T10:00:00.000Z" });
    let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    assert_eq!(first.client.operate("/subjects", &subject).status, 201);
    drop(first);

    let copy = Program::start_in(Arc::clone(&folder), &["serve", "--read-only"], &environment);
    assert_eq!(copy.client.get("/api/swarm/subjects/aurora").status, 200);
    assert_eq!(copy.client.get("/readyz").status, 200);
    for (path, body) in [("/subjects", &subject), ("/sessions", &convene)] {
        let refused = copy.client.operate(path, body);
        assert_eq!(refused.status, 503, "{path}");
        assert_eq!(refused.json()["error"], "store unavailable", "{path}");
    }
    assert_eq!(copy.client.get("/api/swarm/log").json()["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn read_only_writes_nothing_to_the_file() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let path = folder.path().join("swarm.db");
    filled(&folder);
    let state = || {
        let file = fs::metadata(&path).unwrap();
        (fs::read(&path).unwrap(), file.modified().unwrap(), file.permissions().mode())
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let before = state();
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let copy = Program::start_in(Arc::clone(&folder), &["serve", "--read-only"], &environment);
    copy.client.get("/api/swarm/subjects/aurora").expect(200);
    copy.client.get("/readyz").expect(200);
    let (status, _) = copy.stop("TERM");
    assert!(status.success() && state() == before);
    // It goes on when it is served as usual.
    let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    first.client.convene("2026-11-21", "aurora");
}

/// A server that may write commits while another one only reads.
#[test]
fn read_only_server_sees_the_commits_of_another_one() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    let copy = Program::start_in(Arc::clone(&folder), &["serve", "--read-only"], &environment);
    copy.client.get("/api/swarm/subjects/aurora").expect(404);
    first.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    copy.client.get("/api/swarm/subjects/aurora").expect(200);
}

/// A closed file, and one whose last commits are in the files beside it.
#[test]
fn file_that_cannot_be_written_is_served_read_only() {
    for is_closed in [true, false] {
        let (folder, disk) = (Arc::new(tempfile::tempdir().unwrap()), tempfile::tempdir().unwrap());
        let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
        let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
        first.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
        if is_closed {
            assert!(first.stop("TERM").0.success());
        } else {
            first.signal("KILL");
        }
        let copied: &[_] = if is_closed { &[""] } else { &["", "-wal", "-shm"] };
        for ending in copied {
            let [from, to] = [&folder, &disk].map(|it| it.path().join(format!("swarm.db{ending}")));
            fs::copy(from, to).unwrap();
        }
        let served = Program::run(read_only(disk.path(), &["serve", "--read-only"]), &environment);
        served.client.get("/api/swarm/subjects/aurora").expect(200);
        served.client.get("/readyz").expect(200);
        let refused = served.client.operate("/subjects", &json!({ "id": "basalt", "name": "B" }));
        refused.expect(503);
        assert_eq!(fs::read_dir(disk.path()).unwrap().count(), copied.len());
    }
}

/// SQLite cannot read the commits beside the file there.
#[test]
fn file_without_its_last_commits_is_not_served() {
    let (folder, disk) = (Arc::new(tempfile::tempdir().unwrap()), tempfile::tempdir().unwrap());
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    first.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for name in ["swarm.db", "swarm.db-wal"] {
        fs::copy(folder.path().join(name), disk.path().join(name)).unwrap();
    }
    let mut command = read_only(disk.path(), &["serve", "--read-only"]);
    let output = command.env("SWARM_ADMIN_TOKEN", ADMIN).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("copy both files"), "{said}");
}

/// The program with the file in this folder, which it cannot write: the file system is mounted to be read only. Without root,
/// the permissions of the folder have to do.
fn read_only(folder: &Path, arguments: &[&str]) -> Command {
    const SCRIPT: &str = r#"
        if [ "$(id -u)" = 0 ]; then
            exec unshare --mount sh -c \
                'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' "$0" "$@"
        fi
        chmod 400 "$0"/* && chmod 500 "$0" && exec "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).arg(folder).arg(env!("CARGO_BIN_EXE_swarm")).args(arguments);
    command.arg(format!("--store=sqlite:{}/swarm.db", folder.display()));
    command
}

fn filled(folder: &Arc<tempfile::TempDir>) {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let first = Program::start_in(Arc::clone(folder), &["serve"], &environment);
    first.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    assert!(first.stop("TERM").0.success());
}

/// Some write the path of a file like a URL.
#[test]
fn sqlite_file_may_be_written_like_a_url() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let absolute = format!("sqlite://{}/c.db", folder.path().display());
    for (store, file) in [("sqlite:a.db", "a.db"), ("sqlite://b.db", "b.db"), (&absolute, "c.db")] {
        let store = format!("--store={store}");
        let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
        let program = Program::start_in(Arc::clone(&folder), &["serve", &store], &environment);
        assert!(folder.path().join(file).exists(), "{store}");
        assert!(program.stop("TERM").0.success());
    }
}

#[test]
fn read_only_makes_no_store() {
    let refused = refusal(&["serve", "--read-only"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    assert!(refused.contains("there is no file"), "{refused}");
}

#[test]
fn the_admin_token_comes_from_a_private_file() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("token");
    let name = file.to_str().unwrap();
    fs::write(&file, format!("{ADMIN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let start = ["serve", "--store=memory"];
    let refused = refusal(&start, &[("SWARM_ADMIN_TOKEN_FILE", name)]);
    assert!(refused.contains(&format!("chmod 600 {name}")), "{refused}");

    fs::write(&file, "\u{feff}\r\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let refused = refusal(&start, &[("SWARM_ADMIN_TOKEN_FILE", name)]);
    assert!(refused.contains(&format!("SWARM_ADMIN_TOKEN_FILE: {name} is empty")), "{refused}");

    // As platforms hand over secrets: readable by the group of the service.
    fs::write(&file, format!("\u{feff}{ADMIN}\r\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
    let both = [("SWARM_ADMIN_TOKEN_FILE", name), ("SWARM_ADMIN_TOKEN", ADMIN)];
    assert!(refusal(&start, &both).contains("set one"));
    let program = Program::start_in(Arc::clone(&folder), &start, &both[..1]);
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    assert_eq!(program.client.operate("/subjects", &subject).status, 201);
}

#[test]
fn metrics_listen_moves_the_operations_to_their_own_address() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let apart = format!("127.0.0.1:{port}").parse().unwrap();
    let flag = format!("--metrics-listen={apart}");
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let program = Program::start(&["serve", "--store=memory", &flag], &environment);
    let public = program.client.address;
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert!(get(public, path).starts_with("HTTP/1.1 404"), "{path} on the public address");
        assert!(get(apart, path).starts_with("HTTP/1.1 200"), "{path} on its own");
    }
    assert!(get(apart, "/api/swarm/members").starts_with("HTTP/1.1 404"));
    assert!(get(public, "/api/swarm/members").starts_with("HTTP/1.1 200"));
    assert!(!get(public, "/openapi.json").contains("\"/metrics\""));
    let counted = "route=\"/api/swarm/members\"";
    assert!(get(apart, "/metrics").contains(counted), "the public address is counted");

    for path in ["/healthz", "/readyz", "/metrics"] {
        let probe = format!("GET {path} HTTP/1.0\r\n\r\n");
        assert!(talk(apart, &probe).starts_with("HTTP/1.0 200"), "{path} without a Host");
        assert!(talk(public, &probe).starts_with("HTTP/1.0 404"), "{path} without a Host");
    }

    let refused = refusal(&["serve", "--store=memory", "--metrics-listen=nowhere"], &[]);
    assert!(refused.contains("metrics_listen: must be HOST:PORT"), "{refused}");
}

/// Load balancers probe in HTTP/1.0 without a Host, or with an empty one.
#[test]
fn probes_need_no_host() {
    let file = crate::program::configuration(
        "probes.toml",
        &format!(
            "[[tenants]]\nid = \"acme\"\nhosts = [\"acme.example\"]\nadmin_token_hash = \"sha256:{:064}\"\n",
            0
        ),
    );
    let tenants = format!("--config={}", file.display());
    for arguments in [&["serve", "--store=memory"][..], &["serve", "--store=memory", &tenants]] {
        let (program, apart) = Program::with_operations_apart(arguments, &[]);
        for (address, request, status) in [
            (program.client.address, "GET /healthz", 404),
            (apart.address, "GET /healthz", 200),
            (apart.address, "OPTIONS /", 404),
        ] {
            let answer = talk(address, &format!("{request} HTTP/1.0\r\n\r\n"));
            assert!(answer.starts_with(&format!("HTTP/1.0 {status}")), "{request}: {answer}");
        }
        let program = Program::start(arguments, &[]);
        let address = program.client.address;
        for path in ["/healthz", "/readyz", "/metrics"] {
            for method in ["GET", "HEAD"] {
                let answer = talk(address, &format!("{method} {path} HTTP/1.0\r\n\r\n"));
                assert!(answer.starts_with("HTTP/1.0 200"), "{method} {path}: {answer}");
                for version in ["HTTP/1.0", "HTTP/1.1"] {
                    let probe =
                        format!("{method} {path} {version}\r\nHost: \r\nConnection: close\r\n\r\n");
                    let answer = talk(address, &probe);
                    assert!(answer.starts_with(&format!("{version} 200")), "{probe}: {answer}");
                }
            }
        }
        for request in
            ["GET /healthz HTTP/1.1", "GET / HTTP/1.0", "GET /api/swarm/members HTTP/1.0"]
        {
            let answer = talk(address, &format!("{request}\r\nconnection: close\r\n\r\n"));
            assert!(
                answer.contains(" 400 ") && answer.contains("missing host"),
                "{request}: {answer}"
            );
        }
        for request in ["GET /healthz HTTP/1.1\r\nHost: a b", "GET / HTTP/1.1\r\nHost:"] {
            let answer = talk(address, &format!("{request}\r\nconnection: close\r\n\r\n"));
            assert!(
                answer.contains(" 400 ") && answer.contains("invalid host"),
                "{request}: {answer}"
            );
        }
    }
}

/// A variable that is empty is not given, as compose files have them.
#[test]
fn empty_variables_are_not_given() {
    let variables = [
        "SWARM_STORE",
        "SWARM_CONFIG",
        "SWARM_SIGNING_KEY",
        "SWARM_ADMIN_TOKEN_FILE",
        "SWARM_TLS_CERT",
        "SWARM_TLS_KEY",
        "SWARM_METRICS_LISTEN",
        "SWARM_TRUST_FORWARDED",
        "SWARM_SMTP_URL",
        "SWARM_MAIL_FROM",
        "SWARM_LOG_FORMAT",
        "SWARM_URL",
        "SWARM_PROFILE",
        "RUST_LOG",
    ];
    let mut environment: Vec<_> = variables.iter().map(|name| (*name, "")).collect();
    let program =
        Program::start(&["serve"], &[&environment[..], &[("SWARM_ADMIN_TOKEN", "")]].concat());
    let (_, log) = program.stop("TERM");
    assert!(log.contains("admin token: adm_") && log.contains("created swarm.db"), "{log}");
    environment.push(("SWARM_ADMIN_TOKEN", ADMIN));
    let program = Program::start(&["serve"], &environment);
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    assert_eq!(program.client.operate("/subjects", &subject).status, 201);
}

/// Files that variables are read from end with a line end, which no value but a path may have.
#[test]
fn line_ends_are_no_part_of_variables() {
    let variables = [
        ("SWARM_LISTEN", "127.0.0.1:0\n"),
        ("SWARM_STORE", "memory\r\n"),
        ("SWARM_METRICS_LISTEN", "127.0.0.1:0\n"),
        ("SWARM_TRUST_FORWARDED", "true\n"),
        ("SWARM_SMTP_URL", "smtp://127.0.0.1:1\n"),
        ("SWARM_MAIL_FROM", "desk@acme.example\n"),
        ("SWARM_LOG_FORMAT", "json\n"),
    ];
    let checked = swarm(&["check"], &variables).output().unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success(), "{said}{:?}", checked.stderr);
    for line in
        ["listen: 127.0.0.1:0\n", "metrics: on 127.0.0.1:0 alone", "forwarded headers: trusted"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
}

/// Before the 10 s after which container platforms kill a process.
#[test]
#[allow(clippy::disallowed_methods, reason = "measures")]
fn stop_does_not_wait_long_for_a_client_that_stalls() {
    let program = Program::start(&["serve", "--store=memory"], &[]);
    let mut stalling = TcpStream::connect(program.client.address).unwrap();
    let head = "POST /api/swarm/apply HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    write!(stalling, "{head}content-length: 9\r\n\r\n{{").unwrap();
    program.client.get("/healthz").expect(200);
    let began = std::time::Instant::now();
    let (status, log) = program.stop("TERM");
    let took = began.elapsed().as_secs_f64();
    assert!(status.success() && (7.0..9.5).contains(&took), "{took} s: {log}");
}

/// The whole answer, as it came.
fn get(address: SocketAddr, path: &str) -> String {
    talk(address, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
}

/// All that the server sends after this request.
fn talk(address: SocketAddr, request: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}
