//! The binary on a SQLite file: restarts, several servers on one file, foreign files.

mod faults;
mod outages;
mod processes;

use std::fs;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use crate::harness::{ADMIN, Author, fresh_nonce};
use crate::program::{Program, refusal, scratch_folder};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];

#[test]
fn serve_stores_everything_in_a_file_of_its_folder() {
    let program = Program::start(&["serve"], TOKEN);
    assert_eq!(program.client.convene(DAY, "aurora"), 1);
    let author = Author::join(&program.client, "Ada");
    let take = author.draft(DAY, "aurora");
    program.client.submit(&author, take.clone()).expect(201);
    let read = program.client.get("/api/swarm/sessions/1").expect(200).text;
    let folder = Arc::clone(&program.folder);
    let (_, said) = program.stop("TERM");
    assert!(said.contains("store: created swarm.db"), "{said}");
    let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert_eq!(files, ["swarm.db", "swarm.key", "swarm.key.checkpoints"]);

    let program = Program::start_in(folder, &["serve", "--store=sqlite:swarm.db"], TOKEN);
    assert_eq!(program.client.get("/api/swarm/sessions/1").expect(200).text, read);
    let replay = program.client.submit(&author, take).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    let (_, said) = program.stop("TERM");
    assert!(!said.contains("made"), "{said}");
}

#[test]
fn two_servers_share_one_file() {
    let one = Program::start(&["serve"], TOKEN);
    let other = Program::start_in(Arc::clone(&one.folder), &["serve"], TOKEN);
    assert_eq!(one.client.convene(DAY, "aurora"), 1);
    let author = Author::join(&other.client, "Ada");
    let take = author.draft(DAY, "aurora");
    one.client.submit(&author, take.clone()).expect(201);
    let replay = other.client.submit(&author, take).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    one.stop("KILL");
    other.client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    assert_eq!(other.client.get("/readyz").expect(200).json(), json!({ "status": "ready" }));
}

/// Neither of them closes the file last.
#[test]
fn servers_stopped_concurrently_leave_no_wal() {
    for _ in 0..3 {
        let one = Program::start(&["serve"], TOKEN);
        let other = Program::start_in(Arc::clone(&one.folder), &["serve"], TOKEN);
        let folder = Arc::clone(&one.folder);
        one.client.convene(DAY, "aurora");
        one.signal("TERM");
        assert!(other.stop("TERM").0.success());
        assert!(one.stop("TERM").0.success());
        let copy = folder.path().join("copy.db");
        fs::copy(folder.path().join("swarm.db"), &copy).unwrap();
        let db = rusqlite::Connection::open(copy).unwrap();
        let sessions: i64 =
            db.query_row("SELECT count(*) FROM sessions", [], |it| it.get(0)).unwrap();
        assert_eq!(sessions, 1);
    }
}

#[test]
fn foreign_file_fails_the_start_and_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("diary.txt");
    fs::write(&path, "Dear diary, today I was nearly overwritten.").unwrap();
    let said = refusal(&["serve", &format!("--store=sqlite:{}", path.display())], &[]);
    assert!(said.contains("diary.txt: ") && said.contains("no database"), "{said}");
    assert!(fs::read_to_string(&path).unwrap().starts_with("Dear diary"));
}

/// Compiles a library of this folder; returns its path.
/// The library that lets the disk of a program be full, or fail, as a file says.
pub fn disk_library() -> String {
    library("disk.c")
}

fn library(source: &str) -> String {
    let library = format!("{source}-{}.so", fresh_nonce());
    let library = scratch_folder().join(library);
    let source = format!("{}/tests/http/sqlite/{source}", env!("CARGO_MANIFEST_DIR"));
    let options = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", &source, "-o"];
    let made = Command::new("cc").args(options).arg(&library).status();
    let made = made.unwrap_or_else(|error| panic!("cc does not run (install gcc): {error}"));
    assert!(made.success(), "cc cannot compile {source}");
    library.to_str().unwrap().to_owned()
}
