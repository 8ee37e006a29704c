//! What changed between sessions, and how members compare (MANUAL.md, 10.3).

use std::sync::Arc;

use swarm_core::domain::{
    Body, Confidence, Quote, Revision, Roster, RosterEntry, SessionDraft, Stance, StanceScale,
};
use swarm_core::rules::{
    Crossing, MemberFigures, RankedPosition, aggregate, member_figures, movement,
};
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
        body: Some(Body::parse("").unwrap()),
    };
    let quotes: Vec<_> = (1..).zip(quotes).map(quote).collect();
    let scale = StanceScale::of_service();
    let position = |quote| RankedPosition::of_quote(scale, quote);
    let positions: Vec<_> = quotes.iter().filter_map(position).collect();
    let consensus = swarm_core::rules::score(&positions).map(|score| {
        let stance = match score {
            score if score <= -0.5 => "cautious",
            score if score >= 0.5 => "constructive",
            _ => "neutral",
        };
        let stance = Stance::parse(stance).unwrap();
        swarm_core::domain::Consensus { stance, score, confidence: 0.5, method: None }
    });
    let mut snapshot = aggregate(&session, &[], Timestamp::EPOCH);
    let stances = &mut snapshot.figures.stances;
    quotes.iter().for_each(|quote| stances.add(&quote.stance));
    (snapshot.quotes, snapshot.figures.consensus) = (quotes, consensus);
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
fn figures_of_a_member_count_distance_and_dissent() {
    let figures = |positions: &[(i8, f64)]| {
        let names = ["bearish", "cautious", "neutral", "constructive", "bullish"];
        let quote = |(rank, confidence): &(i8, f64)| {
            ("grace", names[usize::try_from(rank + 2).unwrap()], *confidence)
        };
        let quotes: Vec<_> = positions.iter().map(quote).collect();
        session(&[], &quotes).snapshot.unwrap().figures.clone()
    };
    let own = |rank: i8| RankedPosition { rank: rank.into(), confidence: 0.5 };
    let (split, with, alone) = (
        figures(&[(2, 0.5), (-1, 0.5), (-1, 0.5)]),
        figures(&[(2, 0.5), (1, 0.5)]),
        figures(&[(2, 0.5)]),
    );
    assert_eq!(member_figures([]), MemberFigures::default());
    let apart = MemberFigures { distance: Some(3.0), decided: 0, against: 0 };
    assert_eq!(member_figures([(own(2), &split)]), apart, "a score of 0 has no other side");
    let both = member_figures([(own(2), &split), (own(2), &with), (own(2), &alone)]);
    assert_eq!(both, MemberFigures { distance: Some(2.0), decided: 2, against: 0 });
    let against = member_figures([(own(-1), &figures(&[(-1, 0.5), (2, 0.5), (2, 0.5)]))]);
    assert_eq!(against, MemberFigures { distance: Some(3.0), decided: 1, against: 1 });
}
