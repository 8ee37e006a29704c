//! An edited session, and its members.

use super::{Edits, after_each};
use crate::bundles::cases::Case;

pub(super) fn cases(edits: &Edits) -> Vec<Case> {
    let (key, other_key) =
        (swarm_testing::key("ada").to_string(), swarm_testing::key("eve").to_string());
    let score = after_each(&edits.text, "\"score\":").remove(0);
    let score = format!("\"score\":{}", score.split(',').next().unwrap());
    vec![
        edits.session(
            "deadline",
            "the deadline of the record",
            r#""windowClosesAt":"2026-11-21T20:00:00.000Z""#,
            r#""windowClosesAt":"2026-11-21T19:00:00.000Z""#,
            &[("history", "windowClosesAt")],
        ),
        edits.session(
            "state",
            "the state of the record",
            r#""state":"published""#,
            r#""state":"aggregated""#,
            &[("history", "state")],
        ),
        edits.session(
            "quorum",
            "the quorum of the record",
            r#""quorum":2,"#,
            r#""quorum":3,"#,
            &[("history", "quorum"), ("snapshot", "quorum.required is 3")],
        ),
        edits.session(
            "published-at",
            "the time of publication",
            r#""publishedAt":"2026-11-21T20:0"#,
            r#""publishedAt":"2026-11-21T21:0"#,
            &[("history", "publishedAt"), ("time", "publishedAt")],
        ),
        edits.session(
            "convened-at",
            "the time of convening",
            r#""convenedAt":"2026-11-21T14:0"#,
            r#""convenedAt":"2026-11-21T13:0"#,
            &[("history", "convenedAt"), ("time", "convenedAt")],
        ),
        edits.session(
            "roster-excused",
            "a member excused in the roster",
            r#"{"memberId":"grace","excused":false}"#,
            r#"{"memberId":"grace","excused":true}"#,
            &[("roster", "digest"), ("history", "roster"), ("snapshot", "participation.expected")],
        ),
        edits.session(
            "roster-member",
            "a member taken off the roster",
            r#"{"memberId":"grace","excused":false},"#,
            "",
            &[("roster", "digest"), ("history", "roster")],
        ),
        edits.session(
            "bucket",
            "a bucket that was added",
            r#""buckets":["cash","add"]"#,
            r#""buckets":["cash","add","sell"]"#,
            &[("buckets", "digest"), ("history", "buckets"), ("snapshot", "weights")],
        ),
        edits.session(
            "snapshot-digit",
            "the last digit of the score",
            &score,
            &format!("{}2", &score[..score.len() - 1]),
            &[("snapshot", "consensus.score"), ("history", "snapshot")],
        ),
        edits.session(
            "snapshot-quote",
            "a quoted word",
            "Utilisation is",
            "Utilization is",
            &[("snapshot", "quotes"), ("history", "snapshot")],
        ),
        edits.session(
            "snapshot-rate",
            "the rate of participation",
            r#""rate":1}"#,
            r#""rate":0.75}"#,
            &[("snapshot", "participation.rate is 1"), ("history", "snapshot")],
        ),
        edits.replaced(
            "member-key",
            "the key of a member",
            &format!(r#"{{"id":"ada","publicKey":"{key}"}}"#),
            &format!(r#"{{"id":"ada","publicKey":"{other_key}"}}"#),
            &[("members", "no row for \"ada\"")],
        ),
        edits.listed(
            "member-missing",
            "no key of a member",
            "members",
            &|rows| drop(rows.remove(1)),
            &[("members", "no row for \"grace\"")],
        ),
        edits.listed(
            "member-twice",
            "a key that stands twice",
            "members",
            &|rows| rows.push(rows[0].clone()),
            &[("members", "two rows")],
        ),
    ]
}
