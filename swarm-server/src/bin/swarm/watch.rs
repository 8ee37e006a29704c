//! `swarm watch`: checks that a log is append-only since it was last seen, and prints the acts of operators (API.md, 13.3).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;

use serde::{Deserialize, Serialize};
use swarm_client::Error;
use swarm_core::audit::{KeySource, LogKey, Watch, WatchState};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::Note;

use crate::arguments::WatchOptions;
use crate::command::Progress;
use crate::{Failure, console};

/// Looks at the log once, or again and again. Exit status: 0 it continues, 1 it does not, 2 it was not reached.
pub(crate) fn run(options: &WatchOptions) -> ExitCode {
    loop {
        let code = match check_once(options) {
            Ok(Ok(lines)) => {
                let _ = console::print(&lines.join("\n"));
                0
            }
            Ok(Err(fault)) => {
                let _ = console::print(&format!("does not hold: {fault}"));
                return ExitCode::from(1);
            }
            Err(failure) => {
                console::warn(&format!("not reached: {failure}"));
                2
            }
        };
        let Some(pause) = options.every.filter(|_| !options.once) else {
            return ExitCode::from(code);
        };
        sleep(pause);
    }
}

/// Checks the log once. The inner result has the lines to print, or why the log does not continue.
fn check_once(options: &WatchOptions) -> Result<Result<Vec<String>, String>, Failure> {
    let folder = Folder::open(&options.state)?;
    let seen = folder.read()?;
    let (key, mut lines) = match known_key(options, seen.as_ref()) {
        Err(fault) => return Ok(Err(fault)),
        Ok(Some(key)) => (key, Vec::new()),
        Ok(None) => {
            let key = served_key(options)?;
            let line = format!("unproven: the log's key came from the server itself: {key}");
            (key, vec![line])
        }
    };
    let mut tiles = options.trust.log(&options.url)?;
    let note = tiles.checkpoint()?;
    if let Ok(checkpoint) = Note::parse(&note).and_then(|note| Checkpoint::parse(note.text())) {
        tiles.of_size(checkpoint.size);
    }
    let log_key = LogKey::parse(&key, KeySource::Given)?;
    let watched = seen.map(|state| state.watched).unwrap_or_default();
    let begun = Watch::begin(watched, &note, &log_key, |node| tiles.hash(node));
    let mut watch = match begun {
        Ok(Ok(watch)) => watch,
        Ok(Err(fault)) => return Ok(Err(fault)),
        Err(error) => return missing(error),
    };
    let first = watch.next();
    let progress = Progress::of_requests();
    while let Some(index) = watch.next() {
        progress.add(1);
        let entries = match tiles.entries(index) {
            Ok(entries) => entries,
            Err(error) => return missing(error),
        };
        for entry in entries {
            match watch.read(&entry) {
                Ok(remarks) => lines.extend(remarks.into_iter().map(|remark| {
                    format!("{}: {}", if remark.is_odd { "odd" } else { "act" }, remark.text)
                })),
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }
    let Checkpoint { origin, size, .. } = watch.checkpoint().clone();
    let new = first.map_or(0, |first| size - first);
    match watch.end() {
        Ok(watched) => folder.write(&State { key, watched })?,
        Err(fault) => return Ok(Err(fault)),
    }
    lines.push(format!("holds: {origin} continues to {size} entries, {new} of them new"));
    Ok(Ok(lines))
}

/// A gap is an entry that the log signed and does not serve.
fn missing<T>(error: Error) -> Result<Result<T, String>, Failure> {
    match error {
        Error::Refused(refused) if refused.status == 404 => {
            Ok(Err(format!("a gap: a tile is not served: {refused}")))
        }
        Error::Unreadable(why) => Ok(Err(format!("a gap: {why}"))),
        error => Err(error.into()),
    }
}

/// The key of the flag, or the key that was used before; if there are both, they must be the same.
fn known_key(options: &WatchOptions, seen: Option<&State>) -> Result<Option<String>, String> {
    let before = seen.map(|state| &state.key);
    match (&options.key, before) {
        (Some(given), Some(before)) if !is_same(given, before) => {
            Err(format!("another key than at the first run, which was {before}"))
        }
        (given, before) => Ok(before.or(given.as_ref()).cloned()),
    }
}

/// Whether two texts are the same key; either may be written without the name of the key.
fn is_same(one: &str, other: &str) -> bool {
    let read = |key: &str| LogKey::parse(key, KeySource::Given);
    match (read(one), read(other)) {
        (Ok(one), Ok(other)) => one.is_same(&other),
        _ => false,
    }
}

fn served_key(WatchOptions { url, trust, .. }: &WatchOptions) -> Result<String, Failure> {
    let service = url.split_once("/swarm/log").map_or(&**url, |(service, _)| service);
    let manifest = trust.client(service)?.get("/.well-known/swarm.json")?;
    Ok(manifest.into_object().text("logKey")?)
}

/// The folder with the state of a watcher.
struct Folder(PathBuf);

/// The state: the key that the log had at the first run, and the last checkpoint.
#[derive(Serialize, Deserialize)]
struct State {
    key: String,
    watched: WatchState,
}

/// The file with the state, as JSON.
const STATE: &str = "state.json";

/// A copy of the checkpoint, to be compared by others.
const CHECKPOINT: &str = "checkpoint";

impl Folder {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// If it cannot be made.
    fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// The state of the last run; `None` at the first run.
    ///
    /// # Errors
    /// If it cannot be read, or was damaged.
    fn read(&self) -> Result<Option<State>, Failure> {
        let path = self.0.join(STATE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let state = serde_json::from_str(&text);
        Ok(Some(state.map_err(|error| format!("{}: {error}", path.display()))?))
    }

    /// Writes the state.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&self, state: &State) -> Result<(), Failure> {
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
