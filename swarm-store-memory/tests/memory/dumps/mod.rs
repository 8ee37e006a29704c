//! Dumps: a written dump is valid, and a tampered one is refused with the number of the line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails panics"
)]

mod desk;
mod signed;
mod tampering;

use swarm_core::service::dump::{DumpReader, Fault};
use swarm_store_memory::MemoryStore;

use desk::{Dump, desk, restored};

#[tokio::test]
async fn dump_of_everything_is_valid_and_restores_the_same() {
    let store = desk().await;
    let dump = Dump::of(&store).await;
    let target = MemoryStore::new();
    let totals = restored(&dump.text(), &target).await.unwrap();
    assert_eq!((totals.count("tenant"), totals.count("take")), (2, dump.takes()));
    assert_eq!(totals.lines + 1, dump.lines.len() as u64);
    assert_eq!(Dump::of(&target).await.text(), dump.text());
}

#[tokio::test]
async fn dump_of_an_empty_store_is_valid() {
    let dump = Dump::of(&MemoryStore::new()).await;
    assert_eq!(dump.lines.len(), 2);
    let totals = restored(&dump.text(), &MemoryStore::new()).await.unwrap();
    assert_eq!((totals.lines, totals.counts.len()), (1, 0));
}

#[tokio::test]
async fn dump_has_no_challenge() {
    let text = Dump::of(&desk().await).await.text();
    for word in ["challenge", "seed", "standsUntil"] {
        assert!(!text.contains(&format!("\"{word}\"")), "{word}");
    }
}

#[test]
fn empty_text_is_not_a_dump() {
    let fault = DumpReader::new().finish().unwrap_err();
    assert_eq!(
        fault.to_string(),
        "line 0: the dump ends here, before its last line: it is not complete"
    );
}

/// Each change of the dump that `edit` makes is refused in this line, and nothing is restored.
async fn refused(dump: &Dump, what: &str, edit: impl FnOnce(&mut Dump) -> usize, text: &str) {
    let mut dump = dump.clone();
    let line = edit(&mut dump) as u64 + 1;
    let target = MemoryStore::new();
    let fault: Fault = restored(&dump.text(), &target).await.expect_err(what);
    assert!(fault.what.contains(text), "{what}: {fault}");
    assert_eq!(fault.line, line, "{what}: {fault}");
    assert!(target.tenants().await.unwrap().is_empty(), "{what}");
}
