//! An open database file: its writer thread, its reader threads, and its clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::JoinHandle;

use rusqlite::Connection;
use swarm_core::Timestamp;

use crate::connection::{self, Access};
use crate::failure::{Failure, Outcome};
use crate::layout;
use crate::opened_file::OpenedFile;
use crate::readers::{self, Jobs};
use crate::writer::{self, Changes, PendingChange};

/// An open file. Dropping it completes all pending work and closes the file.
pub(crate) struct Database {
    // Dropped in this order. The connection of the writer is closed last and alone: SQLite removes the -wal file only if no other one is
    // being closed at the same time.
    readers: Worker<Jobs>,
    /// `None` if the file is only read.
    writer: Option<Worker<Changes>>,
    path: PathBuf,
    access: Access,
    clock: TimeSource,
    /// The last time when the disk was full, in milliseconds since 1970; `i64::MIN` if it never was.
    last_disk_full: AtomicI64,
    /// Whether anything corrupt was found in the file.
    is_damaged: AtomicBool,
}

/// How long `ready` warns of a full disk after a write failed, in milliseconds. A smaller write, such as
/// the probe of `ready`, may still succeed on such a disk.
const DISK_FULL_WARNING: u64 = 60_000;

/// The source of the time.
pub(crate) type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Threads that do jobs. Dropping it ends what takes jobs, and waits for the threads.
struct Worker<J> {
    jobs: J,
    _threads: Threads,
}

/// The threads of the file; dropping this waits for them to end.
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
    pub(crate) fn open(path: &Path, clock: TimeSource, schema: &str) -> Outcome<Self> {
        // SQLite treats some names, such as `:memory:`, specially; an absolute path is always a file.
        let path = &std::path::absolute(path).map_err(Failure::path)?;
        let mut db = connection::to_write(path)?;
        layout::check_own(&db)?;
        connection::make_private(path);
        layout::prepare(&mut db, schema)?;
        let (jobs, threads) = readers::start(path, Access::Write)?;
        let readers = Worker { jobs, _threads: Threads(threads) };
        let (jobs, thread) = writer::start(db, OpenedFile::of(path))?;
        let writer = Worker { jobs, _threads: Threads(vec![thread]) };
        Ok(Self::new(readers, Some(writer), path, Access::Write, clock))
    }

    /// Opens an existing file, to which nothing is written.
    pub(crate) fn open_read_only(path: &Path, clock: TimeSource) -> Outcome<Self> {
        let path = &std::path::absolute(path).map_err(Failure::path)?;
        let access = Access::to_only_read(path)?;
        layout::check_present(&connection::to_read(path, access)?)?;
        let (jobs, threads) = readers::start(path, access)?;
        let readers = Worker { jobs, _threads: Threads(threads) };
        Ok(Self::new(readers, None, path, access, clock))
    }

    fn new(
        readers: Worker<Jobs>,
        writer: Option<Worker<Changes>>,
        path: &Path,
        access: Access,
        clock: TimeSource,
    ) -> Self {
        let (last_disk_full, is_damaged) = (AtomicI64::new(i64::MIN), AtomicBool::new(false));
        let path = path.to_owned();
        Self { readers, writer, path, access, clock, last_disk_full, is_damaged }
    }

    /// The absolute path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What this process may do to the file.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    pub(crate) fn clock(&self) -> TimeSource {
        Arc::clone(&self.clock)
    }

    /// Reads the file in one snapshot.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let found = readers::ask(&self.readers.jobs, |db| readers::in_snapshot(db, read)).await;
        self.note(found.as_ref().err());
        found
    }

    /// Changes the file; returns once the change is on the disk, or has failed.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        self.commit(false, change).await
    }

    /// The same. If it `erases`, what it replaces or removes does not stay in the -wal file either.
    pub(crate) async fn commit<T: Send + 'static>(
        &self,
        erases: bool,
        change: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let writer = self.writer.as_ref().ok_or_else(Failure::read_only)?;
        let (pending, committed) = PendingChange::new(change, erases);
        writer.jobs.send(Box::new(pending)).map_err(|_| Failure::stopped())?;
        let outcome = committed.await.unwrap_or_else(|_| Err(Failure::stopped()));
        self.note(outcome.as_ref().err());
        outcome
    }

    /// Records failures that `ready` warns of.
    fn note(&self, failure: Option<&Failure>) {
        let Some(failure) = failure else { return };
        if failure.is_disk_full {
            self.last_disk_full.store((self.clock)().millis(), Ordering::Relaxed);
        }
        if failure.is_corrupt() {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anything corrupt was found in the file since it was opened.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Whether a write failed within the last minute because the disk was full.
    pub(crate) fn was_disk_full_recently(&self) -> bool {
        (self.clock)().millis().abs_diff(self.last_disk_full.load(Ordering::Relaxed))
            < DISK_FULL_WARNING
    }
}
