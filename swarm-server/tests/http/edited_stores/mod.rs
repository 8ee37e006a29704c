//! Stores that were edited by hand. The server detects entries that differ from those that were signed; verifying a
//! bundle, or watching the log, detects the rest (API.md, 11.4 and 11.9).

mod edit;

use std::sync::Arc;

use serde_json::{Value, json};
use swarm_redis_testing::{Server, wait_until};
use tempfile::TempDir;

use self::edit::Edit;
use crate::backend::POSTGRES;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, swarm};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];
const DEADLINE: &str = "2036-01-01T12:00:00.000Z";
const EARLIER: &str = "2036-01-01T11:00:00.000Z";

#[derive(Clone, Copy)]
enum Kind {
    Sqlite,
    Redis,
    Postgres,
}

/// Makes a test on each store of each function: on SQLite in the first tier, on the others in the nightly tier.
macro_rules! on_each {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::$name(super::Kind::Sqlite); })*
        }
        mod nightly_on_redis {
            $(#[test] fn $name() { super::$name(super::Kind::Redis); })*
        }
        mod nightly_on_postgres {
            $(#[test] fn $name() { super::$name(super::Kind::Postgres); })*
        }
    };
}

on_each! {
    deleted_take_is_named
    take_deleted_with_its_entry_is_found
    deadline_moved_back_in_entries_is_found
    swapped_entries_are_found
    changed_digit_of_a_snapshot_is_found
    edited_roster_is_found
    damaged_tree_is_computed_again
    untouched_store_is_ready
}

fn deleted_take_is_named(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::TakeDeleted);
    let named =
        |ready: &Value| ready["warnings"].to_string().contains("take 2 of the log is missing");
    let ready = desk.ready_once(200, named);
    let warning = ready["warnings"].to_string();
    assert!(warning.contains("default: entry 8 of the log cannot be read"), "{warning}");
    assert_eq!(desk.file(), 201, "the desk goes on");
    desk.reads_go_on_without_take_2();
    desk.fails_verification(&["snapshot"]);
    let watched = desk.watch();
    assert!(watched.0 == Some(1) && watched.1.contains("a gap: "), "{}", watched.1);
    // The tree of a new log keeps the hash of what was signed.
    desk.accept();
    desk.reads_go_on_without_take_2();
}

fn take_deleted_with_its_entry_is_found(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::TakeAndEntryDeleted);
    desk.is_refused_for("default: entry 8 of the log is not the one that was signed");
    desk.fails_verification(&[]);
}

fn deadline_moved_back_in_entries_is_found(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::EntriesReworded(DEADLINE, EARLIER));
    desk.is_refused_for("default: entry 6 of the log is not the one that was signed");
    desk.fails_verification(&["inclusion", "history"]);
    let watched = desk.watch();
    assert_eq!(watched.0, Some(2), "{}", watched.1);
    assert!(watched.1.contains("the entries are not those of the tree that was signed"));

    desk.accept();
    assert_eq!(desk.file(), 201, "once it was accepted");
    desk.ready_once(200, |ready| ready.get("warnings").is_none());
    // Of the log before, what is still what was signed is served: all hashes, and entries 1 to 5.
    for (path, status) in [
        ("default/tile/0/000.p/11", 200),
        ("default/tile/entries/000.p/5", 200),
        ("default/tile/entries/000.p/6", 404),
        ("default/tile/0/000.p/12", 404),
        ("default/checkpoint", 200),
        ("default/succession", 200),
        ("default/2/tile/entries/000.p/11", 200),
        ("default/02/tile/0/000.p/1", 404),
        ("default/3/tile/0/000.p/1", 404),
    ] {
        assert_eq!(desk.status(&format!("/swarm/log/{path}")), status, "{path}");
    }
}

fn swapped_entries_are_found(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::EntriesSwapped);
    desk.is_refused_for("default: entry 7 of the log is not the one that was signed");
    desk.fails_verification(&["inclusion"]);
}

fn changed_digit_of_a_snapshot_is_found(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::RecordReworded("\"members\":2", "\"members\":3"));
    desk.fails_verification(&["snapshot"]);
}

fn edited_roster_is_found(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::RecordReworded("\"excused\":false", "\"excused\":true"));
    desk.fails_verification(&["roster"]);
}

fn damaged_tree_is_computed_again(kind: Kind) {
    for edit in [Edit::TileDeleted, Edit::TileZeroed, Edit::TileAndTreeDeleted] {
        let desk = Desk::edited(kind, &edit);
        let bundle = desk.url("/api/swarm/sessions/1/bundle");
        wait_until("the log is signed", || desk.status("/api/swarm/takes/1/proof") == 200);
        for filed in [false, true] {
            if filed {
                assert_eq!(desk.file(), 201);
            }
            let (status, said) = desk.swarm(&["verify", &bundle]);
            assert_eq!(status, Some(0), "{said}");
            let (status, said) = desk.watch();
            assert_eq!(status, Some(0), "{said}");
        }
        desk.ready_once(200, |ready| ready.get("warnings").is_none());
    }
}

fn untouched_store_is_ready(kind: Kind) {
    let desk = Desk::edited(kind, &Edit::RecordReworded("nothing", "of this"));
    assert_eq!(desk.file(), 201);
    desk.ready_once(200, |ready| ready.get("warnings").is_none());
    let (status, said) = desk.swarm(&["verify", &desk.url("/api/swarm/sessions/1/bundle")]);
    assert_eq!(status, Some(0), "{said}");
}

/// A server that was started on a store after an edit.
struct Desk {
    program: Program,
    folder: Arc<TempDir>,
    ada: Author,
    _redis: Option<Server>,
}

impl Desk {
    /// Two members file into a session with roster and deadline, which is published: entries 6 to 11. Then the
    /// store is edited, and the server started again.
    fn edited(kind: Kind, edit: &Edit) -> Self {
        let redis = matches!(kind, Kind::Redis).then(|| Server::start(&[]));
        let store = match (kind, &redis) {
            (_, Some(redis)) => redis.url(),
            (Kind::Postgres, _) => POSTGRES.url(),
            _ => "sqlite:swarm.db".to_owned(),
        };
        let serve = ["serve", "--store", &store];
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let program = Program::start_in(Arc::clone(&folder), &serve, TOKEN);
        let ada = published(&program.client);
        program.stop("TERM");
        match (kind, &redis) {
            (_, Some(redis)) => edit.redis(redis),
            (Kind::Postgres, _) => edit.postgres(&store),
            _ => edit.sqlite(&folder),
        }
        let program = Program::start_in(Arc::clone(&folder), &serve, TOKEN);
        Self { program, folder, ada, _redis: redis }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.program.client.address)
    }

    /// Files into a session of its own; returns the status.
    fn file(&self) -> u16 {
        let client = &self.program.client;
        let session = json!({ "date": "2026-11-22", "subjectId": "aurora" });
        let convened = client.operate("/sessions", &session).status;
        if convened == 201 {
            return client.submit(&self.ada, self.ada.draft("2026-11-22", "aurora")).status;
        }
        convened
    }

    /// Waits until `/readyz` answers like this.
    fn ready_once(&self, status: u16, is_so: impl Fn(&Value) -> bool) -> Value {
        let ready = || self.program.client.get("/readyz");
        wait_until("the entries are compared", || {
            let answer = ready();
            answer.status == status && is_so(&answer.json())
        });
        ready().json()
    }

    /// Accepts the store, and waits until the log that begins with that is signed.
    fn accept(&self) {
        let client = &self.program.client;
        client.operate("/accept", &json!({ "what": "store" })).expect(200);
        wait_until("another log is signed", || {
            client.get("/swarm/log/checkpoint").text.starts_with("localhost/swarm/log/default/2\n")
        });
    }

    fn reads_go_on_without_take_2(&self) {
        let client = &self.program.client;
        let log = client.get("/api/swarm/log?after=6&limit=3").expect(200).json();
        let unreadable = json!({ "seq": 8, "at": null, "kind": "unreadable" });
        assert_eq!((&log["entries"][0]["id"], &log["entries"][1]), (&json!(1), &unreadable));
        assert_eq!((&log["entries"][2]["act"], &log["next"]), (&json!("state"), &json!(9)));
        let bundle = "/api/swarm/sessions/1/bundle";
        wait_until("the last entry is signed", || client.get(bundle).status == 200);
        for (path, status) in [
            ("/", 200),
            ("/swarm/log", 200),
            ("/swarm/sessions/1", 200),
            ("/swarm/takes/1", 200),
            ("/swarm/takes/2", 404),
            ("/api/swarm/sessions/1", 200),
            ("/api/swarm/takes/1", 200),
            ("/api/swarm/takes/1/proof", 200),
            ("/api/swarm/takes/2", 404),
            ("/api/swarm/takes/2/proof", 404),
            ("/swarm/log/tile/0/000.p/11", 200),
            ("/swarm/log/tile/entries/000.p/7", 200),
            ("/swarm/log/tile/entries/000.p/8", 404),
        ] {
            assert_eq!(self.status(path), status, "{path}");
        }
    }

    /// The status of an answer, whose body may be no text.
    fn status(&self, path: &str) -> u16 {
        let agent = ureq::Agent::new_with_config(
            ureq::Agent::config_builder().http_status_as_error(false).build(),
        );
        agent
            .get(self.url(path))
            .header("accept", "text/html, */*")
            .call()
            .unwrap()
            .status()
            .as_u16()
    }

    fn watch(&self) -> (Option<i32>, String) {
        let state = self.folder.path().join("watched");
        self.swarm(&["watch", &self.url(""), "--state", state.to_str().unwrap()])
    }

    fn is_refused_for(&self, why: &str) {
        self.ready_once(503, |ready| ready["detail"].to_string().contains(why));
        assert_eq!(self.file(), 503);
    }

    /// Checks that the bundle of the session is found to be wrong, for these checks among others.
    fn fails_verification(&self, checks: &[&str]) {
        let (status, said) = self.swarm(&["verify", &self.url("/api/swarm/sessions/1/bundle")]);
        assert_eq!(status, Some(1), "{said}");
        for check in checks {
            assert!(said.contains(&format!("fails: {check}")), "{check}: {said}");
        }
    }

    fn swarm(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = swarm(arguments, &[]).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }
}

fn published(client: &Client) -> Author {
    let ada = Author::join(client, "Ada");
    let grace = Author::join(client, "Grace");
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    client.operate("/subjects", &subject).expect(201);
    let roster = json!([{ "memberId": ada.id }, { "memberId": grace.id }]);
    let session = json!({
        "date": DAY, "subjectId": "aurora", "windowClosesAt": DEADLINE, "roster": roster,
    });
    client.operate("/sessions", &session).expect(201);
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    client.submit(&grace, grace.draft(DAY, "aurora")).expect(201);
    for state in ["window_closed", "aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    wait_until("everything is signed", || {
        client.get("/swarm/log/checkpoint").text.contains("\n11\n")
    });
    ada
}
