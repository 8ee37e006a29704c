//! Where the vectors are, and how they are read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Names the folder with the sets of other projects; an absolute path.
const VARIABLE: &str = "SWARM_VECTORS";

/// Where that folder is looked for when [`VARIABLE`] is not set, from this crate.
const BESIDE: &str = "../../shared/vectors";

/// A file of the repository's own vectors. It must be there.
pub fn own(path: &str) -> String {
    read(&here().join("../vectors").join(path))
}

/// A file of the sets that other projects have published, which the repository does not contain.
/// `None`, with a line past the test runner, where there is no folder with them; a folder that
/// `SWARM_VECTORS` names must be there.
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
        // Not by a macro, whose output the test runner hides.
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    };
    assert!(folder.is_dir(), "{VARIABLE} names no folder: {}", folder.display());
    Some(read(&folder.join(path)))
}

/// The records of a text that has one JSON object a line. Only a line feed ends a line: the
/// vectors contain all other line ends.
pub fn records<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let lines = text.split('\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The bytes that hexadecimal digits stand for.
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
