//! Edited takes.

use swarm_core::json::write;

use super::{Edits, quoted, with_list};
use crate::bundles::cases::Case;

pub(super) fn cases(edits: &Edits) -> Vec<Case> {
    let (key, other_key) =
        (swarm_testing::key("ada").to_string(), swarm_testing::key("eve").to_string());
    vec![
        edits.replaced(
            "take-stance",
            "the stance of a take",
            r#""stance":"cautious""#,
            r#""stance":"bearish""#,
            &[
                ("signature", "take 12"),
                ("entry", "another digest than take 12"),
                ("snapshot", "consensus.score"),
            ],
        ),
        edits.replaced(
            "take-confidence",
            "a digit of a confidence",
            r#""confidence":0.8,"#,
            r#""confidence":0.9,"#,
            &[("signature", "take 13"), ("entry", "take 13"), ("snapshot", "consensus")],
        ),
        edits.replaced(
            "take-number-form",
            "a number in another form",
            r#""confidence":0.8,"#,
            r#""confidence":0.80,"#,
            &[("record", "take 13: confidence")],
        ),
        edits.replaced(
            "take-body",
            "a word of a write-up",
            "Utilisation is",
            "Utilization is",
            &[("signature", "take 11"), ("entry", "take 11")],
        ),
        edits.replaced(
            "take-weight",
            "a weight of a take",
            r#"{"bucket":"cash","weight":0.1}"#,
            r#"{"bucket":"cash","weight":0.11}"#,
            &[("signature", "take 13"), ("snapshot", "weights")],
        ),
        edits.replaced(
            "take-nonce",
            "a nonce",
            r#""nonce":"nonce 0""#,
            r#""nonce":"nonce 9""#,
            &[("signature", "take 11"), ("entry", "take 11")],
        ),
        edits.replaced(
            "take-signature",
            "the signature of another take",
            &quoted(&edits.signatures[0]),
            &quoted(&edits.signatures[1]),
            &[("signature", "take 11"), ("entry", "another signature than take 11")],
        ),
        edits.replaced(
            "take-key",
            "the key of a take",
            &format!("\"publicKey\":\"{key}\""),
            &format!("\"publicKey\":\"{other_key}\""),
            &[
                ("signature", "take 11"),
                ("entry", "another publicKey than take 11"),
                ("members", "no row"),
            ],
        ),
        edits.replaced(
            "take-filed-at",
            "a take filed a minute earlier",
            r#""filedAt":"2026-11-21T14:05:06.170Z""#,
            r#""filedAt":"2026-11-21T14:04:06.170Z""#,
            &[("entry", "take 11 says")],
        ),
        edits.replaced(
            "take-revision",
            "the number of a revision",
            r#""id":13,"sessionId":7,"revision":2"#,
            r#""id":13,"sessionId":7,"revision":3"#,
            &[("revision", "take 13"), ("entry", "another revision")],
        ),
        edits.replaced(
            "take-session",
            "a take of another session",
            r#""id":12,"sessionId":7"#,
            r#""id":12,"sessionId":8"#,
            &[("record", "take 12: is of session 8"), ("entry", "another sessionId")],
        ),
        edits.replaced(
            "take-superseded-by",
            "the pointer to the next revision",
            r#","supersededBy":13"#,
            "",
            &[("revision", "take 11: supersededBy is none, expected 13")],
        ),
        edits.replaced(
            "take-superseded-by-other",
            "the pointer to another take",
            r#""supersededBy":13"#,
            r#""supersededBy":12"#,
            &[("revision", "take 11: supersededBy is 12")],
        ),
        edits.replaced(
            "take-unreadable",
            "a confidence above 1",
            r#""confidence":0.8,"#,
            r#""confidence":8,"#,
            &[("record", "take 13: no record: confidence"), ("entry", "take 13, which is missing")],
        ),
        edits.listed(
            "take-removed",
            "a take was deleted, its entry was not",
            "takes",
            &|takes| drop(takes.remove(1)),
            &[
                ("entry", "records take 12, which is missing"),
                ("snapshot", "participation.members"),
                ("members", "verified no take"),
            ],
        ),
        edits.listed(
            "takes-all-removed",
            "all takes were deleted",
            "takes",
            &|takes| takes.clear(),
            &[("entry", "records take 11, which is missing"), ("snapshot", "participation")],
        ),
        edits.listed(
            "take-twice",
            "a take stands twice",
            "takes",
            &|takes| takes.insert(1, takes[0].clone()),
            &[
                ("record", "take 11: stands after take 11"),
                ("nonce", "take 11"),
                ("revision", "take 11"),
            ],
        ),
        edits.listed(
            "takes-swapped",
            "two takes in the wrong order",
            "takes",
            &|takes| takes.swap(0, 1),
            &[("record", "take 11: stands after take 12")],
        ),
        edits.case(
            "take-removed-with-entry",
            "a take and its entry were left out",
            with_list(
                &with_list(&edits.text, "takes", &|takes| drop(takes.remove(1))),
                "entries",
                &|entries| {
                    entries.retain(|entry| {
                        !write(entry).contains("\\\"kind\\\":\\\"take\\\",\\\"id\\\":12")
                    })
                },
            ),
            &[("snapshot", "participation.members is 2"), ("members", "verified no take")],
        ),
        edits.case(
            "first-revision-removed",
            "an original was left out, with its entry",
            with_list(
                &with_list(&edits.text, "takes", &|takes| drop(takes.remove(0))),
                "entries",
                &|entries| {
                    entries.retain(|entry| {
                        !write(entry).contains("\\\"kind\\\":\\\"take\\\",\\\"id\\\":11")
                    })
                },
            ),
            &[("revision", "is revision 2, expected 1")],
        ),
    ]
}
