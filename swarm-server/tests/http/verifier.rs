//! The verifier in the browser, which says what `swarm verify` says, line by line (MANUAL.md, 10.7).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use swarm_redis_testing::wait_until;

use crate::clients::{NODE_TOOLS, node, node_tools};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, signed_text};
use crate::program::{Program, swarm};
use crate::receipts::printed;
use crate::routes;

const DAY: &str = "2026-11-21";
const HOSTILE: &str =
    "</span><img src=x onerror=document.title='owned'><script>document.title='owned'</script>";

/// Everything that the page of the verifier loads.
const PARTS: [&str; 5] = [
    "/verify.html",
    "/verify/page.js",
    "/verify/style.css",
    "/verify/verifier.js",
    "/verify/verifier.wasm",
];

#[test]
fn no_other_page_has_a_script() {
    let (fixture, _) = Fixture::with_records();
    let mut pages = 0;
    for route in routes::public_reads() {
        let page = fixture.client.send("GET", &route.path, &[("accept", "text/html")], b"");
        if !page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            continue;
        }
        pages += 1;
        let policy = page.header("content-security-policy").unwrap();
        let is_verifier = route.info.path == "/verify";
        assert_eq!(policy.contains("script-src"), is_verifier, "{}: {policy}", route.path);
        let scripts = page.text.matches("<script").count();
        assert_eq!(scripts, usize::from(is_verifier), "{}", route.path);
        assert!(
            policy.starts_with(
                "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'"
            )
        );
    }
    assert!(pages > 15, "{pages}");
    let page = fixture.client.get("/verify").expect(200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.ends_with("; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"),
        "{policy}"
    );
}

#[test]
fn parts_of_the_verifier_are_cached() {
    let (fixture, _) = Fixture::with_records();
    for path in PARTS {
        let answer = fixture.client.get(path).expect(200);
        let tag = answer.header("etag").unwrap().to_owned();
        fixture.client.send("GET", path, &[("if-none-match", &tag)], b"").expect(304);
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    let file = fixture.client.get("/verify.html").expect(200);
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"verify.html\""));
    assert_eq!(file.header("content-type"), Some("application/octet-stream"));
}

#[test]
fn page_links_and_titles_name_the_record() {
    let (fixture, _) = Fixture::with_records();
    let html = |path: &str| {
        fixture.client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
    };
    assert!(html("/swarm/takes/1").contains("href=\"/verify?take=1\""));
    assert!(html("/swarm/sessions/1").contains("href=\"/verify?session=1\""));
    assert!(html("/verify?session=1").contains("<title>Verify session 1 · "));
    assert!(html("/verify?take=1").contains("<title>Verify take 1 · "));
    // The commands are of what was asked for.
    for (asked, named, not_named) in [
        ("?session=9", "/api/swarm/sessions/9/bundle --key", "/api/swarm/takes/"),
        ("?take=7", "/api/swarm/takes/7 --key", "/api/swarm/sessions/"),
        ("", "/api/swarm/sessions/SESSION/bundle --key", "/api/swarm/sessions/1"),
    ] {
        let page = html(&format!("/verify{asked}"));
        assert!(page.contains(named) && !page.contains(not_named), "{asked}: {page}");
    }
    let refused = fixture.client.get("/verify?session=%3Cscript%3E").expect(400);
    assert!(!refused.text.contains("<script"), "{}", refused.text);
}

/// A key that signed nothing here (RFC 8032, section 7.1).
const OTHER_KEY: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

/// A take with hostile text, in an aggregated session of a server with a signed log.
struct Filed {
    program: Program,
    key: String,
    member_key: String,
    sent: String,
    receipt: String,
}

impl Filed {
    fn start() -> Self {
        let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        let client = &program.client;
        client.convene(DAY, "aurora");
        let ada = Author::join(client, "Ada");
        let take =
            json!({ "date": DAY, "subjectId": "aurora", "stance": "cautious", "body": HOSTILE });
        let sent = signed_text(&ada.key.sign(ada.draft_of(take)));
        let bearer = ada.bearer();
        let headers = [("authorization", bearer.as_str()), ("accept-signature", "swarm=()")];
        let receipt = printed(&client.post("/api/swarm/submit", &headers, &sent).expect(201));
        client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
        Self::file_tie(client, &ada);
        wait_until("the checkpoint has them", || {
            let has = |id| client.get(&format!("/api/swarm/sessions/{id}/bundle")).status == 200;
            has(1) && has(2)
        });
        let manifest = client.get("/.well-known/swarm.json").expect(200).json();
        let key = manifest["logKey"].as_str().unwrap().to_owned();
        let member_key = ada.key.public_key().to_string();
        Self { program, key, member_key, sent, receipt }
    }

    /// Session 2, whose score is as far from both ranks in decimals, but not in doubles.
    fn file_tie(client: &Client, ada: &Author) {
        client.operate("/subjects", &json!({ "id": "tie", "name": "Tie" })).expect(201);
        let stances = json!([{ "name": "low", "rank": 0.1 }, { "name": "high", "rank": 0.3 }]);
        let draft = json!({ "date": DAY, "subjectId": "tie", "stances": stances });
        client.operate("/sessions", &draft).expect(201);
        let grace = Author::join(client, "Grace");
        for (author, stance) in [(ada, "low"), (&grace, "high")] {
            let take = json!({ "date": DAY, "subjectId": "tie", "stance": stance });
            let sent = signed_text(&author.key.sign(author.draft_of(take)));
            client.submit_text(author, &sent).expect(201);
        }
        client.operate("/sessions/2/state", &json!({ "state": "aggregated" })).expect(200);
    }

    fn client(&self) -> &Client {
        &self.program.client
    }

    /// Writes the texts that are verified.
    fn write(&self, folder: &Path) {
        let get = |path: &str| self.client().get(path).expect(200).text;
        let bundle = get("/api/swarm/sessions/1/bundle");
        for (name, text) in [
            ("take.json", get("/api/swarm/takes/1")),
            ("proof.txt", get("/api/swarm/takes/1/proof")),
            ("changed.json", bundle.replace("\"cautious\"", "\"bullish\"")),
            ("bundle.json", bundle),
            ("tie.json", get("/api/swarm/sessions/2/bundle")),
            ("receipt.txt", self.receipt.clone()),
            ("sent.json", self.sent.clone()),
            ("changed-receipt.txt", self.receipt.replace("201", "200")),
            ("other.json", "{\"session\":1,\"takes\":[]}".to_owned()),
            ("verify.html", get("/verify.html")),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    /// What is verified: files, options of the command, and fields of the form.
    fn cases(&self) -> Vec<(&'static [&'static str], Vec<&str>, Value)> {
        let Self { key, member_key, .. } = self;
        let request = "POST /api/swarm/submit";
        let with_key = json!({ "key": key });
        let of_receipt = json!({ "key": key, "request": request });
        let receipt_options = vec!["--request", request, "--key", key];
        vec![
            (&["bundle.json"], vec!["--key", key], with_key.clone()),
            (&["bundle.json"], vec![], json!({})),
            (&["changed.json"], vec!["--key", key], with_key.clone()),
            (&["take.json"], vec![], json!({})),
            (&["take.json"], vec!["--key", member_key], json!({ "key": member_key })),
            (&["take.json"], vec!["--key", OTHER_KEY], json!({ "key": OTHER_KEY })),
            (&["take.json"], vec!["--key", key], with_key.clone()),
            (
                &["take.json", "proof.txt"],
                vec!["--key", key, "--member-key", member_key],
                json!({ "key": key, "member-key": member_key }),
            ),
            (&["take.json", "proof.txt"], vec![], json!({})),
            (&["receipt.txt", "sent.json"], receipt_options.clone(), of_receipt.clone()),
            (&["receipt.txt"], receipt_options.clone(), of_receipt.clone()),
            (&["changed-receipt.txt", "sent.json"], receipt_options, of_receipt),
            (&["other.json"], vec![], json!({})),
            (&["tie.json"], vec!["--key", key], with_key),
        ]
    }
}

/// The lines that the command prints, or the error, as the page shows them.
fn printed_by_command(folder: &Path, arguments: &[&str]) -> (Option<String>, Vec<String>) {
    let output =
        swarm(&[&["verify"], arguments].concat(), &[]).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let error = text(output.stderr);
    let error = error.trim_end().split_once("cannot be read: ").map(|(_, why)| why.to_owned());
    let shown = |line: &str| match line.strip_prefix("does not hold: ") {
        Some(_) => format!("fails: {line}"),
        None => line.to_owned(),
    };
    (error, text(output.stdout).lines().map(shown).collect())
}

#[test]
fn browser_says_what_the_command_says() {
    let filed = Filed::start();
    let folder = tempfile::tempdir().unwrap();
    filed.write(folder.path());
    let mut cases = Vec::new();
    for (number, (files, _, fields)) in filed.cases().into_iter().enumerate() {
        cases.push(
            json!({ "title": number.to_string(), "files": files, "pasted": {}, "fields": fields }),
        );
    }
    let pasted = json!({ "text": "take.json", "other": "proof.txt" });
    let fields = json!({ "key": filed.key });
    cases.push(json!({ "title": "pasted", "files": [], "pasted": pasted, "fields": fields }));
    fs::write(folder.path().join("cases.json"), Value::from(cases).to_string()).unwrap();
    copy_package(&folder.path().join("package"));

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/verifier.mjs");
    let url = format!("http://{}/", filed.client().address);
    let mut browser = Command::new(node());
    browser.arg(script).arg(&url).arg(folder.path()).env(NODE_TOOLS, node_tools());
    let ran = browser.output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let wrong: Vec<_> = told.lines().filter(|line| line.starts_with("wrong: ")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let said: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |page: &str, title: &str| -> (String, Vec<String>) {
        let found = said.iter().find(|it| it["page"] == page && it["title"] == title).unwrap();
        let lines = found["lines"].as_array().unwrap().iter();
        let lines = lines.map(|line| line.as_str().unwrap().to_owned()).collect();
        (found["verdict"].as_str().unwrap().to_owned(), lines)
    };

    let mut verdicts = [0; 3];
    for (number, (files, options, _)) in filed.cases().into_iter().enumerate() {
        let (error, lines) = printed_by_command(folder.path(), &[files, &options].concat());
        for page in ["/verify", "verify.html"] {
            let (verdict, shown) = of(page, &number.to_string());
            assert_eq!(shown, lines, "{page}: {files:?} {options:?}");
            match &error {
                Some(why) => assert_eq!(verdict, format!("Nothing was verified: {why}")),
                None => {
                    let fails = lines.iter().filter(|line| line.starts_with("fails: ")).count();
                    let begins = match fails {
                        0 => "Nothing fails; ".to_owned(),
                        1 => "1 finding fails; ".to_owned(),
                        _ => format!("{fails} findings fail; "),
                    };
                    assert!(verdict.starts_with(&begins), "{verdict}: {lines:?}");
                }
            }
        }
        verdicts[if error.is_some() {
            2
        } else {
            usize::from(lines.iter().any(|it| it.starts_with("fails: ")))
        }] += 1;
    }
    assert!(verdicts.iter().all(|number| *number >= 2), "{verdicts:?}");
    let shown = of("/verify", "3").1;
    assert!(shown.iter().any(|line| line.contains("onerror=document.title")), "{shown:?}");

    let bundle = format!("{url}api/swarm/sessions/1/bundle");
    for asked in ["session=1", "take=1&session=1"] {
        assert_eq!(of("/verify", asked).1, printed_by_command(folder.path(), &[&bundle]).1);
    }
    let take = of("/verify", "take=1").1;
    assert!(take.iter().any(|line| line.starts_with("holds: inclusion: it is entry ")), "{take:?}");
    assert!(take.iter().any(|line| line.contains("the key that the server named")), "{take:?}");
    let proof = printed_by_command(folder.path(), &["take.json", "proof.txt", "--key", &filed.key]);
    assert_eq!(of("/verify", "pasted").1, proof.1);
    let bundle = printed_by_command(folder.path(), &["bundle.json", "--key", &filed.key]);
    assert_eq!(of("package", "0"), ("0".to_owned(), bundle.1));
}

/// Copies `examples/npm-verifier`, with what `npm pack` puts into it.
fn copy_package(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::create_dir(folder).unwrap();
    for (source, files) in [
        ("examples/npm-verifier", ["index.js", "package.json"]),
        ("swarm-http/templates/verify", ["verifier.js", "verifier.wasm"]),
    ] {
        for file in files {
            fs::copy(root.join(source).join(file), folder.join(file)).unwrap();
        }
    }
}
