//! What changed between sessions, and how members compare (API.md, 10.3).

use std::sync::Arc;

use swarm_core::domain::{
    Body, Confidence, Quote, Revision, Roster, RosterEntry, SessionDraft, Snapshot, Stance,
};
use swarm_core::rules::{Crossing, MemberFigures, aggregate, member_figures, movement};
use swarm_core::{Session, SessionId, TakeId, Timestamp};
use swarm_testing::{id, session_draft};

/// An aggregated session with these quotes: member, stance, confidence. All members of `roster` are
/// expected.
fn session(roster: &[&str], quotes: &[(&str, &str, f64)]) -> Session {
    let entry = |name: &&str| RosterEntry { member_id: id(name), excused: false };
    let roster = Roster::parse(roster.iter().map(entry).collect()).unwrap();
    let roster = (!roster.entries().is_empty()).then_some(roster);
    let draft = SessionDraft { roster, ..session_draft("aurora") };
    let session = draft.convened(SessionId(1), Timestamp::EPOCH);
    let quote = |(at, (member, stance, confidence)): (u64, &(&str, &str, f64))| Quote {
        take_id: TakeId(at),
        member_id: id(member),
        revision: Revision::FIRST,
        stance: Stance::parse(*stance).unwrap(),
        confidence: Confidence::parse(*confidence).unwrap(),
        body: Body::parse("").unwrap(),
    };
    let quotes: Vec<_> = (1..).zip(quotes).map(quote).collect();
    let positions: Vec<_> =
        quotes.iter().filter_map(swarm_core::rules::Position::of_quote).collect();
    let consensus = swarm_core::rules::score(&positions).map(|score| {
        let stance = match score {
            score if score <= -0.5 => "cautious",
            score if score >= 0.5 => "constructive",
            _ => "neutral",
        };
        swarm_core::domain::Consensus { stance, score, confidence: 0.5 }
    });
    let snapshot = Snapshot { quotes, consensus, ..aggregate(&session, &[], Timestamp::EPOCH) };
    Session { snapshot: Some(Arc::new(snapshot)), ..session }
}

#[test]
fn movement_names_score_crossings_and_missing_members() {
    let before = session(
        &[],
        &[("ada", "bullish", 0.5), ("grace", "cautious", 0.5), ("hedy", "neutral", 0.5)],
    );
    let after =
        session(&["ada", "hedy", "lise"], &[("ada", "cautious", 1.0), ("hedy", "bullish", 0.5)]);
    let found = movement(&before, &after).unwrap();
    assert_eq!(found.score, Some((0.333_333_333_333, 0.0)));
    let crossing = Crossing { member: id("ada"), from: "bullish".into(), to: "cautious".into() };
    assert_eq!(found.crossings, [crossing], "from neutral is no change of sides");
    assert_eq!(found.missing, [id("lise")], "Grace is not expected any more");
    let back = movement(&after, &before).unwrap();
    assert_eq!(back.missing, [], "without a roster, those of the time before are expected");
    let draft = session_draft("aurora").convened(SessionId(2), Timestamp::EPOCH);
    assert_eq!(movement(&before, &draft), None, "nothing is aggregated yet");
}

#[test]
fn figures_count_expected_filed_distance_and_dissent() {
    let sessions = [
        session(&["ada", "grace"], &[("ada", "bullish", 0.2), ("grace", "cautious", 0.8)]),
        session(&["ada", "grace"], &[("grace", "bullish", 0.5)]),
        session(&[], &[("ada", "sideways", 0.5), ("grace", "bullish", 0.5)]),
        session_draft("aurora").convened(SessionId(9), Timestamp::EPOCH),
    ];
    let ada = member_figures(&id("ada"), &sessions);
    let none = MemberFigures { expected: 2, filed: 1, distance: None, decided: 0, against: 0 };
    assert_eq!(ada, MemberFigures { distance: Some(3.0), ..none }, "−0.40 is neutral");
    let grace = member_figures(&id("grace"), &sessions);
    assert_eq!((grace.expected, grace.filed), (2, 2));
    assert_eq!((grace.decided, grace.against), (2, 0));
    assert_eq!(member_figures(&id("hedy"), &sessions), MemberFigures::default());
}
