//! The core without a store: canonical bytes, signatures, judging.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::Deserialize;
use swarm_benches::{Author, Fixture, LONGEST, USUAL, group};
use swarm_core::Submission;
use swarm_core::domain::{
    AttemptId, Confidence, MemberId, Roster, RosterEntry, Salt, SessionTerms, Signed, TakeDraft,
    Timestamp,
};
use swarm_core::json::Json;
use swarm_core::proof::{canonical, verify};
use swarm_core::rules::{Basis, Versioned, judge};
use swarm_core::wire::Problem;

criterion_group! {
    name = core;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(1_500))
        .sample_size(40);
    targets = canonical_bytes, reading, signing, verification, judgement
}
criterion_main!(core);

fn canonical_bytes(c: &mut Criterion) {
    let mut group = group(c, "canonical", "canonical() against serde_json::to_string, same struct");
    for (size, characters) in SIZES {
        let draft = Author::new(1).draft(0, characters);
        group.bench_function(format!("swarm, {size}"), |b| b.iter(|| canonical(black_box(&draft))));
        group.bench_function(format!("serde_json, {size}"), |b| {
            b.iter(|| serde_json::to_string(black_box(&draft)))
        });
    }
}

/// The sizes of a take.
const SIZES: [(&str, usize); 2] = [("usual", USUAL), ("longest", LONGEST)];

fn reading(c: &mut Criterion) {
    let mut group = group(
        c,
        "read",
        "a submission read and validated against the same bytes read as serde_json::Value, \
         and into a struct of strings and numbers that checks no rule",
    );
    for (size, characters) in SIZES {
        let bytes = submission_bytes(&Author::new(1).signed(0, characters));
        group.bench_function(format!("swarm, {size}"), |b| {
            b.iter(|| read_submission(black_box(&bytes)))
        });
        group.bench_function(format!("value, {size}"), |b| {
            b.iter(|| serde_json::from_slice::<serde_json::Value>(black_box(&bytes)))
        });
        group.bench_function(format!("struct, {size}"), |b| {
            b.iter(|| serde_json::from_slice::<Unchecked>(black_box(&bytes)))
        });
    }
}

fn read_submission(bytes: &[u8]) -> Submission {
    let mut fields = Json::read(bytes).expect("JSON").into_object();
    Submission::read(&mut fields).expect("a valid submission")
}

fn signing(c: &mut Criterion) {
    let mut group = group(c, "sign", "KeyPair::sign against dalek's sign on the canonical bytes");
    let author = Author::new(1);
    let draft = author.draft(0, USUAL);
    let bytes = canonical(&draft);
    let bare = SigningKey::from_bytes(&[1; 32]);
    group.bench_function("swarm", |b| {
        b.iter_batched(|| draft.clone(), |draft| author.keys.sign(draft), BatchSize::SmallInput)
    });
    group.bench_function("dalek", |b| b.iter(|| bare.sign(black_box(bytes.as_bytes()))));
}

fn verification(c: &mut Criterion) {
    let mut group = group(
        c,
        "verify",
        "verify() against dalek's verify_strict on the canonical bytes, with the key decoded \
         before and with the key decoded each time",
    );
    for (size, characters) in SIZES {
        let Author { keys, key, .. } = Author::new(1);
        let signed = Arc::new(keys.sign(Author::new(1).draft(0, characters)));
        let bytes = canonical(&signed.payload);
        let signature = STANDARD.decode(signed.signature.as_str()).expect("base64");
        let signature = Signature::from_slice(&signature).expect("64 bytes");
        let decoded = VerifyingKey::from_bytes(key.as_bytes()).expect("a key");
        group.bench_function(format!("swarm, {size}"), |b| {
            b.iter(|| verify(black_box(&signed), black_box(&key)))
        });
        group.bench_function(format!("dalek, key decoded before, {size}"), |b| {
            b.iter(|| decoded.verify_strict(black_box(bytes.as_bytes()), &signature))
        });
        group.bench_function(format!("dalek, key decoded each time, {size}"), |b| {
            b.iter(|| {
                let key = VerifyingKey::from_bytes(black_box(key.as_bytes())).expect("a key");
                key.verify_strict(black_box(bytes.as_bytes()), &signature)
            })
        });
    }
}

fn judgement(c: &mut Criterion) {
    let mut group = group(
        c,
        "judge",
        "judge() of a take that is accepted, accepted as the last of a roster of 1,000, tampered \
         with, or late, against verify() alone",
    );
    let author = Author::new(1);
    let signed = author.signed(0, USUAL);
    let take = Submission::new(signed.clone());
    let forged = Submission::new(tampered(&signed));
    let basis = Fixture::new(&[&author]).basis(&author, &take);
    let (rostered, late) = (with_roster(&basis, 1_000), late(&basis));

    let signed = Arc::new(signed);
    group.bench_function("verify alone", |b| b.iter(|| verify(black_box(&signed), &author.key)));
    for (name, basis, take, status) in [
        ("accepted", &basis, &take, 201),
        ("accepted, roster", &rostered, &take, 201),
        ("tampered with", &basis, &forged, 400),
        ("late", &late, &take, 409),
    ] {
        let judged = || judge(black_box(basis), black_box(take), AttemptId([0; 16]), Salt([0; 32]));
        assert_eq!(
            judged().map_or_else(|refused| Problem::from(&refused).status(), |_| 201),
            status
        );
        group.bench_function(name, |b| b.iter(judged));
    }
}

fn tampered(signed: &Signed<TakeDraft>) -> Signed<TakeDraft> {
    let confidence = Confidence::parse(1.0).expect("a confidence");
    let payload = TakeDraft { confidence, ..signed.payload.clone() };
    Signed { payload, signature: signed.signature.clone() }
}

/// The same facts, with the author last on a roster of this size.
fn with_roster(basis: &Basis, members: usize) -> Basis {
    let author = basis.member.as_ref().map(|member| member.record.id.clone());
    let others = (1..members)
        .map(|number| MemberId::parse(format!("3b241101-e2bb-4255-8caf-1{number:011}")));
    let ids = others.map(|id| id.expect("an id")).chain(author);
    let entries = ids.map(|member_id| RosterEntry { member_id, excused: false }).collect();
    let roster = Some(Roster::parse(entries).expect("each once"));
    in_session(basis, |terms| SessionTerms { roster, ..terms })
}

/// The same facts, after the deadline.
fn late(basis: &Basis) -> Basis {
    let window_closes_at = Some(Timestamp::EPOCH);
    in_session(basis, |terms| SessionTerms { window_closes_at, ..terms })
}

fn in_session(basis: &Basis, change: impl FnOnce(SessionTerms) -> SessionTerms) -> Basis {
    let Versioned { version, record } = basis.session.as_ref().expect("a session");
    let record = Arc::new(change(SessionTerms::clone(record)));
    Basis { session: Some(Versioned { version: *version, record }), ..basis.clone() }
}

fn submission_bytes(signed: &Signed<TakeDraft>) -> Vec<u8> {
    signed.to_json().into_bytes()
}

/// The fields as a front end without rules would read them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read, and never looked at")]
struct Unchecked {
    member_id: String,
    date: String,
    subject_id: String,
    nonce: String,
    stance: String,
    confidence: f64,
    body: String,
    memo_url: String,
    weights: Vec<UncheckedWeight>,
    signature: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read, and never looked at")]
struct UncheckedWeight {
    bucket: String,
    weight: f64,
}
