//! The writer thread, with group commit: changes that arrive while the disk syncs a commit are committed
//! in one batch, with one sync.
//!
//! It also checkpoints the -wal file, once the changes of a commit are answered. SQLite would checkpoint within the
//! commit that exceeds a size, so that this commit and those that wait for it would take twice as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use tokio::sync::oneshot;

use crate::failure::{Failure, Outcome};
use crate::layout;
use crate::opened_file::OpenedFile;

/// Maximum number of changes in one commit, since the first is answered only with the last.
const MAX_BATCH: usize = 256;

/// Pages in the -wal file from which it is checkpointed while no change waits.
const CHECKPOINT_IF_IDLE: i32 = 1_000;

/// Pages in the -wal file from which it is checkpointed between two commits.
const CHECKPOINT_ALWAYS: i32 = 3_000;

/// How long the -wal file is tried to be truncated after an erasure. Other commits wait meanwhile.
const TRUNCATION: Duration = Duration::from_millis(100);

/// How long it takes until it is tried again, if readers prevented it and nothing is committed.
const RETRY: Duration = Duration::from_secs(2);

/// How long a commit waits for other processes: the default of `rusqlite`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A change that a caller waits for.
pub(crate) trait Change: Send {
    /// Makes the change, completely or not at all.
    fn make(&mut self, db: &Connection) -> Outcome<()>;

    /// Returns whether the change was made and erased data: no older version of the data may stay in the -wal file.
    fn erases(&self) -> bool {
        false
    }

    /// Sends the caller its result after the commit, or after its failure.
    fn answer(self: Box<Self>, committed: &Outcome<()>);
}

/// The channel for changes.
pub(crate) type Changes = Sender<Box<dyn Change>>;

/// Starts the thread. It ends when the sender is dropped and all changes are answered.
pub(crate) fn start(mut db: Connection, file: OpenedFile) -> Outcome<(Changes, JoinHandle<()>)> {
    let (sender, changes) = mpsc::channel();
    let wal_pages = count_wal_pages(&mut db)?;
    let thread = thread::Builder::new().name("swarm-sqlite-writer".to_owned());
    let thread = thread.spawn(move || write(&db, &wal_pages, &file, &changes));
    Ok((sender, thread.map_err(Failure::thread)?))
}

/// Keeps the number of pages in the -wal file after the last commit. SQLite no longer checkpoints by itself.
fn count_wal_pages(db: &mut Connection) -> Outcome<Arc<AtomicI32>> {
    let wal_pages = Arc::new(AtomicI32::new(0));
    let counted = Arc::clone(&wal_pages);
    db.wal_hook(Some(move |_: &mut Wal, pages| {
        counted.store(pages, Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(wal_pages)
}

fn write(
    db: &Connection,
    wal_pages: &AtomicI32,
    file: &OpenedFile,
    changes: &Receiver<Box<dyn Change>>,
) {
    let (mut has_written, mut is_truncation_due, mut next) = (false, false, None);
    loop {
        let first = match next.take() {
            Some(first) => first,
            None if is_truncation_due => match changes.recv_timeout(RETRY) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => {
                    is_truncation_due = !truncate_wal(db, Duration::ZERO);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            },
            None => match changes.recv() {
                Ok(first) => first,
                Err(_disconnected) => break,
            },
        };
        let mut batch = vec![first];
        batch.extend(changes.try_iter().take(MAX_BATCH - 1));
        // A commit to a file that is replaced meanwhile is lost, so it is checked again afterwards.
        let committed = file.check_in_place().and_then(|()| commit(db, &mut batch));
        let committed = committed.and_then(|()| file.check_in_place());
        let (erasing, others): (Vec<_>, Vec<_>) = batch.into_iter().partition(|it| it.erases());
        others.into_iter().for_each(|change| change.answer(&committed));
        if committed.is_ok() && !erasing.is_empty() {
            is_truncation_due = !truncate_wal(db, TRUNCATION);
        } else if is_truncation_due {
            is_truncation_due = !truncate_wal(db, Duration::ZERO);
        }
        erasing.into_iter().for_each(|change| change.answer(&committed));
        has_written = true;
        next = changes.try_recv().ok();
        let limit = if next.is_some() { CHECKPOINT_ALWAYS } else { CHECKPOINT_IF_IDLE };
        if committed.is_ok() && wal_pages.load(Ordering::Relaxed) >= limit {
            // If it fails, or readers keep some pages back, the next commit is followed by another one.
            let _ = db.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
    if has_written && file.check_in_place().is_ok() {
        // SQLite checkpoints when the last connection closes, but not if two processes close at the same time.
        // Other writers wait meanwhile.
        truncate_wal(db, Duration::from_millis(200));
    }
}

/// Moves all pages from the -wal file to the database file and empties it, which removes older versions of erased data. Returns whether that
/// was done: readers prevent it while they have a snapshot of such a version. It is tried for this long.
fn truncate_wal(db: &Connection, patience: Duration) -> bool {
    let _ = db.busy_timeout(patience);
    let is_prevented =
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    let _ = db.busy_timeout(BUSY_TIMEOUT);
    is_prevented.is_ok_and(|prevented| !prevented)
}

fn commit(db: &Connection, changes: &mut [Box<dyn Change>]) -> Outcome<()> {
    let committed = run(db, "BEGIN IMMEDIATE")
        .and_then(|()| layout::check_unchanged(db))
        .and_then(|()| changes.iter_mut().try_for_each(|change| make(db, change.as_mut())))
        .and_then(|()| run(db, "COMMIT"));
    if committed.is_err() && !db.is_autocommit() {
        // If this fails too, the next BEGIN fails, and the rollback is retried.
        let _ = run(db, "ROLLBACK");
    }
    committed
}

/// Makes one change of a batch. If it fails, only this change is rolled back, unless the failure (a full
/// disk, for example) has ended the whole transaction.
fn make(db: &Connection, change: &mut dyn Change) -> Outcome<()> {
    run(db, "SAVEPOINT change")?;
    if let Err(failure) = change.make(db) {
        run(db, "ROLLBACK TO change").map_err(|_| failure)?;
    }
    run(db, "RELEASE change")
}

fn run(db: &Connection, sql: &str) -> Outcome<()> {
    db.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// A closure that makes a change, and the channel for its result.
pub(crate) struct PendingChange<F, T> {
    change: Option<F>,
    /// Whether what it replaces or removes must not stay in the -wal file.
    erases: bool,
    outcome: Option<Outcome<T>>,
    reply: oneshot::Sender<Outcome<T>>,
}

impl<F, T> PendingChange<F, T> {
    pub(crate) fn new(change: F, erases: bool) -> (Self, oneshot::Receiver<Outcome<T>>) {
        let (reply, committed) = oneshot::channel();
        (Self { change: Some(change), erases, outcome: None, reply }, committed)
    }
}

impl<F, T: Send> Change for PendingChange<F, T>
where
    F: FnOnce(&Connection) -> Outcome<T> + Send,
{
    fn make(&mut self, db: &Connection) -> Outcome<()> {
        let Some(change) = self.change.take() else { return Ok(()) };
        let outcome = self.outcome.insert(change(db));
        outcome.as_ref().map(|_| ()).map_err(Failure::clone)
    }

    fn erases(&self) -> bool {
        self.erases && matches!(self.outcome, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: &Outcome<()>) {
        let outcome = match (self.outcome, committed) {
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(made), Ok(())) => made,
            (None, Ok(())) => Err(Failure::stopped()),
        };
        // The caller may be gone; the change is committed anyway.
        let _ = self.reply.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn failed_change_does_not_affect_the_batch() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        let half_done = "INSERT INTO numbers VALUES (9); INSERT INTO nowhere VALUES (9)";
        let [one, failed, two] = committed(&db, [add(1), half_done.to_owned(), add(2)]);
        assert!(one.is_ok() && two.is_ok());
        assert!(failed.unwrap_err().to_string().contains("nowhere"));
        assert_eq!(numbers(&db), [1, 2]);
    }

    #[test]
    fn commit_to_a_replaced_file_is_not_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        let path = std::path::PathBuf::from(db.path().unwrap());
        let (changes, thread) = start(db, OpenedFile::of(&path)).unwrap();
        let (kept, committed) = PendingChange::new(insert_one, false);
        changes.send(Box::new(kept)).unwrap();
        committed.blocking_recv().unwrap().unwrap();
        let moved = move |db: &Connection| {
            insert_one(db)?;
            std::fs::rename(&path, path.with_extension("moved")).map_err(Failure::path)
        };
        let (lost, committed) = PendingChange::new(moved, false);
        changes.send(Box::new(lost)).unwrap();
        assert!(committed.blocking_recv().unwrap().is_err());
        drop(changes);
        thread.join().unwrap();
    }

    #[test]
    fn large_wal_is_checkpointed_after_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let path = std::path::PathBuf::from(db.path().unwrap());
        let (changes, thread) = start(db, OpenedFile::of(&path)).unwrap();
        let size = || std::fs::metadata(&path).unwrap().len();
        let before = size();
        let (sizes, seen) = mpsc::channel();
        // No other change waits; then one does, which is made after the checkpoint.
        changes.send(Box::new(Large { path: path.clone(), megabytes: 5, sizes })).unwrap();
        assert_eq!(seen.recv().unwrap(), before);
        let is_checkpointed = |_| {
            thread::sleep(Duration::from_millis(5));
            size() > before + 5_000_000
        };
        assert!((0..2_000).any(is_checkpointed));
        let (sizes, seen) = mpsc::channel();
        changes.send(Box::new(Large { path: path.clone(), megabytes: 13, sizes })).unwrap();
        let size_of_file = |db: &Connection| {
            let path = std::path::PathBuf::from(db.path().unwrap());
            std::fs::metadata(path).map(|file| file.len()).map_err(Failure::path)
        };
        let (later, committed) = PendingChange::new(size_of_file, false);
        assert!(seen.recv().unwrap() < before + 10_000_000);
        changes.send(Box::new(later)).unwrap();
        assert!(committed.blocking_recv().unwrap().unwrap() > before + 18_000_000);
        drop(changes);
        thread.join().unwrap();
    }

    /// A change that writes as many megabytes, and sends the size of the database file after its commit.
    struct Large {
        path: std::path::PathBuf,
        megabytes: i64,
        sizes: Sender<u64>,
    }

    impl Change for Large {
        fn make(&mut self, db: &Connection) -> Outcome<()> {
            db.execute("INSERT INTO numbers VALUES (zeroblob(?1))", [self.megabytes * 1_000_000])?;
            Ok(())
        }

        fn answer(self: Box<Self>, committed: &Outcome<()>) {
            committed.as_ref().unwrap();
            self.sizes.send(std::fs::metadata(&self.path).unwrap().len()).unwrap();
        }
    }

    fn insert_one(db: &Connection) -> Outcome<()> {
        run(db, "INSERT INTO numbers VALUES (1)")
    }

    /// A full disk can end a transaction.
    #[test]
    fn failure_that_ends_the_transaction_fails_its_whole_batch_only() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        let ends = "ROLLBACK; INSERT INTO nowhere VALUES (9)";
        for answer in committed(&db, [add(1), ends.to_owned(), add(2)]) {
            assert!(answer.unwrap_err().to_string().contains("nowhere"));
        }
        assert!(numbers(&db).is_empty());
        assert!(committed(&db, [add(1), add(2), add(3)]).iter().all(Result::is_ok));
        assert_eq!(numbers(&db), [1, 2, 3]);
    }

    /// Commits three changes in one batch; returns the answer to each.
    fn committed(db: &Connection, changes: [String; 3]) -> [Outcome<()>; 3] {
        let pending = changes.map(|sql| {
            PendingChange::new(move |db: &Connection| Ok(db.execute_batch(&sql)?), false)
        });
        let mut answers = Vec::new();
        let mut batch: Vec<Box<dyn Change>> = Vec::new();
        for (change, answer) in pending {
            batch.push(Box::new(change));
            answers.push(answer);
        }
        let outcome = commit(db, &mut batch);
        batch.into_iter().for_each(|change| change.answer(&outcome));
        let answers = answers.into_iter().map(|mut answer| answer.try_recv().unwrap());
        answers.collect::<Vec<_>>().try_into().unwrap()
    }

    fn with_numbers(folder: &TempDir) -> Connection {
        let mut db = Connection::open(folder.path().join("swarm.db")).unwrap();
        layout::prepare(&mut db, "CREATE TABLE numbers (number INTEGER)").unwrap();
        db
    }

    fn add(number: u8) -> String {
        format!("INSERT INTO numbers VALUES ({number})")
    }

    fn numbers(db: &Connection) -> Vec<u8> {
        let mut all = db.prepare("SELECT number FROM numbers ORDER BY number").unwrap();
        all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}
