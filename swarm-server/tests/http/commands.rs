//! `swarm member` and `swarm admin`, run against a server (MANUAL.md, 13.3).

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{ADMIN, Author};
use crate::program::{Program, configuration, swarm};
use crate::tenant_configuration;

/// A user at a machine: a home folder, and the service.
pub struct User {
    home: TempDir,
    url: String,
}

pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl User {
    pub fn of(program: &Program) -> Self {
        Self::of_service(format!("http://{}", program.client.address))
    }

    /// A user of the service at this address.
    pub fn of_service(url: String) -> Self {
        Self { home: tempfile::tempdir().unwrap(), url }
    }

    /// The same user, whose service has moved.
    pub fn at(self, program: &Program) -> Self {
        Self { url: format!("http://{}", program.client.address), ..self }
    }

    pub fn with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ended {
        let home = self.home.path().to_str().unwrap();
        let environment = &[&[("HOME", home)], environment].concat();
        let output = swarm(arguments, environment).current_dir(self.home.path()).output().unwrap();
        Ended {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn member(&self, arguments: &str) -> Ended {
        let arguments: Vec<_> = ["member"].into_iter().chain(arguments.split(' ')).collect();
        self.with(&arguments, &[("SWARM_URL", &self.url)])
    }

    pub fn admin(&self, arguments: &str) -> Ended {
        self.admin_words(&arguments.split(' ').collect::<Vec<_>>())
    }

    /// Like [`admin`](Self::admin), of words that may have spaces in them.
    pub fn admin_words(&self, arguments: &[impl AsRef<str>]) -> Ended {
        let arguments = arguments.iter().map(AsRef::as_ref);
        let arguments: Vec<_> = ["admin"].into_iter().chain(arguments).collect();
        self.with(&arguments, &[("SWARM_URL", &self.url), ("SWARM_ADMIN_TOKEN", ADMIN)])
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn profile(&self, file: &str) -> PathBuf {
        self.home.path().join(".config/swarm/profiles/default").join(file)
    }
}

impl Ended {
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    pub fn fails(self, code: i32, text: &str) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(text), "{:?} in {}", text, self.err);
        assert_eq!(self.out, "");
    }
}

/// A server in memory, and a user with the file of a subject.
pub fn desk() -> (Program, User) {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let user = User::of(&program);
    user.file("aurora.json", &json!({ "id": "aurora", "name": "Aurora" }).to_string());
    (program, user)
}

/// The same with one tenant of a file, which has these lines.
pub fn desk_with(lines: &str) -> (Program, User) {
    let hash = tenant_configuration::hash(ADMIN);
    let head = "[[tenants]]\nid = \"desk\"\nhosts = [\"127.0.0.1\"]\n";
    let text = format!("{head}admin_token_hash = \"{hash}\"\n{lines}\n");
    let file = configuration("desk-week.toml", &text);
    let arguments = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let program = Program::start(&arguments, &[]);
    let user = User::of(&program);
    user.file("aurora.json", &json!({ "id": "aurora", "name": "Aurora" }).to_string());
    (program, user)
}

/// A user whose member is activated and has its token.
pub fn joined(user: &User) {
    user.member("key new").ok();
    user.member("apply --name Zoë --contact zoe@test.example").ok();
    user.admin("activate zoë").ok();
    user.member("claim").ok();
}

#[test]
fn a_week_of_a_desk_runs_through_commands_alone() {
    let (_program, user) = desk();
    user.admin("subject put aurora.json").ok();
    assert_eq!(user.admin("subject list").ok(), "id\tstatus\tname\naurora\tactive\tAurora\n");
    joined(&user);
    assert_eq!(user.member("status").ok(), "claimed\n");
    let members = user.admin("members --json").json();
    assert_eq!(members["members"][0]["name"], "Zoë");

    let convened = user
        .admin("session --note first convene --subject aurora --closes +3h --roster active --json");
    let session = convened.json()["session"].clone();
    assert_eq!((&session["id"], &session["state"]), (&json!(1), &json!("collecting")));
    assert_eq!(session["roster"].as_array().unwrap().len(), 1);
    user.admin("session brief 1").ok();
    assert!(user.member("brief").ok().contains("takeSchema"));
    let status = user.admin("status").ok();
    assert!(status.contains("\nsessions: 1\n  1  aurora  open"), "{status}");
    assert!(status.contains(members["members"][0]["id"].as_str().unwrap()), "{status}");

    user.file("take.md", "Utilisation is high.");
    let submit = "submit --stance cautious --confidence 0.62 --body take.md";
    assert_eq!(user.member(&format!("{submit} --dry-run")).ok(), "");
    assert_eq!(user.member(submit).ok(), "1\n");
    assert!(!user.profile("pending.json").exists());
    assert!(user.member("takes").ok().contains("\tcautious\t0.62\t"));
    user.file("memo.md", "Long.");
    assert_eq!(user.member("memo --title Aurora --subject aurora memo.md").ok(), "1\n");

    user.admin("session deadline 1 +1h").fails(2, "--yes");
    user.admin("session deadline 1 +1h --yes").ok();
    user.admin("session aggregate 1").fails(2, "--yes");
    user.admin("session close 1").fails(2, "--yes");
    user.admin("session close 1 --yes").ok();
    user.admin("session aggregate 1").ok();
    user.admin("session publish 1").ok();
    assert!(user.admin("session list --state published").ok().contains("\n1\t"));
    user.admin("memo retract 1").ok();
    assert!(user.admin("outbox list").ok().contains("zoe@test.example"));
    assert!(user.admin("outbox cancel 1").ok().contains("state\tcancelled"));
    assert!(user.admin("reset-claim Zoë").ok().contains("approved"));
    user.member(&format!("{submit} --session 1")).fails(4, "401");
}

/// The command after `next:` in what was said.
fn next(ended: &Ended) -> String {
    let line = ended.err.lines().find_map(|line| line.split_once("next: ")).expect(&ended.err);
    line.1.strip_prefix("swarm ").expect(line.1).to_owned()
}

/// With the flags that the first one had, and no variable.
#[test]
fn commands_that_are_said_to_be_next_are_right() {
    let (_program, user) = desk();
    let run = |command: &str| {
        let words = command.replace('\'', "");
        user.with(&words.split(' ').collect::<Vec<_>>(), &[])
    };
    user.file("token", ADMIN);
    let file = user.home.path().join("token");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let admin = format!("admin --url {} --token-file token", user.url);
    let put = run(&format!("{admin} subject put aurora.json"));
    let convened = run(&next(&put));
    let brief = run(&next(&convened));
    brief.ok();
    let closed = run(&format!("{admin} session close 1 --yes"));
    let aggregated = run(&next(&closed));
    let published = run(&next(&aggregated));
    assert!(run(&next(&published)).ok().contains("published"));
    user.file("a 'b'.json", &json!({ "id": "a 'b'", "name": "B" }).to_string());
    let put = user.with(
        &["admin", "--url", &user.url, "--token-file", "token", "subject", "put", "a 'b'.json"],
        &[],
    );
    assert!(put.err.contains(r"session convene --subject 'a '\''b'\'''"), "{}", put.err);

    let keyed = run("member --profile second key new");
    let apply = next(&keyed)
        .replace("URL", &user.url)
        .replace("NAME", "Zoë")
        .replace("TEXT", "z@test.example");
    let applied = run(&apply);
    let asked = run(&next(&applied));
    assert_eq!(asked.code, 0, "{}", asked.err);
    let activated = run(&format!("{admin} activate Zoë"));
    assert!(activated.err.contains("next: the member runs swarm member claim"));
    let status = run(&next(&applied));
    let claimed = run(&next(&status));
    run(&format!("{admin} session convene --subject aurora")).ok();
    let submit = next(&claimed).replace("STANCE", "neutral").replace('N', "0.5");
    run(&submit).ok();
    // It has its token: there is nothing to claim.
    run(&format!("{admin} deactivate Zoë")).ok();
    let again = run(&format!("{admin} activate Zoë"));
    assert!(again.code == 0 && !again.err.contains("next:"), "{}", again.err);
    fs::remove_file(user.home.path().join(".config/swarm/profiles/second/token")).unwrap();
    let lost = run("member --profile second status");
    assert!(lost.err.contains("an operator can reset the claim"), "{}", lost.err);
}

/// However many sessions were convened since.
#[test]
fn own_takes_are_listed() {
    let (program, user) = desk();
    joined(&user);
    program.client.convene("2026-11-21", "aurora");
    user.member("submit --stance cautious --confidence 0.62 --session 1").ok();
    for day in 1..=25 {
        program.client.convene(&format!("2026-12-{day:02}"), "aurora");
    }
    user.member("submit --stance bullish --confidence 1 --session 26").ok();
    let rows = |arguments: &str| {
        let listed = user.member(arguments).ok();
        listed.lines().skip(1).map(|row| row[..2].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows("takes"), ["2\t", "1\t"]);
    assert_eq!(rows("takes --limit 1"), ["2\t"]);
    assert!(user.member("takes --limit 1").err.contains("older ones than these 1"));
}

#[test]
fn lists_take_the_words_that_they_print_and_the_times_that_people_type() {
    let (program, user) = desk();
    program.client.convene("2026-11-21", "aurora");
    let listed = user.admin("session list").ok();
    assert!(listed.contains("\n1\t2026-11-21\taurora\topen\t"), "{listed}");
    assert!(user.admin("session show 1").ok().contains("\nstate\topen\n"));
    for state in ["open", "collecting"] {
        assert_eq!(user.admin(&format!("session list --state {state}")).ok(), listed);
    }
    let header = listed.lines().next().unwrap().to_owned() + "\n";
    assert_eq!(user.admin("session list --state closed").ok(), header);

    let acts = |since: &str| user.admin(&format!("acts --since {since}")).ok();
    let all = user.admin("acts").ok();
    for since in ["-1h", "00:00", "2026-01-01T00:00:00Z"] {
        assert_eq!(acts(since), all, "{since}");
    }
    assert!(!user.admin("acts").err.contains("older"));
    program.client.convene("2026-11-22", "aurora");
    let latest = user.admin("acts --limit 1").err;
    assert!(latest.contains("there may be older ones: --before 2"), "{latest}");
    assert_eq!(user.admin("acts --before -1h").ok().lines().count(), 1);
    user.admin("acts --since yesterday").fails(2, "give -3h, 19:00 (UTC) or");
    user.admin("session deadline 1 +99999999d").fails(2, "\"+99999999d\" is not a time");
}

#[test]
fn rejected_applicant_does_not_make_its_name_ambiguous() {
    let (program, user) = desk();
    let client = &program.client;
    let [first, second, third] = [(); 3].map(|()| Author::apply(client, "Sam").0);
    let [first, second, third] = [&first, &second, &third].map(|id| id.as_str());
    let ambiguous = user.admin("activate Sam");
    for id in [first, second, third] {
        assert!(ambiguous.err.contains(&format!("{id} (applied)")), "{}", ambiguous.err);
    }
    ambiguous.fails(2, "is the name of several");
    user.admin(&format!("reject {first} {second}")).ok();
    assert!(user.admin("activate sam").ok().contains(third));
    user.admin("deactivate Sam").ok();
    let reset = user.admin(&format!("activate {second}"));
    assert_eq!(reset.code, 0, "{}", reset.err);
    let ambiguous = user.admin("deactivate Sam");
    assert!(ambiguous.err.contains(&format!("{second} (approved)")), "{}", ambiguous.err);
    assert!(ambiguous.err.contains(&format!("{third} (inactive)")), "{}", ambiguous.err);
    ambiguous.fails(2, "is the name of several");
    // If there are only rejected ones, the name is theirs.
    let (lone, _) = Author::apply(client, "Kim");
    user.admin("reject Kim").ok();
    assert!(user.admin("activate Kim").ok().contains(lone.as_str()));
}

/// Beyond a page of the list of sessions.
#[test]
fn status_shows_old_sessions_that_wait() {
    let (program, user) = desk();
    let client = &program.client;
    for (session, states) in [(1, &["window_closed"][..]), (2, &["window_closed", "aggregated"])] {
        assert_eq!(client.convene("2026-11-21", "aurora"), session);
        for state in states {
            let path = format!("/sessions/{session}/state");
            client.operate(&path, &json!({ "state": state })).expect(200);
        }
    }
    client.convene("2026-11-22", "aurora");
    for _ in 0..501 {
        let session = json!({ "date": "2026-11-23", "subjectId": "aurora", "state": "scheduled" });
        client.operate("/sessions", &session).expect(201);
    }
    let status = user.admin("status").ok();
    for session in [
        "1  aurora  closed  no deadline  takes: 0  next: aggregate, by operator",
        "2  aurora  result  no deadline  takes: 0  next: publish, by operator",
        "3  aurora  open  no deadline  takes: 0  next: close, by operator",
    ] {
        assert!(status.contains(&format!("\n  {session}\n")), "{session}: {status}");
    }
}

#[test]
fn exit_statuses_tell_refusal_use_outage_and_credential_apart() {
    let (_program, user) = desk();
    user.admin("session open 9").fails(1, "404");
    user.admin("activate nobody").fails(1, "nobody");
    user.admin("session convene --subject aurora --closes tomorrow").fails(2, "not a time");
    user.admin("acts --since +1h").fails(2, "not a time");
    user.with(&["export", "foo", "--out", "public"], &[]).fails(2, "foo: must be");
    user.admin("rotate-key").fails(2, "Usage");
    user.admin("applications --state unknown").fails(2, "applied, approved, claimed");
    user.admin("session list --state unknown").fails(2, "announced, open");
    user.member("apply --name Zoë --contact a").fails(1, "key new");
    let wrong = [("SWARM_URL", &*user.url), ("SWARM_ADMIN_TOKEN", "adm_that_is_wrong")];
    user.with(&["admin", "applications"], &wrong).fails(4, "401");
    user.with(&["admin", "applications"], &wrong[..1]).fails(4, "no token");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = [("SWARM_URL", &*format!("http://{closed}")), ("SWARM_ADMIN_TOKEN", ADMIN)];
    user.with(&["admin", "session", "open", "1"], &nowhere).fails(3, "no answer");
}

/// A service whose answers are made of their number. Returns its address.
fn answering(answer: impl Fn(usize) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let mut connection = BufReader::new(connection.unwrap());
            let mut line = String::new();
            while connection.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let body = answer(number);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            // The command may have ended.
            let _ = connection.get_mut().write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn list_that_never_ends_is_not_followed() {
    let (_program, user) = desk();
    let long = "x".repeat(4 << 20);
    let page = |items: &str, next: usize| {
        format!(
            "{{\"applications\":[{items}],\"sessions\":[{items}],\"nextAfter\":\"{next}\",\"nextBefore\":{next}}}"
        )
    };
    let repeated = answering(move |_| page("{\"id\":1}", 7));
    let empty = answering(move |number| page("", number + 1));
    let endless = answering(move |number| page(&format!("{{\"id\":\"{long}\"}}"), number + 1));
    for (url, why) in [(repeated, "advance"), (empty, "advance"), (endless, "64 MiB")] {
        let there = [("SWARM_URL", &*url), ("SWARM_ADMIN_TOKEN", ADMIN)];
        user.with(&["admin", "applications"], &there).fails(1, why);
        // What is not shown counts too.
        user.with(&["admin", "session", "list", "--state", "scheduled"], &there).fails(1, why);
    }
}

#[test]
fn claim_before_the_activation_is_refused_and_writes_nothing() {
    let (_program, user) = desk();
    user.member("key new").ok();
    user.member("apply --name Zoë --contact zoe@test.example").ok();
    let claim = user.member("claim");
    assert!(!claim.err.contains("writing"), "{}", claim.err);
    claim.fails(1, "see: swarm member status");
    assert!(!user.profile("token").exists());
}

#[test]
fn one_refused_member_does_not_keep_the_others_from_a_change() {
    let (program, user) = desk();
    joined(&user);
    let other = User::of(&program);
    other.member("key new").ok();
    other.member("apply --name Mallory --contact mallory@test.example").ok();
    let rejected = user.admin("reject Zoë Mallory");
    assert_eq!(rejected.code, 1, "{}", rejected.err);
    assert!(rejected.err.contains("member is claimed"), "{}", rejected.err);
    assert!(rejected.err.contains("1 of 2 were refused"), "{}", rejected.err);
    assert!(user.admin("applications --state rejected").ok().contains("Mallory"));
    let all = user.admin("activate --all");
    assert!(all.err.contains("no application waits"), "{}", all.err);
    all.ok();
}

#[test]
fn record_is_shown_field_by_field() {
    let (_program, user) = desk();
    let put = user.admin("subject put aurora.json");
    assert!(put.err.contains("subject aurora is stored\nnext: swarm admin session"), "{}", put.err);
    let fields = put.ok();
    assert!(fields.starts_with("id\taurora\nstatus\tactive\nname\tAurora\n"), "{fields}");
    assert_eq!(user.admin("subject show aurora").ok(), fields);
    assert_eq!(user.admin("committee day 2999-01-01 aurora").ok(), "", "there is nothing to show");
}

#[test]
fn reader_that_wants_no_more_is_no_failure() {
    let (_program, user) = desk();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let environment = [("SWARM_URL", &*user.url), ("SWARM_ADMIN_TOKEN", ADMIN)];
    let mut list = swarm(&["admin", "subject", "list"], &environment);
    let ended = list.stdout(writer).spawn().unwrap().wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn contexts_and_profiles_are_private_files() {
    let (_program, user) = desk();
    let token = user.file("token", ADMIN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let add = ["admin", "--url", &user.url, "--token-file", "token", "context", "add", "desk"];
    let named = format!("chmod 600 {}", token.display());
    user.with(&add, &[]).fails(4, &named);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let added = user.with(&add, &[]);
    assert!(added.err.contains("in use; next: swarm admin status"), "{}", added.err);
    let contexts = user.home.path().join(".config/swarm/contexts.json");
    assert!(added.err.contains(contexts.to_str().unwrap()) && !added.err.contains(ADMIN));
    user.with(&["admin", "subject", "put", "aurora.json"], &[]).ok();
    let listed = user.with(&["admin", "context", "list"], &[]).ok();
    assert!(listed.contains("desk\t") && !listed.contains(ADMIN), "{listed}");
    user.with(&["admin", "--url", "http://127.0.0.1:1", "status"], &[]).fails(4, "no token");
    let right = fs::read_to_string(&contexts).unwrap();
    for (broken, why) in [
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ("{\"contexts\":3}", "contexts must be a map"),
        ("{\"inUse\":\"bolt\"}", "\"bolt\", is not there"),
    ] {
        fs::write(&contexts, broken).unwrap();
        let named = format!("{}: ", contexts.display());
        let refused = user.with(&["admin", "status"], &[]);
        assert!(refused.err.contains(&named), "{}", refused.err);
        refused.fails(1, why);
    }
    fs::write(&contexts, right).unwrap();

    joined(&user);
    user.member("key new").fails(1, "there is one already");
    for file in [contexts, user.profile("key"), user.profile("token"), user.profile("profile.json")]
    {
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    fs::set_permissions(user.profile("key"), fs::Permissions::from_mode(0o604)).unwrap();
    user.member("claim").fails(1, "chmod 600");
}

#[test]
fn a_take_without_an_answer_is_sent_again_with_the_same_bytes() {
    let (_program, user) = desk();
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin("session convene --subject aurora").ok();
    let submit = "submit --stance cautious --confidence 0.5";
    assert_eq!(user.member(submit).ok(), "1\n");
    // As if the answer had been lost: the bytes on file are those of the record.
    let record: Value = user.with(&["member", "takes", "--json"], &[]).json()["takes"][0].clone();
    let kept =
        ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl"];
    let fields = kept.into_iter().chain(["signature"]);
    let fields: Vec<_> = fields.map(|field| format!("\"{field}\":{}", record[field])).collect();
    let text = format!("{{{}}}", fields.join(","));
    let path = user.profile("pending.json");
    let keep = || {
        fs::write(&path, &text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    keep();
    user.member("submit --stance bullish --confidence 0.5").fails(1, "another take");
    assert_eq!(user.member(submit).ok(), "1\n", "the take that stands");
    assert!(!path.exists());
    assert_eq!(user.member(submit).ok(), "2\n", "a take of its own");
}

#[test]
fn member_reads_its_own_sealed_takes_and_keeps_their_salt() {
    let (program, user) = desk();
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin("session convene --subject aurora --blind").ok();
    let submitted = user.member("submit --stance cautious --confidence 0.5 --json").json();
    let own = user.with(&["member", "takes", "--json"], &[]).json()["takes"][0].clone();
    assert_eq!((&own["stance"], &own["salt"]), (&json!("cautious"), &submitted["salt"]));
    let public = program.client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!((&public["sealed"], &public["stance"]), (&own["sealed"], &Value::Null));
    assert!(user.member("takes").ok().contains(own["sealed"].as_str().unwrap()));
    let token = fs::read_to_string(user.profile("token")).unwrap();
    fs::write(user.profile("token"), "tok_that_is_wrong").unwrap();
    let wrong = user.member("takes");
    assert!(wrong.code == 4 && wrong.err.contains("401"), "{}", wrong.err);
    assert!(wrong.out.contains(own["sealed"].as_str().unwrap()), "what is public is listed");
    fs::write(user.profile("token"), token).unwrap();
    let seal = own["sealed"].as_str().unwrap();
    let file = user.profile(&format!("sealed-1-{}.json", &seal["sha256:".len()..][..16]));
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for field in ["salt", "sealed", "signature"] {
        assert_eq!(kept[field], own[field], "{field}");
    }
    let url = format!("{}/api/swarm/takes/1", user.url);
    user.with(&["verify", &url], &[]).fails(2, "this take is sealed");

    user.admin("session aggregate 1 --yes").ok();
    let key = program.client.get("/api/swarm/takes/1").expect(200).json()["publicKey"].clone();
    for source in [&url, file.to_str().unwrap()] {
        let verified = user.with(&["verify", source, "--key", key.as_str().unwrap()], &[]).ok();
        assert!(verified.contains(&format!("the seal {seal} is of this take")), "{verified}");
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let (_program, user) = desk();
    let _ = user.admin("subject put aurora.json --dry-run");
    assert_eq!(user.admin("subject list --json").json()["subjects"], json!([]));
    user.admin("context add desk --dry-run").fails(2, "no dry run: nothing was changed");
    assert!(!user.home.path().join(".config/swarm/contexts.json").exists());
}

#[test]
fn completions_know_the_verbs() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = swarm(&["completions", shell], &[]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("convene"), "{shell}");
    }
}

#[test]
fn help_of_every_command_has_an_example() {
    let mut waiting = vec![Vec::<String>::new()];
    let mut leaves = 0;
    while let Some(command) = waiting.pop() {
        let arguments: Vec<_> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let output = swarm(&arguments, &[]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{command:?}");
        let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let verbs = verbs.take_while(|line| !line.is_empty());
        let verbs = verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let verbs: Vec<_> = verbs.filter(|verb| !verb.is_empty() && *verb != "help").collect();
        if verbs.is_empty() {
            leaves += 1;
            assert!(help.contains("\nExample"), "swarm {} has no example", command.join(" "));
        }
        let longer =
            |verb: &str| command.iter().cloned().chain([verb.to_owned()]).collect::<Vec<_>>();
        waiting.extend(verbs.into_iter().map(longer));
    }
    assert!(leaves > 50, "{leaves}");
}
