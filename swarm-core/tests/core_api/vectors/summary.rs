//! A report on which sets of other projects were read.

use crate::vectors::files;

/// The format of a file of vectors.
enum Form {
    Array,
    Lines,
    One,
}

use Form::{Array, Lines, One};

/// One file of each set, with its number of vectors.
const SETS: [(&str, Form, usize); 10] = [
    ("ed25519/cctv_ed25519vectors.json", Array, 914),
    ("ed25519/rfc8032.json", Array, 5),
    ("ed25519/sign_input_128.txt", Lines, 128),
    ("ed25519/speccheck_cases.json", Array, 12),
    ("ed25519/zip215.json", Array, 196),
    ("json/jsontestsuite_parsing.jsonl", Lines, 318),
    ("json/jsontestsuite_transform.jsonl", Lines, 22),
    ("numbers/es6_numbers_10000.txt", Lines, 10_000),
    ("strings/blns.json", Array, 515),
    ("jcs/input/weird.json", One, 1),
];

/// Passes without the sets, but reports that they are missing: see [`files::third_party`].
#[test]
fn third_party_vectors_were_read() {
    let Some(folder) = files::third_party_folder() else {
        let sets: Vec<&str> = SETS.iter().map(|(path, ..)| *path).collect();
        files::say(&format!("{} SETS OF OTHER PROJECTS WERE NOT CHECKED", sets.len()));
        let _ = files::third_party(&sets.join(", "));
        return;
    };
    for (path, form, expected) in SETS {
        let text = files::third_party(path).unwrap();
        let count = match form {
            Array => files::array::<serde_json::Value>(&text).len(),
            Lines => files::lines(&text).count(),
            One => 1,
        };
        assert_eq!(count, expected, "{path}");
        files::say(&format!("read {path} ({count})"));
    }
    files::say(&format!("all sets of other projects were read from {}", folder.display()));
}
