//! What is left of an erased member in the files of PostgreSQL, and the statements of OPERATING.md that remove it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use swarm_core::domain::Digest;
use swarm_core::proof::hex;
use swarm_postgres_testing::Server as Postgres;

use crate::harness::{ADMIN, Author, Client};
use crate::program::Program;

/// The name of the member, which is in its contact too, and words of its memos and of its takes.
const WORDS: [&str; 3] = ["Quicksilver", "contrarian", "marigold"];

#[test]
fn statements_of_the_operating_manual_remove_erased_texts() {
    let postgres = Postgres::start(&[]);
    let store = format!("--store={}", postgres.url());
    let program = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    let author = Author::join(client, WORDS[0]);
    // With several values of a column, the statistics of the planner have samples of them.
    for name in ["Ada", "Grace", "Hedy", "Lise"] {
        Author::join(client, name);
    }
    // It does not get shorter by compression, and so stays readable.
    let digest = |number: u32| hex(Digest::of(&number.to_be_bytes()).as_bytes());
    let long: String = (0..400).map(digest).collect();
    for body in [WORDS[1].to_owned(), format!("{long} {} {long}", WORDS[1])] {
        let (bearer, memo) = (author.bearer(), json!({ "title": "Why", "body": body }));
        let published =
            client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo.to_string());
        published.expect(201);
    }
    file_takes(client, &author, WORDS[2]);
    postgres.psql("ANALYZE");
    let member = json!({ "memberId": author.id.as_str(), "texts": true });
    client.operate("/deactivate", &json!({ "memberId": author.id.as_str() })).expect(200);
    client.operate("/erase", &member).expect(200);

    let left = |folder: &str| {
        postgres.psql("CHECKPOINT");
        let folder = postgres.folder.join("data").join(folder);
        WORDS.map(|word| files_with(&folder, word))
    };
    postgres.psql("VACUUM");
    for _ in 0..2 {
        postgres.psql("SELECT pg_switch_wal()");
    }
    assert!(!left("base")[0].is_empty(), "VACUUM overwrites nothing");
    assert!(left("pg_wal").iter().all(|files| !files.is_empty()));
    for statement in statements() {
        postgres.psql(&statement);
    }
    assert_eq!(left("."), WORDS.map(|_| Vec::<PathBuf>::new()));
    client.get("/readyz").expect(200);
}

/// Files takes with this word in their texts, in a session that is published with quotes of them.
pub(super) fn file_takes(client: &Client, author: &Author, word: &str) {
    client.convene("2026-11-21", "aurora");
    for number in 1..=3 {
        let texts = json!({
            "date": "2026-11-21", "subjectId": "aurora", "body": format!("{word} {number}"),
            "memoUrl": format!("https://{word}.example/{number}"),
        });
        client.submit(author, author.draft_of(texts)).expect(201);
    }
    for state in ["aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
}

/// The statements of the manual.
fn statements() -> Vec<String> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../OPERATING.md");
    let manual = fs::read_to_string(manual).unwrap();
    let block = manual.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let lines = block.lines().filter(|line| !line.starts_with("--"));
    let statements: Vec<_> = lines.map(str::to_owned).collect();
    assert!(statements.len() > 4 && statements.iter().all(|statement| statement.ends_with(';')));
    statements
}

/// The files below a folder that have this word in them.
pub(super) fn files_with(folder: &Path, word: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).is_ok_and(|bytes| has(&bytes, word.as_bytes())) {
                found.push(path);
            }
        }
    }
    found
}

fn has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|it| it == word)
}
