//! Webhooks: what they are told, to receivers that fail, are slow or redirect; by several servers, and by servers that are
//! killed (API.md, 15).

mod receiver;
mod reminders;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_client::WebhookClient;
use swarm_core::Timestamp;
use swarm_redis_testing::{free_port, wait_until};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::clients::python;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, configuration, swarm};
use crate::sqlite::disk_library;
use crate::tenant_configuration::tenant;

pub use receiver::{Delivery, Receiver, Reply, SECRET};

const DAY: &str = "2026-11-21";

/// Long enough for several rounds of the job.
const QUIET: Duration = Duration::from_millis(1_500);

/// A server of the tenant `acme`, with these lines in its table.
pub struct Desk {
    pub program: Program,
    pub client: Client,
}

impl Desk {
    /// In memory.
    pub fn start(name: &str, lines: &str) -> Self {
        Self::serve(name, "", lines, Arc::new(tempfile::tempdir().unwrap()), "memory")
    }

    /// `server` are lines about the server; the store may be a file in the folder.
    pub fn serve(name: &str, server: &str, lines: &str, folder: Arc<TempDir>, store: &str) -> Self {
        Self::serve_in(name, server, lines, folder, store, &[])
    }

    /// The same in this environment.
    fn serve_in(
        name: &str,
        server: &str,
        lines: &str,
        folder: Arc<TempDir>,
        store: &str,
        environment: &[(&str, &str)],
    ) -> Self {
        let text = format!("{server}{}", tenant("acme", lines));
        let file = configuration(&format!("webhooks-{name}.toml"), &text);
        let store = format!("--store={store}");
        let arguments = ["serve", &store, "--config", file.to_str().unwrap()];
        let program = Program::start_in(folder, &arguments, environment);
        let client = program.client.at("acme.example");
        Self { program, client }
    }

    pub fn read(&self, path: &str) -> Value {
        let path = format!("/api/swarm/admin{path}");
        self.client.send("GET", &path, &[("x-admin-token", ADMIN)], b"").expect(200).json()
    }

    fn deliveries(&self) -> Vec<Value> {
        self.read("/webhooks?limit=500")["deliveries"].as_array().unwrap().clone()
    }

    /// Waits until there are deliveries, and none of them waits for its first attempt.
    fn settle(&self) {
        wait_until("each delivery was tried", || {
            let all = self.deliveries();
            !all.is_empty()
                && all.iter().all(|it| it["state"] != "queued" || it["lastError"].is_string())
        });
    }

    fn retry(&self, delivery: &Value) -> Value {
        let path = format!("/webhooks/{}/retry", delivery["id"]);
        self.client.operate(&path, &json!({})).expect(200).json()["delivery"].clone()
    }
}

/// Checks signatures with the `hmac` of Python. Each item is secret, id, timestamp, body and signature.
fn is_signed(deliveries: &[Delivery]) -> bool {
    const CHECK: &str = r#"
import base64, hashlib, hmac, json, sys
for secret, id, timestamp, body, signature in json.load(sys.stdin):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{timestamp}.{body}".encode()
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert "v1," + digest == signature, (id, signature)
"#;
    let items = deliveries.iter().map(|it| {
        let header = |name: &str| it.headers[name].clone();
        json!([SECRET, it.id(), header("webhook-timestamp"), it.body, header("webhook-signature")])
    });
    let items = Value::Array(items.collect());
    let mut child = Command::new(python())
        .args(["-c", CHECK])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not run: {error}", python()));
    serde_json::to_writer(child.stdin.take().unwrap(), &items).unwrap();
    child.wait().unwrap().success()
}

/// A program that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The receiver of OPERATING.md, as it stands there.
#[test]
fn receiver_of_the_operating_manual_accepts_what_is_genuine_alone() {
    let manual = include_str!("../../../../OPERATING.md");
    let (_, rest) = manual.split_once("## Webhooks").unwrap();
    let code = rest.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hook.secret"), format!("{SECRET}\n")).unwrap();
    let mut command = Command::new(python());
    command.args(["-c", &code.replace("8090", &port.to_string())]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    let address = format!("127.0.0.1:{port}");
    wait_until("the receiver runs", || TcpStream::connect(&address).is_ok());
    let receiver = WebhookClient::new(&format!("http://{address}/swarm")).unwrap();
    let forged = [
        ("webhook-id", "evt_1"),
        ("webhook-timestamp", &*(now_in_millis() / 1_000).to_string()),
        ("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
    ];
    assert_eq!(receiver.post(&forged, "{}").unwrap().status, 401);

    let table = format!(
        "[[tenants.webhooks]]\nurl = \"http://127.0.0.1:{port}/swarm\"\nsecret = \"{SECRET}\"\n\
         events = [\"session.*\"]\n"
    );
    let desk = Desk::start("manual", &table);
    desk.client.convene(DAY, "aurora");
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains(" session.convened {'seq': 2"), "{line}");
    desk.settle();
    assert_eq!(desk.deliveries()[0]["state"], "delivered");
}

/// The exact texts of the log's entries.
#[test]
fn events_are_delivered_once_in_order_and_signed() {
    let receiver = Receiver::start();
    let desk = Desk::start("all", &receiver.table(""));
    let client = &desk.client;
    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    receiver.wait_for("session.state");
    sleep(QUIET);

    let seen = receiver.seen();
    let logged: Vec<_> = seen.iter().filter(|it| it.event() != "application.received").collect();
    // What the log says, exactly.
    let log = client.get("/api/swarm/log?limit=1000").expect(200).text;
    let all = client.log_entries();
    assert_eq!(logged.len(), all.len(), "{:?}", receiver.events());
    for (delivery, entry) in logged.iter().zip(&all) {
        let body = delivery.json();
        assert_eq!((&body["data"], &body["timestamp"]), (entry, &entry["at"]));
        let (_, data) = delivery.body.split_once("\"data\":").unwrap();
        assert!(log.contains(&data[..data.len() - 1]), "{data}");
    }
    let events: Vec<_> = logged.iter().map(|it| it.event()).collect();
    let expected = [
        "subject",
        "session.convened",
        "member.activated",
        "member.claimed",
        "take.filed",
        "session.state",
    ];
    assert_eq!(events, expected);
    // What is no entry of the log comes by the time of its commit.
    let place = |event: &str| seen.iter().position(|it| it.event() == event).unwrap();
    assert!(place("application.received") < place("member.activated"), "{:?}", receiver.events());
    let applied = receiver.wait_for("application.received").json();
    assert_eq!(applied["data"], json!({ "memberId": ada.id.as_str() }));

    let ids: BTreeSet<_> = seen.iter().map(Delivery::id).collect();
    assert_eq!(ids.len(), seen.len(), "each once");
    assert!(seen.iter().all(|it| it.headers["content-type"] == "application/json"));
    assert!(is_signed(&seen));
    let forged = Delivery { body: seen[0].body.replace("aurora", "borealis"), ..seen[0].clone() };
    assert!(!is_signed(&[forged]));

    let deliveries = desk.deliveries();
    assert_eq!(deliveries.len(), seen.len());
    assert!(deliveries.iter().all(|it| it["state"] == "delivered" && it["attempts"] == 1));
    let status = desk.read("/status")["webhooks"].clone();
    assert_eq!(status, json!([{ "url": receiver.url, "failing": false, "oldest": null }]));
    wait_until("they are counted", || {
        let text = client.get("/metrics").expect(200).text;
        text.contains(&format!("swarm_webhook_deliveries{{state=\"delivered\"}} {}\n", seen.len()))
            && text.contains("swarm_failing_webhooks 0\n")
    });
}

#[test]
fn receiver_that_fails_is_tried_again_with_the_same_id() {
    let receiver = Receiver::start();
    receiver.answer(Reply::Status(500));
    let lines = receiver.table("events = [\"session.*\"]");
    let desk = Desk::start("fails", &lines);
    desk.client.convene(DAY, "aurora");
    desk.settle();
    let [failed] = &desk.deliveries()[..] else { panic!("{:?}", desk.deliveries()) };
    assert_eq!((&failed["state"], &failed["attempts"]), (&json!("queued"), &json!(1)));
    assert_eq!(failed["lastError"], "answered 500");
    assert!(failed["dueAt"].as_str() > failed["queuedAt"].as_str(), "{failed}");
    let status = desk.read("/status")["webhooks"][0].clone();
    assert_eq!((&status["failing"], &status["oldest"]), (&json!(true), &failed["queuedAt"]));
    wait_until("it is counted", || {
        desk.client.get("/metrics").expect(200).text.contains("swarm_failing_webhooks 1\n")
    });
    sleep(QUIET);
    assert_eq!(receiver.seen().len(), 1, "not before half a minute");

    receiver.answer(Reply::Status(200));
    let dry = format!("/webhooks/{}/retry?dry_run=true", failed["id"]);
    desk.client.operate(&dry, &json!({})).expect(200);
    sleep(QUIET);
    assert_eq!(receiver.seen().len(), 1);
    assert_eq!(desk.retry(failed)["state"], "queued");
    wait_until("it is delivered", || desk.deliveries()[0]["state"] == "delivered");
    // Delivered once more, where an operator asks for it.
    desk.retry(failed);
    wait_until("it is delivered again", || receiver.seen().len() == 3);
    let seen = receiver.seen();
    assert!(seen.iter().all(|it| it.id() == failed["webhookId"] && it.body == seen[0].body));
    assert!(is_signed(&seen));
    desk.settle();
    assert_eq!(desk.read("/status")["webhooks"][0]["failing"], false);
    desk.client.operate("/webhooks/99/retry", &json!({})).refused(404, "no such delivery");

    // What the operator did is in the list of acts, and what was refused or tried is not.
    let url = json!({ "url": receiver.url });
    desk.client.operate("/webhooks/test?dry_run=true", &url).expect(200);
    let test = desk.client.operate("/webhooks/test", &url).expect(200).json()["delivery"].clone();
    let acts = desk.read("/acts")["acts"].as_array().unwrap().clone();
    let acts = acts.iter().filter(|it| it["act"].as_str().unwrap().starts_with("webhook."));
    let acts: Vec<_> = acts.map(|it| (&it["by"], &it["act"], it["target"].clone())).collect();
    let by = &json!("operator");
    let [tested, retried] = [json!("webhook.tested"), json!("webhook.retried")];
    let target = |delivery: &Value| json!(delivery["id"].to_string());
    let again = (by, &retried, target(failed));
    assert_eq!(acts, [(by, &tested, target(&test)), again.clone(), again]);
}

#[test]
fn receiver_says_when_to_try_again_and_that_it_is_gone() {
    let receiver = Receiver::start();
    let desk = Desk::start("busy", &receiver.table("events = [\"session.*\"]"));
    receiver.answer(Reply::Busy(503, 900));
    desk.client.convene(DAY, "aurora");
    desk.settle();
    let delivery = desk.deliveries().remove(0);
    let millis = |field: &str| {
        let time = delivery[field].as_str().unwrap();
        Timestamp::parse("time", time).unwrap().millis()
    };
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("queued"), &json!(1)));
    assert_eq!(delivery["lastError"], "answered 503");
    assert!(millis("dueAt") - millis("queuedAt") >= 900_000, "{delivery}");
    receiver.answer(Reply::Status(410));
    desk.retry(&delivery);
    wait_until("it has failed", || desk.deliveries()[0]["state"] == "failed");
    let failed = desk.deliveries().remove(0);
    assert_eq!((&failed["attempts"], &failed["lastError"]), (&json!(1), &json!("answered 410")));
}

#[test]
fn redirects_are_not_followed() {
    let [receiver, other] = [(); 2].map(|()| Receiver::start());
    receiver.answer(Reply::Redirect(other.url.clone()));
    let desk = Desk::start("redirects", &receiver.table("events = [\"session.convened\"]"));
    desk.client.convene(DAY, "aurora");
    desk.settle();
    assert_eq!(desk.deliveries()[0]["lastError"], "answered 302");
    assert_eq!((receiver.seen().len(), other.seen().len()), (1, 0));
}

#[test]
fn receiver_that_is_slow_holds_up_no_other() {
    let [slow, quick] = [(); 2].map(|()| Receiver::start());
    slow.answer(Reply::Late(Duration::from_secs(12)));
    let desk = Desk::start("slow", &(slow.table("") + &quick.table("")));
    desk.client.convene(DAY, "aurora");
    slow.wait_for("subject");
    let begun = Instant::now();
    desk.client.convene("2026-11-22", "aurora");
    wait_until("the other is told", || quick.events().len() == 4);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(slow.seen().len(), 1, "one at a time");
    // Later than 10 s is a failure.
    wait_until("the slow one failed", || {
        desk.deliveries().iter().any(|it| {
            it["url"] == slow.url.as_str() && it["lastError"].to_string().contains("timeout")
        })
    });
}

/// Both deliver, and each event is delivered by one of them.
#[test]
fn two_servers_on_one_store_deliver_each_event_once() {
    let receiver = Receiver::start();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let serve = |folder: &Arc<TempDir>| {
        let lines = receiver.table("events = [\"session.*\", \"application.*\"]");
        Desk::serve("two", "", &lines, Arc::clone(folder), "sqlite:swarm.db")
    };
    let desks = [serve(&folder), serve(&folder)];
    for number in 0..20 {
        desks[number % 2].client.convene(DAY, &format!("subject-{number}"));
        Author::apply(&desks[number % 2].client, &format!("member-{number}"));
    }
    wait_until("all are told", || receiver.seen().len() >= 40);
    sleep(QUIET);
    let seen = receiver.seen();
    let ids: BTreeSet<_> = seen.iter().map(Delivery::id).collect();
    assert_eq!((seen.len(), ids.len()), (40, 40));
    assert!(is_signed(&seen));
}

/// The commit is what queues: a server that is killed at once afterwards loses no event.
#[test]
fn events_of_a_killed_server_are_delivered_by_the_next() {
    let receiver = Receiver::start();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let serve = |url: &Receiver| {
        let lines = url.table("events = [\"session.convened\", \"application.received\"]");
        Desk::serve("killed", "", &lines, Arc::clone(&folder), "sqlite:swarm.db")
    };
    for life in 0..5 {
        let desk = serve(&receiver);
        desk.client.convene(DAY, &format!("subject-{life}"));
        Author::apply(&desk.client, &format!("member-{life}"));
        desk.program.signal("KILL");
    }
    let desk = serve(&receiver);
    // What was being sent when its server was killed is sent again once its lease of two minutes is over.
    wait_until("all are told or leased", || {
        let all = desk.deliveries();
        all.len() >= 10 && all.iter().all(|it| it["attempts"] != 0)
    });
    sleep(QUIET);
    let all = desk.deliveries();
    let queued: BTreeSet<_> = all.iter().map(|it| it["webhookId"].as_str().unwrap()).collect();
    let of = |event: &str| all.iter().filter(|it| it["type"] == event).count();
    assert_eq!((all.len(), queued.len()), (10, 10), "each once: {all:?}");
    assert_eq!((of("session.convened"), of("application.received")), (5, 5));
    let seen = receiver.seen();
    let told: BTreeSet<_> = seen.iter().map(Delivery::id).collect();
    assert!(told.is_subset(&queued));
    for delivery in all.iter().filter(|it| it["state"] == "delivered") {
        assert!(told.contains(delivery["webhookId"].as_str().unwrap()), "{delivery}");
    }
    let leased = all.iter().filter(|it| it["state"] == "queued").count();
    assert!(leased <= 5 && seen.len() <= 10 + leased, "{:?}", receiver.events());
    assert!(is_signed(&seen));
}

#[test]
fn sealed_takes_are_in_no_delivery() {
    let receiver = Receiver::start();
    let desk = Desk::start("sealed", &receiver.table("closing = \"2h\""));
    let client = &desk.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ada = Author::join(client, "Ada");
    let session = json!({
        "date": DAY, "subjectId": "aurora", "blind": true, "roster": [{ "memberId": ada.id.as_str() }],
        "windowClosesAt": in_the_future(3_600),
    });
    client.operate("/sessions", &session).expect(201);
    let mut fields = serde_json::to_value(ada.draft(DAY, "aurora")).unwrap();
    fields["stance"] = "bearish".into();
    fields["confidence"] = 0.4321.into();
    fields["body"] = "A secret reason.".into();
    let filed = client.submit(&ada, ada.draft_of(fields)).expect(201);
    let salt = filed.header("swarm-seal").unwrap().to_owned();
    let take = receiver.wait_for("take.filed").json();
    receiver.wait_for("session.closing");
    assert!(take["data"]["sealed"].is_string(), "{take}");
    for field in ["signature", "digest", "stance"] {
        assert!(take["data"].get(field).is_none(), "{take}");
    }
    sleep(QUIET);
    for delivery in receiver.seen() {
        for secret in ["bearish", "0.4321", "A secret reason", &salt] {
            assert!(!delivery.body.contains(secret), "{}", delivery.body);
        }
    }
}

/// The time, in milliseconds since 1970.
pub fn now_in_millis() -> i64 {
    i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// An instant so many seconds ahead.
fn in_the_future(seconds: i64) -> String {
    let millis = now_in_millis() + seconds * 1_000;
    Timestamp::EPOCH.plus_millis(millis).to_string()
}

#[test]
fn closing_session_is_told_once_with_who_is_missing() {
    let receiver = Receiver::start();
    let desk =
        Desk::start("closing", &receiver.table("closing = \"1h\"\nevents = [\"session.closing\"]"));
    let client = &desk.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let [ada, zoe] = ["Ada", "Zoe"].map(|name| Author::join(client, name));
    let roster = json!([{ "memberId": ada.id.as_str() }, { "memberId": zoe.id.as_str() }]);
    let session = |day: &str, seconds| {
        json!({
            "date": day, "subjectId": "aurora", "roster": roster, "windowClosesAt": in_the_future(seconds),
        })
    };
    client.operate("/sessions", &session(DAY, 3_602)).expect(201);
    client.operate("/sessions", &session("2026-11-22", 36_000)).expect(201);
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let told = receiver.wait_for("session.closing").json();
    let data = &told["data"];
    assert_eq!((&data["filed"], &data["session"]["id"]), (&json!(1), &json!(1)));
    assert_eq!(data["missing"], json!([{ "memberId": zoe.id.as_str(), "name": "Zoe" }]));
    sleep(QUIET);
    assert_eq!(receiver.seen().len(), 1, "the other closes later");
    // A deadline that is moved is another one.
    let moved = json!({ "windowClosesAt": in_the_future(1_800) });
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let path = "/api/swarm/admin/sessions/1";
    client.send("PATCH", path, &headers, moved.to_string().as_bytes()).expect(200);
    wait_until("it is told again", || receiver.seen().len() == 2);
}

#[test]
fn undelivered_mail_and_skipped_windows_are_told() {
    let receiver = Receiver::start();
    let lines = receiver.table("events = [\"mail.*\", \"schedule.skipped\"]")
        + "[[tenants.schedule]]\nsubject = \"nowhere\"\nopens = \"00:00\"\ncloses_after = \"24h\"\n";
    let server = "smtp_url = \"smtp://127.0.0.1:9\"\nmail_from = \"desk@acme.example\"\n";
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let desk = Desk::serve("untold", server, &lines, folder, "memory");
    let skipped = receiver.wait_for("schedule.skipped").json();
    assert_eq!(skipped["data"]["subjectId"], "nowhere");
    assert_eq!(skipped["data"]["reason"], "no such subject");
    assert!(skipped["data"]["date"].is_string(), "{skipped}");
    // The contact is no address: it is undeliverable without a mail server.
    let client = &desk.client;
    let (id, _) = Author::apply(client, "no address ");
    client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    let data = receiver.wait_for("mail.undelivered").json()["data"].clone();
    let expected = json!({ "messageId": 1, "memberId": id.as_str(), "state": "undeliverable" });
    assert_eq!(data, expected);
    sleep(QUIET);
    assert_eq!(receiver.seen().len(), 2, "each once");
}

/// It is told nothing of what was before, also when the tenants are reloaded.
#[test]
fn webhook_begins_when_it_is_configured() {
    let [first, second] = [(); 2].map(|()| Receiver::start());
    let desk = Desk::start("reloaded", &first.table("events = [\"session.*\"]"));
    desk.client.convene(DAY, "aurora");
    first.wait_for("session.convened");
    let lines = first.table("events = [\"session.*\"]") + &second.table("");
    configuration("webhooks-reloaded.toml", &tenant("acme", &lines));
    desk.program.signal("HUP");
    wait_until("it is taken up", || {
        desk.read("/status")["webhooks"].as_array().is_some_and(|all| all.len() == 2)
    });
    sleep(QUIET);
    desk.client.convene("2026-11-22", "borealis");
    second.wait_for("session.convened");
    sleep(QUIET);
    assert_eq!(second.events(), ["subject", "session.convened"]);
    assert_eq!(first.events(), ["session.convened", "session.convened"]);
}

/// Nothing can be committed to the store then, and a webhook is told all the same, once by two servers.
#[test]
fn store_that_refuses_commits_is_told_and_when_it_is_accepted() {
    let receiver = Receiver::start();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let serve = || {
        let lines = receiver.table("events = [\"store.*\"]");
        Desk::serve("refused", "", &lines, Arc::clone(&folder), "sqlite:swarm.db")
    };
    let desk = serve();
    desk.client.convene(DAY, "aurora");
    desk.client.convene("2026-11-22", "borealis");
    desk.client.wait_until_all_is_signed();
    // It is remembered after it was signed.
    let signed = format!(" 1 {} ", desk.client.log_entries().len());
    let file = folder.path().join("swarm.key.checkpoints");
    let remembered = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(&signed));
    wait_until("the checkpoint is remembered", remembered);
    drop(desk);
    // Another store, while the file beside the key remembers the log.
    for file in ["swarm.db", "swarm.db-wal", "swarm.db-shm"] {
        let _ = std::fs::remove_file(folder.path().join(file));
    }
    let desks = [serve(), serve()];
    let refused = receiver.wait_for("store.refused").json();
    assert!(refused["data"]["reason"].as_str().unwrap().contains("not the one"), "{refused}");
    desks[0].client.operate("/accept", &json!({ "what": "store" })).expect(200);
    receiver.wait_for("store.ready");
    sleep(QUIET * 4);
    assert_eq!(receiver.events(), ["store.refused", "store.ready"]);
}

/// Nothing can be read from the store or written to it then: the server tells it from memory.
#[test]
fn store_that_does_not_answer_is_told_and_when_it_answers_again() {
    let receiver = Receiver::start();
    let redis = swarm_redis_testing::Server::start(&[]);
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let lines = receiver.table("events = [\"store.*\"]");
    let desk = Desk::serve("outage", "", &lines, folder, &redis.url());
    desk.client.convene(DAY, "aurora");
    // The job reads the clock of the store every five seconds.
    sleep(Duration::from_secs(6));
    for outage in 1..=2 {
        receiver.answer(Reply::Status(200));
        redis.signal("STOP");
        wait_until("the outage is told", || receiver.events().len() == 2 * outage - 1);
        let refused = receiver.seen().pop().unwrap();
        assert_eq!(refused.event(), "store.refused");
        assert_eq!(refused.json()["data"], json!({ "reason": "the store does not answer" }));
        assert!(is_signed(&[refused]));
        redis.signal("CONT");
        wait_until("its end is told", || receiver.events().len() == 2 * outage);
        assert_eq!(receiver.events().last().unwrap(), "store.ready");
    }
    sleep(QUIET);
    assert_eq!(receiver.events().len(), 4, "each once: {:?}", receiver.events());
    let seen = receiver.seen();
    let ids: BTreeSet<_> = seen.iter().map(Delivery::id).collect();
    assert_eq!(ids.len(), 4);
}

/// A full disk still answers reads. `store.refused` is sent from memory, with the reason that `/readyz` gives.
#[test]
fn full_disk_is_told_and_when_there_is_room_again() {
    let receiver = Receiver::start();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (disk, library) = (folder.path().join("disk"), disk_library());
    std::fs::write(&disk, "").unwrap();
    let environment = [("LD_PRELOAD", &*library), ("SWARM_TEST_DISK", disk.to_str().unwrap())];
    let lines = receiver.table("events = [\"store.*\"]");
    let store = "sqlite:swarm.db";
    let desk = Desk::serve_in("full", "", &lines, Arc::clone(&folder), store, &environment);
    desk.client.convene(DAY, "aurora");
    std::fs::write(&disk, "full").unwrap();
    let refused = receiver.wait_for("store.refused");
    assert_eq!(refused.json()["data"], json!({ "reason": "database or disk is full" }));
    assert!(is_signed(&[refused]));
    let why = "the store is not ready: database or disk is full";
    let status = desk.read("/status");
    assert_eq!((&status["ready"], &status["warnings"]), (&json!(false), &json!([why])));
    assert_eq!(status["agenda"]["needs"][0]["message"], why);
    std::fs::write(&disk, "").unwrap();
    receiver.wait_for("store.ready");
    sleep(QUIET);
    assert_eq!(receiver.events(), ["store.refused", "store.ready"]);
}

/// The names of members in what webhooks were told are erased with them, in the store and in what is delivered again.
#[test]
fn erased_member_is_named_in_no_delivery() {
    const NAME: &str = "Quicksilver";
    let receiver = Receiver::start();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let lines = receiver.table("closing = \"1h\"\nevents = [\"session.closing\"]");
    let desk = Desk::serve("erased", "", &lines, Arc::clone(&folder), "sqlite:swarm.db");
    let client = &desk.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let [ada, other] = ["Ada", NAME].map(|name| Author::join(client, name));
    let roster = json!([{ "memberId": ada.id.as_str() }, { "memberId": other.id.as_str() }]);
    let session = json!({
        "date": DAY, "subjectId": "aurora", "roster": roster, "windowClosesAt": in_the_future(1_800),
    });
    client.operate("/sessions", &session).expect(201);
    let told = receiver.wait_for("session.closing");
    assert!(told.body.contains(NAME));
    desk.settle();
    let member = json!({ "memberId": other.id.as_str() });
    client.operate("/deactivate", &member).expect(200);
    client.operate("/erase", &member).expect(200);

    desk.retry(&desk.deliveries()[0]);
    wait_until("it is delivered again", || receiver.seen().len() == 2);
    let again = receiver.seen().pop().unwrap();
    assert_eq!(again.id(), told.id());
    assert_eq!(again.body, told.body.replace(NAME, "erased"));
    drop(desk);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let has = bytes.windows(NAME.len()).any(|it| it == NAME.as_bytes());
        assert!(!has, "{} has the name", path.display());
    }
}

#[test]
fn secrets_of_webhooks_are_shown_nowhere() {
    let receiver = Receiver::start();
    receiver.answer(Reply::Status(500));
    let lines = receiver.table("events = [\"session.*\"]\nclosing = \"30m\"");
    let file = configuration("webhooks-check.toml", &tenant("acme", &lines));
    let output =
        swarm(&["check", "--store=memory", "--config", file.to_str().unwrap()], &[]).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    let shown = receiver.url.replace("?key=hush", "?…");
    let line = format!("acme: webhook: {shown}: session.*; closing 30m ahead\n");
    assert!(said.contains(&line), "{said}");
    let desk = Desk::start("secret", &lines);
    desk.client.convene(DAY, "aurora");
    desk.settle();
    let answers = [desk.read("/webhooks"), desk.read("/status")].map(|it| it.to_string()).concat();
    let (_, log) = desk.program.stop("TERM");
    for text in [&said, &log, &answers] {
        assert!(!text.contains("MfKQ9r8G"), "{text}");
    }
    assert!(!said.contains("hush") && !log.contains("hush"), "{log}");
    assert_eq!(log.matches("delivery to a webhook failed").count(), 1, "{log}");
    assert!(log.contains("answered 500"), "{log}");

    let bad = configuration(
        "webhooks-bad.toml",
        &tenant(
            "acme",
            "[[tenants.webhooks]]\nurl = \"https://a.example\"\nsecret = \"whsec_c2hvcnQ=\"\n",
        ),
    );
    let output =
        swarm(&["check", "--store=memory", "--config", bad.to_str().unwrap()], &[]).output();
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(said.contains("webhooks") && said.contains("at least 16 bytes"), "{said}");
    assert!(!said.contains("c2hvcnQ"), "{said}");
}
