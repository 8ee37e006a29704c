//! Log and metrics of the server.

use serde_json::Value;
use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::hex;
use swarm_redis_testing::wait_until;

use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, configuration};

#[test]
fn refusals_are_logged_and_counted() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let program = Program::start(&["serve", "--store=memory"], &environment);
    let client = program.client.clone();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    let draft = author.draft("2026-11-21", "aurora");
    client.submit(&author, draft.clone()).expect(201);
    client.submit(&author, draft).expect(409);
    client.submit(&author, author.draft("2026-11-20", "two\nlines")).expect(404);
    let headers = [("authorization", author.bearer())];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    client.post("/api/swarm/submit", &headers, "{\"memberId\": \"m\"}").expect(400);
    client.post("/api/ic/submit", &[], "{}").expect(401);
    counts(&client, "swarm_submits_total{outcome=\"accepted\"} 1");
    counts(&client, "swarm_submits_total{outcome=\"nonce-used\"} 1");
    counts(&client, "swarm_submits_total{outcome=\"no-session\"} 1");
    counts(&client, "swarm_submits_total{outcome=\"invalid-submission\"} 1");
    counts(&client, "swarm_committee_submits_total{outcome=\"missing-key\"} 1");
    counts(&client, "swarm_log_lines_dropped_total 0");
    let (_, log) = program.stop("TERM");
    let line = |text: &str| {
        log.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text}: {log}"))
    };
    let refused = line("error=\"nonce-used\"");
    assert!(refused.contains(&format!("member=\"{}\"", author.id)), "{refused}");
    assert!(refused.contains("session=\"2026-11-21/aurora\""), "{refused}");
    assert!(line("error=\"no-session\"").contains(r#"session="2026-11-20/two\nlines""#));
    assert!(line("error=\"invalid-submission\"").contains("hint="));
    assert!(refused.contains("client=\"127.0.0.1\""), "{refused}");
    let accepted = line("status=201 micros");
    assert!(!accepted.contains("error=") && !accepted.contains("client="), "{accepted}");
}

/// U+0085 ends a line for some readers, and U+202E reverses what follows.
#[test]
fn json_lines_escape_what_terminals_obey() {
    const HOSTILE: &str = "a\u{85}b\u{9b}31mc\u{202e}d\u{2066}e\u{2028}";
    let arguments = ["serve", "--store=memory", "--log-format=json"];
    let program = Program::start(&arguments, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let author = Author::join(&program.client, "Ada");
    program.client.submit(&author, author.draft("2026-11-20", HOSTILE)).expect(404);
    let (_, log) = program.stop("TERM");
    assert!(!log.contains(|c: char| HOSTILE.contains(c) && !c.is_ascii()), "{log}");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    let mut refused = lines.filter(|line| line["fields"]["error"] == "no-session");
    assert_eq!(refused.next().unwrap()["span"]["session"], format!("2026-11-20/{HOSTILE}"));
}

#[test]
fn metrics_count_records_by_state() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let (program, operations) = Program::with_operations_apart(&["serve"], &environment);
    let client = program.client.clone();
    client.convene("2026-11-21", "aurora");
    client.convene("2026-11-21", "basalt");
    Author::join(&client, "Ada");
    Author::apply(&client, "Grace");
    let becomes = |line: &str| {
        let metrics = || operations.get("/metrics").expect(200).text;
        wait_until(line, || metrics().lines().any(|found| found == line));
    };
    becomes("swarm_open_sessions 2");
    becomes("swarm_pending_applications 1");
    becomes("swarm_outbox{state=\"queued\"} 1");
    becomes("swarm_outbox{state=\"failed\"} 0");
    // Two subjects, two sessions, and one claimed member.
    becomes("swarm_log_size 6");
    becomes("swarm_tenant_open_sessions{tenant=\"default\"} 2");
    becomes("swarm_tenant_pending_applications{tenant=\"default\"} 1");
    becomes("swarm_tenant_failed_messages{tenant=\"default\"} 0");
    becomes("swarm_tenant_log_size{tenant=\"default\"} 6");
}

#[test]
fn public_metrics_have_no_durations_and_name_no_tenant() {
    let hash = hex(AdminTokenHash::of(ADMIN.as_bytes()).as_bytes());
    let tenants = format!(
        "[[tenants]]\nid = \"secretive\"\nhosts = [\"127.0.0.1\"]\nadmin_token_hash = \"sha256:{hash}\"\n"
    );
    let file = configuration("public-metrics.toml", &tenants);
    let arguments = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let private = ["swarm_http_request_duration_seconds_sum", "tenant=\"secretive\""];
    let all_in = |metrics: &str| private.iter().all(|text| metrics.contains(text));

    let (program, operations) = Program::with_operations_apart(&arguments, &[]);
    program.client.convene("2026-11-21", "aurora");
    wait_until("the records are counted", || all_in(&operations.get("/metrics").expect(200).text));
    drop(program);

    let program = Program::start(&arguments, &[]);
    program.client.convene("2026-11-21", "aurora");
    let metrics = || program.client.get("/metrics").expect(200).text;
    wait_until("the records are counted", || metrics().contains("\nswarm_log_size 2\n"));
    let metrics = metrics();
    assert!(metrics.contains("swarm_http_requests_total{") && metrics.ends_with("# EOF\n"));
    assert!(!metrics.contains("duration") && !metrics.contains("secretive"), "{metrics}");
}

#[test]
fn refusals_are_logged_with_the_forwarded_client() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN), ("SWARM_TRUST_FORWARDED", "true")];
    let program = Program::start(&["serve", "--store=memory"], &environment);
    for (path, address) in [
        ("/nowhere", "203.0.113.1, 192.0.2.7"),
        ("/api/swarm/takes/1", "192.0.2.8"),
        ("/api/swarm/takes/2", "2001:db8:1:2:3::4"),
    ] {
        program.client.send("GET", path, &[("x-forwarded-for", address)], b"").expect(404);
    }
    let (_, log) = program.stop("TERM");
    for client in ["192.0.2.7", "192.0.2.8", "2001:db8:1:2::/64"] {
        assert!(log.contains(&format!("client=\"{client}\"")), "{client}: {log}");
    }
}

#[test]
fn unknown_hosts_are_logged() {
    let hash = hex(AdminTokenHash::of(ADMIN.as_bytes()).as_bytes());
    let tenants = format!(
        "[[tenants]]\nid = \"acme\"\nhosts = [\"acme.example\"]\nadmin_token_hash = \"sha256:{hash}\"\n"
    );
    let file = configuration("insight.toml", &tenants);
    let arguments = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let program = Program::start(&arguments, &[]);
    program.client.at("other.example").get("/api/swarm/members").unread(421, "unknown host");
    program.client.at("third.example").get("/nowhere").unread(421, "unknown host");
    program.client.at("acme.example").get("/api/swarm/members").expect(200);
    let (_, log) = program.stop("TERM");
    assert!(log.contains("host=\"other.example\""), "{log}");
    assert!(log.contains("host=\"third.example\""), "{log}");
    assert!(!log.contains("host=\"acme.example\""), "{log}");
}

#[track_caller]
fn counts(client: &Client, line: &str) {
    let metrics = client.get("/metrics").expect(200).text;
    assert!(metrics.lines().any(|found| found == line), "no {line}: {metrics}");
}
