//! The one thread that writes. Changes that arrive while the disk syncs a commit are committed
//! together, with one sync for all of them.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::failure::{Failure, Outcome};
use crate::layout;
use crate::place::Place;

/// The most changes in one commit: the first of them is answered only after the last.
const MAX_BATCH: usize = 256;

/// A change that a caller waits for.
pub(crate) trait Change: Send {
    /// Makes the change, all of it or none.
    fn make(&mut self, db: &Connection) -> Outcome<()>;

    /// Sends the caller its result, now that it is known whether it was committed.
    fn answer(self: Box<Self>, committed: &Outcome<()>);
}

/// The channel for changes.
pub(crate) type Changes = Sender<Box<dyn Change>>;

/// Starts the thread. It ends when the sender is dropped and all changes are answered.
pub(crate) fn start(db: Connection, place: Place) -> Outcome<(Changes, JoinHandle<()>)> {
    let (sender, changes) = mpsc::channel();
    let thread = thread::Builder::new().name("swarm-sqlite-writer".to_owned());
    let thread = thread.spawn(move || write(&db, &place, &changes)).map_err(Failure::thread)?;
    Ok((sender, thread))
}

fn write(db: &Connection, place: &Place, changes: &Receiver<Box<dyn Change>>) {
    let mut has_written = false;
    while let Ok(first) = changes.recv() {
        let mut batch = vec![first];
        batch.extend(changes.try_iter().take(MAX_BATCH - 1));
        // What was written to a file that is replaced meanwhile is gone with it.
        let committed = place.still_there().and_then(|()| commit(db, &mut batch));
        let committed = committed.and_then(|()| place.still_there());
        for change in batch {
            change.answer(&committed);
        }
        has_written = true;
    }
    if has_written && place.still_there().is_ok() {
        // SQLite does that itself for whoever closes the file last; of two who close it at once, neither is the last.
        // Others that write wait meanwhile.
        let _ = db.busy_timeout(Duration::from_millis(200));
        let _ = db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }
}

fn commit(db: &Connection, changes: &mut [Box<dyn Change>]) -> Outcome<()> {
    let committed = run(db, "BEGIN IMMEDIATE")
        .and_then(|()| layout::still_known(db))
        .and_then(|()| changes.iter_mut().try_for_each(|change| make(db, change.as_mut())))
        .and_then(|()| run(db, "COMMIT"));
    if committed.is_err() && !db.is_autocommit() {
        // If this fails too, so does the next BEGIN, and leads here again.
        let _ = run(db, "ROLLBACK");
    }
    committed
}

/// Makes one of many changes. One that fails is undone alone, unless its failure, for example a
/// full disk, has ended the whole transaction.
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
    outcome: Option<Outcome<T>>,
    reply: oneshot::Sender<Outcome<T>>,
}

impl<F, T> PendingChange<F, T> {
    pub(crate) fn new(change: F) -> (Self, oneshot::Receiver<Outcome<T>>) {
        let (reply, committed) = oneshot::channel();
        (Self { change: Some(change), outcome: None, reply }, committed)
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

    fn answer(self: Box<Self>, committed: &Outcome<()>) {
        let outcome = match (self.outcome, committed) {
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(made), Ok(())) => made,
            (None, Ok(())) => Err(Failure::stopped()),
        };
        // The caller may be gone; the change is committed all the same.
        let _ = self.reply.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_change_that_fails_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        let half_done = "INSERT INTO numbers VALUES (9); INSERT INTO nowhere VALUES (9)";
        let [one, failed, two] = committed(&db, [add(1), half_done.to_owned(), add(2)]);
        assert!(one.is_ok() && two.is_ok());
        assert!(failed.unwrap_err().to_string().contains("nowhere"));
        assert_eq!(numbers(&db), [1, 2]);
    }

    #[test]
    fn what_is_written_to_a_file_that_is_replaced_meanwhile_is_not_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let db = with_numbers(&folder);
        let path = std::path::PathBuf::from(db.path().unwrap());
        let (changes, thread) = start(db, Place::of(&path)).unwrap();
        let (kept, committed) = PendingChange::new(insert_one);
        changes.send(Box::new(kept)).unwrap();
        committed.blocking_recv().unwrap().unwrap();
        let (lost, committed) = PendingChange::new(move |db: &Connection| {
            insert_one(db)?;
            std::fs::rename(&path, path.with_extension("moved")).map_err(Failure::path)
        });
        changes.send(Box::new(lost)).unwrap();
        assert!(committed.blocking_recv().unwrap().is_err());
        drop(changes);
        thread.join().unwrap();
    }

    fn insert_one(db: &Connection) -> Outcome<()> {
        run(db, "INSERT INTO numbers VALUES (1)")
    }

    /// A full disk can do that.
    #[test]
    fn a_failure_that_ends_the_transaction_is_told_to_all_and_to_none_after_them() {
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

    /// Makes three changes together; answers what each was told.
    fn committed(db: &Connection, changes: [String; 3]) -> [Outcome<()>; 3] {
        let pending = changes
            .map(|sql| PendingChange::new(move |db: &Connection| Ok(db.execute_batch(&sql)?)));
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
        layout::bring_up_to_date(&mut db).unwrap();
        db.execute_batch("CREATE TABLE numbers (number INTEGER)").unwrap();
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
