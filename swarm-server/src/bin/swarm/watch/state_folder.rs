//! The folder of a watcher: what it remembers of a log.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_core::audit::WatchState;

use crate::Failure;

/// The folder with the state of a watcher.
pub(super) struct StateFolder(PathBuf);

/// The state: the key that the log had at the first run, and what was seen of it.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) key: String,
    pub(super) watched: WatchState,
    /// The keys of the logs that were watched before, and that this one has replaced, the first one first.
    #[serde(default)]
    pub(super) ended: Vec<String>,
}

/// The file with the state, as JSON.
const STATE: &str = "state.json";

/// A copy of the checkpoint, to be compared by others.
const CHECKPOINT: &str = "checkpoint";

/// The folder of the sessions that are over.
const SESSIONS: &str = "sessions";

/// The folder of the mirror.
pub(super) const MIRROR: &str = "mirror";

/// The folder of the mirror of a log that is to replace the one that was watched.
const NEXT_MIRROR: &str = "mirror.next";

impl StateFolder {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// The path of a file or a folder in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The state of the last run; `None` at the first run.
    ///
    /// # Errors
    /// If it cannot be read, or was damaged.
    pub(super) fn read(&self) -> Result<Option<State>, Failure> {
        let path = self.path(STATE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let state = serde_json::from_str(&text);
        Ok(Some(state.map_err(|error| format!("{}: {error}", path.display()))?))
    }

    /// The folder in which the mirror of a log is read that is to replace the one that was watched.
    pub(super) fn next_mirror(&self) -> Result<PathBuf, Failure> {
        let folder = self.path(NEXT_MIRROR);
        remove(&folder)?;
        Ok(folder)
    }

    /// Moves what is kept of the log that was watched to a folder of its own, `ended-1` for the first one. Has no effect on
    /// what an earlier run moved there.
    ///
    /// # Errors
    /// If it cannot be moved.
    pub(super) fn end(&self, number: usize) -> Result<(), Failure> {
        let ended = self.path(&format!("ended-{number}"));
        fs::create_dir_all(&ended)?;
        for name in [STATE, CHECKPOINT] {
            fs::copy(self.path(name), ended.join(name))?;
        }
        let sessions = self.path(SESSIONS);
        match sessions.is_dir() && !ended.join(SESSIONS).exists() {
            true => fs::rename(&sessions, ended.join(SESSIONS))?,
            false => remove(&sessions)?,
        }
        let (mirror, next) = (self.path(MIRROR), self.path(NEXT_MIRROR));
        match mirror.is_dir() && !ended.join(MIRROR).exists() {
            true => fs::rename(&mirror, ended.join(MIRROR))?,
            false => remove(&mirror)?,
        }
        if next.is_dir() {
            fs::rename(next, mirror)?;
        }
        Ok(())
    }

    /// A function that reads a session which was put aside.
    pub(super) fn archive(&self) -> impl FnMut(u64, u64) -> Option<String> + 'static {
        let folder = self.path(SESSIONS);
        move |id, size| fs::read_to_string(session_in(&folder, id, size)).ok()
    }

    /// Writes the state, and the sessions that it put aside.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, state: &State) -> Result<(), Failure> {
        let folder = self.path(SESSIONS);
        let aside = state.watched.sessions_aside();
        for session in aside {
            replace(&session_in(&folder, session.id, session.size), session.text.as_bytes())?;
        }
        replace(&self.path(STATE), serde_json::to_string(state)?.as_bytes())?;
        for session in aside {
            // A file that is not needed any more is in nobody's way.
            if let Some(before) = session.before.filter(|before| *before != session.size) {
                let _ = fs::remove_file(session_in(&folder, session.id, before));
            }
        }
        replace(&self.path(CHECKPOINT), state.watched.checkpoint.as_bytes())
    }
}

/// The file of a session that was put aside when the log had this size.
fn session_in(folder: &Path, id: u64, size: u64) -> PathBuf {
    folder.join(format!("{:03}/{id}-{size}.json", id / 1_000))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a file whole, then gives it its name. Makes the folders that it is in.
///
/// # Errors
/// If it cannot be written.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let draft = path.with_extension("new");
    let written = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = written.and_then(|()| fs::write(&draft, bytes));
    let written = written.and_then(|()| fs::rename(&draft, path));
    written.map_err(|error| format!("{}: {error}", path.display()).into())
}
