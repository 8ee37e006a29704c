//! The file, with the threads that work on it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use rusqlite::Connection;
use swarm_core::Timestamp;
use tokio::sync::oneshot;

use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::readers::{self, ReadJob};
use crate::writer::{self, Changes, PendingChange};
use crate::{connection, layout};

/// An open file. Dropping it completes all pending work and closes the file.
pub(crate) struct Database {
    // Dropped first, so that the threads end.
    writer: Changes,
    readers: Sender<ReadJob>,
    clock: TimeSource,
    /// When the disk had no room for a write last, in milliseconds since 1970; before all time while it
    /// always had.
    had_no_room: AtomicI64,
    /// Whether anything in the file could not be understood.
    is_damaged: AtomicBool,
    _threads: Threads,
}

/// How long it counts that there was no room for a write, in milliseconds: a smaller one, such as the
/// probe of `ready`, may find some all the while.
const LATELY: u64 = 60_000;

/// The source of the time.
pub(crate) type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The threads that work on the file, waited for when this is dropped.
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // A thread that panicked has already reported it.
            let _ = thread.join();
        }
    }
}

impl Database {
    pub(crate) fn open(path: &Path, clock: TimeSource) -> Outcome<Self> {
        // SQLite does not take some names, such as `:memory:`, for files; an absolute path is
        // always one.
        let path = &std::path::absolute(path).map_err(Failure::path)?;
        let mut db = connection::to_write(path)?;
        layout::bring_up_to_date(&mut db)?;
        let (readers, mut threads) = readers::start(path)?;
        let (writer, thread) = writer::start(db, Place::of(path))?;
        threads.push(thread);
        let (had_no_room, is_damaged) = (AtomicI64::new(i64::MIN), AtomicBool::new(false));
        Ok(Self { writer, readers, clock, had_no_room, is_damaged, _threads: Threads(threads) })
    }

    pub(crate) fn clock(&self) -> TimeSource {
        Arc::clone(&self.clock)
    }

    /// Reads the file in one snapshot.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let (reply, found) = oneshot::channel();
        let answer = move |db: &Connection| {
            // The caller may be gone.
            let _ = reply.send(readers::in_snapshot(db, read));
        };
        self.readers.send(Box::new(answer)).map_err(|_| Failure::stopped())?;
        let found = found.await.unwrap_or_else(|_| Err(Failure::stopped()));
        self.note(found.as_ref().err());
        found
    }

    /// Changes the file; returns once the change is on the disk, or has failed.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let (pending, committed) = PendingChange::new(change);
        self.writer.send(Box::new(pending)).map_err(|_| Failure::stopped())?;
        let outcome = committed.await.unwrap_or_else(|_| Err(Failure::stopped()));
        self.note(outcome.as_ref().err());
        outcome
    }

    /// Remembers of a failure what `ready` warns of.
    fn note(&self, failure: Option<&Failure>) {
        let Some(failure) = failure else { return };
        if failure.is_of_room {
            self.had_no_room.store((self.clock)().millis(), Ordering::Relaxed);
        }
        if failure.is_of_damage() {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anything in the file could not be understood since it was opened.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Whether the disk had no room for a write within the last minute.
    pub(crate) fn lately_had_no_room(&self) -> bool {
        (self.clock)().millis().abs_diff(self.had_no_room.load(Ordering::Relaxed)) < LATELY
    }
}
