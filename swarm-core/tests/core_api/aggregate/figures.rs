//! Examples of the figures in a snapshot.

use swarm_core::Timestamp;
use swarm_core::domain::{Bucket, Weight, Weights};
use swarm_core::json::write;
use swarm_core::rules::aggregate;

use super::{BUCKETS, Said, filed, session, session_of};

/// The complete JSON of a snapshot without roster and quorum. A member with an unknown stance is
/// counted, has its weights included, and is quoted last, but has no rank.
#[test]
fn snapshot_json_is_complete() {
    let say = |stance, confidence, weights: Option<&[(usize, f64)]>| {
        vec![Said { stance, confidence, weights: weights.map(<[_]>::to_vec) }]
    };
    let members = [
        say("bullish", 0.4, None),
        say("cautious", 0.2, Some(&[(1, 5.0)])),
        say("sideways", 0.1, Some(&[(0, 1.0), (1, 3.0)])),
        say("constructive", 0.4, None),
        say("BULLISH", 0.9, None),
    ];
    // Filed in this order: members 3, 1, 2, 4, 0.
    let takes = filed(&members, &[4, 1, 2, 0, 3]);
    let now = Timestamp::parse("now", "2026-11-21T22:46:00Z").unwrap();
    let snapshot = aggregate(&session_of(r#""quorum":null"#), &takes, now);
    let quote = |take: u32, member: u32, stance: &str, confidence: f64| {
        serde_json::json!({
            "takeId": take, "memberId": format!("member {member}"), "revision": 1,
            "stance": stance, "confidence": confidence, "body": format!("{member} 1"),
        })
    };
    let expected = serde_json::json!({
        "aggregatedAt": "2026-11-21T22:46:00.000Z",
        "participation": { "members": 5, "expected": null, "rate": null },
        "quorum": null,
        "stances": {
            "bearish": 0, "cautious": 1, "neutral": 0, "constructive": 1, "bullish": 1, "other": 2,
        },
        // (2 × 0.4 + 1 × 0.4 − 1 × 0.2) ÷ 1, and a third of 1.
        "consensus": { "stance": "constructive", "score": 1, "confidence": 0.333_333_333_333 },
        // Two members have weights. The mean ignores their confidence; buckets are sorted by name.
        "weights": [{ "bucket": "btc", "weight": 0.875 }, { "bucket": "cash", "weight": 0.125 }],
        "quotes": [
            quote(1, 3, "constructive", 0.4), quote(5, 0, "bullish", 0.4),
            quote(2, 1, "cautious", 0.2), quote(4, 4, "BULLISH", 0.9),
            quote(3, 2, "sideways", 0.1),
        ],
    });
    let written: serde_json::Value = serde_json::from_str(&write(&snapshot)).unwrap();
    assert_eq!(written, expected);
}

#[test]
fn tie_of_stances_goes_toward_neutral() {
    let said = |stance, confidence| vec![Said { stance, confidence, weights: None }];
    let stance = |members: &[Vec<Said>]| {
        let snapshot = aggregate(&session(), &filed(members, &[0]), Timestamp::EPOCH);
        snapshot.figures.consensus.unwrap().stance.as_str().to_owned()
    };
    assert_eq!(stance(&[said("bullish", 0.5), said("constructive", 0.5)]), "constructive");
    assert_eq!(stance(&[said("bearish", 0.5), said("cautious", 0.5)]), "cautious");
    assert_eq!(stance(&[said("neutral", 0.5), said("cautious", 0.5)]), "neutral");
    // With all confidences 0, the plain mean.
    assert_eq!(stance(&[said("bullish", 0.0), said("bullish", 0.0)]), "bullish");
    assert_eq!(stance(&[said("bullish", 0.9), said("bearish", 0.1)]), "bullish");
}

/// If all confidences are 0, each rank has the same weight. Without a known stance there is no
/// consensus.
#[test]
fn without_confidence_the_score_is_the_plain_mean() {
    let consensus = |stances: &[&'static str]| {
        let say = |stance: &&'static str| vec![Said { stance, confidence: 0.0, weights: None }];
        let members: Vec<_> = stances.iter().map(say).collect();
        let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
        snapshot
            .figures
            .consensus
            .map(|it| (it.stance.as_str().to_owned(), it.score, it.confidence))
    };
    let mean = consensus(&["bullish", "bullish", "cautious", "sideways"]);
    assert_eq!(mean, Some(("constructive".to_owned(), 1.0, 0.0)));
    assert_eq!(consensus(&["sideways"]), None);
    assert_eq!(consensus(&[]), None);
}

/// A tenth is not exact in binary: summed without rounding, these gave −1.5000000000000002, and
/// "bearish".
#[test]
fn tie_survives_binary_rounding() {
    for confidence in [0.1, 0.2, 0.3, 0.6, 0.7, 0.9] {
        for (stances, score, expected) in [
            (["bearish", "cautious"], -1.5, "cautious"),
            (["cautious", "neutral"], -0.5, "neutral"),
            (["neutral", "constructive"], 0.5, "neutral"),
            (["constructive", "bullish"], 1.5, "constructive"),
        ] {
            let say = |stance| vec![Said { stance, confidence, weights: None }];
            for three in [stances, [stances[1], stances[0]]] {
                let members: Vec<_> = three.repeat(3).into_iter().map(say).collect();
                let snapshot = aggregate(&session(), &filed(&members, &[0]), Timestamp::EPOCH);
                let consensus = snapshot.figures.consensus.unwrap();
                assert_eq!((consensus.stance.as_str(), consensus.score), (expected, score));
                assert_eq!(consensus.confidence, confidence);
            }
        }
    }
}

/// Values whose sum is `whole` only in ascending order; other orders lose the small ones.
fn ascending(whole: f64) -> [f64; 8] {
    let grain = whole.next_up() - whole;
    let [half, large] = [grain / 2.0, whole - 2.0 * grain];
    [0.0, 0.0, 0.0, half, half, half, half, large]
}

/// In any other order these means are just below the value that rounds up.
#[test]
fn means_sum_terms_in_ascending_order() {
    let say = |value: f64| {
        let weights = Some(vec![(0, value), (1, 1.0 - value)]);
        vec![Said { stance: "constructive", confidence: value, weights }]
    };
    let snapshot =
        |members: &[Vec<Said>]| aggregate(&session(), &filed(members, &[0]), Timestamp::EPOCH);
    let mean: Vec<_> = ascending(8.0 * 513.0 / 8_192.0).map(say).into();
    let mut score: Vec<_> = ascending(4_097.0 / 8_192.0).map(say).into();
    score.push(vec![Said { stance: "neutral", confidence: 4_095.0 / 8_192.0, weights: None }]);
    for turn in 0..score.len() {
        for turned in [&mut mean.clone(), &mut mean.iter().rev().cloned().collect()] {
            turned.rotate_left(turn % mean.len());
            let snapshot = snapshot(turned);
            assert_eq!(snapshot.figures.consensus.unwrap().confidence, 0.062_622_070_313);
            assert_eq!(snapshot.weights.unwrap()[1].weight, 0.062_622_070_313);
        }
        for turned in [&mut score.clone(), &mut score.iter().rev().cloned().collect()] {
            turned.rotate_left(turn);
            assert_eq!(snapshot(turned).figures.consensus.unwrap().score, 0.500_122_070_313);
        }
    }
}

/// The exact total exceeds `f64::MAX` by three quarters of its last digit. Summed in descending
/// order it stays finite; in ascending order it overflows.
#[test]
fn total_of_weights_does_not_depend_on_order() {
    let quarter = 2_f64.powi(969);
    let entries = [f64::MAX, quarter, quarter, quarter];
    let parse = |entries: &mut dyn Iterator<Item = &f64>| {
        let weight = |(name, weight): (usize, &f64)| Weight {
            bucket: Bucket::parse(BUCKETS[name]).unwrap(),
            weight: *weight,
        };
        Weights::parse(entries.enumerate().map(weight).collect())
    };
    assert!(entries.iter().sum::<f64>().is_finite());
    assert!(parse(&mut entries.iter()).is_err());
    assert!(parse(&mut entries.iter().rev()).is_err());
}

/// Only the listed buckets of each take count. A take without a positive weight there is ignored.
#[test]
fn session_buckets_restrict_the_mean_weights() {
    let say = |weights: &[(usize, f64)]| {
        vec![Said { stance: "neutral", confidence: 0.5, weights: Some(weights.to_vec()) }]
    };
    let session = session_of(r#""buckets":["gold","cash","eth"]"#);
    let weights = |members: &[Vec<Said>]| {
        let snapshot = aggregate(&session, &filed(members, &[0]), Timestamp::EPOCH);
        let weights = snapshot.weights?.into_iter();
        Some(weights.map(|it| (it.bucket.as_str().to_owned(), it.weight)).collect::<Vec<_>>())
    };
    let mean = |gold, cash, eth| {
        Some([("gold", gold), ("cash", cash), ("eth", eth)].map(|(n, w)| (n.to_owned(), w)).into())
    };
    // cash 0, btc 1, eth 2, gold 3: btc is not listed.
    assert_eq!(weights(&[say(&[(0, 1.0), (1, 97.0), (3, 3.0)])]), mean(0.75, 0.25, 0.0));
    let others = [say(&[(1, 1.0)]), say(&[(0, 0.0), (1, 5.0), (3, 0.0)])];
    assert_eq!(weights(&others), None);
    let [one, other] = others;
    let all =
        [say(&[(0, 0.1), (1, 9.0)]), one, say(&[(3, 7.0)]), other, say(&[(2, 1.0), (0, 2.0)])];
    assert_eq!(weights(&all), mean(0.333_333_333_333, 0.555_555_555_556, 0.111_111_111_111));
    assert_eq!(weights(&[]), None);
}
