//! The file, with the threads that work on it.

use std::path::Path;
use std::sync::mpsc::Sender;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::failure::{Failure, Outcome};
use crate::readers::{self, Look};
use crate::writer::{self, Asked, Change};
use crate::{connection, layout};

/// An open file. It is closed when the last handle is dropped and all that was asked for is done.
pub(crate) struct Database {
    writer: Sender<Box<dyn Change>>,
    readers: Sender<Look>,
    clock: Clock,
}

impl Database {
    pub(crate) fn open(path: &Path, clock: Clock) -> Outcome<Self> {
        let mut db = connection::to_write(path)?;
        layout::bring_up_to_date(&mut db)?;
        let readers = readers::start(path)?;
        Ok(Self { writer: writer::start(db)?, readers, clock })
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Looks at the file as it is at one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let (reply, found) = oneshot::channel();
        let answer = move |db: &Connection| {
            // Who asked may have gone away.
            let _ = reply.send(readers::at_one_moment(db, look));
        };
        self.readers.send(Box::new(answer)).map_err(|_| Failure::stopped())?;
        found.await.unwrap_or_else(|_| Err(Failure::stopped()))
    }

    /// Changes the file, and returns once the change is on the disk, or did not come to be.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let (asked, committed) = Asked::new(change);
        self.writer.send(Box::new(asked)).map_err(|_| Failure::stopped())?;
        committed.await.unwrap_or_else(|_| Err(Failure::stopped()))
    }
}
