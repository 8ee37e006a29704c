//! The binary `swarm`: start, stop, configuration, logs, exports, demo.

use std::fs::File;
use std::io::{Write as _, stderr};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use swarm_core::domain::AdminTokenHash;
use swarm_redis_testing::wait_until;

use crate::harness::{ADMIN, Author};
use crate::program::{Program, configuration, refusal, scratch_folder, send, swarm};

#[test]
fn shutdown_completes_requests_in_flight_and_exits_0() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        let client = program.client.clone();
        assert_eq!(client.get("/healthz").expect(200).json(), json!({ "status": "ok" }));
        client.get("/readyz").expect(200);
        client.convene("2026-11-21", "aurora");
        let metrics = client.get("/metrics").expect(200).text;
        assert!(
            metrics.contains(r#"route="/api/swarm/admin/sessions",status="201"} 1"#),
            "{metrics}"
        );
        let (status, _) = program.stop(signal);
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(TcpStream::connect(client.address).is_err());
    }
}

/// A store that does not answer. SIGHUP, which is taken up later, does not end it.
#[test]
fn start_that_waits_for_the_store_ends_at_a_signal_with_0() {
    for signal in ["TERM", "INT"] {
        let (folder, store) =
            (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = format!("--store=redis://{}", store.local_addr().unwrap());
        let arguments = ["serve", "--listen=127.0.0.1:0", &address];
        let server = swarm(&arguments, &[]).current_dir(folder.path()).spawn().unwrap();
        let _silent = store.accept().unwrap();
        for signal in ["HUP", signal] {
            send(signal, &server.id().to_string());
        }
        let output = server.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(log.contains(&format!("SIG{signal}: stopping")), "{log}");
    }
}

/// A pipe that nobody writes to, as a mount that does not answer.
#[test]
fn start_that_waits_for_a_file_ends_at_a_signal_with_0() {
    for (command, variable) in [
        ("serve", "SWARM_CONFIG"),
        ("serve", "SWARM_ADMIN_TOKEN_FILE"),
        ("demo", "SWARM_ADMIN_TOKEN_FILE"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap().success());
        let environment = [(variable, pipe.to_str().unwrap())];
        let mut server = swarm(&[command, "--listen=127.0.0.1:0"], &environment);
        let server = server.current_dir(folder.path()).spawn().unwrap();
        // Returns once the server reads.
        let _silent = File::options().write(true).open(&pipe).unwrap();
        send("TERM", &server.id().to_string());
        let output = server.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command} {variable}: {output:?}");
    }
}

/// As in a container, where the kernel ends no process without a handler. Not every machine lets a user make a process 1.
#[test]
fn command_that_is_process_1_ends_at_a_signal() {
    let process_1 = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    let tried = Command::new("unshare").args(process_1).arg("true").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        writeln!(stderr(), "SKIPPED: signals of process 1: no user may make one here").unwrap();
        return;
    }
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let folder = tempfile::tempdir().unwrap();
        let mut parent = Command::new("unshare")
            .args(process_1)
            .arg(env!("CARGO_BIN_EXE_swarm"))
            .args(["watch", "http://127.0.0.1:1", "--state=state", "--every=1h"])
            .current_dir(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let children = format!("/proc/{0}/task/{0}/children", parent.id());
        let mut ended = None;
        wait_until("it ends", || {
            // A signal that comes before the handler is lost.
            let process = std::fs::read_to_string(&children).unwrap_or_default();
            if let Some(process) = process.split_whitespace().next() {
                let _ = Command::new("kill").args(["-s", signal, process]).output();
            }
            ended = parent.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(status), "{signal}");
    }
}

#[test]
fn admin_token_is_generated_and_printed_once() {
    let program = Program::start(&["serve"], &[]);
    let client = program.client.clone();
    client.operate("/subjects", &json!({})).expect(401);
    let (_, log) = program.stop("TERM");
    let printed: Vec<_> =
        log.lines().filter(|line| line.starts_with("admin token: adm_")).collect();
    assert_eq!(printed.len(), 1, "{log}");
}

#[test]
fn start_that_fails_shows_no_token() {
    let store = format!("--store=redis://127.0.0.1:{}", swarm_redis_testing::free_port());
    let log = refusal(&["serve", &store], &[]);
    assert!(log.contains("127.0.0.1") && !log.contains("adm_"), "{log}");
}

#[test]
fn secrets_are_never_logged() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN), ("RUST_LOG", "trace")];
    let program = Program::start(&["serve", "--log-format=json"], &environment);
    let client = program.client.clone();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    client.post("/api/swarm/submit", &[("authorization", &author.bearer())], "{").expect(400);
    let wrong = [("x-admin-token", "adm_wrong_secret")];
    client.post("/api/swarm/admin/activate", &wrong, "{}").expect(401);
    let (_, log) = program.stop("TERM");
    assert!(log.contains("/api/swarm/submit"), "{log}");
    for line in log.lines() {
        let _: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    }
    for secret in [author.token.as_str(), "adm_wrong_secret", ADMIN] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn json_lines_name_the_cause_of_a_store_failure() {
    let mut redis = swarm_redis_testing::Server::start(&[]);
    let store = format!("--store={}", redis.url());
    let program = Program::start(&["serve", "--log-format=json", &store], &[]);
    let client = program.client.clone();
    redis.stop();
    swarm_redis_testing::wait_until("the store is missed", || client.get("/readyz").status == 503);
    let (_, log) = program.stop("TERM");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lines = lines.filter(|line| line["fields"]["message"] == "the store is not ready");
    let error = lines.next().expect(&log)["fields"]["error"].as_str().unwrap().to_owned();
    // The kind of the failure, the operation, and the cause.
    assert!(error.split(": ").count() > 2, "{error}");
}

#[test]
fn flags_override_the_configuration_file() {
    let hash = |token: &str| {
        let hex: String = AdminTokenHash::of(token.as_bytes())
            .as_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        format!("sha256:{hex}")
    };
    let text = format!(
        r#"
        listen = "256.256.256.256:1"
        log_format = "json"
        [[tenants]]
        id = "acme"
        hosts = ["acme.example", "www.acme.example"]
        public_origin = "https://acme.example"
        admin_token_hash = "{}"
        [tenants.committee]
        key_prefix = "ic"
        brief_at = "22:45"
        deadline = "23:25"
        [[tenants]]
        id = "zenith"
        hosts = ["zenith.example"]
        admin_token_hash = "{}"
        "#,
        hash(ADMIN),
        hash("another"),
    );
    let file = configuration("tenants.toml", &text);
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let at = |host: &str| program.client.at(host);
    at("acme.example").convene("2026-11-21", "aurora");
    at("WWW.acme.example:8080").get("/api/swarm/subjects/aurora").expect(200);
    at("zenith.example").get("/api/swarm/subjects/aurora").expect(404);
    at("zenith.example").operate("/subjects", &json!({})).expect(401);
    program.client.get("/api/swarm/members").unread(421, "unknown host");
    program.client.get("/healthz").expect(200);
}

#[test]
fn invalid_configuration_is_named_and_fails_the_start() {
    let tenant = |line: &str| {
        let hash = format!("sha256:{}", "0".repeat(64));
        let text = format!(
            "[[tenants]]\nid = \"acme\"\nhosts = [\"acme.example\"]\nadmin_token_hash = \"{hash}\"\n"
        );
        match line.split_once(" = ") {
            Some((key, _)) => {
                let kept: Vec<_> = text.lines().filter(|kept| !kept.starts_with(key)).collect();
                format!("{}\n{line}\n", kept.join("\n"))
            }
            None => format!("{text}{line}\n{text}"),
        }
    };
    let acme = tenant("public_origin = \"https://acme.example\"");
    let acme = acme + "committee = { export_to = \"briefs\" }\n";
    let both = format!("{acme}{}", acme.replace("acme", "bolt").replace("briefs", "./briefs"));
    for (at, (text, named)) in [
        (both, "another tenant's"),
        (acme.replace("briefs", ""), "export_to is no folder"),
        ("colour = 1".to_owned(), "colour"),
        ("mail_from = \"desk\"".to_owned(), "mail_from: must be"),
        ("log_format = \"loud\"".to_owned(), "loud"),
        ("store = \"postgres://x\"".to_owned(), "store"),
        (tenant("id = \"Acme\""), "id"),
        (tenant("hosts = []"), "hosts"),
        (tenant("hosts = [\"acme.example:80\"]"), "hosts"),
        (tenant("admin_token_hash = \"secret\""), "admin_token_hash"),
        (tenant("public_origin = \"acme\""), "public_origin"),
        (tenant("committee = { key_prefix = \"I-C\" }"), "key_prefix"),
        (tenant("committee = { brief_at = \"25:00\" }"), "brief_at"),
        (tenant("committee = { export_to = \"briefs\" }"), "public_origin"),
        (tenant("committee = { export_mode = \"999\" }"), "committee.export_mode must be written"),
        (tenant("committee = { export_mode = \"0666\" }"), "committee.export_mode must not let"),
        (tenant("committee = { dead_line = \"23:25\" }"), "dead_line"),
        (tenant("extra = 1"), "extra"),
        (tenant(""), "acme"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = configuration(&format!("bad-{at}.toml"), &text);
        let said = refusal(&["serve", "--config", file.to_str().unwrap()], &[]);
        assert!(said.contains(named), "{text}\n{said}");
    }
    for (arguments, environment, named) in [
        (&["serve", "--colour=red"][..], &[][..], "--colour"),
        (&["serve", "--listen=nowhere"], &[], "nowhere"),
        (&["serve", "--mail-from=desk"], &[], "mail_from: must be desk@example.org"),
        (&["serve", "--config=/nonexistent.toml"], &[], "/nonexistent.toml"),
        (&["serve"], &[("SWARM_LOG_FORMAT", "loud")], "loud"),
        (
            &["serve"],
            &[("SWARM_SIGNING_KEY", "\"a.key\"")],
            "signing_key: \"\\\"a.key\\\"\" is in quotation",
        ),
        (&["serve"], &[("SWARM_TLS_CERT", "a.pem\r")], "tls_cert: \"a.pem\\r\" has white space"),
        (&["serve"], &[("RUST_LOG", "foo=bar")], "RUST_LOG: \"foo=bar\""),
        (&["serve"], &[("RUST_LOG", "verbose")], "RUST_LOG: \"verbose\": is no level"),
        (&["serve"], &[("SWARM_TRUST_FORWARDED", "maybe")], "maybe"),
        (&["serve"], &[("SWARM_ADMIN_TOKEN", "token ")], "SWARM_ADMIN_TOKEN"),
        (&["serve", "--store=redis://127.0.0.1:1"], &[], "store"),
        (&["serve", "--store=redis://127.0.0.1?strict=very"], &[], "strict must be"),
        (&["serve", "--store=postgres://127.0.0.1:1"], &[], "store"),
        (&["serve", "--store=postgres://127.0.0.1?pool=0"], &[], "pool must be"),
        (&["serve", "--store=redis-cluster://127.0.0.1:1?wait=-1"], &[], "wait must be"),
        (&["serve", "--store=redis-sentinel://127.0.0.1:1"], &[], "/name"),
        (&["serve", "--store=sqlite:"], &[], "store"),
        (&["serve", "--store=sqlite:nowhere/swarm.db"], &[], "nowhere/swarm.db"),
        (&["serve", "--store=postgres://127.0.0.1"], &[], "store"),
        (&["demo", "--store=memory"], &[], "--store"),
        (&[], &[], "serve"),
    ] {
        let said = refusal(arguments, environment);
        assert!(said.contains(named), "{arguments:?} {environment:?}\n{said}");
    }
}

#[test]
fn briefs_are_exported_whole_and_stale_ones_removed() {
    let folder = scratch_folder().join("briefs");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("gone.json"), r#"{"member":{"id":"gone"}}"#).unwrap();
    // A file of someone else.
    std::fs::write(folder.join("index.json"), r#"{"member":{"id":"gone"}}"#).unwrap();
    let hash = AdminTokenHash::of(ADMIN.as_bytes());
    let hex: String = hash.as_bytes().iter().map(|b| format!("{b:02x}")).collect();
    let text = format!(
        "[[tenants]]\nid = \"acme\"\nhosts = [\"acme.example\"]\nadmin_token_hash = \"sha256:{hex}\"\n\
         public_origin = \"https://acme.example\"\ncommittee = {{ export_to = {folder:?} }}\n"
    );
    let file = configuration("export.toml", &text);
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let client = program.client.at("acme.example");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let admin = [("x-admin-token", ADMIN)];
    for id in ["ada", "bob"] {
        let member = json!({ "id": id, "name": id }).to_string();
        client.post("/api/ic/admin/members", &admin, &member).expect(201);
    }
    let files = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let becomes = |expected: &[&str]| {
        wait_until(&format!("the files are {expected:?}"), || files() == expected);
    };
    client.post("/api/ic/admin/briefs", &admin, "{}").expect(201);
    becomes(&["ada.json", "bob.json", "index.json"]);
    let brief = std::fs::read_to_string(folder.join("ada.json")).unwrap();
    let brief: Value = serde_json::from_str(&brief).unwrap();
    assert_eq!(brief["submit_to"], "https://acme.example/api/ic/submit");
    let inactive = json!({ "status": "inactive" }).to_string();
    client.post("/api/ic/admin/members/bob/status", &admin, &inactive).expect(200);
    client.post("/api/ic/admin/briefs", &admin, "{}").expect(201);
    becomes(&["ada.json", "index.json"]);
}

/// One truth: status, command line, console and metrics say that the briefs are not exported, and why, until they are.
#[test]
fn export_that_fails_is_told_everywhere_until_it_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let briefs = folder.path().join("briefs");
    std::fs::write(&briefs, "A file is in the place of the folder.").unwrap();
    let hosts = "hosts = [\"127.0.0.1\"]\npublic_origin = \"https://acme.example\"";
    let text = format!(
        "[[tenants]]\nid = \"acme\"\n{hosts}\nadmin_token_hash = \"{}\"\n\
         committee = {{ export_to = {briefs:?} }}\n",
        crate::tenant_configuration::hash(ADMIN)
    );
    let file = configuration("export-fails.toml", &text);
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let (client, user) = (&program.client, crate::commands::User::of(&program));
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let admin = [("x-admin-token", ADMIN)];
    client.post("/api/ic/admin/members", &admin, r#"{"id":"ada","name":"Ada"}"#).expect(201);
    client.post("/api/ic/admin/briefs", &admin, "{}").expect(201);
    let status = || client.send("GET", "/api/swarm/admin/status", &admin, b"").expect(200).json();
    let metric = |count: usize| {
        let metrics = client.get("/metrics").expect(200).text;
        metrics.contains(&format!("\nswarm_exports_failing {count}\n"))
    };
    wait_until("it is told", || status()["export"].is_string());
    let told = status();
    let why = told["export"].as_str().unwrap();
    assert!(why.starts_with(briefs.to_str().unwrap()), "{why}");
    let message = format!("the briefs of the committee are not exported: {why}");
    let need = &told["agenda"]["needs"][0];
    assert_eq!((&need["code"], &need["message"]), (&json!("export"), &json!(message)));
    assert!(metric(1));
    assert!(user.admin("status").ok().contains(&message));
    let visitor = crate::console::visitor::Visitor::signed_in(client);
    visitor.get("/operate").expect(200).says("The briefs of the committee are not exported");

    std::fs::remove_file(&briefs).unwrap();
    wait_until("they are exported", || briefs.join("ada.json").exists());
    wait_until("it is told no more", || status()["export"].is_null() && metric(0));
    let (_, log) = program.stop("TERM");
    assert_eq!(log.matches("briefs not exported").count(), 1, "{log}");
    assert!(log.contains("briefs are exported again"), "{log}");
}

/// A server without a mail server does not say that a message is about to be sent.
#[test]
fn status_of_a_server_without_mail_says_that_messages_stay() {
    let (program, user) = crate::commands::desk();
    crate::harness::Author::join(&program.client, "Ada");
    let status = user.admin("status --json").json();
    let fine = status["agenda"]["fine"].as_array().unwrap();
    let mail = fine.iter().find(|item| item["code"] == "mail").unwrap();
    assert_eq!(mail["message"], "1 message stays in the outbox: there is no mail server");
    assert_eq!(status["mailServer"], false);
    let line = "mail: 1 queued, 0 failed, 0 undeliverable; there is no mail server\n";
    assert!(user.admin("status").ok().contains(line));
    let test = user.admin("mail test ada@acme.example");
    assert!(
        test.err.contains("message 2 stays in the outbox: there is no mail server"),
        "{}",
        test.err
    );
}

#[test]
fn passwords_in_invalid_configuration_are_not_printed() {
    for text in [
        "smtp_uri = \"smtps://user:hunter2@mail.example\"",
        "smtp_url = \"smtps://user:hunter2@mail.example",
        "smtp_url = \"smtps://user:hunter2@mail.example\"",
        "store = \"redis://:hunter2@127.0.0.1:1\"",
        "store = \"redis://:hunter2@127.0.0.1:hunter2\"",
        "store = \"redis://:hunter2@127.0.0.1/hunter2\"",
        "store = \"redis://:hunter2@127.0.0.1?hunter2\"",
        "store = \"postgres://ada:hunter2@127.0.0.1:1\"",
        "store = \"postgres://ada@127.0.0.1:1?password=hunter2\"",
        "store = \"postgres://ada:hunter2@127.0.0.1:hunter2\"",
        "store = \"redis-cluster://:hunter2@127.0.0.1:1\"",
        "store = \"redis-cluster://:hunter2@\"",
        "store = \"redis-cluster://:hunter2@127.0.0.1:hunter2,127.0.0.1:1\"",
        // The name of the primary is shown.
        "store = \"redis-sentinel://:hunter2@127.0.0.1:1/primary\"",
        "store = \"redis-sentinel://:hunter2@127.0.0.1:hunter2/hunter2\"",
        "store = \"redis-sentinel://:hunter2@127.0.0.1:1\"",
    ] {
        let file = configuration("secret.toml", text);
        let said = refusal(&["serve", "--config", file.to_str().unwrap()], &[]);
        assert!(!said.contains("hunter2"), "{said}");
    }
    let said = refusal(&["serve", "--store", "redis://ada:hunter2@127.0.0.1:1/0"], &[]);
    assert!(said.contains("store: redis://127.0.0.1:1/0: store unavailable"), "{said}");
    let environment =
        [("SWARM_STORE", "redis://:hunter2@a"), ("SWARM_SMTP_URL", "smtp://:hunter2@a")];
    let help = swarm(&["serve", "--help"], &environment).output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("hunter2"));
}

#[test]
fn demo_prints_links_to_its_takes() {
    let (program, printed) = Program::demo();
    let (mut opened, mut shown) = (0, String::new());
    for line in printed.lines() {
        let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) else {
            continue;
        };
        let path = url.trim_start_matches(&format!("http://{}", program.client.address));
        if path.starts_with('/') {
            shown += &program.client.get(path).expect(200).text;
            opened += 1;
        }
    }
    // Ten links, one to verify, and the console.
    assert_eq!(opened, 12);
    assert!(shown.contains("<em>always neutral</em>"), "a year of outcomes");
    assert!(shown.contains("For practice: every active member may file here"), "{shown}");
    assert!(shown.contains("Sealed until the session is opened"), "{shown}");
    assert!(shown.contains("Second look: volume confirms what the spread said."), "{shown}");
    assert_eq!(program.stop("INT").0.code(), Some(0));
}

#[test]
fn demo_has_a_session_that_counts_and_one_for_practice_for_a_newcomer() {
    let (program, _) = Program::demo();
    let client = &program.client;
    let newcomer = Author::join(client, "Newcomer");
    let bearer = [("authorization", &*newcomer.bearer())];
    let owed = client.send("GET", "/api/swarm/me", &bearer, b"").expect(200).json();
    let open: Vec<_> =
        owed["sessions"].as_array().unwrap().iter().filter(|it| it["mayFile"] == true).collect();
    let practice: Vec<_> = open.iter().map(|session| session["practice"] == true).collect();
    assert!(practice.contains(&true) && practice.contains(&false), "{owed}");
    for session in open {
        let of = |field: &str| session[field].as_str().unwrap();
        client.submit(&newcomer, newcomer.draft(of("date"), of("subjectId"))).expect(201);
    }
}

#[test]
fn window_is_closed_within_15_s_of_its_deadline() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    client.convene("2026-11-21", "aurora");
    client.convene("2026-11-21", "basalt");
    let patch = json!({ "windowClosesAt": "2026-11-20T00:00:00Z" }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    client.send("PATCH", "/api/swarm/admin/sessions/1", &headers, patch.as_bytes()).expect(200);
    let state = |session: u64| {
        let read = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
        read["session"]["state"].as_str().unwrap().to_owned()
    };
    wait_until("the window is closed", || state(1) == "window_closed");
    assert_eq!(state(2), "collecting");
}
