//! The threads that read.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::connection;
use crate::failure::{Failure, Outcome};

/// A read, which also sends its result to the caller.
pub(crate) type Look = Box<dyn FnOnce(&Connection) + Send>;

/// How many threads read. They wait for nothing but the disk.
const READERS: usize = 4;

/// Starts the threads, each with a connection of its own. They end when the sender is dropped.
pub(crate) fn start(path: &Path) -> Outcome<(Sender<Look>, Vec<JoinHandle<()>>)> {
    let (sender, looks) = mpsc::channel();
    let (looks, mut threads) = (Arc::new(Mutex::new(looks)), Vec::new());
    for number in 1..=READERS {
        let (db, looks) = (connection::to_read(path)?, Arc::clone(&looks));
        let thread = thread::Builder::new().name(format!("swarm-sqlite-reader-{number}"));
        let thread = thread.spawn(move || read(&db, &looks)).map_err(Failure::thread)?;
        threads.push(thread);
    }
    Ok((sender, threads))
}

fn read(db: &Connection, looks: &Mutex<Receiver<Look>>) {
    let next = || looks.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(look) = next() {
        look(db);
    }
}

/// Reads the file in one snapshot, whatever is committed meanwhile.
pub(crate) fn at_one_moment<T>(
    db: &Connection,
    look: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    let moment = db.unchecked_transaction()?;
    let found = look(&moment)?;
    moment.commit()?;
    Ok(found)
}
