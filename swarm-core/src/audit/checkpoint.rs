//! Checkpoints: the signature of one, the proofs that lead to that of a bundle, and whether one continues another.

use std::collections::BTreeSet;

use super::entries::BundledEntry;
use super::finding::{Check, Finding, Report, count};
use super::key::{KeySource, LogKey};
use crate::domain::Invalid;
use crate::domain::json::printable;
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::Note;
use crate::proof::tree::{self, Node, TreeHash, verify_inclusion};

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
fn check_signature(
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

/// Checks that the longer of two signed checkpoints continues the shorter one. A checkpoint does not say when it was signed,
/// so the order in which they are given shows nothing: a longer one that is given first does not mean that the log went
/// back. `read` returns the hash of a complete subtree of the longer tree. Its answers are verified: a false one can make
/// the check fail, but never pass.
///
/// # Errors
/// The error of `read`.
pub fn audit_checkpoints<E>(
    one: &str,
    other: &str,
    key: Option<&LogKey>,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Vec<Finding>, E> {
    let mut report = Report::default();
    let (one, other) = match (parse(one), parse(other)) {
        (Ok(one), Ok(other)) => (one, other),
        (one, other) => {
            let faults = [one.err(), other.err()].into_iter().flatten();
            report.faults(Check::Checkpoint, faults.map(|error| error.to_string()).collect());
            return Ok(report.into_findings());
        }
    };
    for (note, checkpoint) in [&one, &other] {
        check_signature(note, checkpoint, key, &mut report);
    }
    let (one, other) = (one.1, other.1);
    let (old, new) = if one.size <= other.size { (one, other) } else { (other, one) };
    let fault = consistency_fault(&old, &new, read)?;
    let holds = format!("the log of {} entries continues that of {}", new.size, old.size);
    report.conclude(Check::Consistency, fault.into_iter().collect(), holds);
    Ok(report.into_findings())
}

fn parse(text: &str) -> Result<(Note, Checkpoint), Invalid> {
    let note = Note::parse(text)?;
    let checkpoint = Checkpoint::parse(note.text())?;
    Ok((note, checkpoint))
}

/// Returns why a checkpoint does not continue an earlier one; `None` if it does.
pub(super) fn consistency_fault<E>(
    old: &Checkpoint,
    new: &Checkpoint,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Option<String>, E> {
    if old.origin != new.origin {
        let (old, new) = (printable(&old.origin), printable(&new.origin));
        return Ok(Some(format!("{old} and {new} are two logs")));
    }
    if old.size > new.size {
        let (old, new) = (old.size, new.size);
        return Ok(Some(format!("the log went back: it had {old} entries, then {new}")));
    }
    let proof = tree::consistency(old.size, new.size, read)?;
    let continues = tree::verify_consistency(old.size, &old.root, new.size, &new.root, &proof);
    Ok((!continues).then(|| {
        let (old, new) = (old.size, new.size);
        format!("a fork: the log of {new} entries does not begin with the one of {old}")
    }))
}
