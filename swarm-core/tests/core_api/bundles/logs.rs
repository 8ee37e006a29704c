//! Proofs of takes, pairs of checkpoints, and logs that are watched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use swarm_core::audit::{
    Check, Finding, KeySource, LogKey, Remark, Verdict, Watch, WatchState, audit_checkpoints,
    audit_take,
};
use swarm_core::domain::{LogEntry, Operation, PublicKey, SessionState};
use swarm_core::json::{Json, Object, write};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_testing::moment;

use crate::bundles::desk::{Desk, by};

fn key(desk: &Desk) -> LogKey {
    LogKey::parse(&desk.signer().verifier().to_string(), KeySource::Given).unwrap()
}

fn failing(findings: &[Finding]) -> Vec<Check> {
    let failing = findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    failing.map(|finding| finding.check).collect()
}

#[test]
fn take_is_proven_to_be_in_the_log() {
    let mut desk = Desk::with_roster();
    desk.file("ada", "bullish", 0.7, &[]);
    desk.file("grace", "bearish", 0.3, &[]);
    desk.brief();
    let record =
        |place: usize| Json::read(write(&*desk.takes[place]).as_bytes()).unwrap().into_object();
    let proof = TlogProof { index: 3, hashes: desk.proof(3), checkpoint: desk.checkpoint() };
    let proof = TlogProof::parse(&proof.to_string()).unwrap();
    let (key, ada) = (key(&desk), swarm_testing::key("ada"));
    let found = audit_take(&record(0), &proof, &key, Some(&ada));
    assert_eq!(failing(&found), []);
    let unproven = found.iter().filter(|finding| finding.verdict == Verdict::Unproven);
    let unproven: Vec<_> = unproven.map(|finding| finding.check).collect();
    assert_eq!(unproven, [Check::Witness, Check::Clock]);

    let grace = swarm_testing::key("grace");
    let of = |take: &Object, proof: &TlogProof, member: Option<&PublicKey>| {
        failing(&audit_take(take, proof, &key, member))
    };
    assert_eq!(of(&record(1), &proof, None), [Check::Inclusion]);
    assert_eq!(of(&record(0), &proof, Some(&grace)), [Check::Signature]);
    let later = TlogProof { index: 4, ..proof.clone() };
    assert_eq!(of(&record(0), &later, None), [Check::Inclusion]);
    let mut earlier = record(0);
    earlier.set("filedAt", "2026-11-21T14:00:00.000Z".into());
    assert_eq!(of(&earlier, &proof, None), [Check::Inclusion]);
    let mut forged = record(0);
    forged.set("stance", "bearish".into());
    assert_eq!(of(&forged, &proof, None), [Check::Signature, Check::Inclusion]);
    let mut other = desk.clone();
    other.origin = "other.example/swarm/log/acme".to_owned();
    let other = TlogProof { checkpoint: other.checkpoint(), ..proof };
    assert_eq!(of(&record(0), &other, None), [Check::Checkpoint]);
}

#[test]
fn later_checkpoint_must_continue_the_earlier_one() {
    let whole = Desk::published();
    let size = whole.lines.len();
    let shorter = |size: usize| {
        let mut desk = whole.clone();
        desk.lines.truncate(size);
        desk
    };
    let found = |old: &Desk, new: &Desk| {
        let (old, texts) = (old.checkpoint().to_string(), new.checkpoint().to_string());
        let longer = if new.lines.len() < whole.lines.len() { &whole } else { new };
        let read = |node| Ok::<_, ()>(longer.hash(node));
        let findings = audit_checkpoints(&old, &texts, Some(&key(&whole)), read).unwrap();
        let failing = findings.into_iter().filter(|finding| finding.verdict == Verdict::Fails);
        failing.map(|finding| finding.to_string()).collect::<Vec<_>>().join("\n")
    };
    for old in 0..=size {
        assert_eq!(found(&shorter(old), &whole), "", "{old}");
        // In the other order too: a checkpoint has no time.
        assert_eq!(found(&whole, &shorter(old)), "", "{old}");
    }
    let mut fork = shorter(8);
    fork.other("instead");
    assert!(found(&fork, &whole).contains("consistency: a fork"));
    assert!(found(&whole, &fork).contains("consistency: a fork"));
    fork.lines.extend(whole.lines[9..].iter().cloned());
    assert!(found(&fork, &whole).contains("consistency: a fork"), "of the same size");
    let mut other = shorter(5);
    other.origin = "desk.example/swarm/log/acme/2".to_owned();
    let said = found(&other, &whole);
    assert!(said.contains("checkpoint: ") && said.contains("two logs"), "{said}");
}

/// Looks at a desk's log, which serves these entries.
fn look_at(
    seen: &WatchState,
    desk: &Desk,
    entries: &Desk,
) -> Result<(WatchState, Vec<Remark>), String> {
    let note = desk.checkpoint().to_string();
    let read = |node| Ok::<_, ()>(desk.hash(node));
    let mut watch = Watch::begin(seen.clone(), &note, &key(&Desk::with_roster()), read).unwrap()?;
    let mut remarks = Vec::new();
    while let Some(index) = watch.next() {
        let line = entries.lines.get(index as usize).ok_or("no entry")?;
        remarks.extend(watch.read(&line.text())?);
    }
    // What is kept goes through its text.
    let watched = serde_json::to_string(&watch.end()?).unwrap();
    Ok((serde_json::from_str(&watched).unwrap(), remarks))
}

fn look(seen: &WatchState, desk: &Desk) -> Result<(WatchState, Vec<Remark>), String> {
    look_at(seen, desk, desk)
}

#[test]
fn watched_log_continues() {
    let whole = Desk::published();
    let mut seen = WatchState::default();
    let mut acts = Vec::new();
    for size in [0, 1, 2, 2, 7, 8, whole.lines.len()] {
        let mut desk = whole.clone();
        desk.lines.truncate(size);
        let (next, remarks) = look(&seen, &desk).unwrap();
        seen = next;
        acts.extend(remarks);
    }
    assert!(acts.iter().all(|act| !act.is_odd), "{acts:#?}");
    let said = acts.iter().map(|act| &*act.text).collect::<Vec<_>>().join("\n");
    for act in [
        "session 7: convened, by \"ada\", note \"as every day\"",
        "session 7: deadline moved from 2026-11-21T19:00:00.000Z to 2026-11-21T20:00:00.000Z, by \"grace\"",
        "session 7: state published, by \"schedule\"",
    ] {
        assert!(said.contains(act), "{act} in {said}");
    }
}

#[test]
fn watched_log_that_does_not_continue_is_reported() {
    let mut desk = Desk::with_roster();
    desk.file("ada", "bullish", 0.7, &[]);
    let backup = desk.clone();
    desk.file("grace", "bearish", 0.3, &[]);
    let (seen, _) = look(&WatchState::default(), &desk).unwrap();
    let fault = |desk: &Desk| look(&seen, desk).unwrap_err();

    let mut restored = backup.clone();
    assert!(fault(&restored).contains("went back: it had 5 entries, then 4"));
    restored.file("grace", "bullish", 0.3, &[]);
    assert!(fault(&restored).contains("fork"), "of the same size");
    restored.brief();
    assert!(fault(&restored).contains("fork"));

    let mut next = desk.clone();
    next.brief();
    let mut other = next.clone();
    other.lines[5].entry = LogEntry::Operation(Operation::ClockAccepted { by: by("ada", None).by });
    let entries = look_at(&seen, &next, &other).unwrap_err();
    assert!(entries.contains("not those of the tree"), "{entries}");
    let mut gap = next.clone();
    gap.lines[5].seq.0 += 1;
    assert!(fault(&gap).contains("a gap: entry 7 is in the place of entry 6"));
    let mut back = next.clone();
    back.lines[5].at = moment("2026-11-20T14:00:00Z");
    assert!(fault(&back).contains("time ran back"));
    let mut renamed = next.clone();
    renamed.origin.push_str("/2");
    assert!(fault(&renamed).contains("another log"));
    let bytes = STANDARD.encode(desk.signer().verifier().public_key().as_bytes());
    let nameless = LogKey::parse(&bytes, KeySource::Given).unwrap();
    let note = renamed.checkpoint().to_string();
    let begun = Watch::begin(seen.clone(), &note, &nameless, |node| Ok::<_, ()>(desk.hash(node)));
    assert!(begun.unwrap().unwrap_err().contains("another log"), "by a key without a name");
    assert!(look(&seen, &next).is_ok());
}

#[test]
fn odd_entries_of_a_watched_log_are_reported() {
    let mut desk = Desk::with_roster();
    desk.file("ada", "bullish", 0.7, &[]);
    desk.now = moment("2026-11-21T19:00:01Z");
    desk.file("grace", "bearish", 0.3, &[]);
    desk.deadline(Some("2026-11-21T22:00:00Z"));
    desk.state(SessionState::WindowClosed);
    desk.aggregate();
    desk.file("ada", "bearish", 0.7, &[]);
    desk.append(LogEntry::Operation(Operation::ClockAccepted { by: by("ada", None).by }));
    let (_, remarks) = look(&WatchState::default(), &desk).unwrap();
    let odd: Vec<_> = remarks.iter().filter(|it| it.is_odd).map(|it| &*it.text).collect();
    for (odd, text) in odd.iter().zip([
        "take 12 of session 7 after its deadline",
        "deadline moved from 2026-11-21T19:00:00.000Z to 2026-11-21T22:00:00.000Z, after it had passed",
        "state aggregated, before its deadline",
        "take 13 amends after session 7 was aggregated",
        "an operator accepted",
    ]) {
        assert!(odd.contains(text), "{odd}: {text}");
    }
    assert_eq!(odd.len(), 5, "{odd:#?}");
}
