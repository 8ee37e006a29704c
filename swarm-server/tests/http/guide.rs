//! The guides: found from the address alone, and their programs run as served.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;

use serde_json::json;
use swarm_core::domain::TakeDraft;
use swarm_core::json::Json;
use swarm_core::proof::{KeyPair, canonical};
use swarm_core::wire::{Audience, Problem};
use swarm_http::{PublicOrigin, Site};
use swarm_store_memory::MemoryStore;

use crate::clients::{node, python};
use crate::harness::{ADMIN, Author, Client, Server, services, tenant};
use crate::program::scratch_folder;
use crate::verification::received;

/// The first block of this language in a page.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("no such block");
    rest.split_once("\n```").expect("no end").0.to_owned() + "\n"
}

fn folder(name: &str) -> PathBuf {
    let folder = scratch_folder().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A program of the guide, in a folder of its own.
struct Program {
    interpreter: String,
    file: &'static str,
    folder: PathBuf,
}

/// The files of the programs.
const PROGRAMS: [&str; 3] = ["member.py", "member.sh", "member.mjs"];

impl Program {
    fn of(client: &Client, file: &'static str, name: &str) -> Self {
        Self::in_folder(client, file, folder(&format!("guide-{name}-{file}")))
    }

    /// As served, in this folder.
    fn in_folder(client: &Client, file: &'static str, folder: PathBuf) -> Self {
        let interpreter = match file {
            "member.py" => python(),
            "member.mjs" => node(),
            _ => "sh".to_owned(),
        };
        let code = client.get(&format!("/skill/{file}")).expect(200).text;
        std::fs::write(folder.join(file), code).unwrap();
        Self { interpreter, file, folder }
    }

    /// Runs it with these variables.
    fn run(&self, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(&self.interpreter);
        command.arg(self.file).current_dir(&self.folder);
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// Its output, if it succeeds without a message on standard error.
    #[track_caller]
    fn says(&self, variables: &[(&str, &str)]) -> String {
        let ran = self.run(variables);
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", text(&ran));
        text(&ran)
    }

    /// Its error text, if it stops early.
    #[track_caller]
    fn stops(&self, variables: &[(&str, &str)]) -> String {
        let ran = self.run(variables);
        assert!(!ran.status.success(), "{}", text(&ran));
        text(&ran)
    }

    /// As an agent that was not asked for more makes another take.
    fn forget_take(&self, session: u64) {
        self.forget(&format!("swarm.take.{session}"));
    }

    /// Removes a file that it keeps.
    fn forget(&self, file: &str) {
        std::fs::remove_file(self.folder.join(file)).unwrap();
    }

    /// Returns whether the file is there and not empty.
    fn keeps(&self, file: &str) -> bool {
        std::fs::read(self.folder.join(file)).is_ok_and(|text| !text.is_empty())
    }

    /// The id of its member.
    fn member(&self) -> String {
        let id = std::fs::read_to_string(self.folder.join("swarm.member")).unwrap();
        id.trim().to_owned()
    }
}

fn text(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    texts.concat()
}

const OPINION: [(&str, &str); 3] = [
    ("SWARM_STANCE", "cautious"),
    ("SWARM_CONFIDENCE", "0.62"),
    ("SWARM_BODY", "Utilisation is high."),
];

/// The opinion with other values, or more.
fn opinion<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    OPINION.iter().chain(changed).copied().collect()
}

fn activate_all(client: &Client) {
    let path = "/api/swarm/admin/applications?state=applied";
    let waiting = client.send("GET", path, &[("x-admin-token", ADMIN)], b"").expect(200).json();
    for application in waiting["applications"].as_array().unwrap() {
        client.operate("/activate", &json!({ "memberId": application["id"] })).expect(200);
    }
}

/// How many requests were answered below `/api`, but for those of operators, and how many of them with
/// an error.
fn requests(client: &Client) -> (u64, u64) {
    let metrics = client.get("/metrics").expect(200).text;
    let counted = metrics.lines().filter(|line| {
        line.starts_with("swarm_http_requests_total{")
            && line.contains("route=\"/api/")
            && !line.contains("/admin/")
    });
    counted.fold((0, 0), |(all, failed), line| {
        let count = line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64;
        let is_error = line.contains("status=\"4") || line.contains("status=\"5");
        (all + count, if is_error { failed + count } else { failed })
    })
}

/// A server with an open session and its brief.
fn scene() -> (Server, Client) {
    scene_below("")
}

/// The same, below this path.
fn scene_below(base: &str) -> (Server, Client) {
    let config = tenant("default", ADMIN, &[]).below(base.parse().unwrap());
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client = server.client().below(base);
    client.convene("2026-11-21", "aurora");
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    (server, client)
}

/// From nothing to an accepted take, in at most 12 requests, none of which is refused.
fn joins(client: &Client, program: &Program) {
    let before = requests(client);
    assert!(program.stops(&[]).contains(" is applied: run this again"));
    activate_all(client);
    assert!(program.stops(&[]).contains("your take on "));
    client.get("/api/swarm/takes/1").expect(404);
    let without = requests(client);
    let said = program.says(&OPINION);
    assert!(said.contains(&format!("{}/swarm/takes/1", client.url())), "{said}");
    let take = client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!((&take["stance"], &take["confidence"]), (&json!("cautious"), &json!(0.62)));
    let nonce = take["nonce"].as_str().unwrap();
    assert!(nonce.starts_with(&format!("{} ", client.url())), "{nonce}");
    // The test itself makes two reads: of the absent take, and of the filed one.
    let after = requests(client);
    assert_eq!(after.1 - before.1, 1, "refused");
    assert!(after.0 - before.0 - 2 <= 12, "{before:?} {without:?} {after:?}");
}

/// What else agents do with the longer programs.
fn goes_on(client: &Client, program: &Program) {
    let verified = |id: u64| format!("verified http://{}/swarm/takes/{id}\n", client.address);
    assert!(program.says(&[]).ends_with(&verified(1)));
    client.get("/api/swarm/takes/2").expect(404);

    let body = "\"quoted\" \\ / \u{e9}\u{1f680}\n\ttab, 'single' $HOME `id` %s \\n";
    program.forget_take(1);
    let amended = opinion(&[("SWARM_BODY", body), ("SWARM_CONFIDENCE", "0.70")]);
    assert!(program.says(&amended).ends_with(&verified(2)));
    let take = client.get("/api/swarm/takes/2").expect(200).json();
    assert_eq!((&take["body"], &take["confidence"]), (&json!(body), &json!(0.7)));

    // A refused take does not block the next one.
    program.forget_take(1);
    let refused = program.stops(&opinion(&[("SWARM_CONFIDENCE", "70")]));
    assert!(refused.contains("confidence must be a number from 0 to 1"), "{refused}");
    let unknown =
        program.run(&opinion(&[("SWARM_STANCE", "Bullish"), ("SWARM_CONFIDENCE", "1.0")]));
    assert!(text(&unknown).contains("unknown-stance"), "{}", text(&unknown));
    assert!(text(&unknown).contains(&verified(3)), "{}", text(&unknown));
    several_sessions(client, program);
}

fn several_sessions(client: &Client, program: &Program) {
    let session =
        json!({ "date": "2026-11-22", "subjectId": "aurora", "buckets": ["b\"t\\c", "eth"] });
    client.operate("/sessions", &session).expect(201);
    let several = program.stops(&OPINION);
    for said in ["session 1", "session 2", "SWARM_SESSION"] {
        assert!(several.contains(said), "{several}");
    }
    let weights = [("SWARM_SESSION", "2"), ("SWARM_WEIGHTS", "b\"t\\c=0.60,eth=4")];
    program.says(&opinion(&weights));
    let take = client.get("/api/swarm/takes/4").expect(200).json();
    let expected =
        json!([{ "bucket": "b\"t\\c", "weight": 0.6 }, { "bucket": "eth", "weight": 4 }]);
    assert_eq!((&take["weights"], &take["sessionId"]), (&expected, &json!(2)));
    for id in [1, 2] {
        let state = json!({ "state": "window_closed" });
        client.operate(&format!("/sessions/{id}/state"), &state).expect(200);
        client
            .operate(&format!("/sessions/{id}/state"), &json!({ "state": "aggregated" }))
            .expect(200);
    }
    assert!(program.stops(&OPINION).contains("Nothing is open"));
}

#[test]
fn programs_of_the_guide_run_as_served() {
    for file in PROGRAMS {
        let (_server, client) = scene();
        let program = Program::of(&client, file, "served");
        joins(&client, &program);
        goes_on(&client, &program);
    }
}

#[test]
fn programs_of_the_guide_run_below_a_path() {
    for file in PROGRAMS {
        let (_server, client) = scene_below("/opinions/of-agents");
        joins(&client, &Program::of(&client, file, "below"));
    }
}

/// Each step by one program, the next one by another, with the files that the first one keeps.
#[test]
fn programs_of_the_guide_go_on_with_the_files_of_one_another() {
    let pairs = PROGRAMS.iter().flat_map(|one| PROGRAMS.iter().map(move |other| (*one, *other)));
    let (_server, client) = scene();
    let mut id = 0;
    for (one, other) in pairs.filter(|(one, other)| one != other) {
        let folder = folder(&format!("guide-files-{one}-{other}"));
        let [first, second] =
            [one, other].map(|file| Program::in_folder(&client, file, folder.clone()));
        assert!(first.stops(&[]).contains(" is applied: run this again"), "{one}, {other}");
        activate_all(&client);
        // One claims the token, the other submits, and the first verifies and amends.
        assert!(first.stops(&[]).contains("your take on "), "{one}, {other}");
        id += 1;
        let verified = format!("verified http://{}/swarm/takes/{id}\n", client.address);
        assert!(second.says(&OPINION).ends_with(&verified), "{one}, {other}");
        assert!(first.says(&[]).ends_with(&verified), "{one}, {other}");
        first.forget_take(1);
        id += 1;
        let amended = first.says(&opinion(&[("SWARM_BODY", "It fell."), ("SWARM_WEIGHTS", "a=1")]));
        assert!(amended.ends_with(&format!("/swarm/takes/{id}\n")), "{one}, {other}: {amended}");
        // What one kept and did not hear about, the other sends again: it stands.
        std::fs::remove_file(folder.join("swarm.filed.1")).unwrap();
        let again = String::from_utf8(second.run(&[]).stdout).unwrap();
        assert!(again.ends_with(&format!("/swarm/takes/{id}\n")), "{one}, {other}: {again}");
        let token = std::fs::read_to_string(folder.join("swarm.token")).unwrap();
        assert!(token.starts_with("tok_"), "{token}");
    }
    client.get(&format!("/api/swarm/takes/{}", id + 1)).expect(404);
}

#[test]
fn programs_of_the_guide_take_the_same_numbers() {
    for file in PROGRAMS {
        let (_server, client) = scene();
        let program = Program::of(&client, file, "numbers");
        program.stops(&[]);
        activate_all(&client);
        program.stops(&[]);
        let invalid = ["7e-1", "0,7", "", ".", "0.1234567", "1 ", "0x1", "--1", "1\n1", "nan"];
        for invalid in invalid {
            let said = program.stops(&opinion(&[("SWARM_CONFIDENCE", invalid)]));
            assert!(said.contains("is not a number like 0.7"), "{file}: {invalid:?}: {said}");
        }
        for invalid in ["x,y=1", "1", "=1"] {
            let said = program.stops(&opinion(&[("SWARM_WEIGHTS", invalid)]));
            assert!(said.contains("is not a weight like btc=0.6"), "{file}: {invalid:?}: {said}");
        }
        let numbers =
            [(".7", "0.7"), ("00.50", "0.5"), ("1.0", "1"), ("-0", "0"), ("0.000001", "0.000001")];
        for ((given, written), id) in numbers.into_iter().zip(1..) {
            let weights = format!("a=1,b={given}");
            let given = [("SWARM_CONFIDENCE", given), ("SWARM_WEIGHTS", weights.as_str())];
            program.says(&opinion(&given));
            let take = client.get(&format!("/api/swarm/takes/{id}")).expect(200).text;
            assert!(take.contains(&format!("\"confidence\":{written},")), "{file}: {take}");
            assert!(take.contains(&format!("\"weight\":{written}}}")), "{file}: {take}");
            program.forget_take(1);
        }
    }
}

/// Starts a proxy before a server. It answers with this status to each submit that it has passed on, unless that is 0.
fn losing_proxy(server: SocketAddr, status: &Arc<AtomicU16>) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::new(listener.local_addr().unwrap());
    let status = Arc::clone(status);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, status) = (stream.unwrap(), Arc::clone(&status));
            thread::spawn(move || {
                let (head, body) = received(&stream);
                let is_submit = head.iter().any(|line| line.starts_with("POST /api/swarm/submit "));
                let mut answer = passed_on(&head, &body, server);
                let status = status.load(Ordering::SeqCst);
                if is_submit && status > 0 {
                    let lost = format!("HTTP/1.1 {status} -\r\ncontent-length: 0\r\n\r\n");
                    answer = lost.into_bytes();
                }
                stream.write_all(&answer)
            });
        }
    });
    client
}

/// Sends a request to a server; returns its answer.
fn passed_on(head: &[String], body: &[u8], server: SocketAddr) -> Vec<u8> {
    let lines = head.iter().filter(|line| !line.to_lowercase().starts_with("connection:"));
    let head: String = lines.map(|line| format!("{line}\r\n")).collect();
    let mut upstream = TcpStream::connect(server).unwrap();
    write!(upstream, "{head}connection: close\r\n\r\n").unwrap();
    upstream.write_all(body).unwrap();
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer).unwrap();
    answer
}

/// It is filed once, also where the session is over before an answer comes.
#[test]
fn programs_of_the_guide_send_a_take_again_whose_answer_was_lost() {
    let (_server, client) = scene();
    let status = Arc::new(AtomicU16::new(504));
    let proxy = losing_proxy(client.address, &status);
    let programs = PROGRAMS.map(|file| Program::of(&proxy, file, "lost"));
    for program in &programs {
        program.stops(&[]);
    }
    activate_all(&client);
    thread::scope(|scope| {
        for program in &programs {
            scope.spawn(|| {
                let said = program.stops(&OPINION);
                assert!(said.contains("504"), "{said}");
                assert!(program.keeps("swarm.take.1") && !program.keeps("swarm.filed.1"), "{said}");
            });
        }
    });
    // A refusal that is not of the service says nothing of the take.
    status.store(403, Ordering::SeqCst);
    for program in &programs {
        let said = program.stops(&OPINION);
        assert!(said.contains("403") && program.keeps("swarm.take.1"), "{said}");
    }
    status.store(0, Ordering::SeqCst);
    for state in ["window_closed", "aggregated"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    for program in &programs {
        // What is sent again may be answered by a 409, which a shell shows.
        let ran = program.run(&OPINION);
        assert!(ran.status.success(), "{}", text(&ran));
        let verified = program.says(&[("SWARM_SESSION", "1")]);
        assert!(verified.contains("verified "), "{verified}");
    }
    client.get("/api/swarm/takes/3").expect(200);
    client.get("/api/swarm/takes/4").expect(404);
}

#[test]
fn programs_of_the_guide_find_an_application_whose_answer_was_lost() {
    let (_server, client) = scene();
    for file in PROGRAMS {
        let program = Program::of(&client, file, "applied");
        program.stops(&[]);
        let member = program.member();
        program.forget("swarm.member");
        assert!(program.stops(&[]).contains(" is applied: run this again"));
        assert_eq!(program.member(), member);
    }
}

#[test]
fn programs_of_the_guide_say_what_to_do_without_a_valid_token() {
    let (_server, client) = scene();
    for file in PROGRAMS {
        let program = Program::of(&client, file, "token");
        program.stops(&[]);
        activate_all(&client);
        program.stops(&[]);
        let member = json!({ "memberId": program.member() });
        client.operate("/reset-claim", &member).expect(200);
        let stale = program.stops(&[]);
        assert!(stale.contains("unknown-token"), "{stale}");
        assert!(stale.contains("remove the file swarm.token"), "{stale}");
        program.forget("swarm.token");
        let claimed = program.stops(&[]);
        assert!(claimed.contains("your take on "), "{claimed}");
        program.forget("swarm.token");
        let lost = program.stops(&[]);
        assert!(lost.contains("Ask the operator to reset the claim"), "{lost}");
        client.operate("/deactivate", &member).expect(200);
        let inactive = program.stops(&[]);
        assert!(inactive.contains(" is inactive: ask the operator."), "{inactive}");
    }
}

#[test]
fn programs_of_the_guide_verify_a_withheld_take_by_what_they_sent() {
    let (_server, client) = scene();
    for (file, id) in PROGRAMS.into_iter().zip(1..) {
        let program = Program::of(&client, file, "withheld");
        program.stops(&[]);
        activate_all(&client);
        program.says(&OPINION);
        let mark = json!({ "note": "it names a client" });
        client.operate(&format!("/takes/{id}/withhold"), &mark).expect(200);
        let said = program.says(&[]);
        assert!(said.contains("as you sent them: it names a client\nverified "), "{said}");
    }
}

/// Only a token that was claimed before the take was filed reads it.
#[test]
fn programs_of_the_guide_verify_a_sealed_take_once_it_is_opened() {
    let server = Server::start();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &session).expect(201);
    let programs = PROGRAMS.map(|file| Program::of(&client, file, "claimed-again"));
    for program in &programs {
        program.stops(&[]);
        activate_all(&client);
        program.says(&OPINION);
        client.operate("/reset-claim", &json!({ "memberId": program.member() })).expect(200);
        program.forget("swarm.token");
        let said = program.says(&[]);
        assert!(said.contains("sealed until session 1 is opened"), "{said}");
    }
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    for program in &programs {
        let said = program.says(&[("SWARM_SESSION", "1")]);
        assert!(said.starts_with("verified "), "{said}");
    }
}

/// They ask before they ask for an opinion.
#[test]
fn programs_of_the_guide_say_which_sessions_are_open_to_a_member() {
    let server = Server::start();
    let client = server.client();
    let programs = PROGRAMS.map(|file| Program::of(&client, file, "standing"));
    for program in &programs {
        program.stops(&[]);
        activate_all(&client);
        let said = program.stops(&[]);
        assert!(said.contains("Nothing is open: run this again"), "{said}");
        assert!(said.contains("a practice session"), "{said}");
    }
    let other = Author::join(&client, "Grace");
    let roster = json!([{ "memberId": other.id.as_str() }]);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "roster": roster });
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.operate("/sessions", &session).expect(201);
    for program in &programs {
        let said = program.stops(&OPINION);
        assert!(said.contains("deadline not set, not for you: not-on-roster"), "{said}");
        assert!(said.contains("None of these is open to you"), "{said}");
        assert!(said.contains("a practice session"), "{said}");
    }
    let session = json!({ "date": "2026-11-22", "subjectId": "aurora", "practice": true });
    client.operate("/sessions", &session).expect(201);
    for program in &programs {
        let said = program.stops(&[]);
        assert!(said.contains("deadline not set, for practice\n"), "{said}");
        assert!(said.contains("Run this again with SWARM_STANCE"), "{said}");
        program.says(&OPINION);
        let other = program.stops(&opinion(&[("SWARM_SESSION", "1")]));
        assert!(other.contains("Choose one that is open to you"), "{other}");
    }
}

#[test]
fn guide_is_short_and_its_programs_are_files() {
    let (_server, client) = scene();
    let guide = client.get("/skill.md").expect(200).text;
    assert!(guide.lines().count() < 150, "{}", guide.lines().count());
    for problem in Problem::ALL.iter().filter(|problem| problem.audience() == Audience::Everyone) {
        assert!(guide.contains(&format!("`{}`", problem.code())), "{problem:?}");
    }
    let index = client.get("/llms.txt").expect(200).text;
    for file in PROGRAMS {
        let path = format!("/skill/{file}");
        let link = format!("({}{path})", client.url());
        assert!(guide.contains(&link) && index.contains(&link), "{link}");
        let program = client.get(&path).expect(200);
        assert!(program.header("etag").is_some() && program.text.contains(&client.url()), "{path}");
        assert_ne!(program.header("cache-control"), Some("no-store"), "{path}");
        let kind = program.header("content-type").unwrap();
        let expected = if file == "member.mjs" { "text/javascript" } else { "text/plain" };
        assert_eq!(kind, format!("{expected}; charset=utf-8"));
    }
    let committee = client.get("/skill/committee.md").expect(200).text;
    assert!(guide.contains("/skill/committee.md") && committee.contains("`missing-stance-line`"));
    assert!(committee.contains("`Content-Type: application/json`"), "{committee}");
}

/// The name is for people, and may have characters that mean something in YAML.
#[test]
fn front_matter_of_the_guide_has_the_name_of_the_tenant() {
    let mut config = tenant("acme", ADMIN, &[]);
    config.name = "Acme: the \"desk\" # 1".to_owned();
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client = server.client();
    let guide = client.get("/skill.md").expect(200).text;
    let expected = format!(
        "---\nname: swarm-acme\ndescription: >-\n  Join {} at {} as a member",
        "Acme: the \"desk\" # 1",
        client.url()
    );
    assert!(guide.starts_with(&expected), "{guide}");
}

/// With many sessions that have rosters, which takes most lines, and subjects as long as they may be.
#[test]
fn guide_is_short_when_many_sessions_are_open() {
    let server = Server::start();
    let client = server.client();
    let author = Author::join(&client, "Grace");
    let roster = json!([{ "memberId": author.id.as_str() }]);
    for number in 1..=30 {
        let id = format!("{number:02}{}", "\u{e9}".repeat(98));
        client.operate("/subjects", &json!({ "id": id, "name": "A subject" })).expect(201);
        let session = json!({ "date": "2026-11-21", "subjectId": id, "roster": roster });
        client.operate("/sessions", &session).expect(201);
        let rest = format!("- More sessions are open: `{}/api/swarm/open-sessions`.", client.url());
        for path in ["/skill.md", "/llms.txt"] {
            let guide = client.get(path).expect(200).text;
            assert!(guide.lines().count() < 150, "{path}: {}", guide.lines().count());
            let named = guide.lines().filter_map(|line| line.strip_prefix("- Session "));
            let named: Vec<u32> =
                named.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
            let newest: Vec<u32> = (1..=number).rev().take(5).collect();
            assert_eq!(named, newest, "{path}");
            assert_eq!(guide.contains(&rest), number > 5, "{path} with {number} open sessions");
        }
    }
    let open = client.get("/api/swarm/open-sessions").expect(200).json();
    assert_eq!(open["sessions"].as_array().unwrap().len(), 30);
}

#[test]
fn guide_programs_keep_the_salt_of_a_sealed_take() {
    let (_server, client) = scene();
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &session).expect(201);
    for path in ["/skill.md", "/llms.txt"] {
        let guide = client.get(path).expect(200).text;
        assert!(guide.contains("blind: true") && guide.contains("Swarm-Seal"), "{guide}");
    }
    let programs = PROGRAMS.map(|file| Program::of(&client, file, "sealed"));
    let second = [("SWARM_SESSION", "2")];
    for (program, id) in programs.iter().zip(1..) {
        program.stops(&second);
        activate_all(&client);
        assert!(program.says(&opinion(&second)).contains(&format!("/swarm/takes/{id}\n")));
        let sealed = client.get(&format!("/api/swarm/takes/{id}")).expect(200).json();
        assert!(sealed["sealed"].is_string() && sealed["stance"].is_null(), "{sealed}");
    }
    client.operate("/sessions/2/state", &json!({ "state": "aggregated" })).expect(200);
    for (program, id) in programs.iter().zip(1..) {
        let take = client.get(&format!("/api/swarm/takes/{id}")).expect(200).json();
        let kept = program.folder.join(format!("swarm.salt.{id}"));
        let kept = std::fs::read_to_string(kept).unwrap();
        assert_eq!(kept.trim(), take["salt"].as_str().unwrap());
    }
}

/// Members of a service that is reached by several hosts sign for one.
#[test]
fn guide_programs_sign_for_the_public_origin_only() {
    let mut default = tenant("default", ADMIN, &[]);
    default.public_origin = Some(PublicOrigin::parse("https://acme.example").unwrap());
    let server = Server::of(Site::single(services(&MemoryStore::new()), default));
    let client = server.client();
    for file in PROGRAMS {
        let program = Program::of(&client, file, "service");
        program.stops(&[]);
        activate_all(&client);
        let path = program.folder.join(file);
        let honest = std::fs::read_to_string(&path).unwrap();
        let of_another = honest.replace("https://acme.example", "https://other.example");
        assert_ne!(of_another, honest);
        std::fs::write(&path, of_another).unwrap();
        let refused = program.stops(&[]);
        assert!(refused.contains("for another service: https://acme.example "), "{refused}");
        std::fs::write(&path, honest).unwrap();
        let claimed = program.stops(&[]);
        assert!(!claimed.contains("another service"), "{claimed}");
        let token = std::fs::read_to_string(program.folder.join("swarm.token")).unwrap();
        assert!(token.starts_with("tok_"), "{claimed}");
    }
}

#[test]
fn test_vector_of_the_guide_is_valid() {
    let server = Server::start();
    let guide = server.client().get("/skill.md").expect(200).text;
    let text = block(&guide, "json");
    let seed: Vec<u8> = (0..32).collect();
    let key = KeyPair::from_seed(&seed.try_into().unwrap());
    let draft = TakeDraft::read(&mut Json::read(text.as_bytes()).unwrap().into_object()).unwrap();
    assert_eq!(canonical(&draft) + "\n", text);
    let signature = key.sign(draft).signature;
    for expected in [key.public_key().to_string(), signature.as_str().to_owned()] {
        assert!(guide.contains(&format!("`{expected}`")), "{expected}");
    }
    assert!(guide.contains("`AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=`"));
}

/// Bidirectional control characters could make an id look like another.
#[test]
fn guides_contain_no_bidirectional_controls() {
    let server = Server::start();
    let client = server.client();
    for id in ["a\u{202e}b", "a\u{2066}b\u{61c}", "a\u{85}b`", "a\u{1f680}"] {
        client.convene("2026-11-21", id);
    }
    for path in ["/skill.md", "/llms.txt"] {
        let text = client.get(path).expect(200).text;
        let marks = |c: char| matches!(c, '\u{61c}' | '\u{85}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!text.contains(marks), "{path}");
        for shown in
            [r#"`"a\u202eb"`"#, r#"`"a\u2066b\u061c"`"#, r#"`"a\u0085b\u0060"`"#, "`a\u{1f680}`"]
        {
            assert!(text.contains(shown), "{path}: {shown}");
        }
    }
}

#[test]
fn guides_name_the_sessions_that_accept_takes() {
    let server = Server::start();
    let client = server.client();
    for day in ["2026-11-20", "2026-11-21", "2026-11-21"] {
        client.convene(day, "aurora");
    }
    // A session that was closed before its deadline still accepts takes; one that a newer session hides does not.
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    assert_eq!(manifest["openSessions"], json!([3, 1]));
    for path in ["/skill.md", "/llms.txt"] {
        let text = client.get(path).expect(200).text;
        let named = [1, 2, 3].map(|id| text.contains(&format!("Session {id} is open")));
        assert_eq!(named, [true, false, true], "{path}");
    }
}

#[test]
fn guides_are_found_from_the_address_alone() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let origin = format!("http://{}", client.address);
    let as_kind = |kind: &str| client.send("GET", "/", &[("accept", kind)], b"").expect(200);
    assert!(as_kind("text/html,*/*;q=0.8").text.starts_with("<!doctype html>"));
    let llms = client.get("/llms.txt").expect(200);
    assert_eq!(as_kind("text/markdown").text, llms.text);
    assert_eq!(as_kind("text/plain").text, llms.text);
    assert!(llms.text.starts_with("# default\n") && llms.text.contains(&origin));
    let manifest = client.get("/.well-known/swarm.json").expect(200);
    assert_eq!(as_kind("application/json").text, manifest.text);
    assert_eq!(manifest.json()["openSessions"], json!([1]));
    for answer in [manifest, client.get("/guessed").expect(404)] {
        let links = answer.header("link").unwrap();
        for link in
            ["</openapi.json>; rel=\"service-desc\"", "</docs>;", "</skill.md>; rel=\"help\""]
        {
            assert!(links.contains(link), "{links}");
        }
    }
    let robots = client.get("/robots.txt").expect(200);
    assert!(robots.text.contains("Allow: /\n"), "{robots:?}");
    let skill = client.get("/skill.md").expect(200);
    assert!(skill.text.starts_with("---\nname: swarm-default\ndescription: "), "{}", skill.text);
    assert!(skill.text.contains("date `2026-11-21`, subjectId `aurora`, deadline not set"));
    assert!(skill.header("etag").is_some());
}

/// An agent may know of an error only its text.
#[test]
fn errors_are_found_by_their_texts() {
    let server = Server::start();
    let client = server.client();
    let guides = ["/skill.md", "/skill/committee.md"];
    let guide = guides.map(|path| client.get(path).expect(200).text).concat();
    let reference = client.get("/docs/errors").expect(200).text.replace("&#39;", "'");
    for text in [
        "invalid submission",
        "missing bearer token",
        "unknown member token",
        "token/member mismatch",
        "no session for date/subject",
        "submission window closed",
        "member is not on this session's expected roster",
        "member is excused from this session",
        "no registered key for member",
        "signature verification failed",
        "nonce already used by this member (replay); mint a fresh nonce to amend",
        "amendment cap reached (5 takes per member per session)",
        "amendment window closed (session already aggregated); the take on file stands",
        "a concurrent submission from this member won the same revision; retry",
        "invalid signing draft",
        "invalid json body",
        "bad stance",
        "bad confidence",
        "body too short",
        "body too long",
        "missing stance line",
        "missing or malformed x-ic-key",
        "invalid key",
        "member is not active",
        "no brief published yet for today",
        "failed to persist submission",
    ] {
        assert!(guide.contains(&format!("| {text} |")), "{text}: {guide}");
        assert!(reference.contains(&format!("<td>{text}</td>")), "{text}: {reference}");
    }
}

/// The guide repeats the host in code that readers run.
#[test]
fn invalid_host_is_refused() {
    let server = Server::start();
    for host in ["a'$(id)'.example", "x;$(id)"] {
        let client = server.client().at(host);
        for path in ["/skill.md", "/llms.txt", "/.well-known/swarm.json", "/swarm/takes/1"] {
            client.get(path).unread(400, "invalid host");
        }
    }
}
