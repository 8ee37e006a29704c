//! The configuration of tenants: `swarm check`, and reload at SIGHUP.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use swarm_core::domain::AdminTokenHash;
use swarm_redis_testing::wait_until;

use crate::harness::ADMIN;
use crate::program::{Program, configuration, refusal, swarm};

const ADA: &str = "adm_ada_0123456789";

pub fn hash(token: &str) -> String {
    let hash = AdminTokenHash::of(token.as_bytes());
    let hex: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A tenant of this id with the operators `operator` and `ada`, and these lines.
pub fn tenant(id: &str, lines: &str) -> String {
    let (operator, ada) = (hash(ADMIN), hash(ADA));
    format!(
        "[[tenants]]\nid = \"{id}\"\nhosts = [\"{id}.example\"]\n\
         admin_token_hash = \"{operator}\"\n\
         admin_tokens = [{{ name = \"ada\", hash = \"{ada}\" }}]\n{lines}\n"
    )
}

fn everything() -> String {
    let lines = "name = \"Acme desk\"\nabout = \"Analysts on lending markets.\"\n\
                 public_origin = \"https://acme.example\"\n\
                 mail_from = \"Acme <desk@acme.example>\"\nretention_days = 90\nnoindex = true\n\
                 footer = [{ text = \"Imprint <1>\", url = \"https://acme.example/imprint?a&b\" }]\n\
                 [tenants.quotas]\npending_applications = 5\nmemos_per_day = 0\n\
                 [[tenants.schedule]]\nsubjects = [\"lending\", \"perps\"]\ndays = [\"fri\", \"mon\"]\n\
                 opens = \"14:00\"\ncloses_after = \"5h\"\nroster = \"active\"\nquorum = 5\n\
                 buckets = [\"hold\", \"add\"]\nbrief = true\naggregate = true\n\
                 [[tenants.schedule]]\nsubject = \"lending\"\nopens = \"22:00\"\ncloses = \"01:00\"\nblind = true\n\
                 stances = [{ name = \"buy\", rank = 1.5 }, { name = \"sell\", rank = -1 }]\n\
                 max_revisions = 1\nmethod = \"weighted_median\"\n\
                 timezone = \"America/New_York\"\nskip = [\"2026-12-25\"]\n\
                 [tenants.committee]\nbrief_at = \"21:00\"\nkey_prefix = \"desk\"\n";
    tenant("acme", lines) + &tenant("bolt", "")
}

#[test]
fn check_prints_the_effective_configuration() {
    let file = configuration(
        "check.toml",
        &("store = \"redis://:hunter2@h:1/0?strict=true\"\n".to_owned()
            + &everything().replace(
                "[tenants.committee]",
                "[tenants.committee]\nexport_to = \"/srv/briefs\"",
            )),
    );
    let folder = tempfile::tempdir().unwrap();
    let mut check = swarm(&["check", "--config", file.to_str().unwrap()], &[]);
    let output = check.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for line in [
        "store: redis://h:1/0?strict=true",
        "acme: \"Acme desk\" on acme.example; operated by operator (admin), ada (admin)",
        "briefs at 21:00",
        "acme: warning: key_prefix is \"desk\"",
        "bolt: \"bolt\" on bolt.example",
        "mail: none, messages stay in the outbox",
        "forwarded headers: ignored",
        "acme: origin: https://acme.example",
        "acme: mail from: Acme <desk@acme.example>",
        "pending_applications: 5, applications_per_address: 1000, pending_days: 30, memos_per_day: 0",
        "acme: retention: applications that came to nothing, 90 days",
        "acme: noindex: search engines are kept out",
        "acme: footer: \"Imprint <1>\" to https://acme.example/imprint?a&b",
        "acme: schedule: \"lending\" and in turn \"perps\", mon fri, 14:00 UTC for 5h; roster: active members; \
         quorum 5; buckets \"hold\", \"add\"; brief, aggregate",
        "acme: schedule: \"lending\", daily, 22:00 America/New_York until 01:00; not on 2026-12-25; blind; \
         stances \"sell\" -1, \"buy\" 1.5; max_revisions 1; method weighted_median\n",
        "signing key: swarm.key, which serve makes",
        "acme: export: briefs to /srv/briefs",
        "bolt: origin: the one in use",
        "bolt: warning: the log is called localhost/…: set public_origin",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!said.contains("bolt: warning: key_prefix"), "{said}");
    assert!(!said.contains("acme: warning: the log"), "{said}");
    let next: Vec<_> = said.lines().filter(|line| line.contains("schedule: next: ")).collect();
    assert_eq!(next.len(), 6, "{said}");
    assert!(next[..3].iter().all(|line| line.contains("T14:00:00.000Z \"")), "{next:?}");
    let is_local = |line: &&str| {
        line.contains("T22:00:00-0") && line.ends_with(":00 America/New_York \"lending\"")
    };
    assert!(next[3..].iter().all(is_local), "{next:?}");
    assert!(!said.contains("hunter2"), "{said}");
    // Flags and the environment override the file, as for serve.
    let said =
        refusal(&["check", "--config", file.to_str().unwrap()], &[("SWARM_STORE", "nowhere")]);
    assert!(said.contains("store: must be"), "{said}");
    let tls = ["check", "--tls-cert=missing.pem", "--tls-key=missing.key"];
    assert!(refusal(&tls, &[]).contains("/missing.pem: No such file"));
}

#[test]
fn invalid_tenant_settings_are_named() {
    let bad_hash = "admin_tokens = [{ name = \"ada\", hash = \"sha256:0\" }]";
    let with = |lines: &str| tenant("acme", lines);
    let without = |key: &str, line: &str| {
        let kept: Vec<_> =
            with("").lines().filter(|it| !it.starts_with(key)).map(str::to_owned).collect();
        kept.join("\n") + "\n" + line + "\n"
    };
    let same = format!("admin_tokens = [{{ name = \"bob\", hash = \"{}\" }}]", hash(ADMIN));
    let role = format!(
        "admin_tokens = [{{ name = \"ada\", hash = \"{}\", role = \"chair\" }}]",
        hash(ADA)
    );
    let thrice = format!(
        "admin_tokens = [{}]",
        ["1", "2", "3"]
            .map(|it| format!("{{ name = \"ada\", hash = \"{}\" }}", hash(it)))
            .join(", ")
    );
    for (at, (text, named)) in [
        (without("admin_tokens", &role), "\"ada\": role: must be admin, operator or reader"),
        (without("admin_tokens", &thrice), "at most two hashes"),
        (with("[tenants.quotas]\nmemos = 1"), "memos"),
        (with("[tenants.quotas]\nmemos_per_day = -1"), "memos_per_day"),
        (with("[tenants.quotas]\npending_days = 0"), "pending_days"),
        (with("name = \"\""), "name"),
        (with("retention_days = 0"), "retention_days"),
        (
            with("footer = [{ text = \"Imprint\", url = \"javascript:alert(1)\" }]"),
            "footer: \"Imprint\"",
        ),
        (with("footer = [{ text = \"\", url = \"https://a.example\" }]"), "footer: \"\""),
        (with(&format!("footer = [{}]", LINK.repeat(7))), "footer: must be at most 6"),
        (with("about = \"one\\ntwo\""), "about"),
        (with("mail_from = \"nobody\""), "mail_from"),
        (with("public_origin = \"https://user@acme.example\""), "public_origin"),
        // A file is named by its full path.
        (
            with(
                "[[tenants.webhooks]]\nurl = \"https://a.example\"\nsecret_file = \"hook.secret\"",
            ),
            "/hook.secret: No such file",
        ),
        (without("admin_tokens", bad_hash), "admin_tokens"),
        (without("admin_tokens", "admin_tokens = [{ name = \"ada\" }]"), "hash"),
        (without("admin_tokens", &same), "\"bob\": a hash stands under one name"),
        (without("admin_tokens", &same.replace("bob", "schedule")), "schedule"),
        (without("admin_token", ""), "admin_token_hash"),
        (
            with("[tenants.committee]\nbrief_at = 21:00:00"),
            "brief_at: a date or a time must be in quotation marks",
        ),
        (
            with(
                "[[tenants.schedule]]\nsubject = \"lending\"\nopens = \"14:00\"\nskip = [2026-12-25]",
            ),
            "skip: a date or a time must be in quotation marks",
        ),
        (with("name = { 2026-12-25 = 1 }"), "name: invalid type: map"),
        (with("retention_days = 2026-12-25"), "retention_days: invalid type: map"),
        (
            with("") + &with("").replace("id = \"acme\"", "id = \"bolt\""),
            "tenants: duplicate host \"acme.example\" of \"acme\" and \"bolt\"",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let file = configuration(&format!("bad-tenant-{at}.toml"), &text);
        let file = file.to_str().unwrap();
        for command in ["check", "serve"] {
            let said = refusal(&[command, "--config", file], &[]);
            assert!(said.contains(named), "{command}: {text}\n{said}");
        }
    }
    let said = refusal(&["serve"], &[("SWARM_ADMIN_TOKEN", "fifteen_letters")]);
    assert!(said.contains("SWARM_ADMIN_TOKEN has fewer than 16"), "{said}");
    let said = refusal(&["serve"], &[("SWARM_ADMIN_TOKEN", "adm_ünder_den_Linden")]);
    assert!(said.contains("SWARM_ADMIN_TOKEN has a character outside ASCII"), "{said}");
}

#[test]
fn check_refuses_invalid_store_and_mail_addresses() {
    for listen in ["nowhere", ":8080", "127.0.0.1:80800", "*:8080", "tcp://0.0.0.0:8080"] {
        for command in ["check", "serve"] {
            let said = refusal(&[command], &[("SWARM_LISTEN", listen)]);
            assert!(said.contains("listen: must be HOST:PORT"), "{command}: {listen}\n{said}");
        }
    }
    for metrics_listen in ["127.0.0.1:8081", "0.0.0.0:8081"] {
        let flags = ["--listen=127.0.0.1:8081", "--metrics-listen", metrics_listen];
        for command in ["check", "serve"] {
            let said = refusal(&[&[command], &flags[..]].concat(), &[]);
            assert!(said.contains("metrics_listen: must be another address"), "{command}: {said}");
        }
    }
    for (listen, metrics_listen) in [
        ("0.0.0.0:8081", "[::1]:8081"),
        ("localhost:0", "localhost:0"),
        ("my_desk-1.example:8081", "[fe80::1%eth0]:8081"),
    ] {
        let flags = ["check", "--listen", listen, "--metrics-listen", metrics_listen];
        let checked = swarm(&flags, &[]).output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
    for (line, named) in [
        ("store = \"sqlite:\"", "store: must be"),
        ("store = \"sqlite:x.db?strict=true\"", "store: sqlite:PATH has no parameters"),
        ("store = \"sqlite::memory:\"", "the store in memory is called memory"),
        ("store = \"sqlite:///:memory:\"", "the store in memory is called memory"),
        ("store = \"sqlite:file:x.db\"", "store: sqlite:PATH is the path of a file"),
        ("store = \"redis://h:port\"", "store: redis: "),
        ("store = \"redis://ada:hunter2\"", "store: redis: "),
        ("store = \"redis://ada:12345?6@h\"", "store: redis: "),
        ("store = \"redis://h/first\"", "store: redis://h"),
        ("store = \"redis://h?strict=very\"", "strict must be"),
        ("store = \"redis-cluster://\"", "store: redis-cluster: "),
        ("store = \"redis-sentinel://h:1\"", "/name"),
        ("smtp_url = \"nowhere\"\nmail_from = \"a@acme.example\"", "smtp_url"),
        ("smtp_url = \"smtp://h\"\nmail_from = \"nobody\"", "mail_from"),
    ] {
        let file = configuration("bad-address.toml", &format!("{line}\n{}", tenant("acme", "")));
        for command in ["check", "serve"] {
            let said = refusal(&[command, "--config", file.to_str().unwrap()], &[]);
            assert!(said.contains(named), "{command}: {line}\n{said}");
        }
    }
}

/// Links of both lead to one of them.
#[test]
fn tenants_with_one_public_origin_are_warned_of() {
    let origin = "public_origin = \"https://desk.example\"";
    let text = tenant("acme", origin) + &tenant("bolt", origin);
    let file = configuration("one-origin.toml", &text);
    let file = file.to_str().unwrap();
    let output = swarm(&["check", "--config", file], &[]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let warning = "public_origin is https://desk.example, as of ";
    assert!(output.status.success() && said.contains(&format!("warning: {warning}")), "{said}");
    let (_, log) = Program::start(&["serve", "--config", file], &[]).stop("TERM");
    assert_eq!(log.matches(warning).count(), 1, "{log}");
}

#[test]
fn store_is_not_created_when_the_port_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let output =
        swarm(&["serve", "--listen", &address], &environment).current_dir(&folder).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn sighup_reloads_the_tenants() {
    let file = configuration("hangup.toml", &everything());
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let at = |host: &str| program.client.at(host);
    let serves = |host: &str| at(host).get("/api/swarm/subjects").status;
    at("acme.example").convene("2026-11-21", "aurora");
    let rewrite = |text: &str, expected: [u16; 3]| {
        std::fs::write(&file, text).unwrap();
        program.signal("HUP");
        let hosts = ["acme.example", "bolt.example", "zenith.example"];
        wait_until(&format!("the hosts answer {expected:?}"), || hosts.map(serves) == expected);
    };
    rewrite(&(tenant("acme", "") + &tenant("zenith", "")), [200, 421, 200]);
    at("acme.example").get("/api/swarm/subjects/aurora").expect(200);
    // An invalid file changes nothing; the next valid one is applied.
    std::fs::write(&file, tenant("bolt", "colour = 1")).unwrap();
    program.signal("HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(["acme.example", "bolt.example"].map(serves), [200, 421]);
    rewrite(&tenant("bolt", ""), [421, 200, 421]);
    let (status, log) = program.stop("TERM");
    assert!(status.success() && log.contains("colour"), "{log}");
    // The first change removed a key prefix.
    assert_eq!(log.matches("key_prefix changed").count(), 1, "{log}");
}

/// Another process removed it, so that its log went back.
#[test]
fn tenant_that_is_served_no_more_does_not_count_for_readiness() {
    let file = configuration("removed.toml", &(tenant("acme", "") + &tenant("bolt", "")));
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    program.client.at("bolt.example").convene("2026-11-21", "aurora");
    let remove = ["remove", "--store=sqlite:swarm.db", "--tenant=bolt", "--yes"];
    let removed = swarm(&remove, &[]).current_dir(program.folder.path()).output().unwrap();
    assert!(removed.status.success(), "{removed:?}");
    let ready = || program.client.get("/readyz");
    wait_until("it is noticed", || ready().status == 503);
    let why = ready().json()["detail"].to_string();
    assert!(why.contains("bolt: the log is not the one that was seen before"), "{why}");
    std::fs::write(&file, tenant("acme", "")).unwrap();
    program.signal("HUP");
    wait_until("it is ready", || ready().status == 200);
    // It is still known what its log was.
    std::fs::write(&file, tenant("acme", "") + &tenant("bolt", "")).unwrap();
    program.signal("HUP");
    let bolt = program.client.at("bolt.example");
    wait_until("it is served", || bolt.get("/api/swarm/subjects").status == 200);
    bolt.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(503);
}

/// What this server has signed is remembered over a restart, also while the tenant is not in the file.
#[test]
fn log_of_a_new_tenant_is_checked_before_it_is_served() {
    let both = tenant("acme", "") + &tenant("bolt", "");
    let file = configuration("added.toml", &both);
    let serve = ["serve", "--config", file.to_str().unwrap()];
    let program = Program::start(&serve, &[]);
    let folder = Arc::clone(&program.folder);
    let [store, backup] = ["swarm.db", "backup.db"].map(|name| folder.path().join(name));
    program.client.at("acme.example").convene("2026-11-21", "aurora");
    program.stop("TERM");
    std::fs::copy(&store, &backup).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &serve, &[]);
    let bolt = program.client.at("bolt.example");
    bolt.convene("2026-11-21", "aurora");
    bolt.wait_until_all_is_signed();
    program.stop("TERM");
    std::fs::copy(&backup, &store).unwrap();
    std::fs::write(&file, tenant("acme", "")).unwrap();
    let program = Program::start_in(folder, &serve, &[]);
    std::fs::write(&file, both).unwrap();
    program.signal("HUP");
    let bolt = program.client.at("bolt.example");
    wait_until("it is served", || bolt.get("/api/swarm/subjects").status == 200);
    bolt.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(503);
}

/// A table of a footer, and a comma.
const LINK: &str = "{ text = \"About\", url = \"https://a.example\" },";

/// Whoever runs a desk may have to name an imprint on each page, and to stay out of search engines.
#[test]
fn footer_is_on_every_page_and_noindex_in_every_answer() {
    let file = configuration("footer.toml", &everything());
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let (acme, bolt) = (program.client.at("acme.example"), program.client.at("bolt.example"));
    let html = [("accept", "text/html")];
    let imprint = "<a href=\"https://acme.example/imprint?a&#38;b\">Imprint &#60;1&#62;</a>";
    let pages =
        ["/", "/swarm/sessions", "/swarm/members", "/swarm/log", "/docs", "/swarm/takes/77"];
    for page in pages {
        let answer = acme.send("GET", page, &html, b"");
        assert!(answer.text.contains(imprint), "{page}: {}", answer.text);
        assert!(!bolt.send("GET", page, &html, b"").text.contains("imprint"), "{page}");
    }
    for path in pages.into_iter().chain(["/api/swarm/subjects", "/robots.txt", "/feed.xml"]) {
        let robots = acme.send("GET", path, &html, b"").header("x-robots-tag").map(str::to_owned);
        assert_eq!(robots.as_deref(), Some("noindex, nofollow"), "{path}");
        assert_eq!(bolt.send("GET", path, &html, b"").header("x-robots-tag"), None, "{path}");
    }
    assert_eq!(acme.get("/robots.txt").text, "User-agent: *\nDisallow: /\n");
    assert!(bolt.get("/robots.txt").text.contains("Allow: /\n"));
}

/// A server may get the rest from flags or from the environment.
#[test]
fn dump_does_not_need_the_settings_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("swarm.db").display());
    let program = Program::start(&["serve", "--store", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    program.client.convene("2026-11-21", "aurora");
    drop(program);
    let text =
        "metrics_listen = \"127.0.0.1:8080\"\ntls_cert = \"cert.pem\"\nsmtp_url = \"smtp://h\"\n";
    let file = configuration("of-a-server.toml", &format!("{text}store = {store:?}\n"));
    let dumped = swarm(&["dump", "--config", file.to_str().unwrap()], &[]).output().unwrap();
    assert!(dumped.status.success(), "{dumped:?}");
}

#[test]
fn check_connects_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swarm.db");
    let store = format!("--store=sqlite:{}", path.display());
    let file = configuration("connect.toml", &tenant("bolt", ""));
    let file = format!("--config={}", file.display());
    let check = || {
        let output = swarm(&["check", "--connect", &store, &file], &[]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(check().contains("store: there is no file"));
    assert!(!path.exists());
    // That serve could not make, or would not.
    let nowhere = format!("--store=sqlite:{}/nowhere/swarm.db", folder.path().display());
    let said = refusal(&["check", "--connect", &nowhere], &[]);
    assert!(said.contains("store: there is no folder "), "{said}");
    let said = refusal(&["check", "--connect", "--read-only", &store], &[]);
    assert!(said.contains("store: there is no file "), "{said}");
    let left = path.with_extension("db-wal");
    std::fs::write(&left, "commits").unwrap();
    let said = refusal(&["check", "--connect", &store], &[]);
    assert!(said.contains("its -wal file is there"), "{said}");
    std::fs::remove_file(left).unwrap();
    let other = configuration("connect-other.toml", &(tenant("acme", "") + &tenant("bolt", "")));
    let program = Program::start(&["serve", &store, &format!("--config={}", other.display())], &[]);
    for host in ["acme.example", "bolt.example"] {
        program.client.at(host).convene("2026-11-21", "aurora");
    }
    drop(program);
    let said = check();
    assert!(said.contains("store: answers\n"), "{said}");
    let warning = "the store holds tenants that are not served: acme\n";
    assert!(said.contains(&format!("store: warning: {warning}")), "{said}");
    let program = Program::start(&["serve", &store, &file], &[]);
    let (_, log) = program.stop("TERM");
    assert!(log.contains(warning.trim_end()), "{log}");
    // Without a file, all but the default tenant.
    let program = Program::start(&["serve", &store], &[]);
    assert!(program.stop("TERM").1.contains("not served: acme, bolt"));
    let said = refusal(&["check", "--connect", "--store=redis://127.0.0.1:1"], &[]);
    assert!(said.contains("store: redis://127.0.0.1:1"), "{said}");
}

#[test]
fn sighup_names_what_wants_a_restart() {
    let file = configuration("restart.toml", &tenant("acme", ""));
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let text = "store = \"memory\"\nsigning_key = \"other.key\"\nlog_format = \"json\"\n\
                listen = \"127.0.0.1:1\"\n";
    std::fs::write(&file, text.to_owned() + &tenant("bolt", "")).unwrap();
    program.signal("HUP");
    let bolt = program.client.at("bolt.example");
    swarm_redis_testing::wait_until("the tenants are reloaded", || {
        bolt.get("/api/swarm/subjects").status == 200
    });
    let (_, log) = program.stop("TERM");
    // A flag beats the address in the file, also after a restart.
    assert!(log.contains("keys=\"store, signing_key, log_format\""), "{log}");
}

#[test]
fn operators_are_logged_by_name() {
    let file = configuration("operators.toml", &everything());
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    let client = program.client.at("acme.example");
    let subject = json!({ "id": "aurora", "name": "Aurora" }).to_string();
    for (token, status) in [(ADMIN, 201), (ADA, 200), ("adm_nobody_0123456789", 401)] {
        let headers = [("x-admin-token", token)];
        client.post("/api/swarm/admin/subjects", &headers, &subject).expect(status);
    }
    let (_, log) = program.stop("TERM");
    assert_eq!(log.matches("operator=\"ada\"").count(), 1, "{log}");
    assert_eq!(log.matches("operator=\"operator\"").count(), 1, "{log}");
}

#[test]
fn token_is_hashed_without_its_line_end_and_byte_order_mark() {
    let hashed = |text: &str| {
        let mut child = swarm(&["hash-token"], &[]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    for [before, after] in [
        ["", ""],
        ["", "\n"],
        ["", "\r\n"],
        ["\u{feff}", "\n"],
        ["\u{feff}", ""],
        ["", "\u{feff}"],
        ["\n", "\r"],
    ] {
        assert_eq!(hashed(&format!("{before}{ADMIN}{after}")), Some(hash(ADMIN) + "\n"));
    }
    for text in [
        "",
        "\n",
        "\u{feff}",
        "fifteen_letters\n",
        " adm_of_the_tests",
        "two lines of\nthe tests",
        "adm_of_the_tests\u{200b}",
        "adm_of\u{ad}_the_tests",
        "adm_of_the_tésts",
        "\"adm_of_the_tests\"",
        "'adm_of_the_tests'",
    ] {
        assert_eq!(hashed(text), None, "{text:?}");
    }
    let minted = swarm(&["hash-token", "--new"], &[]).output().unwrap();
    let minted = String::from_utf8(minted.stdout).unwrap();
    let [token, line] = minted.lines().collect::<Vec<_>>()[..] else { panic!("{minted}") };
    assert!(token.starts_with("adm_") && token.len() == 68, "{minted}");
    assert_eq!(line, hash(token));
}
