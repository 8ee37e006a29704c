//! Opening files: the layout, files of other programs, permissions, several stores on one file.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use swarm_core::domain::{LogLine, Seq};
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, ChallengeSlot, StoreError, StoreErrorKind, other_layout,
};
use swarm_core::{Swarm, SystemEntropy, TenantId, Timestamp};
use swarm_store_sqlite::SqliteStore;
use swarm_testing::{ManualClock, TestTenant, challenge, log_scenario, moment};
use tempfile::TempDir;

/// The number of the layout.
const LAYOUT: i64 = 6;

/// The application id of files of this store.
const APPLICATION: i64 = 0x7377_726d;

#[test]
fn file_has_application_id_layout_and_wal() {
    let (_folder, path) = new_path();
    SqliteStore::open(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    assert_eq!(pragma(&db, "application_id"), APPLICATION);
    assert_eq!(pragma(&db, "user_version"), LAYOUT);
    assert_eq!(text(&db, "journal_mode"), "wal");
    assert_eq!(text(&db, "integrity_check"), "ok");
}

/// SQLite would remove the latest commits of the missing file.
#[test]
fn file_is_not_created_beside_the_wal_of_a_missing_one() {
    let (folder, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let (wal, moved) = (path.with_extension("db-wal"), folder.path().join("moved.db"));
    assert!(fs::metadata(&wal).unwrap().len() > 0);
    fs::copy(&wal, folder.path().join("kept")).unwrap();
    drop(store);
    fs::rename(&path, &moved).unwrap();
    fs::rename(folder.path().join("kept"), &wal).unwrap();
    let refused = SqliteStore::open(&path).unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Misconfigured);
    assert!(wal.exists() && !path.exists());
    fs::rename(&moved, &path).unwrap();
    SqliteStore::open(&path).unwrap();
}

/// A backup that is restored may have any mode.
#[cfg(unix)]
#[test]
fn opening_removes_permissions_of_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (_folder, path) = new_path();
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let _store = SqliteStore::open(&path).unwrap();
    let wal = path.with_file_name(format!("{}-wal", path.file_name().unwrap().display()));
    assert_eq!((mode(&path), mode(&wal)), (0o600, 0o600));
}

/// An address may be mistyped.
#[cfg(unix)]
#[test]
fn refused_file_or_folder_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let (folder, path) = new_path();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(SqliteStore::open(folder.path()).is_err());
    assert_eq!(mode(folder.path()), 0o1777);
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE diary (entry TEXT)").unwrap();
    fs::write(&path, "Dear diary, ".repeat(1_000)).unwrap();
    for path in [path, other] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        assert!(SqliteStore::open(&path).is_err());
        assert_eq!(mode(&path), 0o664, "{}", path.display());
    }
}

/// So that it can be opened and read on a full disk.
#[test]
fn prepared_file_is_opened_without_a_write() {
    let (_folder, path) = new_path();
    let first = SqliteStore::open(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    let version = pragma(&db, "data_version");
    SqliteStore::open(&path).unwrap();
    assert_eq!(pragma(&db, "data_version"), version);
    drop(first);
}

#[test]
fn files_of_other_programs_are_refused_and_unchanged() {
    let (_folder, path) = new_path();
    fs::write(&path, "Dear diary, ".repeat(1_000)).unwrap();
    refused(&path, "the file is no database");

    let (_folder, path) = new_path();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE diary (entry TEXT)").unwrap();
    refused(&path, "the file is a database of another program");

    let (_folder, path) = new_path();
    Connection::open(&path).unwrap().pragma_update(None, "application_id", 1).unwrap();
    refused(&path, "the file is a database of another program");
}

/// Files of a newer and of an older program, and files of programs before the first release, whose layouts had numbers
/// from 1, too.
#[test]
fn files_of_other_layouts_are_refused_and_unchanged() {
    for (application, layout, named) in [
        (*b"swrm", 7, "7"),
        (*b"swrm", 5, "5"),
        (*b"swrm", 2, "2"),
        (*b"swrm", 1, "1"),
        (*b"swrm", 0, "0"),
        (*b"Swrm", 8, "8 of a program before the first release"),
        (*b"Swrm", 1, "1 of a program before the first release"),
    ] {
        let (_folder, path) = new_path();
        SqliteStore::open(&path).unwrap();
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "application_id", u32::from_be_bytes(application)).unwrap();
        db.pragma_update(None, "user_version", layout).unwrap();
        drop(db);
        refused(&path, &other_layout(named, LAYOUT));
    }
}

#[test]
fn open_at_an_impossible_path_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let no_folder = SqliteStore::open(folder.path().join("nowhere/swarm.db")).err().unwrap();
    assert_eq!(no_folder.kind(), StoreErrorKind::Unavailable);
    assert!(SqliteStore::open("").is_err());
    assert!(SqliteStore::open(folder.path()).is_err());
}

#[tokio::test]
async fn log_entries_have_the_recorded_texts() {
    let (_folder, path) = new_path();
    let clock = ManualClock::at(moment("2026-11-21T12:00:00Z"));
    let time = clock.clone();
    let store = SqliteStore::open_with_clock(&path, move || time.now()).unwrap();
    log_scenario(store.clone().into(), || clock.advance(1_001)).await;
    assert_eq!(entries(store).await, RECORDED.lines().collect::<Vec<_>>());
}

const RECORDED: &str = include_str!("../../../vectors/log/entries.jsonl");

async fn entries(store: SqliteStore) -> Vec<String> {
    let tenant = Swarm::new(store, SystemEntropy).tenant(&tenant());
    let page = tenant.log(&swarm_core::service::LogQuery::all(Seq(0), 1_000)).await.unwrap();
    page.lines().map(LogLine::text).collect()
}

#[tokio::test]
async fn corrupt_record_is_warned_of() {
    let (_folder, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let world = TestTenant::open(store.clone(), tenant());
    let session = world.convened("aurora").await;
    assert!(store.ready().await.unwrap().warnings.is_empty());
    let other = Connection::open(path).unwrap();
    other.execute("UPDATE sessions SET roster = '{}'", []).unwrap();
    let session = store.open(&tenant()).session(session.id).await;
    assert_eq!(session.unwrap_err().kind(), StoreErrorKind::Corrupt);
    let warnings = store.ready().await.unwrap().warnings;
    assert!(warnings.first().unwrap().starts_with("a stored record is garbled"), "{warnings:?}");
}

/// For example when a file of another layout was copied over it through SQLite.
#[tokio::test]
async fn file_that_got_another_layout_while_it_was_open_is_not_written() {
    let (_folder, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let world = TestTenant::open(store.clone(), tenant());
    let session = world.convened("aurora").await;
    let db = Connection::open(&path).unwrap();

    db.pragma_update(None, "user_version", LAYOUT + 1).unwrap();
    let outdated = world.store().give_challenge(&offer()).await.err().unwrap();
    assert_eq!(outdated.kind(), StoreErrorKind::Misconfigured);
    assert_eq!(why(&outdated), other_layout(LAYOUT + 1, LAYOUT));
    assert!(store.ready().await.is_err());
    assert_eq!(world.session(session.id).await.unwrap().record, session);

    db.pragma_update(None, "user_version", LAYOUT).unwrap();
    store.ready().await.unwrap();
    assert_eq!(world.convened("basalt").await.id.0, 2);
}

/// Two stores on one file, like two processes.
#[tokio::test(flavor = "multi_thread")]
async fn stores_on_one_file_commit_alternately() {
    let (_folder, path) = new_path();
    let worlds = [(); 2].map(|()| TestTenant::open(SqliteStore::open(&path).unwrap(), tenant()));
    let mut ids = Vec::new();
    for _ in 0..50 {
        let (one, other) = tokio::join!(worlds[0].convened("a"), worlds[1].convened("b"));
        ids.extend([one.id.0, other.id.0]);
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
}

fn offer() -> ChallengeOffer {
    let fresh = challenge("challenge", Timestamp::EPOCH);
    ChallengeOffer { bucket: ChallengeBucket(0), fresh, slot: ChallengeSlot::Decoy }
}

/// A path where no file exists yet.
fn new_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swarm.db");
    (folder, path)
}

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}

/// Checks that opening fails for this reason, and leaves the file unchanged.
fn refused(path: &Path, reason: &str) {
    let before = fs::read(path).unwrap();
    let error = SqliteStore::open(path).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert_eq!(why(&error), reason);
    assert_eq!(fs::read(path).unwrap(), before);
}

fn why(error: &StoreError) -> String {
    error.source().unwrap().to_string()
}

fn pragma(db: &Connection, name: &str) -> i64 {
    db.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}

fn text(db: &Connection, name: &str) -> String {
    db.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}
