//! The folder in which a watcher keeps what it has seen.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_core::audit::WatchState;

use crate::Failure;

/// The folder.
pub(crate) struct Folder(PathBuf);

/// What is kept: the key that the log had at the first run, and what was seen of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) key: String,
    pub(crate) watched: WatchState,
}

/// What was seen, as JSON.
const STATE: &str = "state.json";

/// A copy of the checkpoint, to be compared by others.
const CHECKPOINT: &str = "checkpoint";

impl Folder {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// What was seen before; `None` at the first run.
    ///
    /// # Errors
    /// If it cannot be read, or was damaged.
    pub(crate) fn read(&self) -> Result<Option<State>, Failure> {
        let path = self.0.join(STATE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let state = serde_json::from_str(&text);
        Ok(Some(state.map_err(|error| format!("{}: {error}", path.display()))?))
    }

    /// Keeps what was seen.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, state: &State) -> Result<(), Failure> {
        self.replace(STATE, &serde_json::to_string(state)?)?;
        self.replace(CHECKPOINT, &state.watched.checkpoint)
    }

    /// Writes a file whole, then gives it its name.
    fn replace(&self, name: &str, text: &str) -> Result<(), Failure> {
        let (draft, path) = (self.0.join(format!("{name}.new")), self.0.join(name));
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path));
        written.map_err(|error| format!("{}: {error}", path.display()).into())
    }
}
