//! Threads that work with a connection of their own: those that read, and those of a snapshot or a load.

use std::path::Path;
use std::thread::{self, JoinHandle};

use crossbeam_channel::Sender;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::connection::{self, Access};
use crate::failure::{Failure, Outcome};
use crate::layout;

/// Work for a thread, which also sends its result to the caller.
pub(crate) type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The number of reader threads.
const READERS: usize = 4;

/// Where jobs wait for the threads that do them. These end, after the jobs that were taken, when it is dropped.
pub(crate) type Jobs = Sender<Job>;

/// Starts the threads that read.
pub(crate) fn start(path: &Path, access: Access) -> Outcome<(Jobs, Vec<JoinHandle<()>>)> {
    let (sender, jobs) = crossbeam_channel::unbounded::<Job>();
    let mut threads = Vec::new();
    for number in 1..=READERS {
        let (db, jobs) = (connection::to_read(path, access)?, jobs.clone());
        let thread = thread::Builder::new().name(format!("swarm-sqlite-reader-{number}"));
        let work = move || jobs.iter().for_each(|job| job(&db));
        threads.push(thread.spawn(work).map_err(Failure::thread)?);
    }
    Ok((sender, threads))
}

/// Starts a thread that works in one transaction, and returns once that has begun. When the sender is dropped, the thread
/// rolls back and ends.
pub(crate) async fn begin(
    name: &str,
    begin: &'static str,
    open: impl FnOnce() -> Outcome<Connection> + Send + 'static,
) -> Outcome<Jobs> {
    let (sender, jobs) = crossbeam_channel::unbounded::<Job>();
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
    jobs: &Jobs,
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
