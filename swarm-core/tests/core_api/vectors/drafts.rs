//! Strategies for arbitrary drafts.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use swarm_core::TakeDraft;
use swarm_core::domain::{
    Body, Bucket, Confidence, Day, MemberId, MemoUrl, Nonce, Stance, SubjectId, Weight, Weights,
};

/// Characters that are difficult for JSON parsers and writers.
const AWKWARD: &[char] = &[
    '"',
    '\\',
    '/',
    '\0',
    '\u{8}',
    '\t',
    '\n',
    '\u{b}',
    '\u{c}',
    '\r',
    '\u{1f}',
    ' ',
    '\u{7f}',
    '\u{80}',
    '\u{301}',
    '\u{2028}',
    '\u{2029}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{feff}',
    '\u{fffd}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1f602}',
    '\u{10ffff}',
    '<',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
];

/// Text of `min` to `max` characters.
pub(crate) fn text(min: usize, max: usize) -> impl Strategy<Value = String> {
    let letter = prop_oneof![any::<char>(), select(AWKWARD), proptest::char::range(' ', '~')];
    vec(letter, min..=max).prop_map(String::from_iter)
}

/// Finite doubles from 0 (not negative zero) to `max`; some of them are short decimals.
pub(crate) fn number(max: f64) -> impl Strategy<Value = f64> {
    let short = (0..=1_000_u32).prop_map(move |n| f64::from(n) / 1_000.0 * max.min(100.0));
    prop_oneof![3 => (0..=max.to_bits()).prop_map(f64::from_bits), 1 => short]
}

/// Valid weights.
fn weights() -> impl Strategy<Value = Weights> {
    btree_map(text(1, 8), number(f64::MAX), 1..6).prop_filter_map("a finite total", |entries| {
        let weight = |(bucket, weight)| Weight { bucket: Bucket::parse(bucket).unwrap(), weight };
        Weights::parse(entries.into_iter().map(weight).collect()).ok()
    })
}

/// Valid drafts with short texts. The vectors cover the maximum lengths.
pub(crate) fn draft() -> impl Strategy<Value = TakeDraft> {
    let day = (0..=9_999_u16, 0..=99_u8, 0..=99_u8);
    let confidence = prop_oneof![9 => number(1.0), 1 => Just(-0.0)];
    let labels = (text(1, 12), text(1, 12), text(1, 24), text(1, 12));
    let rest = (confidence, text(0, 60), text(0, 12), proptest::option::of(weights()));
    (day, labels, rest).prop_map(|((year, month, day), labels, rest)| TakeDraft {
        member_id: MemberId::parse(labels.0).unwrap(),
        date: Day::parse(&format!("{year:04}-{month:02}-{day:02}")).unwrap(),
        subject_id: SubjectId::parse(labels.1).unwrap(),
        nonce: Nonce::parse(labels.2).unwrap(),
        stance: Stance::parse(labels.3).unwrap(),
        confidence: Confidence::parse(rest.0).unwrap(),
        body: Body::parse(rest.1).unwrap(),
        memo_url: MemoUrl::parse(rest.2).unwrap(),
        weights: rest.3,
    })
}
