//! `swarm verify` and the verifier in Python, on the bundles of `vectors/bundles`: they agree on what fails.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::clients::python;
use crate::program::swarm;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/bundles")
}

fn cases() -> Vec<Value> {
    let cases = std::fs::read_to_string(folder().join("cases.json")).unwrap();
    serde_json::from_str(&cases).unwrap()
}

/// The exit status, and what was printed.
fn verify(arguments: &[&str]) -> (Option<i32>, String) {
    let output = swarm(&[&["verify"], arguments].concat(), &[]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn swarm_verify_finds_what_was_tampered_with() {
    for case in cases() {
        let file = folder().join(case["file"].as_str().unwrap());
        let (file, key) = (file.to_str().unwrap(), case["key"].as_str().unwrap());
        // As it was copied out of a file of Windows.
        let (status, said) = verify(&[file, "--key", &format!("\u{feff}{key}\r\n")]);
        let failing = said.lines().filter_map(|line| line.strip_prefix("fails: "));
        let failing: BTreeSet<_> = failing.filter_map(|line| line.split(':').next()).collect();
        let expected: BTreeSet<_> =
            case["fails"].as_array().unwrap().iter().map(|check| check.as_str().unwrap()).collect();
        assert_eq!(failing, expected, "{file}: {said}");
        assert_eq!(status, Some(i32::from(!expected.is_empty())), "{file}: {said}");
        let is_notable = case["notable"].as_array().is_some_and(|checks| !checks.is_empty());
        let strict = match (expected.is_empty(), is_notable) {
            (false, _) => 1,
            (true, true) => 3,
            (true, false) => 0,
        };
        assert_eq!(verify(&[file, "--key", key, "--strict"]).0, Some(strict), "{file}");
    }
}

#[test]
fn bundle_without_a_key_leaves_its_checkpoint_unproven() {
    let file = folder().join("valid-published.json");
    let (status, said) = verify(&[file.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("unproven: checkpoint: not verified: name the key of the log"), "{said}");
    assert!(
        said.contains(
            "holds: snapshot: computed again from 4 takes, of which those of 3 members count"
        ),
        "{said}"
    );
}

#[test]
fn what_is_no_bundle_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(self::folder().join("valid-open.json")).unwrap();
    for (name, text) in [
        ("version", text.replace("swarm-bundle/1", "swarm-bundle/2")),
        ("part", text.replace("\"members\":", "\"memberz\":")),
        ("cut", text[..text.len() / 2].to_owned()),
        ("session", r#"{"session":{},"takes":[]}"#.to_owned()),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        assert_eq!(verify(&[file.to_str().unwrap()]).0, Some(2), "{name}");
    }
    for (name, bytes, status) in [
        ("mark", format!("\u{feff}{text}").into_bytes(), 0),
        ("utf-16", text.encode_utf16().flat_map(u16::to_le_bytes).collect(), 2),
    ] {
        let file = folder.path().join(name);
        let bytes = if status == 0 { bytes } else { [vec![0xff, 0xfe], bytes].concat() };
        std::fs::write(&file, bytes).unwrap();
        let output = swarm(&["verify", file.to_str().unwrap()], &[]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{name}: {said}");
        assert_eq!(said.contains("is in UTF-16"), status == 2, "{name}: {said}");
    }
    let whole = self::folder().join("valid-open.json");
    let whole = whole.to_str().unwrap();
    assert_eq!(verify(&[whole, "--key", "no key"]).0, Some(2));
    assert_eq!(verify(&[whole, whole]).0, Some(2), "no proof");
    assert_eq!(verify(&[whole, "--request", "POST /"]).0, Some(2), "no receipt");
}

/// As deep as the service reads what it is sent.
#[test]
fn bundle_is_read_up_to_127_levels_of_nesting() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(self::folder().join("valid-open.json")).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python/verify_bundle.py");
    for (lists, inner, status) in [(126, "", 0), (126, "1", 0), (127, "", 2), (127, "1", 2)] {
        let nested = format!("{{\"more\":{}{inner}{},", "[".repeat(lists), "]".repeat(lists));
        let file = folder.path().join("nested.json");
        std::fs::write(&file, text.replacen('{', &nested, 1)).unwrap();
        let (found, said) = verify(&[file.to_str().unwrap()]);
        assert_eq!(found, Some(status), "{lists} {inner}: {said}");
        let python = Command::new(python()).arg("-B").arg(&program).arg(&file).output().unwrap();
        assert_eq!(python.status.code(), Some(status), "{lists} {inner}: {python:?}");
    }
}

const CORPUS: &str = r#"
import json, os, sys
sys.path.insert(0, sys.argv[1])
import verify_bundle
folder = sys.argv[2]
for case in json.load(open(os.path.join(folder, "cases.json"), encoding="utf-8")):
    with open(os.path.join(folder, case["file"]), encoding="utf-8") as file:
        report = verify_bundle.verify(verify_bundle.read_bundle(file.read()), case["key"])
    found = {verdict: sorted(report.checks(verdict)) for verdict in ("fails", "notable")}
    if found != {verdict: sorted(case[verdict]) for verdict in ("fails", "notable")}:
        print(case["file"], found, report.findings)
"#;

#[test]
fn python_agrees_on_every_bundle() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python");
    let run = |arguments: &[&std::ffi::OsStr]| {
        Command::new(python()).arg("-B").args(arguments).output().unwrap()
    };
    let agrees = run(&["-c".as_ref(), CORPUS.as_ref(), examples.as_ref(), folder().as_ref()]);
    assert!(agrees.status.success() && agrees.stdout.is_empty(), "{agrees:?}");
    let program = examples.join("verify_bundle.py");
    for (file, status) in
        [("valid-published.json", 0), ("snapshot-digit.json", 1), ("cases.json", 2)]
    {
        let output = run(&[program.as_ref(), folder().join(file).as_ref()]);
        assert_eq!(output.status.code(), Some(status), "{file}: {output:?}");
    }
}

/// What each member lost by the outcome, to the last digit.
#[test]
fn both_verifiers_print_the_same_losses() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python/verify_bundle.py");
    let lines = |said: &str| -> Vec<String> {
        let scored = said.lines().filter(|line| line.starts_with("holds: outcome: "));
        scored.map(|line| line.replace('"', "")).collect()
    };
    for (name, lost) in [
        ("valid-outcome.json", "holds: outcome: ada lost 0.0025 with take 11, skill 0.02"),
        (
            "notable-outcome-replaced.json",
            "holds: outcome: grace lost 0.000625 with take 12, skill 0.05",
        ),
    ] {
        let file = folder().join(name);
        let (_, said) = verify(&[file.to_str().unwrap()]);
        let python = Command::new(python()).arg("-B").arg(&program).arg(&file).output().unwrap();
        let python = String::from_utf8(python.stdout).unwrap();
        assert_eq!(lines(&said), lines(&python));
        assert!(lines(&said).iter().any(|line| line == lost), "{said}");
    }
}
