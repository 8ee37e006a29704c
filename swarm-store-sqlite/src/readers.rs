//! Threads that work with a connection of their own: those that read, and those of a snapshot or a load.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::connection::{self, Access};
use crate::failure::{Failure, Outcome};
use crate::layout;

/// Work for a thread, which also sends its result to the caller.
pub(crate) type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The number of reader threads.
const READERS: usize = 4;

/// What takes jobs for threads.
pub(crate) trait TakesJobs {
    /// Takes a job; an error if no thread is left.
    fn take(&self, job: Job) -> Outcome<()>;
}

impl TakesJobs for Sender<Job> {
    fn take(&self, job: Job) -> Outcome<()> {
        self.send(job).map_err(|_| Failure::stopped())
    }
}

/// The threads that read. They end, after the jobs that were taken, when this is dropped.
pub(crate) struct Readers(Arc<JobQueue>);

/// A queue of jobs, each of which wakes one thread. (Threads that share the receiver of a channel wake two: one gets the job,
/// the next one the receiver.)
#[derive(Default)]
struct JobQueue {
    queued: Mutex<QueuedJobs>,
    added: Condvar,
}

#[derive(Default)]
struct QueuedJobs {
    jobs: VecDeque<Job>,
    /// The threads that take jobs.
    threads: usize,
    /// Whether no more jobs are taken.
    is_closed: bool,
}

/// A thread of the queue, which leaves it when it ends, be it by a panic.
struct QueueThread(Arc<JobQueue>);

/// Starts the threads that read.
pub(crate) fn start(path: &Path, access: Access) -> Outcome<(Readers, Vec<JoinHandle<()>>)> {
    let (readers, mut threads) = (Readers(Arc::default()), Vec::new());
    for number in 1..=READERS {
        let (db, queue) = (connection::to_read(path, access)?, QueueThread::of(&readers.0));
        let thread = thread::Builder::new().name(format!("swarm-sqlite-reader-{number}"));
        let work = move || {
            while let Some(job) = queue.0.next() {
                job(&db);
            }
        };
        threads.push(thread.spawn(work).map_err(Failure::thread)?);
    }
    Ok((readers, threads))
}

impl TakesJobs for Readers {
    fn take(&self, job: Job) -> Outcome<()> {
        let mut queued = self.0.queued();
        if queued.is_closed {
            return Err(Failure::stopped());
        }
        queued.jobs.push_back(job);
        drop(queued);
        self.0.added.notify_one();
        Ok(())
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.0.queued().is_closed = true;
        self.0.added.notify_all();
    }
}

impl JobQueue {
    fn queued(&self) -> MutexGuard<'_, QueuedJobs> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job; `None` once there will be no more.
    fn next(&self) -> Option<Job> {
        let mut queued = self.queued();
        loop {
            if let Some(job) = queued.jobs.pop_front() {
                return Some(job);
            }
            if queued.is_closed {
                return None;
            }
            queued = self.added.wait(queued).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl QueueThread {
    fn of(queue: &Arc<JobQueue>) -> Self {
        queue.queued().threads += 1;
        Self(Arc::clone(queue))
    }
}

impl Drop for QueueThread {
    fn drop(&mut self) {
        let mut queued = self.0.queued();
        queued.threads -= 1;
        if queued.threads == 0 {
            queued.is_closed = true;
            // Their callers learn that nobody does them.
            queued.jobs.clear();
        }
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
    jobs: &impl TakesJobs,
    work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let (reply, done) = oneshot::channel();
    let job = move |db: &Connection| {
        // The caller may be gone.
        let _ = reply.send(work(db));
    };
    jobs.take(Box::new(job))?;
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
