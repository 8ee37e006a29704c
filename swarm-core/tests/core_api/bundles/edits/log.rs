//! Edited entries and checkpoints.

use swarm_core::json::{Json, write};

use super::{Edits, after_each, quoted, read};
use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;

pub(super) fn cases(edits: &Edits) -> Vec<Case> {
    let size = edits.desk.lines.len();
    let root = after_each(&edits.text, &format!("acme\\n{size}\\n")).remove(0)[..44].to_owned();
    vec![
        edits.listed(
            "entries-swapped",
            "two entries in the wrong order",
            "entries",
            &|entries| entries.swap(3, 4),
            &[("entry", "stands after")],
        ),
        edits.listed(
            "entry-twice",
            "an entry stands twice",
            "entries",
            &|entries| entries.insert(4, entries[3].clone()),
            &[("entry", "stands after")],
        ),
        edits.listed(
            "entry-of-take-missing",
            "the entry of a take was left out",
            "entries",
            &|entries| drop(entries.remove(3)),
            &[("entry", "take 11 has no entry")],
        ),
        edits.listed(
            "entry-of-act-missing",
            "the act that moved the deadline was left out",
            "entries",
            &|entries| drop(entries.remove(6)),
            &[("history", "also changes \"windowClosesAt\""), ("history", "brief")],
        ),
        edits.listed(
            "entry-of-convening-missing",
            "the first act was left out",
            "entries",
            &|entries| drop(entries.remove(0)),
            &[("history", "does not convene it"), ("time", "convenedAt")],
        ),
        edits.replaced(
            "entry-deadline",
            "a deadline within an entry",
            r#"\"act\":\"deadline\",\"by\":\"grace\",\"note\":\"an hour\",\"session\":{\"id\":7,\"date\":\"2026-11-21\",\"subjectId\":\"aurora\",\"state\":\"collecting\",\"windowClosesAt\":\"2026-11-21T20"#,
            r#"\"act\":\"deadline\",\"by\":\"grace\",\"note\":\"an hour\",\"session\":{\"id\":7,\"date\":\"2026-11-21\",\"subjectId\":\"aurora\",\"state\":\"collecting\",\"windowClosesAt\":\"2026-11-21T21"#,
            &[("inclusion", "entry 10"), ("history", "also changes \"windowClosesAt\"")],
        ),
        edits.replaced(
            "entry-note",
            "an operator's note",
            r#"\"note\":\"an hour\""#,
            r#"\"note\":\"a hour\""#,
            &[("inclusion", "entry 10")],
        ),
        edits.replaced(
            "entry-by",
            "who did it",
            r#"\"by\":\"grace\""#,
            r#"\"by\":\"lin\""#,
            &[("inclusion", "entry 10")],
        ),
        edits.replaced(
            "entry-at",
            "when it was done",
            r#"\"seq\":3,\"at\":\"2026-11-21T14"#,
            r#"\"seq\":3,\"at\":\"2026-11-21T13"#,
            &[("inclusion", "entry 3"), ("time", "convenedAt")],
        ),
        edits.replaced(
            "entry-space",
            "a space within an entry",
            r#"{\"seq\":3,"#,
            r#"{\"seq\": 3,"#,
            &[("entry", "exact text")],
        ),
        edits.replaced(
            "entry-index",
            "the index of an entry",
            r#""index":9,"#,
            r#""index":8,"#,
            &[("entry", "is entry 10, but has the index 8")],
        ),
        edits.replaced(
            "entry-proof",
            "a hash of a proof",
            &quoted(&edits.proofs[0]),
            &quoted(&edits.proofs[1]),
            &[("inclusion", "entry 3")],
        ),
        edits.replaced(
            "entry-proof-short",
            "a proof that is too short",
            &format!("\"proof\":[\"{}\",", quoted(&edits.proofs[0])),
            "\"proof\":[",
            &[("inclusion", "entry 3")],
        ),
        edits.replaced(
            "entry-proof-unreadable",
            "a hash that is none",
            &quoted(&edits.proofs[0]),
            "AAAA",
            &[("entry", "list of hashes")],
        ),
        edits.replaced(
            "checkpoint-size",
            "the size of the tree",
            &format!("acme\\n{size}\\n"),
            &format!("acme\\n{}\\n", size + 1),
            &[("checkpoint", "did not sign"), ("inclusion", "entry 3")],
        ),
        edits.replaced(
            "checkpoint-root",
            "the root of the tree",
            &root,
            &quoted(&edits.proofs[0]),
            &[("checkpoint", "did not sign"), ("inclusion", "entry 3")],
        ),
        edits.replaced(
            "checkpoint-origin",
            "the name of the log",
            "\"checkpoint\":\"desk.example",
            "\"checkpoint\":\"task.example",
            &[("checkpoint", "the key is of")],
        ),
        edits.replaced(
            "checkpoint-unreadable",
            "a checkpoint without a signature",
            "\\n\\n\u{2014}",
            "\\n\u{2014}",
            &[("checkpoint", "signed note")],
        ),
        edits.case(
            "checkpoint-of-other-key",
            "a checkpoint that another key signed",
            forged(&edits.desk),
            &[("checkpoint", "did not sign")],
        ),
        edits.case(
            "checkpoint-before",
            "the checkpoint of a smaller tree",
            older_checkpoint(&edits.desk),
            &[("inclusion", "entry 3")],
        ),
    ]
}

/// The same bundle, signed by a key that is not the log's.
fn forged(desk: &Desk) -> String {
    let signer = |seed: u8| {
        use swarm_core::proof::note::{KeyKind, NoteSigner};
        NoteSigner::new(&desk.origin, KeyKind::Ed25519, &[seed; 32]).unwrap()
    };
    let mut bundle = read(&desk.bundle());
    let note =
        swarm_core::proof::note::SignedNote::parse(&bundle.clone().text("checkpoint").unwrap())
            .unwrap();
    let mut forged = swarm_core::proof::note::SignedNote::new(note.text().to_owned());
    forged.push(signer(43).sign(note.text(), 0));
    bundle.set("checkpoint", Json::from(&*forged.to_string()));
    write(&bundle)
}

fn older_checkpoint(desk: &Desk) -> String {
    let mut older = desk.clone();
    older.lines.truncate(12);
    let mut bundle = read(&desk.bundle());
    bundle.set("checkpoint", read(&older.bundle()).take("checkpoint").unwrap());
    write(&bundle)
}
