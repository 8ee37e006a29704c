//! Finding and reading the vector files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use swarm_core::json::Json;

/// The environment variable with the absolute path of the folder with the sets of other projects.
const VARIABLE: &str = "SWARM_VECTORS";

/// The default of that folder, relative to this crate.
const BESIDE: &str = "../../shared/vectors";

/// Reads a file of the repository's own vectors.
pub(crate) fn own(path: &str) -> String {
    read(&here().join("../vectors").join(path))
}

/// Reads a file of the sets that other projects have published, which are not in the repository.
///
/// The folder is `SWARM_VECTORS`, else `shared/vectors` next to the repository. If it is missing:
///
/// - If `SWARM_VECTORS` is set but is not a folder, or if the folder lacks the file, the test
///   **fails**. The same holds if the default folder exists and lacks the file.
/// - If neither folder exists, this returns `None` and the test is skipped, so that a clean clone
///   passes. A line on standard error, which the test runner does not capture, names the skipped set
///   and the variable. The test `third_party_vectors_were_read` lists all sets that were read.
pub(crate) fn third_party(path: &str) -> Option<String> {
    let Some(folder) = third_party_folder() else {
        say(&format!(
            "NOT CHECKED: {path}: there is no folder {BESIDE} (from swarm-core); \
             set {VARIABLE} to the folder that holds the vectors of other projects"
        ));
        return None;
    };
    Some(read(&folder.join(path)))
}

/// The folder with the sets of other projects, if it exists.
pub(crate) fn third_party_folder() -> Option<PathBuf> {
    let Some(named) = std::env::var_os(VARIABLE) else {
        return Some(here().join(BESIDE)).filter(|folder| folder.is_dir());
    };
    let folder = PathBuf::from(named);
    assert!(folder.is_dir(), "{VARIABLE} names no folder: {}", folder.display());
    Some(folder)
}

/// Writes a line to standard error without the capture of the test runner.
pub(crate) fn say(line: &str) {
    // One write, since tests run concurrently.
    let _ = std::io::stderr().write_all(format!("vectors: {line}\n").as_bytes());
}

/// The lines of `text`, separated by line feeds only: the vectors contain all other line
/// separators.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

/// The records of a text with one JSON object per line.
pub(crate) fn records<T: DeserializeOwned>(text: &str) -> Vec<T> {
    lines(text).map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The records of a text that is one JSON array.
pub(crate) fn array<T: DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).expect("an array of records")
}

/// Decodes hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0, "{text}");
    let digits = text.as_bytes().chunks_exact(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).expect(text))
        .collect()
}

/// Encodes bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
}

/// The value with sorted members and normalized numbers.
pub(crate) fn canonical_value(value: &Json) -> Json {
    match value {
        Json::Object(object) => {
            let mut members: Vec<_> = object.members().collect();
            members.sort_by_key(|(key, _)| *key);
            members.into_iter().map(|(key, value)| (key, canonical_value(value))).collect()
        }
        Json::List(items) => items.iter().map(canonical_value).collect(),
        Json::Number(number) => Json::from(number.get()),
        other => other.clone(),
    }
}
