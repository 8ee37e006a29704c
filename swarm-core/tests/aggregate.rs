//! Laws of aggregation.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::domain::{
    Body, Bucket, Confidence, Day, MemoUrl, Nonce, PublicKey, Revision, SessionDraft, Signature,
    Signed, Snapshot, Stance, SubjectId, Weight, Weights,
};
use swarm_core::json::{Json, write};
use swarm_core::proof::KeyPair;
use swarm_core::rules::aggregate;
use swarm_core::{MemberId, Session, SessionId, Take, TakeDraft, TakeId, Timestamp};

/// What a take says, as far as aggregation looks.
#[derive(Clone, Debug)]
struct Said {
    stance: &'static str,
    confidence: f64,
    weights: Option<Vec<(usize, f64)>>,
}

const STANCES: [&str; 7] =
    ["bearish", "cautious", "neutral", "constructive", "bullish", "sideways", "BULLISH"];

const BUCKETS: [&str; 4] = ["cash", "btc", "eth", "gold"];

fn said() -> impl Strategy<Value = Said> {
    let shares = prop::collection::btree_map(0..BUCKETS.len(), 0.0..1e6, 1..=4)
        .prop_filter("a positive total", |shares| shares.values().sum::<f64>() > 0.0)
        .prop_map(|shares| shares.into_iter().collect());
    let confidence = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    (prop::sample::select(&STANCES[..]), confidence, prop::option::of(shares))
        .prop_map(|(stance, confidence, weights)| Said { stance, confidence, weights })
}

/// Members, each with the takes it filed, in order.
fn members() -> impl Strategy<Value = Vec<Vec<Said>>> {
    prop::collection::vec(prop::collection::vec(said(), 1..=5), 0..8)
}

fn session() -> Session {
    let mut fields = Json::read(br#"{"date":"2026-11-21","subjectId":"aurora","quorum":3}"#)
        .unwrap()
        .into_object();
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
        id: TakeId(u64::try_from(id).unwrap() + 1),
        session_id: SessionId(1),
        revision: Revision::new(u8::try_from(revision).unwrap()).unwrap(),
        filed_at: Timestamp::EPOCH,
        signed: Arc::new(Signed { payload, signature: Signature::parse("").unwrap() }),
        public_key: key.clone(),
    })
}

/// The takes of all members, filed in the order that `ranks` gives, each member's own in order.
fn filed(members: &[Vec<Said>], ranks: &[u32]) -> Vec<Arc<Take>> {
    let key = PublicKey::parse(&KeyPair::from_seed(&[1; 32]).public_key()).unwrap();
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

/// A snapshot without what names or orders single takes.
fn anonymous(mut snapshot: Snapshot) -> String {
    for quote in &mut snapshot.quotes {
        quote.take_id = TakeId(0);
    }
    snapshot.quotes.sort_by(|a, b| a.member_id.cmp(&b.member_id));
    write(&snapshot)
}

proptest! {
    #[test]
    fn the_order_of_filing_changes_nothing(
        members in members(), ranks in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        let in_turn = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let mixed = aggregate(&session(), &filed(&members, &ranks), Timestamp::EPOCH);
        prop_assert_eq!(anonymous(in_turn), anonymous(mixed));
    }

    #[test]
    fn superseded_revisions_change_nothing(members in members()) {
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
        prop_assert_eq!(snapshot.participation.members, members.len());
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
        // A power of two changes no bit; any other factor may round once.
        prop_assert_eq!(&scaled(2_f64.powi(exponent)), &mean);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        for (a, b) in scaled(factor).iter().flatten().zip(mean.iter().flatten()) {
            prop_assert!(a.bucket == b.bucket && close(a.weight, b.weight));
        }
        if let Some(mean) = mean {
            prop_assert!(close(mean.iter().map(|share| share.weight).sum(), 1.0));
        }
    }

    #[test]
    fn an_unknown_stance_takes_part_and_is_not_ranked(members in members()) {
        let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        let known = members.iter().filter(|said| {
            !["sideways", "BULLISH"].contains(&said.last().unwrap().stance)
        });
        let known = known.count();
        prop_assert_eq!(snapshot.stances.other, members.len() - known);
        prop_assert_eq!(snapshot.consensus.is_some(), known > 0);
        prop_assert_eq!(snapshot.quorum.unwrap().met, members.len() >= 3);
        if let Some(consensus) = snapshot.consensus {
            prop_assert!((-2.0..=2.0).contains(&consensus.score));
            prop_assert!((0.0..=1.0).contains(&consensus.confidence));
        }
        let last_known = snapshot.quotes.iter().rposition(|quote| quote.stance.known().is_some());
        prop_assert_eq!(last_known.map_or(0, |place| place + 1), known);
    }
}

#[test]
fn a_tie_goes_toward_neutral() {
    let said = |stance, confidence| vec![Said { stance, confidence, weights: None }];
    let stance = |members: &[Vec<Said>]| {
        let snapshot = aggregate(&session(), &filed(members, &[0]), Timestamp::EPOCH);
        snapshot.consensus.unwrap().stance
    };
    assert_eq!(stance(&[said("bullish", 0.5), said("constructive", 0.5)]), "constructive");
    assert_eq!(stance(&[said("bearish", 0.5), said("cautious", 0.5)]), "cautious");
    assert_eq!(stance(&[said("neutral", 0.5), said("cautious", 0.5)]), "neutral");
    // Without any confidence, the plain mean.
    assert_eq!(stance(&[said("bullish", 0.0), said("bullish", 0.0)]), "bullish");
    assert_eq!(stance(&[said("bullish", 0.9), said("bearish", 0.1)]), "bullish");
}
