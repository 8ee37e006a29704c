//! `swarm dump`, `swarm restore` and `swarm copy` (MANUAL.md, 13.3).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use swarm_core::domain::Digest;
use tempfile::TempDir;

use crate::backend::nightly;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, swarm};

nightly!(copies_between_stores_dump_the_same);

const DATE: &str = "2026-11-21";

/// The public reads that are compared.
const READS: [&str; 12] = [
    "/api/swarm/members",
    "/api/swarm/sessions",
    "/api/swarm/sessions/1",
    "/api/swarm/takes/1",
    "/api/swarm/takes/2",
    "/api/swarm/log",
    "/api/swarm/subjects",
    "/swarm/sessions/1",
    "/swarm/log",
    "/swarm/log/checkpoint",
    "/api/swarm/takes/2/proof",
    "/api/swarm/sessions/1/bundle",
];

/// A folder with the file of a server that has stopped, and a member of it.
struct Desk {
    folder: Arc<TempDir>,
    author: Author,
    reads: Vec<String>,
}

impl Desk {
    fn new() -> Self {
        Self::of(|_, _| ())
    }

    /// A desk that `change` has changed.
    fn of(change: impl FnOnce(&Client, &Author)) -> Self {
        let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        let client = program.client.clone();
        client.convene(DATE, "aurora");
        let author = Author::join(&client, "Ada");
        for _ in 0..2 {
            client.submit(&author, author.draft(DATE, "aurora")).expect(201);
        }
        change(&client, &author);
        let (reads, folder) = (reads(&client), Arc::clone(&program.folder));
        let (status, _) = program.stop("TERM");
        assert!(status.success());
        Self { folder, author, reads }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        swarm(arguments, &[]).current_dir(self.folder.path()).output().unwrap()
    }

    fn succeeds(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        output
    }

    fn fails(&self, arguments: &[&str], code: i32, text: &str) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(text), "{arguments:?}: {}", said(&output));
    }

    /// The dump of the file with this name.
    fn dump(&self, name: &str) -> String {
        let output = self.succeeds(&["dump", "--store", &format!("sqlite:{name}")]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// A server on the file with this name reads the same, knows the token, and goes on.
    fn is_served(&self, store: &str) {
        let store = format!("--store={store}");
        let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
        let folder = Arc::clone(&self.folder);
        // Another copy that was served here went on for itself: to this key, this one went back.
        let _ = fs::remove_file(self.path("swarm.key.checkpoints"));
        let program = Program::start_in(folder, &["serve", &store], &environment);
        assert_eq!(reads(&program.client), self.reads);
        let author = &self.author;
        let take = program.client.submit(author, author.draft(DATE, "aurora")).expect(201).json();
        assert_eq!(take["recommendationId"], 3);
        assert_eq!(program.client.convene(DATE, "aurora"), 2);
        let (status, _) = program.stop("TERM");
        assert!(status.success());
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn reads(client: &Client) -> Vec<String> {
    let address = client.address.to_string();
    let encoded = address.replace(':', "%3A");
    client.wait_until_all_is_signed();
    // Pages name the address that they are served at.
    let read = |path: &&str| {
        client.get(path).expect(200).text.replace(&address, "HOST").replace(&encoded, "HOST")
    };
    READS.iter().map(read).collect()
}

#[test]
fn dump_is_restored_into_another_file() {
    let desk = Desk::new();
    let dumped = desk.succeeds(&["dump", "--out", "swarm.dump"]);
    assert!(dumped.stdout.is_empty());
    assert!(said(&dumped).contains("1 tenant, 1 member, 1 session, 2 takes"), "{}", said(&dumped));
    assert!(said(&dumped).contains("swarm restore --check swarm.dump"), "{}", said(&dumped));
    let mode = fs::metadata(desk.path("swarm.dump")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(desk.path("swarm.dump")).unwrap();
    assert!(text.starts_with("{\"format\":\"swarm-dump/1\",\"program\":\"swarm "), "{text}");
    assert_eq!(desk.dump("swarm.db"), text);
    let standard = desk.succeeds(&["dump", "--out", "-"]);
    assert_eq!(String::from_utf8(standard.stdout).unwrap(), text);
    assert!(!desk.path("-").exists());

    let checked = desk.succeeds(&["restore", "--check", "swarm.dump"]);
    assert!(said(&checked).starts_with("valid: 1 tenant"), "{}", said(&checked));
    desk.succeeds(&["restore", "--store", "sqlite:other.db", "swarm.dump"]);
    let alone = ["restore", "--store=sqlite:alone.db", "--tenant=default", "swarm.dump"];
    let alone = said(&desk.succeeds(&alone));
    assert!(alone.contains("restored default alone, of a dump of 1 tenant"), "{alone}");
    assert_eq!(desk.dump("other.db"), text);
    desk.fails(&["restore", "--store", "sqlite:other.db", "swarm.dump"], 1, "default has records");
    desk.is_served("sqlite:other.db");
}

#[test]
fn dump_is_restored_from_standard_input() {
    let desk = Desk::new();
    let dump = desk.dump("swarm.db");
    fs::write(desk.path("swarm.dump"), &dump).unwrap();
    let arguments = ["restore", "--store=sqlite:other.db", "--tenant=default"];
    let input = fs::File::open(desk.path("swarm.dump")).unwrap();
    let mut restore = swarm(&arguments, &[]);
    let restored = restore.current_dir(desk.folder.path()).stdin(Stdio::from(input));
    let restored = restored.output().unwrap();
    assert!(restored.status.success(), "{}", said(&restored));
    assert_eq!(desk.dump("other.db"), dump);
}

#[test]
fn copy_is_dump_and_restore_in_one() {
    let desk = Desk::new();
    let arguments = ["copy", "--from=sqlite:swarm.db", "--to=sqlite:other.db", "--tenant=default"];
    let copied = desk.succeeds(&arguments);
    assert!(said(&copied).contains("copied 1 tenant"), "{}", said(&copied));
    assert_eq!(desk.dump("other.db"), desk.dump("swarm.db"));
    desk.fails(&arguments, 1, "tenant default has records in the store");
    desk.is_served("sqlite:other.db");
}

/// Its texts are in no file then, and another tenant keeps what it has.
#[test]
fn tenant_is_removed_from_a_store() {
    const TEXT: &str = "marigoldtext";
    let desk = Desk::of(|client, author| {
        let said = serde_json::json!({ "date": DATE, "subjectId": "aurora", "body": TEXT });
        client.submit(author, author.draft_of(said)).expect(201);
    });
    let files = || {
        let names = ["swarm.db", "swarm.db-wal"].map(|name| desk.path(name));
        names.iter().filter_map(|path| fs::read(path).ok()).collect::<Vec<_>>().concat()
    };
    let has_text = |bytes: &[u8]| bytes.windows(TEXT.len()).any(|found| found == TEXT.as_bytes());
    assert!(has_text(&files()));
    let remove = ["remove", "--store=sqlite:swarm.db", "--tenant=default"];
    desk.fails(&remove, 2, "add --yes");
    desk.fails(&[&remove[..2], &["--tenant=acme", "--yes"]].concat(), 1, "has no tenant acme");
    assert!(has_text(&files()), "nothing was removed yet");
    let removed = desk.succeeds(&[&remove[..], &["--yes"]].concat());
    assert!(said(&removed).contains("removed default"), "{}", said(&removed));
    assert!(!has_text(&files()));
    let dumped = desk.succeeds(&["dump", "--store=sqlite:swarm.db"]);
    assert!(said(&dumped).contains("dumped 0 tenants"), "{}", said(&dumped));
    desk.fails(&[&remove[..], &["--yes"]].concat(), 1, "has no tenant default");
}

/// The log is signed again as it was.
fn copies_between_stores_dump_the_same() {
    let desk = Desk::new();
    let cluster = swarm_redis_testing::Cluster::start();
    let (redis, postgres) =
        (swarm_redis_testing::Server::start(&[]), swarm_postgres_testing::Server::start(&[]));
    let stores =
        ["sqlite:swarm.db", &cluster.url(), &postgres.url(), "sqlite:other.db", &redis.url()];
    let dump = desk.dump("swarm.db");
    for pair in stores.windows(2) {
        desk.succeeds(&["copy", "--from", pair[0], "--to", pair[1]]);
        let dumped = desk.succeeds(&["dump", "--store", pair[1]]);
        assert_eq!(String::from_utf8(dumped.stdout).unwrap(), dump, "{pair:?}");
        desk.fails(&["copy", "--from", pair[0], "--to", pair[1]], 1, "default has records");
    }
    for store in &stores[1..] {
        desk.is_served(store);
    }
}

/// A dump is a backup, so it has texts that can be restored; it has none that were erased.
#[test]
fn dump_has_withheld_texts_and_no_erased_ones() {
    const TEXT: &str = "marigoldtext";
    let said_and = |change: &dyn Fn(&Client, &Author)| {
        Desk::of(|client, author| {
            let said = serde_json::json!({ "date": DATE, "subjectId": "aurora", "body": TEXT });
            client.submit(author, author.draft_of(said)).expect(201);
            let body = serde_json::json!({ "state": "aggregated" });
            client.operate("/sessions/1/state", &body).expect(200);
            let note = serde_json::json!({ "note": "it names a client" });
            client.operate("/takes/3/withhold", &note).expect(200);
            change(client, author);
        })
    };
    let erase = |client: &Client, author: &Author| {
        let member = serde_json::json!({ "memberId": author.id.as_str() });
        client.operate("/deactivate", &member).expect(200);
        let erasure = serde_json::json!({ "memberId": author.id.as_str(), "texts": true });
        client.operate("/erase", &erasure).expect(200);
    };
    for (desk, is_erased) in [(said_and(&|_, _| ()), false), (said_and(&erase), true)] {
        let dump = desk.dump("swarm.db");
        assert_eq!(dump.contains(TEXT), !is_erased);
        let bytes = fs::read(desk.path("swarm.db")).unwrap();
        let is_kept = bytes.windows(TEXT.len()).any(|window| window == TEXT.as_bytes());
        assert_eq!(is_kept, !is_erased);
        fs::write(desk.path("swarm.dump"), &dump).unwrap();
        desk.succeeds(&["restore", "--store", "sqlite:other.db", "swarm.dump"]);
        assert_eq!(desk.dump("other.db"), dump);
        let _ = fs::remove_file(desk.path("swarm.key.checkpoints"));
        let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
        let served = ["serve", "--store=sqlite:other.db"];
        let program = Program::start_in(Arc::clone(&desk.folder), &served, &environment);
        let client = &program.client;
        assert_eq!(reads(client), desk.reads);
        let restored = client.operate("/takes/3/restore", &serde_json::json!({}));
        match is_erased {
            true => restored.refused(409, "texts are erased"),
            false => {
                assert_eq!(restored.expect(200).json()["take"]["body"], TEXT);
                let session = client.get("/api/swarm/sessions/1").expect(200).json();
                assert_eq!(session["session"]["snapshot"]["quotes"][0]["body"], TEXT);
            }
        }
        let (status, _) = program.stop("TERM");
        assert!(status.success());
        let tampered = |from: &str, to: &str, why: &str| {
            let tampered = resealed(&dump.replace(from, to));
            assert_ne!(tampered, dump, "{from}");
            fs::write(desk.path("tampered.dump"), tampered).unwrap();
            desk.fails(&["restore", "--check", "tampered.dump"], 1, why);
        };
        tampered(
            "\"note\":\"it names a client\"},\"",
            "\"note\":\"it does not\"},\"",
            "the mark of take 3 is not that of its last entry",
        );
        let flipped = |field: &str| {
            let (_, rest) = dump.split_once(&format!("{field}\":\"sha256:")).unwrap();
            let digest = &rest[..64];
            tampered(
                &format!("{field}\":\"sha256:{digest}\"}}\n"),
                &format!("{field}\":\"sha256:{}\"}}\n", digest.chars().rev().collect::<String>()),
                "the entry disagrees with session 1",
            );
        };
        flipped(",\"snapshotDigest");
        tampered("\"sessionId\":1}\n", "\"sessionId\":2}\n", "session 2 has no take 3");
        if is_erased {
            let (_, take) = dump.split_once("\"publicKey\":\"").unwrap();
            assert!(take.contains(",\"digest\":\"sha256:"));
            let (_, digest) = dump.rsplit_once(",\"digest\":\"sha256:").unwrap();
            let digest = &digest[..64];
            let other = digest.chars().rev().collect::<String>();
            // In the record alone, not in the entry.
            let from = format!(",\"digest\":\"sha256:{digest}\"}}}}\n");
            let to = format!(",\"digest\":\"sha256:{other}\"}}}}\n");
            tampered(&from, &to, "the entry is not that of the take beside it");
        }
    }
}

/// The line is named, and a file that was created for it is removed.
#[test]
fn tampered_dump_leaves_nothing_behind() {
    let desk = Desk::new();
    let dump = desk.dump("swarm.db");
    let cases = [
        (dump.replace("\"name\":\"Ada\"", "\"name\":\"Eve\""), "the SHA-256"),
        (dump.replace("\"revision\":2", "\"revision\":3"), "does not follow"),
        (dump[..dump.len() - 100].to_owned(), "is not JSON"),
        (dump.replace("swarm-dump/1", "swarm-dump/9"), "line 1: the format is"),
        (dump.lines().next().unwrap().to_owned(), "it is not complete"),
        (String::new(), "it is not complete"),
        ("-".repeat(17 << 20), "is longer than 16777216 bytes"),
    ];
    for (tampered, text) in cases {
        fs::write(desk.path("tampered.dump"), tampered).unwrap();
        desk.fails(&["restore", "--check", "tampered.dump"], 1, text);
        desk.fails(&["restore", "--store=sqlite:other.db", "tampered.dump"], 1, text);
        desk.fails(&["restore", "--store=sqlite:other.db", "tampered.dump"], 1, "line ");
        assert!(!desk.path("other.db").exists(), "{text}");
        assert!(!desk.path("other.db-wal").exists(), "{text}");
    }
}

/// What neither a signature of a member nor the log binds is bound by the key of the server.
#[test]
fn changed_dump_is_refused_by_whoever_has_the_key() {
    let desk = Desk::new();
    let dump = desk.dump("swarm.db");
    let changed = resealed(&dump.replace("Ada@", "Eva@"));
    assert_ne!(changed, dump);
    let (figures, _) = changed.rsplit_once(",\"signature\":{").unwrap();
    let stripped = format!("{figures}}}}}\n");
    let own = desk.path("swarm.key");
    let elsewhere = desk.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let other = desk.path("other.key");
    drop(Program::start(&["serve", "--signing-key", other.to_str().unwrap()], &[]));
    for (text, name) in [(&dump, "whole"), (&changed, "changed"), (&stripped, "stripped")] {
        fs::write(elsewhere.join(name), text).unwrap();
    }
    let check = |name: &str, more: &[&str]| {
        let arguments = [&["restore", "--check", name], more].concat();
        let checked = swarm(&arguments, &[]).current_dir(&elsewhere).output().unwrap();
        (checked.status.code(), said(&checked))
    };
    let own = ["--signing-key", own.to_str().unwrap()];
    let other = ["--signing-key", other.to_str().unwrap()];
    let says = |(code, said): (Option<i32>, String), expected: i32, text: &str| {
        assert!(code == Some(expected) && said.contains(text), "{code:?} {said}");
        assert_eq!(said.contains("hashes of tokens"), text != "valid: 1 tenant", "{said}");
    };
    says(check("whole", &own), 0, "valid: 1 tenant");
    for refused in ["restore", "restore --check"] {
        let arguments: Vec<_> = refused.split(' ').collect();
        let path = elsewhere.join("stripped");
        let arguments = [&*arguments, &["--store=sqlite:new.db", path.to_str().unwrap()]].concat();
        desk.fails(&arguments, 1, "it is not signed");
        assert!(!desk.path("new.db").exists());
    }
    let (code, said) = check("changed", &own);
    assert!(code == Some(1) && said.contains("the signature is not that"), "{said}");
    assert_eq!(check("changed", &[]).0, Some(1), "without a key too");
    says(check("whole", &other), 1, "signed by another key");
    says(check("whole", &[&other[..], &["--unsigned"]].concat()), 0, "compared with no key");
    says(check("whole", &[]), 0, "compared with no key");
    says(check("stripped", &[]), 0, "warning: not signed");
    says(check("stripped", &[&own[..], &["--unsigned"]].concat()), 0, "warning: not signed");
    let missing = check("whole", &["--signing-key", "missing.key"]);
    assert!(missing.0 == Some(2) && missing.1.contains("missing.key"), "{missing:?}");
    let store = format!("--store=sqlite:{}", desk.path("swarm.db").display());
    let dumped = swarm(&["dump", &store], &[]).current_dir(&elsewhere).output().unwrap();
    assert!(self::said(&dumped).contains("not signed: there is no signing key"));
    assert!(!String::from_utf8(dumped.stdout).unwrap().contains("\"end\":{\"signature\""));
}

/// Makes the SHA-256 in the last line that of the lines before.
fn resealed(dump: &str) -> String {
    let (lines, last) = dump.trim_end().rsplit_once('\n').unwrap();
    let sha256 = Digest::of(format!("{lines}\n").as_bytes()).to_string();
    let (before, after) = last.split_once("\"sha256\":\"").unwrap();
    let (_, after) = after.split_once('"').unwrap();
    format!("{lines}\n{before}\"sha256\":\"{sha256}\"{after}\n")
}

/// The file stays, with what it had.
#[test]
fn killed_restore_leaves_the_file_as_it_was() {
    let desk = Desk::new();
    let dump = desk.dump("swarm.db");
    fs::copy(desk.path("swarm.db"), desk.path("other.db")).unwrap();
    let moved = dump.replace("\"id\":\"default\"", "\"id\":\"moved\"");
    let half: Vec<_> = moved.lines().collect();
    let mut restore = swarm(&["restore", "--store=sqlite:other.db"], &[]);
    let mut restore =
        restore.current_dir(desk.folder.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = restore.stdin.take().unwrap();
    let lines = half[..half.len() - 1].join("\n") + "\n";
    std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
    // It holds the lock of the file once it writes.
    swarm_redis_testing::wait_until("it reads", || desk.path("other.db-wal").exists());
    restore.kill().unwrap();
    restore.wait().unwrap();
    assert_eq!(desk.dump("other.db"), dump);
}

#[test]
fn wrong_use_is_explained() {
    let desk = Desk::new();
    let missing = ["dump", "--store=sqlite:missing.db"];
    desk.fails(&missing, 2, "/missing.db\"");
    assert!(!Path::new(&desk.path("missing.db")).exists());
    desk.fails(&["dump", "--store=memory"], 2, "memory");
    desk.fails(&["dump", "--tenant=other"], 1, "the store has no tenant other");
    desk.fails(&["dump", "--tenant=Other"], 2, "tenant id");
    desk.fails(&["restore", "--check", "missing.dump"], 2, "missing.dump");
    fs::write(desk.path("swarm.dump"), desk.dump("swarm.db")).unwrap();
    desk.fails(&["dump", "--out=swarm.dump"], 1, "there is one already");
    fs::write(desk.path("empty.db"), "").unwrap();
    desk.fails(&["dump", "--store=sqlite:empty.db"], 3, "empty.db is empty");
    desk.fails(&["dump", "--out=backups/swarm.dump"], 1, "there is no folder");
    assert!(!desk.path("backups").exists(), "a disk that is not mounted");
    for target in [
        &["restore", "--store=sqlite:nowhere/o.db", "--unsigned", "swarm.dump"][..],
        &["copy", "--from=sqlite:swarm.db", "--to=sqlite:nowhere/o.db"],
    ] {
        desk.fails(target, 2, "store: there is no folder");
    }
    let other = ["restore", "--store=sqlite:o.db", "--tenant=other", "swarm.dump"];
    desk.fails(&other, 1, "the dump has no tenant other");
    assert!(!desk.path("o.db").exists());
    desk.fails(&["copy", "--from=sqlite:swarm.db", "--to=memory"], 2, "memory");
    desk.fails(&["copy", "--from=sqlite:swarm.db", "--to=nothing"], 2, "must be sqlite:PATH");
}
