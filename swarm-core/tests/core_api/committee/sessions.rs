//! The public view of sessions.

use std::sync::Arc;

use swarm_core::domain::SubjectId;
use swarm_core::domain::committee::{CommitteeDay, CommitteeTake, Synthesis};
use swarm_core::json;
use swarm_core::proof::commit_reference;
use swarm_core::rules::committee::{line, session};

use super::{DEADLINE, at, day, generated, take};

const AFTER: &str = "2026-11-21T23:25:00.001Z";

fn takes() -> Vec<Arc<CommitteeTake>> {
    vec![
        take("ada", "bearish", 0.1, "REGIME first"),
        take("grace", "neutral", 0.5, "REGIME"),
        take("ada", "bullish", 0.8, "REGIME second"),
    ]
}

#[test]
fn takes_are_hidden_until_the_deadline() {
    let open = session(&generated(), &takes(), at(DEADLINE)).unwrap();
    assert_eq!((open.takes, open.synthesis), (vec![], None));
    let listed = line(&generated(), &takes(), at(DEADLINE)).unwrap();
    assert_eq!((listed.takes, listed.synthesis), (0, None));
}

#[test]
fn newest_take_of_each_member_is_shown_after_the_deadline() {
    let takes = takes();
    let over = session(&generated(), &takes, at(AFTER)).unwrap();
    let shown: Vec<_> = over.takes.iter().map(|take| take.commit.clone()).collect();
    assert_eq!(shown, [commit_reference(&takes[1]), commit_reference(&takes[2])]);
    let summary = "2 takes: 1 bullish, 1 neutral; mean confidence 0.65.";
    assert_eq!(over.synthesis.as_deref(), Some(summary));
    let listed = line(&generated(), &takes, at(AFTER)).unwrap();
    assert_eq!((listed.takes, listed.synthesis.as_deref()), (2, Some(summary)));

    let text = json::write(&over);
    let start = r#"{"date":"2026-11-21","subject_id":"aurora","deadline_utc":"2026-11-21T23:25:00.000Z","synthesis":"2 takes"#;
    assert!(text.starts_with(start), "{text}");
    let record = r#""model":null,"generated_at":"2026-11-21T22:50:01.234Z","received_at":"2026-11-21T22:50:01.234Z","commit":"sha256:"#;
    assert!(text.contains(record), "{text}");
    assert!(text.contains(
        r#""takes":[{"member_id":"grace","stance":"neutral","confidence":0.5,"body":"REGIME\n"#
    ));
}

#[test]
fn operator_synthesis_takes_precedence() {
    let synthesis = Some(Synthesis::parse("calm").unwrap());
    let written = CommitteeDay { synthesis, ..generated() };
    for now in [DEADLINE, AFTER] {
        let session = session(&written, &takes(), at(now)).unwrap();
        assert_eq!(session.synthesis.as_deref(), Some("calm"));
    }
}

#[test]
fn takes_on_another_subject_are_not_shown() {
    let other = CommitteeTake {
        subject_id: SubjectId::parse("borealis").unwrap(),
        ..(*take("ada", "bearish", 1.0, "REGIME")).clone()
    };
    let first = take("ada", "bullish", 0.5, "REGIME");
    let session = session(&generated(), &[first, Arc::new(other)], at(AFTER)).unwrap();
    assert_eq!(session.synthesis.as_deref(), Some("1 take: 1 bullish; mean confidence 0.50."));
}

/// They are identified by position, not by time, because the clock may have been wrong.
#[test]
fn takes_of_withdrawn_generation_are_not_shown() {
    let of = |member| take(member, "bullish", 0.5, "REGIME");
    let takes = [of("ada"), of("bob"), of("cleo")];
    for withdrawn in 0..=4 {
        let mut day = generated();
        day.generation.as_mut().unwrap().withdrawn = withdrawn;
        let session = session(&day, &takes, at(AFTER)).unwrap();
        let shown = session.takes.iter().map(|take| take.member_id.as_str());
        let standing = takes.iter().skip(withdrawn).map(|take| take.member_id.as_str());
        assert!(shown.eq(standing), "{withdrawn} of them withdrawn");
    }
}

#[test]
fn day_without_briefs_is_not_a_session() {
    let blank = CommitteeDay::blank(day("2026-11-21"));
    assert_eq!(session(&blank, &takes(), at(AFTER)), None);
    assert_eq!(line(&blank, &takes(), at(AFTER)), None);
    let silent = line(&generated(), &[], at(AFTER)).unwrap();
    assert_eq!((silent.takes, silent.synthesis.as_deref()), (0, Some("No takes.")));
}
