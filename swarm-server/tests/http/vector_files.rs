//! Finds and reads the test vectors.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// The environment variable with the absolute path of the vectors of other projects.
const VARIABLE: &str = "SWARM_VECTORS";

/// The folder used when [`VARIABLE`] is not set, relative to this crate.
const BESIDE: &str = "../../shared/vectors";

/// Reads a file of the repository's own vectors, which must exist.
pub fn own(path: &str) -> String {
    read(&here().join("../vectors").join(path))
}

/// Reads a file of the vectors of other projects, which are not in the repository. Returns `None` and prints a
/// line if there is no folder with them; a folder that `SWARM_VECTORS` names must exist.
pub fn third_party(path: &str) -> Option<String> {
    let folder = match std::env::var_os(VARIABLE) {
        Some(named) => Some(PathBuf::from(named)),
        None => Some(here().join(BESIDE)).filter(|folder| folder.is_dir()),
    };
    let Some(folder) = folder else {
        let line = format!(
            "NOT CHECKED over HTTP: {path}: there is no folder {BESIDE} (from swarm-http); \
             set {VARIABLE} to the folder that holds the vectors of other projects\n"
        );
        // Not by `eprintln!`, whose output the test runner captures.
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    };
    assert!(folder.is_dir(), "{VARIABLE} names no folder: {}", folder.display());
    Some(read(&folder.join(path)))
}

/// The records of a text with one JSON object per line. Only a line feed ends a line, since the vectors
/// contain all other line ends.
pub fn records<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let lines = text.split('\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Decodes hexadecimal digits.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let pair = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).expect(text);
    digits.map(pair).collect()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
}
