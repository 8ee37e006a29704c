//! Filing in a SQLite file: one author alone, and 64 at once, whose takes share commits. First with the
//! disk's own sync time, then with two milliseconds added to every sync by a preloaded library (built with
//! `cc` from `sync.c`).
//!
//! Signing and setup are not measured.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use swarm_benches::takes_a_second;
use swarm_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;

/// The number of authors that file at the same time.
const MANY: u8 = 64;

/// The number of syncs that are timed.
const SYNCS: u32 = 200;

/// Set when the library is loaded.
const SLOWER: &str = "SWARM_BENCH_SLOWER";

fn main() {
    println!("signatures: {}", swarm_benches::signature_backend());
    let slower = env::var_os(SLOWER).is_some();
    let disk = if slower { "the disk, each sync 2 ms longer" } else { "the disk as it is" };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let sync = sync_time(folder.path());
    let runtime = Runtime::new().expect("a runtime");
    let [one, many] = [1, MANY].map(|authors| {
        let file = folder.path().join(format!("{authors}.db"));
        let store = SqliteStore::open(file).expect("a file");
        takes_a_second(&runtime, &store, authors)
    });
    println!(
        "{disk}: a sync takes {:.2} ms; {one:.0} takes a second of one author, {many:.0} of {MANY} \
         at once: {:.1} times",
        sync.as_secs_f64() * 1e3,
        many / one
    );
    if !slower {
        let this = env::current_exe().expect("this program");
        let library = library(folder.path());
        let again = Command::new(this).env("LD_PRELOAD", library).env(SLOWER, "1").status();
        assert!(again.expect("it runs").success());
    }
}

/// The time of a sync after a page was written.
fn sync_time(folder: &Path) -> Duration {
    let mut file = File::create(folder.join("sync")).expect("a file");
    let start = Instant::now();
    for _ in 0..SYNCS {
        file.write_all(&[1; 4096]).expect("room");
        file.sync_data().expect("a disk");
    }
    start.elapsed() / SYNCS
}

/// The library built from `sync.c`.
fn library(folder: &Path) -> PathBuf {
    let library = folder.join("sync.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/sync.c");
    let made = Command::new("cc").args(["-shared", "-fPIC", source, "-o"]).arg(&library).status();
    assert!(made.expect("cc runs (install gcc)").success(), "cc cannot compile {source}");
    library
}
