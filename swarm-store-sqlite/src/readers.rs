//! Threads that work with a connection of their own: those that read, and those of a snapshot or a load.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::failure::{Failure, Outcome};
use crate::{connection, layout};

/// Work for a thread, which also sends its result to the caller.
pub(crate) type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The number of reader threads.
const READERS: usize = 4;

/// Starts the threads that read. They end when the sender is dropped.
pub(crate) fn start(path: &Path) -> Outcome<(Sender<Job>, Vec<JoinHandle<()>>)> {
    let (sender, jobs) = mpsc::channel();
    let (jobs, mut threads) = (Arc::new(Mutex::new(jobs)), Vec::new());
    for number in 1..=READERS {
        let (db, jobs) = (connection::to_read(path)?, Arc::clone(&jobs));
        let thread = thread::Builder::new().name(format!("swarm-sqlite-reader-{number}"));
        let thread = thread.spawn(move || read(&db, &jobs)).map_err(Failure::thread)?;
        threads.push(thread);
    }
    Ok((sender, threads))
}

fn read(db: &Connection, jobs: &Mutex<Receiver<Job>>) {
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        job(db);
    }
}

/// Starts a thread that works in one transaction, and returns once that has begun. When the sender is dropped, the thread
/// rolls back and ends.
pub(crate) async fn begin(
    name: &str,
    begin: &'static str,
    open: impl FnOnce() -> Outcome<Connection> + Send + 'static,
) -> Outcome<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let (reply, begun) = oneshot::channel();
    let work = move || {
        let db = open().and_then(|db| {
            db.execute_batch(begin)?;
            // This also takes the snapshot: `BEGIN` does not.
            layout::check_unchanged(&db)?;
            Ok(db)
        });
        // The caller may be gone.
        let _ = reply.send(db.as_ref().map(drop).map_err(Failure::clone));
        if let Ok(db) = db {
            jobs.iter().for_each(|job| job(&db));
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Failure::thread)?;
    begun.await.unwrap_or_else(|_| Err(Failure::stopped()))?;
    Ok(sender)
}

/// Lets a thread do this work.
pub(crate) async fn ask<T: Send + 'static>(
    jobs: &Sender<Job>,
    work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let (reply, done) = oneshot::channel();
    let job = move |db: &Connection| {
        // The caller may be gone.
        let _ = reply.send(work(db));
    };
    jobs.send(Box::new(job)).map_err(|_| Failure::stopped())?;
    done.await.unwrap_or_else(|_| Err(Failure::stopped()))
}

/// Reads the file in one snapshot, independent of commits meanwhile.
pub(crate) fn in_snapshot<T>(
    db: &Connection,
    read: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    let snapshot = db.unchecked_transaction()?;
    let found = read(&snapshot)?;
    snapshot.commit()?;
    Ok(found)
}
