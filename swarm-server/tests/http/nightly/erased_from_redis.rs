//! What is left of an erased member in the files of Redis, and the commands of OPERATING.md that remove it.

use serde_json::json;
use swarm_redis_testing::{Server as Redis, wait_until};

use super::erased_from_postgres::{file_takes, files_with};
use crate::harness::{ADMIN, Author};
use crate::program::Program;

/// The name of the member, which is in its contact too, and a word of its takes.
const WORDS: [&str; 2] = ["Quicksilver", "marigold"];

#[test]
fn commands_of_the_operating_manual_remove_erased_texts() {
    // Compression might hide a word.
    let redis = Redis::start(&["--rdbcompression", "no"]);
    let store = format!("--store={}", redis.url());
    let program = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    let author = Author::join(client, WORDS[0]);
    file_takes(client, &author, WORDS[1]);
    redis.cli(&["SAVE"]);
    let left = || WORDS.map(|word| files_with(&redis.folder, word));
    assert!(left().iter().all(|files| files.len() == 2), "both kinds of files: {:?}", left());

    let member = json!({ "memberId": author.id.as_str() });
    client.operate("/deactivate", &member).expect(200);
    let erase = json!({ "memberId": author.id.as_str(), "texts": true });
    client.operate("/erase", &erase).expect(200);
    assert!(left().iter().all(|files| !files.is_empty()));
    let is_over = |field: &str| redis.cli(&["INFO", "persistence"]).contains(&format!("{field}:0"));
    redis.cli(&["BGREWRITEAOF"]);
    wait_until("the append-only file is rewritten", || {
        is_over("aof_rewrite_in_progress") && is_over("aof_rewrite_scheduled")
    });
    redis.cli(&["BGSAVE"]);
    wait_until("the dump file is written", || is_over("rdb_bgsave_in_progress"));
    // Redis removes the file before the rewrite in the background.
    wait_until("no file has the texts", || left().iter().all(Vec::is_empty));
    client.get("/api/swarm/takes/3").expect(200);
    client.get("/readyz").expect(200);
}
