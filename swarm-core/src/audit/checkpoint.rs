//! The checkpoint of a bundle: its signature, and the proofs that lead to it.

use std::collections::BTreeSet;

use super::entries::BundledEntry;
use super::finding::{Check, Report, count};
use super::key::{KeySource, LogKey};
use crate::domain::json::printable;
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::Note;
use crate::proof::tree::verify_inclusion;

/// Checks the checkpoint's signature, and the proof of each entry.
pub(super) fn check(
    text: &str,
    entries: &[BundledEntry],
    key: Option<&LogKey>,
    report: &mut Report,
) {
    let parsed = Note::parse(text).and_then(|note| Ok((Checkpoint::parse(note.text())?, note)));
    let (Checkpoint { size, root, .. }, note) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return report.faults(Check::Checkpoint, vec![error.to_string()]),
    };
    let is_unproven = |entry: &&BundledEntry| {
        !verify_inclusion(&entry.leaf, entry.index(), size, &entry.proof, &root)
    };
    let unproven = entries.iter().filter(is_unproven);
    let unproven =
        unproven.map(|it| format!("entry {} is not in the tree of the checkpoint", it.seq));
    let proven = count(entries.len(), "entry is", "entries are");
    let holds = format!("{proven} in the tree of {size}; checked offline");
    report.conclude(Check::Inclusion, unproven.collect(), holds);
    check_note(&note, key, report);
}

/// Checks a signed checkpoint, and reports what its name and its signatures do not prove.
pub(super) fn check_note(note: &Note, key: Option<&LogKey>, report: &mut Report) {
    let checkpoint = match Checkpoint::parse(note.text()) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return report.faults(Check::Checkpoint, vec![error.to_string()]),
    };
    check_signature(note, &checkpoint, key, report);
    if checkpoint.origin == "localhost" || checkpoint.origin.starts_with("localhost/") {
        let name = printable(&checkpoint.origin);
        report.unproven(Check::Origin, format!("the log is called {name}, as many others are"));
    }
    let names = note.signatures().iter().map(|signature| signature.name());
    let others: BTreeSet<_> = names.filter(|name| *name != checkpoint.origin).collect();
    report.unproven(
        Check::Witness,
        if others.is_empty() {
            "no witness has signed the checkpoint: that others see the same log is the server's word"
                .to_owned()
        } else {
            let names = others.into_iter().map(printable).collect::<Vec<_>>().join(", ");
            format!("signed also by {names}, whose keys were not given")
        },
    );
}

/// Checks that the checkpoint is signed by the log's key, and reports the source of that key.
pub(super) fn check_signature(
    note: &Note,
    checkpoint: &Checkpoint,
    key: Option<&LogKey>,
    report: &mut Report,
) {
    let Some(key) = key else {
        return report.unproven(
            Check::Checkpoint,
            "not verified: name the key of the log with --key. The maker of a bundle can make a log too",
        );
    };
    let mut faults = Vec::new();
    match key.verifier(&checkpoint.origin) {
        Err(error) => faults.push(error.to_string()),
        Ok(key) if key.name() != checkpoint.origin => {
            let (origin, name) = (printable(&checkpoint.origin), printable(key.name()));
            faults.push(format!("it is of the log {origin}, the key is of {name}"));
        }
        Ok(key) if !note.is_signed_by(&key) => {
            faults.push(format!("the key {} did not sign it", key.public_key()));
        }
        Ok(_) => {}
    }
    let whose = match key.source {
        KeySource::Given => "the key that you named",
        KeySource::Served => "the key that the server named",
    };
    let (origin, size) = (printable(&checkpoint.origin), checkpoint.size);
    report.conclude(
        Check::Checkpoint,
        faults,
        format!("{origin} at size {size}, signed by {whose}"),
    );
    if key.source == KeySource::Served {
        report.unproven(
            Check::Checkpoint,
            "the log's key came from the server itself. Name it, from another source, with --key",
        );
    }
}
