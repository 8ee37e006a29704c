//! Sessions that declare their stances, how many takes a member may file, and the method of aggregation (API.md, 6.4).
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::domain::{
    AttemptId, Confidence, Consensus, Declaration, Method, OutcomeDraft, OutcomeValue, Quote,
    RankedStance, Revision, Salt, SessionDraft, SessionState, Stance, StanceScale, TakeDraft,
    Version,
};
use swarm_core::json::write;
use swarm_core::rules::{
    Basis, Draft, RankedPosition, Submission, Warning, aggregate, compose, judge,
    own_distance_from_others, preflight, record_outcome, scores, standing,
};
use swarm_core::store::Versioned;
use swarm_core::{Refusal, Session, SessionId, Take, TakeId, Timestamp};
use swarm_testing::{Author, id, moment, session_draft};

const SELL_HOLD_BUY: [(&str, f64); 3] = [("sell", -1.0), ("hold", 0.0), ("buy", 1.0)];

fn stance(name: &str) -> Stance {
    Stance::parse(name).unwrap()
}

fn scale(stances: &[(&str, f64)]) -> StanceScale {
    let ranked = |(name, rank): &(&str, f64)| RankedStance { name: stance(name), rank: *rank };
    StanceScale::parse(stances.iter().map(ranked).collect()).unwrap()
}

fn with(declaration: Declaration) -> Session {
    let draft = SessionDraft { declaration, ..session_draft("aurora") };
    draft.convened(SessionId(1), Timestamp::EPOCH)
}

/// A session with these stances and this method.
fn declared(stances: &[(&str, f64)], method: Method) -> Session {
    let (stances, method) = (Some(scale(stances)), Some(method));
    with(Declaration { stances, method, max_revisions: None })
}

/// A take of each member, in this order: its stance and its confidence.
fn filed(session: &Session, said: &[(&str, f64)]) -> Vec<Arc<Take>> {
    let take = |(at, (name, confidence)): (u64, &(&str, f64))| {
        let author = Author::named(&format!("member {at}"));
        let draft = TakeDraft {
            stance: stance(name),
            confidence: Confidence::parse(*confidence).unwrap(),
            ..author.draft(session, "nonce")
        };
        Arc::new(Take {
            salt: None,
            withheld: None,
            id: TakeId(at),
            session_id: session.id,
            session_version: 1,
            revision: Revision::FIRST,
            filed_at: Timestamp::EPOCH,
            signed: Arc::clone(author.sign(draft).signed()),
            public_key: author.key(),
        })
    };
    (1..).zip(said).map(take).collect()
}

fn consensus(session: &Session, said: &[(&str, f64)]) -> Option<Consensus> {
    aggregate(session, &filed(session, said), Timestamp::EPOCH).figures.consensus
}

/// The oracle: of the ranks that were filed, the smallest one with at least half of the weight at it or below, each compared
/// with the whole anew.
fn lower_median(said: &[(i64, u64)]) -> i64 {
    let is_weighted = said.iter().any(|(_, weight)| *weight > 0);
    let weight = |weight: u64| if is_weighted { weight } else { 1 };
    let up_to = |most: i64| -> u64 {
        said.iter().filter(|(rank, _)| *rank <= most).map(|(_, it)| weight(*it)).sum()
    };
    let is_half = |rank: &i64| 2 * up_to(*rank) >= up_to(i64::MAX);
    said.iter().map(|(rank, _)| *rank).filter(is_half).min().unwrap()
}

/// Ranks in thousandths that differ, in any order.
fn ranks() -> impl Strategy<Value = Vec<i64>> {
    let ranks = prop::collection::btree_set(-1_000_000..=1_000_000_i64, 2..=20);
    ranks.prop_map(|ranks| ranks.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn thousandths(rank: i64) -> f64 {
    rank as f64 / 1_000.0
}

/// Confidences in ten-thousandths, few of which are exact in binary, and many ties.
fn said() -> impl Strategy<Value = Vec<(usize, u64)>> {
    let weight = prop_oneof![Just(0), Just(10_000), Just(1_000), 0..=10_000_u64];
    prop::collection::vec((0..20_usize, weight), 1..24)
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn confidence(ten_thousandths: u64) -> f64 {
    ten_thousandths as f64 / 10_000.0
}

proptest! {
    /// In any order of filing and of declaring.
    #[test]
    fn weighted_median_equals_exact_arithmetic(
        (ranks, said) in (ranks(), said()), mixed in any::<u64>(),
    ) {
        let names: Vec<_> = ranks.iter().map(|rank| format!("rank {rank}")).collect();
        let stances: Vec<_> =
            names.iter().zip(&ranks).map(|(name, rank)| (name.as_str(), thousandths(*rank))).collect();
        let session = declared(&stances, Method::WeightedMedian);
        let place = |at: usize| at % ranks.len();
        let mut takes: Vec<_> = said
            .iter()
            .map(|(at, weight)| (names[place(*at)].as_str(), confidence(*weight)))
            .collect();
        let filed_ranks: Vec<_> = said.iter().map(|(at, weight)| (ranks[place(*at)], *weight)).collect();
        let expected = lower_median(&filed_ranks);
        let found = consensus(&session, &takes).unwrap();
        prop_assert_eq!(found.score, thousandths(expected));
        prop_assert_eq!(found.stance.as_str(), format!("rank {expected}"));
        let turn = usize::try_from(mixed % 24).unwrap() % takes.len();
        takes.rotate_left(turn);
        prop_assert_eq!(consensus(&session, &takes).unwrap(), found);
    }

    #[test]
    fn mean_of_declared_ranks_equals_exact_arithmetic((ranks, said) in (ranks(), said())) {
        let names: Vec<_> = ranks.iter().map(|rank| format!("rank {rank}")).collect();
        let stances: Vec<_> =
            names.iter().zip(&ranks).map(|(name, rank)| (name.as_str(), thousandths(*rank))).collect();
        let session = declared(&stances, Method::Mean);
        let place = |at: usize| at % ranks.len();
        let takes: Vec<_> = said
            .iter()
            .map(|(at, weight)| (names[place(*at)].as_str(), confidence(*weight)))
            .collect();
        let found = consensus(&session, &takes).unwrap();
        let is_weighted = said.iter().any(|(_, weight)| *weight > 0);
        let weight = |weight: u64| i64::try_from(if is_weighted { weight } else { 1 }).unwrap();
        let whole: i64 = said.iter().map(|(_, it)| weight(*it)).sum();
        let sum: i64 = said.iter().map(|(at, it)| ranks[place(*at)] * weight(*it)).sum();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let exact = sum as f64 / whole as f64 / 1_000.0;
        prop_assert!((found.score - exact).abs() < 1e-9, "{} {exact}", found.score);
        // In trillionths: of ranks that are equally near, the doubles may not be.
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        let score = (found.score * 1e12).round() as i64;
        let distance = |rank: i64| (rank * 1_000_000_000 - score).abs();
        let chosen = names.iter().position(|name| name == found.stance.as_str()).unwrap();
        prop_assert_eq!(Some(distance(ranks[chosen])), ranks.iter().copied().map(distance).min());
    }
}

#[test]
fn weighted_median_is_the_lower_one_and_its_sums_are_exact() {
    let session = declared(&SELL_HOLD_BUY, Method::WeightedMedian);
    let score = |said: &[(&str, f64)]| consensus(&session, said).map(|it| it.score);
    assert_eq!(score(&[]), None);
    assert_eq!(score(&[("sell", 0.4), ("buy", 0.4)]), Some(-1.0), "half is enough");
    assert_eq!(score(&[("sell", 0.4), ("buy", 0.400_000_000_001)]), Some(1.0));
    // As doubles, ten times 0.1 are less than 1.
    let tenths = [[("sell", 0.1); 10].as_slice(), &[("buy", 1.0)]].concat();
    assert_eq!(score(&tenths), Some(-1.0));
    // One take with full confidence outweighs two with less.
    assert_eq!(score(&[("sell", 0.3), ("hold", 0.3), ("buy", 1.0)]), Some(1.0));
    // Without confidence each take has the same weight.
    assert_eq!(score(&[("sell", 0.0), ("hold", 0.0), ("buy", 0.0)]), Some(0.0));
    assert_eq!(score(&[("sell", 0.0), ("hold", 0.0), ("buy", 1e-13)]), Some(0.0), "counts as 0");
    assert_eq!(score(&[("sell", 0.0), ("hold", 0.0), ("buy", 1e-12)]), Some(1.0));
}

#[test]
fn snapshot_counts_the_declared_stances_in_the_order_of_their_ranks() {
    let session = declared(&[("yes", 100.0), ("other", 50.0), ("no", 0.0)], Method::WeightedMedian);
    let takes = filed(&session, &[("yes", 0.5), ("other", 0.9), ("yes", 0.7)]);
    let snapshot = aggregate(&session, &takes, Timestamp::EPOCH);
    assert_eq!(write(&snapshot.figures.stances), r#"{"no":0,"other":1,"yes":2}"#);
    let consensus = r#"{"stance":"yes","score":100,"confidence":0.7,"method":"weighted_median"}"#;
    assert_eq!(write(&snapshot.figures.consensus), consensus);
    let quoted: Vec<_> = snapshot.quotes.iter().map(|quote| quote.take_id.0).collect();
    assert_eq!(quoted, [2, 3, 1]);
}

/// What the service does is the same whether or not a session says so.
#[test]
fn declaring_the_rules_of_the_service_changes_no_figure() {
    let said = [("bullish", 0.7), ("cautious", 0.25), ("neutral", 1.0), ("bullish", 0.1)];
    let stances: Vec<_> =
        swarm_core::domain::STANCES.iter().map(|(name, rank)| (*name, f64::from(*rank))).collect();
    let (silent, explicit) = (with(Declaration::default()), declared(&stances, Method::Mean));
    let [silent, explicit] = [silent, explicit].map(|session| {
        let snapshot = aggregate(&session, &filed(&session, &said), Timestamp::EPOCH);
        write(&snapshot)
    });
    let explicit = explicit.replace(r#","method":"mean""#, "");
    assert_eq!(silent.replace(r#","other":0"#, ""), explicit);
    assert!(!silent.contains("method") && silent.contains(r#""bullish":2,"other":0"#), "{silent}");
}

fn facts(session: &Session, latest: Option<Revision>) -> Basis {
    let version = Version(3);
    Basis {
        now: Timestamp::EPOCH,
        member: Some(Versioned { version, record: Arc::new(Author::named("ada").member()) }),
        session: Some(Versioned { version, record: Arc::new(session.terms()) }),
        latest,
        spent: None,
    }
}

fn submission(session: &Session, name: &str) -> Submission {
    let author = Author::named("ada");
    author.sign(TakeDraft { stance: stance(name), ..author.draft(session, "nonce") })
}

fn refused(session: &Session, latest: Option<Revision>, name: &str) -> Option<Refusal> {
    let (basis, submission) = (facts(session, latest), submission(session, name));
    let judged = judge(&basis, &submission, AttemptId([9; 16]), Salt([8; 32]));
    judged.err().map(|rejection| rejection.reason)
}

#[test]
fn takes_with_an_undeclared_stance_are_refused() {
    let session = declared(&SELL_HOLD_BUY, Method::Mean);
    assert_eq!(refused(&session, None, "hold"), None);
    let declared = ["sell", "hold", "buy"].map(stance).to_vec();
    let undeclared = Refusal::UndeclaredStance { declared };
    for name in ["bullish", "Hold", "hold ", "other"] {
        assert_eq!(refused(&session, None, name), Some(undeclared.clone()), "{name}");
    }
    assert_eq!(undeclared.to_string(), "stance not declared for this session");
    // A session that declares only the rest has free stances.
    let free = with(Declaration { method: Some(Method::Mean), ..Declaration::default() });
    assert_eq!(refused(&free, None, "moonward"), None);
    // The check comes before that of the signature.
    let author = Author::named("grace");
    let forged = author.sign(submission(&session, "bullish").draft().clone());
    let basis = facts(&session, None);
    let judged = judge(&basis, &forged, AttemptId([9; 16]), Salt([8; 32]));
    assert_eq!(judged.unwrap_err().reason, undeclared);
    let found = preflight(&basis, &Draft::from(forged)).unwrap();
    assert_eq!(found.findings, [undeclared, Refusal::BadSignature]);
    assert_eq!(found.warnings, [], "what is refused has no warning about its stance");
    let found = preflight(&facts(&free, None), &Draft::from(submission(&free, "moonward")));
    assert_eq!(found.unwrap().warnings, [Warning::UnknownStance]);
}

#[test]
fn revisions_end_at_the_declared_cap() {
    for cap in 1..=5 {
        let max_revisions = Revision::new(cap);
        let session = with(Declaration { max_revisions, ..Declaration::default() });
        for filed in 0..=5_u8 {
            let latest = Revision::new(filed);
            let over = Refusal::CapReached { cap: max_revisions.unwrap() };
            let expected = (filed >= cap).then_some(over);
            assert_eq!(refused(&session, latest, "bullish"), expected, "{filed} of {cap}");
            let basis = facts(&session, latest);
            let standing = standing(&basis);
            assert_eq!(standing.takes_left, cap.saturating_sub(filed));
            assert_eq!(standing.revision, Revision::new(filed + 1).filter(|_| filed < cap));
            let draft = Draft::from(submission(&session, "bullish"));
            let left = preflight(&basis, &draft).unwrap().takes_left;
            assert_eq!(left, Some(cap.saturating_sub(filed + 1)));
        }
    }
    let text = |cap| Refusal::CapReached { cap: Revision::new(cap).unwrap() }.to_string();
    assert_eq!(text(1), "amendment cap reached (1 take per member per session)");
    assert_eq!(text(3), "amendment cap reached (3 takes per member per session)");
    assert_eq!(text(5), "amendment cap reached (5 takes per member per session)");
}

fn quote(member: &str, name: &str, confidence: f64) -> Quote {
    Quote {
        take_id: TakeId(1),
        member_id: id(member),
        revision: Revision::FIRST,
        stance: stance(name),
        confidence: Confidence::parse(confidence).unwrap(),
        body: None,
    }
}

/// A forecast is a place between the lowest and the highest rank, whatever numbers these are.
#[test]
fn scores_are_those_of_the_same_places_on_the_scale_of_the_service() {
    let percents = scale(&[("no", 0.0), ("even", 50.0), ("likely", 75.0), ("yes", 100.0)]);
    let own =
        [quote("ada", "yes", 0.6), quote("grace", "likely", 0.9), quote("lin", "bullish", 1.0)];
    let known = [quote("ada", "bullish", 0.6), quote("grace", "constructive", 0.9)];
    let own = scores(SessionId(1), &percents, 60.0, &own);
    let known = scores(SessionId(1), StanceScale::of_service(), 0.4, &known);
    assert_eq!(own.value, 60.0);
    assert_eq!((own.crowd, own.neutral, own.scores), (known.crowd, known.neutral, known.scores));
}

#[test]
fn outcome_is_on_the_scale_of_the_stances() {
    let draft = |value| {
        let value = Some(OutcomeValue::parse(value).unwrap());
        OutcomeDraft { value, source: None }
    };
    let outcome = |session: &Session, value| {
        let state = SessionState::Published;
        let window_closes_at = Some(Timestamp::EPOCH);
        let record = Arc::new(Session { state, window_closes_at, ..session.clone() });
        let (session, now) =
            (Versioned { version: Version(1), record }, moment("2026-11-21T19:00:00Z"));
        let by = swarm_core::domain::Attribution::SCHEDULE;
        record_outcome(&session, &draft(value), now, &by).map(|_| ()).map_err(|it| it.explained())
    };
    let percents = declared(&[("no", 0.0), ("yes", 100.0)], Method::Mean);
    assert_eq!(outcome(&percents, 100.0), Ok(()));
    let text = "value must be a number from 0 to 100, or null";
    assert_eq!(outcome(&percents, -0.5), Err(text.to_owned()));
    let text = "value must be a number from -2 to 2, or null";
    assert_eq!(outcome(&with(Declaration::default()), 2.5), Err(text.to_owned()));
    assert_eq!(OutcomeValue::parse(1_000.5).unwrap_err().to_string(), text);
}

#[test]
fn distance_from_others_is_that_of_places_and_needs_a_mean() {
    let said = [("no", 0.5), ("yes", 0.5), ("yes", 1.0)];
    let stances = [("no", 0.0), ("yes", 100.0)];
    for (method, expected) in [(Method::Mean, Some(-100.0)), (Method::WeightedMedian, None)] {
        let session = declared(&stances, method);
        let snapshot = aggregate(&session, &filed(&session, &said), Timestamp::EPOCH);
        let own = RankedPosition::of(
            session.declaration.scale(),
            &stance("no"),
            Confidence::parse(0.5).unwrap(),
        );
        assert_eq!(own_distance_from_others(own.unwrap(), &snapshot.figures), expected);
    }
}

/// The figures are rounded to twelve decimals, so small confidences are not in them.
#[test]
fn distance_from_others_is_right_or_unknown_where_they_have_little_confidence() {
    let session = declared(&[("down", -2.0), ("hold", 0.0), ("up", 2.0)], Method::Mean);
    let scale = session.declaration.scale();
    for (confidence, expected) in [
        (0.3, Some(4.0)),
        (1e-3, Some(4.0)),
        (1e-4, Some(4.0)),
        (1e-7, None),
        (1e-9, None),
        (1e-11, None),
        // The plain mean of the others, of whom one holds.
        (0.0, Some(3.0)),
    ] {
        let held = if confidence == 0.0 { ("hold", 0.0) } else { ("down", confidence) };
        let said = [("up", 0.7), ("down", confidence), held];
        let snapshot = aggregate(&session, &filed(&session, &said), Timestamp::EPOCH);
        let own = RankedPosition::of(scale, &stance("up"), Confidence::parse(0.7).unwrap());
        let found = own_distance_from_others(own.unwrap(), &snapshot.figures);
        let is_right = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6 && found <= 4.0,
            (found, expected) => found == expected,
        };
        assert!(is_right, "{confidence}: {found:?}");
    }
}

#[test]
fn brief_asks_for_the_declared_stances() {
    let session = declared(&[("sell, now", -1.0), ("buy", 1.0)], Method::Mean);
    let facts = swarm_core::rules::BriefFacts {
        session: Arc::new(session),
        subject: swarm_core::domain::Subject::read(&mut swarm_testing::object(
            r#"{"id":"aurora","name":"Aurora"}"#,
        ))
        .unwrap(),
        snapshots: vec![],
        regimes: vec![],
        published: vec![],
        signals: vec![],
    };
    let brief = compose(facts, None).unwrap();
    assert!(brief.prompt.system.contains(r#"- stance: one of "sell, now", "buy""#));
    let schema = write(&brief.take_schema);
    assert!(
        schema.contains(r#""stance":{"type":"string","enum":["sell, now","buy"]}"#),
        "{schema}"
    );
}
