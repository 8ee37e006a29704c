//! A week of a desk through `swarm admin` and `swarm member` alone (MANUAL.md, 13.3), and that the verbs reach all reads of
//! operators.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use swarm_redis_testing::wait_until;

use crate::commands::{User, desk, desk_with};
use crate::console::visitor::{Seen, Visitor};
use crate::harness::fresh_key;
use crate::program::Program;
use crate::routes;
use crate::webhooks::Receiver;

/// Runs commands of an operator, and remembers their verbs.
struct Operator<'a> {
    program: &'a Program,
    user: &'a User,
    /// The URL of its webhook.
    receiver: &'a str,
    verbs: RefCell<BTreeSet<String>>,
}

impl Operator<'_> {
    fn run(&self, command: &str) -> String {
        self.verbs.borrow_mut().insert(command.to_owned());
        self.user.admin(command).ok()
    }

    /// Runs a change, after a dry run that changes nothing.
    fn change(&self, command: &str) -> String {
        let log = || self.program.client.get("/api/swarm/log?limit=1000").expect(200).text;
        let before = log();
        let dry = self.user.admin(&format!("{command} --dry-run"));
        assert!(dry.err.contains("dry run, nothing was changed"), "{command}: {}", dry.err);
        dry.ok();
        assert_eq!(log(), before, "{command}");
        self.run(command)
    }

    /// All verbs without further ones, from the help.
    fn leaves(&self, path: &str) -> Vec<String> {
        let help = self.user.admin(format!("{path} --help").trim()).ok();
        let commands: Vec<_> = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
            .filter(|verb| !verb.is_empty() && *verb != "help")
            .collect();
        if commands.is_empty() {
            return vec![path.to_owned()];
        }
        let leaves = |verb: &&str| self.leaves(format!("{path} {verb}").trim());
        commands.iter().flat_map(leaves).collect()
    }
}

#[test]
fn week_of_a_desk_through_commands_alone() {
    let receiver = Receiver::start();
    let (program, user) = desk_with(&receiver.table("events = [\"mail.*\"]"));
    let other = User::of(&program);
    let operator = Operator {
        program: &program,
        user: &user,
        receiver: &receiver.url,
        verbs: RefCell::default(),
    };
    subjects(&operator);
    members(&operator, &other);
    sessions(&operator);
    committee(&operator);
    leaving(&operator);
    for command in ["context add desk", "context use desk", "context list"] {
        operator.run(command);
    }

    let verbs = operator.verbs.borrow();
    // A test of its own runs those that the table of routes declares.
    let declared: Vec<_> = routes::of_operators()
        .flat_map(|route| &route.info.commands)
        .map(|command| format!("{} {}", command.group, command.word).trim().to_owned())
        .collect();
    let is_run = |leaf: &String| {
        let is_it = |command: &String| command.starts_with(leaf.as_str());
        declared.contains(leaf) || verbs.iter().any(is_it)
    };
    let idle: Vec<_> = operator.leaves("").into_iter().filter(|leaf| !is_run(leaf)).collect();
    assert!(idle.is_empty(), "verbs that the week leaves out: {idle:?}");

    let metrics = program.client.get("/metrics").expect(200).text;
    let counted: Vec<_> =
        metrics.lines().filter(|line| line.starts_with("swarm_http_requests_total")).collect();
    let is_reached = |method: &str, route: &str| {
        counted.iter().any(|line| {
            line.contains(&format!("method=\"{method}\""))
                && line.contains(&format!("route=\"{route}\""))
                && line.contains("status=\"20")
        })
    };
    let unreached: Vec<_> = routes::of_operators()
        .filter(|route| route.is_read() && !is_reached(route.method(), route.info.path))
        .map(routes::Route::name)
        .collect();
    assert!(unreached.is_empty(), "routes that no verb reaches: {unreached:?}");
    assert!(!metrics.contains("route=\"unknown\""), "{metrics}");
}

fn subjects(operator: &Operator<'_>) {
    let user = operator.user;
    operator.change("subject put aurora.json");
    assert!(operator.run("subject list").contains("aurora\tactive"));
    assert!(operator.run("subject show aurora").contains("Aurora"));
    let day = "2026-11-20";
    user.file("snapshot.json", &json!({ "date": day, "totalValueUsd": 1.5 }).to_string());
    operator.change("subject snapshot aurora snapshot.json");
    user.file("regime.json", &json!({ "date": day, "regime": "calm" }).to_string());
    operator.change("regime regime.json");
    let signal = json!({ "signal_key": "k", "date": day, "payload": [1] });
    user.file("signal.json", &signal.to_string());
    operator.change("signal signal.json");
}

fn members(operator: &Operator<'_>, other: &User) {
    let user = operator.user;
    user.member("key new").ok();
    user.member("apply --name Zoë --contact zoe@test.example").ok();
    other.member("key new").ok();
    other.member("apply --name Mallory --contact mallory@test.example").ok();
    assert!(operator.run("applications").contains("Zoë"));
    operator.change("activate zoë");
    operator.change("reject Mallory");
    user.member("claim").ok();
}

fn sessions(operator: &Operator<'_>) {
    let user = operator.user;
    operator.change("session convene --subject aurora --closes +3h --roster active --quorum 1");
    operator.change("session convene --subject aurora --date 2026-11-20");
    // The first deadline comes earlier for nobody.
    operator.change("session deadline 2 +3h");
    operator.change("session quorum 2 3");
    let quorum = || json_of(&operator.run("session show 2 --json"))["session"]["quorum"].clone();
    assert_eq!(quorum(), 3);
    operator.change("session quorum 2 none");
    assert_eq!(quorum(), Value::Null);
    user.admin("session quorum 2 some").fails(2, "is no quorum");
    operator.change("session roster 2 zoë");
    operator.change("session excuse 2 zoë");
    operator.change("session excuse 2 zoë --undo");
    operator.change("session withdraw 2");
    user.admin("session show 2").fails(1, "404");
    operator.change("session brief 1");
    let members = json_of(&operator.run("members --json"));
    assert_eq!(members["members"][0]["lastTake"], Value::Null);
    assert!(operator.run("status").contains("  next: close, by schedule\n    not filed: Zo"));

    user.file("take.md", "Utilisation is high.");
    user.member("submit --stance cautious --confidence 0.62 --body take.md").ok();
    user.file("memo.md", "Long.");
    user.member("memo --title Aurora memo.md").ok();
    let members = json_of(&operator.run("members --json"));
    assert_eq!(members["members"][0]["takes30Days"], 1);
    assert!(members["members"][0]["lastTake"].is_string());
    assert!(operator.run("status").starts_with("needs you: nothing\n"));
    let status = json_of(&operator.run("status --json"));
    let session = &status["sessions"][0];
    assert_eq!((&session["filed"], &session["missing"]), (&json!(1), &json!([])));
    assert_eq!((&status["ready"], &status["applications"]), (&json!(true), &json!(0)));

    assert!(operator.run("acts --limit 500").contains("\tmember.activated\t"));
    operator.change("session deadline 1 +1h --yes");
    user.admin("session close 1").fails(2, "--yes");
    operator.change("session close 1 --yes");
    let closed = json_of(&operator.run("session show 1 --json"))["session"].clone();
    assert_eq!(closed["state"], "window_closed");
    user.member("submit --stance neutral --confidence 0.5").fails(1, "no session collects takes");
    operator.change("session deadline 1 +1h --yes");
    operator.change("session close 1 --yes");
    operator.change("session aggregate 1 --yes");
    operator.change("session publish 1");
    assert!(user.admin("session void --help").ok().contains("It wants --note.\n"));
    user.admin("session void 1 --yes").fails(2, "--note");
    user.admin("session --note wrong void 1").fails(2, "--yes");
    user.admin("session void 1 --note wrong").fails(2, "--yes");
    operator.change("session void 1 --note wrong --yes");
    user.admin("session void 1 --note again --yes").fails(1, "session is void");
    assert!(operator.run("session list").contains("\tpublished, void\t"));
    operator
        .change("session convene --subject aurora --date 2026-11-18 --state announced --finish");
    assert!(operator.run("session list").contains("\tannounced\t"));
    operator.change("session open 3");
    operator.change("session brief 3");
    user.admin("session brief 3").fails(1, "brief already published");
    operator.change("session brief 3 --replace");
    operator.change("session withdraw 3");
    operator.change("session convene --subject aurora --date 2026-11-17 --practice --closes +3h");
    assert!(operator.run("session list").contains("\topen, practice\t"));
    operator.change("session convene --subject aurora --date 2026-11-17 --closes +3h");
    user.member("submit --session 4 --stance neutral --confidence 0.5")
        .fails(1, "would land in session 5");
    user.member("submit --session 4 --stance neutral --confidence 0.5 --dry-run")
        .fails(1, "session 5");
    operator.change("session withdraw 5");
    user.member("submit --session 4 --stance neutral --confidence 0.5").ok();
    assert!(operator.run("session list --state published").contains("\n1\t"));
    assert!(operator.run("session show 1").contains("published"));
    operator.change("session convene --subject aurora --blind --closes +3h");
    let blind = json_of(&operator.run("session show 6 --json"));
    assert_eq!(blind["session"]["blind"], true);
    operator.change("session withdraw 6");
    operator
        .change("session convene --subject aurora --date 2026-01-01 --closes 2026-01-01T12:00:00Z");
    // The schedule closes the window, which is an entry of the log.
    wait_until("the window is closed", || {
        let session = json_of(&operator.run("session show 7 --json"));
        session["session"]["state"] == "window_closed"
    });
    operator.change("session question 7 --question Higher? --resolution Prices --resolves +7d");
    operator.change("session aggregate 7");
    operator.change("session outcome 7 -0.5 --source https://prices.example --note noon");
    assert!(operator.run("session show 7").contains("prices.example"));
    assert_eq!(json_of(&operator.run("ranking --min 2 --json"))["sessions"], 0, "nobody filed");
    operator.change("memo retract 1");
    operator.change("take withhold 1 --note client");
    operator.change("take restore 1");
    assert!(operator.run("outbox list").contains("zoe@test.example"));
    operator.change("outbox retry 1");
    operator.change("outbox cancel 1");
    operator.change("mail test ada@acme.example");
    operator.change(&format!("webhook test {}", operator.receiver));
    operator.change("webhook retry 1");
    assert!(operator.run("webhook list").contains("webhook.test"));
    operator.change("accept clock --yes");
}

fn committee(operator: &Operator<'_>) {
    operator.change("committee member add chair --name Chair");
    assert!(operator.run("committee member list").contains("chair"));
    operator.change("committee member update chair --lens Cash");
    operator.change("committee member status chair inactive");
    operator.change("committee member status chair active");
    operator.change("committee member rotate-key chair --yes");
    operator.change("committee day 2999-01-01 aurora");
    operator.change("committee briefs --subject aurora --deadline +10m");
    let generated = json_of(&operator.run("committee briefs --deadline +10m --json"));
    let earlier = operator.user.admin("committee briefs --deadline +1m");
    assert!(earlier.err.contains("today's briefs: the deadline moves "), "{}", earlier.err);
    earlier.fails(2, "--yes");
    let day = generated["date"].as_str().unwrap();
    assert!(operator.run(&format!("committee filing {day}")).contains("chair"));
    operator.user.file("synthesis.md", "Neutral.");
    operator.change(&format!("committee synthesis {day} synthesis.md"));
    operator.change(&format!("committee withdraw {day} --yes"));
}

/// A leaked token, a lost one, and a member that leaves.
fn leaving(operator: &Operator<'_>) {
    operator.change("update zoë --contact zoe@desk.example");
    let key = fresh_key().public_key();
    let asked = operator.user.admin(&format!("rotate-key zoë --public-key {key} --dry-run")).err;
    let caution = "): the token or key in use stops working at once";
    assert!(asked.contains("Zoë (") && asked.contains(caution), "{asked}");
    operator.change("rotate-key zoë --yes");
    operator.change("reset-claim zoë");
    operator.user.admin("erase zoë --yes").fails(1, "member is approved");
    operator.change("deactivate zoë");
    operator.user.admin("erase zoë").fails(2, "--yes");
    operator.change("erase zoë --texts --yes");
    operator.user.admin("activate zoë").fails(1, "no member");
    assert!(operator.run("applications --state inactive").contains("erased"));
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The days of a week with five sessions.
const WEEK: [&str; 5] = ["2026-11-23", "2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27"];

/// Waits until the five sessions have their results, with a brief each.
fn wait_for_results(program: &Program) {
    let sessions = || {
        let listed = program.client.get("/api/swarm/sessions").expect(200).json();
        listed["sessions"].as_array().unwrap().clone()
    };
    wait_until("five results are published", || {
        sessions().iter().filter(|session| session["state"] == "published").count() == WEEK.len()
    });
    for session in sessions() {
        program.client.get(&format!("/api/swarm/brief?session={}", session["id"])).expect(200);
    }
}

/// Most of the work of a week is not to be done by hand: each session is convened and gets its brief.
#[test]
fn week_of_five_sessions_takes_at_most_twelve_commands() {
    let (program, user) = desk();
    user.admin("subject put aurora.json").ok();
    let commands = std::cell::Cell::new(0);
    let run = |command: &str| {
        commands.set(commands.get() + 1);
        user.admin(command).ok()
    };
    for (nth, day) in WEEK.iter().enumerate() {
        run(&format!("session convene --subject aurora --date {day} --closes +5s --finish"));
        run(&format!("session brief {}", nth + 1));
    }
    wait_for_results(&program);
    assert!(run("status").starts_with("needs you: nothing\n"));
    assert!(commands.get() <= 12, "{}", commands.get());
}

/// A browser that counts the links and buttons that are pressed, and the options that are chosen.
struct Clicks {
    visitor: Visitor,
    page: Seen,
    count: usize,
}

impl Clicks {
    /// Follows a link of the page.
    fn follow(&mut self, text: &str) {
        let link = self.page.text.split("<a ").find(|link| {
            let shown = link.split_once('>').unwrap_or_default().1.split("</a>").next().unwrap();
            shown.replace("<bdi>", "").replace("</bdi>", "") == text
        });
        let href = link.unwrap_or_else(|| panic!("no link {text:?} in {}", self.page.text));
        let href = href.split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        self.count += 1;
        self.page = self.visitor.get(&href).expect(200);
    }

    /// Chooses options, and sends the form of the page with what is typed.
    fn send(&mut self, action: &str, chosen: &[(&str, &str)], typed: &[(&str, &str)]) {
        self.count += 1 + chosen.len();
        let form = self.page.form(action);
        let seen = self.visitor.submit(&form, &[chosen, typed].concat());
        self.page = self.visitor.follow(&seen);
    }
}

#[test]
fn week_of_five_sessions_takes_at_most_fifteen_clicks() {
    let (program, user) = desk();
    user.admin("subject put aurora.json").ok();
    let mut visitor = Visitor::new(&program.client);
    let entered = visitor.sign_in(crate::harness::ADMIN);
    let page = visitor.follow(&entered);
    let mut desk = Clicks { visitor, page, count: 1 };
    let soon = || {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let now = swarm_core::Timestamp::EPOCH.plus_millis(i64::try_from(now).unwrap());
        now.plus_millis(5_000).to_string()
    };
    desk.follow("Convene a session");
    // The first session: there is none whose subject is taken.
    desk.count += 2;
    desk.page = desk.visitor.get("/operate/convene?subject=aurora").expect(200);
    for (nth, day) in WEEK.iter().enumerate() {
        let chosen = [("publishBrief", "on"), ("finish", "on")];
        let chosen = if nth == 0 { &chosen[..] } else { &[] };
        desk.send("/operate/convene", chosen, &[("date", day), ("windowClosesAt", &soon())]);
        desk.page.says("The session is convened. The brief is published.");
        if nth + 1 < WEEK.len() {
            desk.follow("Convene the next session");
        }
    }
    wait_for_results(&program);
    assert!(desk.count <= 15, "{}", desk.count);
    let page = desk.visitor.get("/operate").expect(200);
    page.says("Nothing needs you now.");
}
