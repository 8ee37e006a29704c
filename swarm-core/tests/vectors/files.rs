//! Where the vectors are, and how they are read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use swarm_core::json::Json;

/// Names the folder with the sets of other projects; an absolute path.
const VARIABLE: &str = "SWARM_VECTORS";

/// Where that folder is looked for when [`VARIABLE`] is not set, from this crate.
const BESIDE: &str = "../../shared/vectors";

/// A file of the repository's own vectors. It must be there.
pub(crate) fn own(path: &str) -> String {
    read(&here().join("../vectors").join(path))
}

/// A file of the sets that other projects have published, which the repository does not contain.
///
/// They are read from the folder that `SWARM_VECTORS` names, else from `shared/vectors` beside the
/// repository. The decision when that folder is missing:
///
/// - `SWARM_VECTORS` is set, but names no folder, or one without the file: the test **fails**,
///   since whoever sets it wants the sets to be read. Likewise when the folder beside the
///   repository exists and lacks the file.
/// - Neither exists: `None`, and the test returns without a verdict, so that a clean clone passes.
///   It does not do so in silence: a line on standard error, which the test runner does not
///   capture, says which set was not read and which variable to set; and the test
///   `third_party_vectors_were_read` lists all sets with what was read of them.
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

/// The folder with the sets of other projects, if there is one.
pub(crate) fn third_party_folder() -> Option<PathBuf> {
    let Some(named) = std::env::var_os(VARIABLE) else {
        return Some(here().join(BESIDE)).filter(|folder| folder.is_dir());
    };
    let folder = PathBuf::from(named);
    assert!(folder.is_dir(), "{VARIABLE} names no folder: {}", folder.display());
    Some(folder)
}

/// Writes a line to standard error past the test runner, which hides what passing tests print.
pub(crate) fn say(line: &str) {
    // In one piece, for tests run side by side.
    let _ = std::io::stderr().write_all(format!("vectors: {line}\n").as_bytes());
}

/// The lines of `text`. Only a line feed ends one: the vectors contain all other line ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

/// The records of a text that has one JSON object a line.
pub(crate) fn records<T: DeserializeOwned>(text: &str) -> Vec<T> {
    lines(text).map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The records of a text that is one JSON array.
pub(crate) fn array<T: DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).expect("an array of records")
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0, "{text}");
    let digits = text.as_bytes().chunks_exact(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).expect(text))
        .collect()
}

/// Hexadecimal digits, in lower case.
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

/// The value with its members sorted, and its numbers as they are computed with.
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
