//! Property tests of aggregation.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod figures;

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::domain::{
    Body, Bucket, Confidence, Day, Figures, MemoUrl, Nonce, Participation, PublicKey, Revision,
    SessionDraft, Signature, Signed, Snapshot, Stance, SubjectId, Weight, Weights,
};
use swarm_core::json::{Json, write};
use swarm_core::proof::KeyPair;
use swarm_core::rules::{RankedPosition, aggregate, own_distance_from_others, score};
use swarm_core::{MemberId, Session, SessionId, Take, TakeDraft, TakeId, Timestamp};

/// The fields of a take that aggregation uses.
#[derive(Clone, Debug)]
struct Said {
    stance: &'static str,
    confidence: f64,
    weights: Option<Vec<(usize, f64)>>,
}

const STANCES: [&str; 7] =
    ["bearish", "cautious", "neutral", "constructive", "bullish", "sideways", "BULLISH"];

const BUCKETS: [&str; 4] = ["cash", "btc", "eth", "gold"];

/// Hundredths, most of which are not exact in binary.
fn hundredths() -> impl Strategy<Value = f64> {
    (0..=100_u8).prop_map(|hundredths| f64::from(hundredths) / 100.0)
}

fn said() -> impl Strategy<Value = Said> {
    let weight = prop_oneof![hundredths(), 0.0..1e6];
    let shares = prop::collection::btree_map(0..BUCKETS.len(), weight, 1..=4)
        .prop_filter("a positive total", |shares| shares.values().sum::<f64>() > 0.0)
        .prop_map(|shares| shares.into_iter().collect());
    let confidence = prop_oneof![Just(0.0), Just(1.0), hundredths(), 0.0..1.0];
    (prop::sample::select(&STANCES[..]), confidence, prop::option::of(shares))
        .prop_map(|(stance, confidence, weights)| Said { stance, confidence, weights })
}

/// Members, each with its takes in order.
fn members() -> impl Strategy<Value = Vec<Vec<Said>>> {
    prop::collection::vec(prop::collection::vec(said(), 1..=5), 0..8)
}

fn session() -> Session {
    session_of(r#""quorum":3"#)
}

fn session_of(fields: &str) -> Session {
    let text = format!(r#"{{"date":"2026-11-21","subjectId":"aurora",{fields}}}"#);
    let mut fields = Json::read(text.as_bytes()).unwrap().into_object();
    SessionDraft::read(&mut fields).unwrap().convened(SessionId(1), Timestamp::EPOCH)
}

fn take(id: usize, member: usize, revision: usize, said: &Said, key: &PublicKey) -> Arc<Take> {
    let weight = |(bucket, weight): &(usize, f64)| Weight {
        bucket: Bucket::parse(BUCKETS[*bucket]).unwrap(),
        weight: *weight,
    };
    let payload = TakeDraft {
        member_id: MemberId::parse(format!("member {member}")).unwrap(),
        date: Day::parse("2026-11-21").unwrap(),
        subject_id: SubjectId::parse("aurora").unwrap(),
        nonce: Nonce::parse(format!("{member} {revision}")).unwrap(),
        stance: Stance::parse(said.stance).unwrap(),
        confidence: Confidence::parse(said.confidence).unwrap(),
        body: Body::parse(format!("{member} {revision}")).unwrap(),
        memo_url: MemoUrl::parse("").unwrap(),
        weights: said
            .weights
            .as_ref()
            .map(|weights| Weights::parse(weights.iter().map(weight).collect()).unwrap()),
    };
    Arc::new(Take {
        salt: None,
        withheld: None,
        id: TakeId(u64::try_from(id).unwrap() + 1),
        session_id: SessionId(1),
        session_version: 1,
        revision: Revision::new(u8::try_from(revision).unwrap()).unwrap(),
        filed_at: Timestamp::EPOCH,
        signed: Arc::new(Signed { payload, signature: Signature::parse("").unwrap() }),
        public_key: key.clone(),
    })
}

/// The takes of all members, filed in the order given by `ranks`, but in order for each member.
fn filed(members: &[Vec<Said>], ranks: &[u32]) -> Vec<Arc<Take>> {
    let key = KeyPair::from_seed(&[1; 32]).public_key();
    let mut turns: Vec<usize> = members
        .iter()
        .enumerate()
        .flat_map(|(member, takes)| takes.iter().map(move |_| member))
        .collect();
    let rank = |place: usize| ranks.get(place % ranks.len().max(1)).copied().unwrap_or_default();
    let mut order: Vec<_> = (0..turns.len()).collect();
    order.sort_by_key(|place| rank(*place));
    turns = order.iter().map(|place| turns[*place]).collect();
    let mut revisions = vec![0; members.len()];
    let next = |(id, member): (usize, &usize)| {
        revisions[*member] += 1;
        let revision = revisions[*member];
        take(id, *member, revision, &members[*member][revision - 1], &key)
    };
    turns.iter().enumerate().map(next).collect()
}

/// A snapshot without the ids and the order of single takes.
fn anonymous(mut snapshot: Snapshot) -> String {
    for quote in &mut snapshot.quotes {
        quote.take_id = TakeId(0);
    }
    snapshot.quotes.sort_by(|a, b| a.member_id.cmp(&b.member_id));
    write(&snapshot)
}

/// A snapshot without the quotes.
fn figures(snapshot: &Snapshot) -> String {
    let Snapshot { figures, weights, .. } = snapshot;
    let Figures { participation, quorum, stances, consensus, .. } = figures;
    write(&(participation, quorum, stances, consensus, weights))
}

/// The same takes under permuted member names.
fn renamed() -> impl Strategy<Value = (Vec<Vec<Said>>, Vec<Vec<Said>>)> {
    members().prop_flat_map(|members| (Just(members.clone()), Just(members).prop_shuffle()))
}

proptest! {
    #[test]
    fn figures_do_not_depend_on_member_names_or_order(
        (members, renamed) in renamed(), ranks in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        let one = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let other = aggregate(&session(), &filed(&renamed, &ranks), Timestamp::EPOCH);
        prop_assert_eq!(figures(&one), figures(&other));
    }

    /// Confidences are hundredths, so that integers give the exact result.
    #[test]
    fn consensus_stance_equals_exact_arithmetic(
        said in prop::collection::vec((-2..=2_i32, 0..=100_i32), 1..12),
    ) {
        let member = |&(rank, hundredths): &(i32, i32)| vec![Said {
            stance: STANCES[usize::try_from(rank + 2).unwrap()],
            confidence: f64::from(hundredths) / 100.0,
            weights: None,
        }];
        let members: Vec<_> = said.iter().map(member).collect();
        let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let consensus = snapshot.figures.consensus.unwrap();

        let sure = said.iter().any(|(_, hundredths)| *hundredths > 0);
        let weight = |hundredths: i32| if sure { hundredths } else { 1 };
        let whole: i32 = said.iter().map(|(_, hundredths)| weight(*hundredths)).sum();
        let sum: i32 = said.iter().map(|(rank, hundredths)| rank * weight(*hundredths)).sum();
        let nearest = (-2..=2_i32).min_by_key(|rank| ((rank * whole - sum).abs(), rank.abs()));
        let nearest = usize::try_from(nearest.unwrap() + 2).unwrap();
        prop_assert_eq!(consensus.stance.as_str(), STANCES[nearest]);
        prop_assert!((consensus.score - f64::from(sum) / f64::from(whole)).abs() < 6e-13);
        for figure in [consensus.score, consensus.confidence] {
            prop_assert_eq!(format!("{figure:.12}").parse(), Ok(figure));
        }
    }

    /// The distance is computed from the figures of all; here it is compared with the score of the others.
    #[test]
    fn distance_from_the_others_equals_their_own_score(
        said in prop::collection::vec((-2..=2_i8, 0..=100_u8), 1..12),
    ) {
        let member = |&(rank, hundredths): &(i8, u8)| vec![Said {
            stance: STANCES[usize::try_from(rank + 2).unwrap()],
            confidence: f64::from(hundredths) / 100.0,
            weights: None,
        }];
        let members: Vec<_> = said.iter().map(member).collect();
        let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let positions: Vec<_> = said
            .iter()
            .map(|&(rank, hundredths)| RankedPosition {
                rank: rank.into(),
                confidence: f64::from(hundredths) / 100.0,
            })
            .collect();
        for (nth, own) in positions.iter().enumerate() {
            let mut others = positions.clone();
            others.remove(nth);
            let distance = own_distance_from_others(*own, &snapshot.figures);
            let exact = score(&others).map(|score| own.rank - score);
            prop_assert_eq!(distance.is_some(), exact.is_some());
            prop_assert!(distance.zip(exact).is_none_or(|(one, other)| (one - other).abs() < 1e-8));
        }
    }

    #[test]
    fn order_of_filing_does_not_change_the_snapshot(
        members in members(), ranks in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        let in_turn = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let mixed = aggregate(&session(), &filed(&members, &ranks), Timestamp::EPOCH);
        prop_assert_eq!(anonymous(in_turn), anonymous(mixed));
    }

    /// Takes of members that are not on the roster, or are excused, do not affect the snapshot.
    #[test]
    fn only_takes_of_expected_members_count(
        members in members(), listed in prop::collection::vec(prop::option::of(any::<bool>()), 8),
    ) {
        let entries = listed.iter().enumerate().filter_map(|(member, excused)| {
            Some(format!(r#"{{"memberId":"member {member}","excused":{}}}"#, (*excused)?))
        });
        let entries = entries.collect::<Vec<_>>().join(",");
        let session = session_of(&format!(r#""quorum":3,"roster":[{entries}]"#));
        let all = filed(&members, &[0]);
        let is_expected = |take: &Arc<Take>| (0..8).any(|member| {
            let is_its = take.draft().member_id.as_str() == format!("member {member}");
            is_its && listed[member] == Some(false)
        });
        let of_expected: Vec<_> = all.iter().filter(|take| is_expected(take)).cloned().collect();
        let snapshot = aggregate(&session, &all, Timestamp::EPOCH);
        let without = aggregate(&session, &of_expected, Timestamp::EPOCH);
        prop_assert_eq!(write(&snapshot), write(&without));

        let expected = listed.iter().filter(|excused| **excused == Some(false)).count();
        let filed = listed.iter().take(members.len()).filter(|it| **it == Some(false)).count();
        prop_assert_eq!(snapshot.quotes.len(), filed);
        prop_assert_eq!(snapshot.figures.quorum.unwrap().met, filed >= 3);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let rate = (expected > 0).then(|| filed as f64 / expected as f64);
        let counted = Participation { members: filed, expected: Some(expected), rate };
        prop_assert_eq!(snapshot.figures.participation, counted);
    }

    #[test]
    fn superseded_revisions_do_not_count(members in members()) {
        let all = filed(&members, &[0]);
        let last: Vec<_> = all
            .iter()
            .filter(|take| !all.iter().any(|other| {
                other.draft().member_id == take.draft().member_id && other.revision > take.revision
            }))
            .cloned()
            .collect();
        let session = session();
        let snapshot = aggregate(&session, &all, Timestamp::EPOCH);
        prop_assert_eq!(snapshot.figures.participation.members, members.len());
        prop_assert_eq!(write(&snapshot), write(&aggregate(&session, &last, Timestamp::EPOCH)));
    }

    #[test]
    fn weights_sum_to_one_and_only_proportions_count(
        members in members(), exponent in -20_i32..20, factor in 1e-3..1e3,
    ) {
        let weights = |members: &[Vec<Said>]| {
            aggregate(&session(), &filed(members, &[0]), Timestamp::EPOCH).weights
        };
        let scaled = |factor: f64| {
            let mut scaled = members.clone();
            for said in scaled.iter_mut().take(1).flatten() {
                for (_, weight) in said.weights.iter_mut().flatten() {
                    *weight *= factor;
                }
            }
            weights(&scaled)
        };
        let mean = weights(&members);
        // Scaling by a power of two is exact; any other factor may round once.
        prop_assert_eq!(&scaled(2_f64.powi(exponent)), &mean);
        let close = |a: f64, b: f64| (a - b).abs() < 1.1e-12;
        for (a, b) in scaled(factor).iter().flatten().zip(mean.iter().flatten()) {
            prop_assert!(a.bucket == b.bucket && close(a.weight, b.weight));
        }
        if let Some(mean) = mean {
            // Each of the four is rounded to 12 decimals.
            let whole: f64 = mean.iter().map(|share| share.weight).sum();
            prop_assert!((whole - 1.0).abs() < 4.0 * 6e-13);
        }
    }

    #[test]
    fn unknown_stance_participates_without_rank(members in members()) {
        let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let known = members.iter().filter(|said| {
            !["sideways", "BULLISH"].contains(&said.last().unwrap().stance)
        });
        let known = known.count();
        prop_assert_eq!(snapshot.figures.stances.other(), members.len() - known);
        prop_assert_eq!(snapshot.figures.consensus.is_some(), known > 0);
        prop_assert_eq!(snapshot.figures.quorum.unwrap().met, members.len() >= 3);
        if let Some(consensus) = snapshot.figures.consensus {
            prop_assert!((-2.0..=2.0).contains(&consensus.score));
            prop_assert!((0.0..=1.0).contains(&consensus.confidence));
        }
        let last_known = snapshot.quotes.iter().rposition(|quote| quote.stance.known().is_some());
        prop_assert_eq!(last_known.map_or(0, |place| place + 1), known);
    }
}
