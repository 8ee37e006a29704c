//! Proofs of takes, and pairs of checkpoints.

use swarm_core::audit::{
    Bundle, Check, Comparison, Evidence, Finding, KeySource, LogKey, LogReader, Verdict, audit,
    audit_checkpoints, audit_take,
};
use swarm_core::domain::{Actor, LogEntry, Operation, PublicKey};
use swarm_core::json::{Json, Object, RawJson, write};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_core::proof::tree::{Node, TreeHash};

use crate::bundles::desk::Desk;

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
    let proof =
        TlogProof { extra: None, index: 3, hashes: desk.proof(3), checkpoint: desk.checkpoint() };
    let proof = TlogProof::parse(&proof.to_string()).unwrap();
    let (key, ada) = (key(&desk), swarm_testing::key("ada"));
    let found = audit_take(&record(0), &proof, &key, Some(&ada));
    assert_eq!(failing(&found), []);
    let unproven = found.iter().filter(|finding| finding.verdict == Verdict::Unproven);
    let unproven: Vec<_> = unproven.map(|finding| finding.check).collect();
    assert_eq!(unproven, [Check::Witness, Check::Clock]);

    // Extra data is not authenticated: the version in it is tried first.
    let extra = |data: &[u8]| {
        let proof = TlogProof { extra: Some(data.to_vec()), ..proof.clone() };
        TlogProof::parse(&proof.to_string()).unwrap()
    };
    for data in ["1", "2", "01", "one", ""] {
        let found = audit_take(&record(0), &extra(data.as_bytes()), &key, Some(&ada));
        assert_eq!(failing(&found), [], "{data}");
    }
    let mut old = desk.clone();
    old.session.version = 10_001;
    old.file("ada", "neutral", 0.5, &[]);
    let take = Json::read(write(&*old.takes[2]).as_bytes()).unwrap().into_object();
    let beyond =
        TlogProof { extra: None, index: 6, hashes: old.proof(6), checkpoint: old.checkpoint() };
    assert_eq!(failing(&audit_take(&take, &beyond, &key, None)), [Check::Inclusion]);
    let beyond = beyond.with_extra_of(&old.takes[2].clone().into());
    assert_eq!(beyond.session_version(), Some(10_001));
    assert_eq!(failing(&audit_take(&take, &beyond, &key, None)), []);

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

/// Many clocks that operators accepted do not hide one that nobody did.
#[test]
fn clock_that_runs_back_is_found_after_many_that_were_accepted() {
    let mut desk = Desk::with_roster();
    desk.file("ada", "bullish", 0.7, &[]);
    let eve = Actor::operator("eve").unwrap();
    let back = |desk: &mut Desk| desk.now = desk.now.plus_millis(-90_000);
    for _ in 0..1_001 {
        desk.other("subjects");
        back(&mut desk);
        desk.append(LogEntry::Operation(Operation::ClockAccepted { by: eve.clone() }));
        desk.hidden.insert(desk.lines.len() as u64);
    }
    desk.other("subjects");
    back(&mut desk);
    desk.file("grace", "cautious", 0.25, &[]);
    let text = desk.bundle();
    let bundle = Bundle::read(RawJson::read(text.as_bytes()).unwrap()).unwrap();
    let mut reader = LogReader::of(&bundle).unwrap();
    for line in &desk.lines {
        reader.read(&line.text());
    }
    let log = reader.end().unwrap();
    let findings = audit(&bundle, &Evidence { log: Some(&log), ..Evidence::default() });
    assert!(failing(&findings).contains(&Check::Time), "{findings:#?}");
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
        let compared = audit_checkpoints(&old, &texts, Some(&key(&whole)), read).unwrap();
        let Comparison::Findings(findings) = compared else { panic!("{compared:?}") };
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
    // Hashes that are not those of the longer checkpoint show nothing.
    let (old, texts) = (shorter(8).checkpoint().to_string(), whole.checkpoint().to_string());
    for garbled in [0, 7, 8, size - 1] {
        let read = |node: Node| {
            let first = node.index << node.level;
            let is_garbled = (first..first + (1 << node.level)).contains(&(garbled as u64));
            Ok::<_, ()>(if is_garbled { TreeHash::empty() } else { whole.hash(node) })
        };
        let compared = audit_checkpoints(&old, &texts, Some(&key(&whole)), read).unwrap();
        assert!(matches!(compared, Comparison::OtherTiles(_)), "{garbled}: {compared:?}");
    }
    let mut other = shorter(5);
    other.origin = "desk.example/swarm/log/acme/2".to_owned();
    let said = found(&other, &whole);
    assert!(said.contains("checkpoint: ") && said.contains("two logs"), "{said}");
}
