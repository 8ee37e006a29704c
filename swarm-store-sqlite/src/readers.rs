//! The reader threads, each with a connection of its own.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::connection;
use crate::failure::{Failure, Outcome};

/// A read, which also sends its result to the caller.
pub(crate) type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

/// The number of reader threads.
const READERS: usize = 4;

/// Starts the threads. They end when the sender is dropped.
pub(crate) fn start(path: &Path) -> Outcome<(Sender<ReadJob>, Vec<JoinHandle<()>>)> {
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

fn read(db: &Connection, jobs: &Mutex<Receiver<ReadJob>>) {
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        job(db);
    }
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
