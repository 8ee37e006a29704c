//! Sessions with takes whose texts were withheld.

use std::sync::Arc;

use swarm_core::audit::{Check, Finding, KeySource, LogKey, Verdict, audit_take};
use swarm_core::domain::{Body, LogEntry, Quote, Session, SessionState, Snapshot, Take, TakeId};
use swarm_core::json::{Json, write};
use swarm_core::proof::tlog_proof::TlogProof;

use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;
use crate::bundles::failing;
use crate::bundles::rewrites::renumber;

/// A published session in which the last take of ada is withheld.
fn withheld() -> Desk {
    let mut desk = Desk::published();
    desk.withhold(2, "it names a client");
    desk
}

pub(crate) fn cases() -> Vec<Case> {
    let notable = |name, about, desk: &Desk, notable: &[_]| Case {
        notable: notable.to_vec(),
        ..Case::new(name, about, desk, &[])
    };
    let case = |name, about, change: &dyn Fn(&mut Desk), finds: &[_]| {
        let mut desk = withheld();
        change(&mut desk);
        Case::new(name, about, &desk, finds)
    };
    let mut restored = withheld();
    restored.withhold(1, "so does this");
    restored.restore(2);
    restored.restore(1);
    let mut early = Desk::new(|draft| draft);
    early.file("ada", "bullish", 0.7, &[]);
    early.file("grace", "bearish", 0.4, &[]);
    early.withhold(1, "it names a client");
    early.aggregate();
    let mut blind = Desk::blind();
    blind.withhold(0, "it names a client");
    let mut erased = Desk::new(|draft| draft);
    erased.file("ada", "bullish", 0.7, &[]);
    erased.withhold(0, "texts erased");
    let mark = erased.takes[0].withheld.clone().unwrap();
    erased.takes[0] = Arc::new(erased.takes[0].without_texts(&mark));
    erased.aggregate();
    let told = ("withheld", "note \"it names a client\"");
    vec![
        notable("notable-withheld", "a take was withheld after publication", &withheld(), &[told]),
        notable(
            "notable-withheld-early",
            "a take was withheld before the aggregation",
            &early,
            &[told],
        ),
        notable(
            "notable-withheld-blind",
            "a take of a blind session was withheld",
            &blind,
            &[told],
        ),
        notable(
            "notable-withheld-erased",
            "the texts of a take were erased before the aggregation",
            &erased,
            &[("withheld", "note \"texts erased\"")],
        ),
        Case::new("valid-restored", "two takes were withheld, and restored", &restored, &[]),
        case(
            "withheld-unlogged",
            "a take that is withheld without an entry",
            &|desk| {
                drop(desk.lines.pop());
            },
            &[("withheld", "take 13 is withheld, and no entry withholds it")],
        ),
        case(
            "withheld-shown",
            "a take that is shown, though the log withholds it",
            &|desk| {
                desk.takes[2] = Arc::new(Take { withheld: None, ..Take::clone(&desk.takes[2]) });
            },
            &[("withheld", "take 13 is shown, and entry 17 withholds it")],
        ),
        case(
            "withheld-note",
            "a take with another note than its entry",
            &|desk| {
                let mut take = Take::clone(&desk.takes[2]);
                take.withheld.as_mut().unwrap().note = "it is wrong".parse().unwrap();
                desk.takes[2] = Arc::new(take);
            },
            &[("withheld", "take 13 has another mark than entry 17")],
        ),
        case(
            "withheld-twice",
            "a take that was withheld twice",
            &|desk| {
                let again = desk.lines.last().unwrap().clone();
                desk.lines.push(again);
                renumber(desk);
            },
            &[("withheld", "entry 18 withholds the texts of take 13 again")],
        ),
        case(
            "withheld-stance",
            "a take whose stance was changed when it was withheld",
            &|desk| {
                let take = Take::clone(&desk.takes[2]);
                let mut draft = take.draft().clone();
                draft.confidence = swarm_core::domain::Confidence::parse(0.1).unwrap();
                let signed =
                    swarm_core::domain::Signed { payload: draft, ..(*take.signed).clone() };
                desk.takes[2] = Arc::new(Take { signed: Arc::new(signed), ..take });
            },
            &[("snapshot", "the rules compute another one")],
        ),
        case(
            "withheld-quote",
            "a snapshot that quotes another take otherwise, beside one that is withheld",
            &|desk| {
                quotes(desk, |quote| {
                    if quote.take_id == TakeId(12) {
                        quote.body = Some(Body::parse("I never said this.").unwrap());
                    }
                });
            },
            &[("snapshot", "the rules compute another one: quotes")],
        ),
        case(
            "withheld-quote-of-another",
            "a snapshot that withholds a quote of a take that is shown",
            &|desk| quotes(desk, |quote| quote.body = None),
            &[("snapshot", "the rules compute another one: quotes")],
        ),
    ]
}

/// Changes the quotes of the snapshot.
fn quotes(desk: &mut Desk, change: impl Fn(&mut Quote)) {
    let mut snapshot = Snapshot::clone(desk.session.snapshot.as_ref().unwrap());
    snapshot.quotes.iter_mut().for_each(change);
    desk.session = Session { snapshot: Some(Arc::new(snapshot)), ..desk.session.clone() };
}

/// What cannot be checked is said, and nothing else of the bundle is any weaker.
#[test]
fn texts_that_are_withheld_are_unproven() {
    let desk = withheld();
    let findings = crate::bundles::findings(&desk.bundle(), None);
    let of = |check, verdict| {
        let is_of = |found: &&Finding| (found.check, found.verdict) == (check, verdict);
        findings.iter().find(is_of).map(|found| found.text.as_str())
    };
    assert!(of(Check::Signature, Verdict::Holds).unwrap().starts_with("3 takes are signed"));
    let unproven = of(Check::Signature, Verdict::Unproven).unwrap();
    assert!(unproven.contains("1 take was signed"), "{unproven}");
    assert!(of(Check::Snapshot, Verdict::Holds).is_some());
    assert!(of(Check::Snapshot, Verdict::Unproven).unwrap().contains("1 quote is withheld"));
    let mut restored = desk;
    restored.restore(2);
    let findings = crate::bundles::findings(&restored.bundle(), None);
    let is_weaker = |found: &Finding| {
        found.verdict == Verdict::Unproven
            && [Check::Signature, Check::Snapshot].contains(&found.check)
    };
    assert!(!findings.iter().any(is_weaker), "{findings:#?}");
    assert_eq!(restored.session.snapshot, Desk::published().session.snapshot);
}

#[test]
fn score_and_weights_do_not_depend_on_withholding() {
    let figures = |desk: &Desk| {
        let snapshot = desk.session.snapshot.clone().unwrap();
        (snapshot.figures.clone(), snapshot.weights.clone(), snapshot.digest())
    };
    let mut before = Desk::with_roster();
    before.file("ada", "bullish", 0.7, &[("cash", 1.0)]);
    before.file("grace", "cautious", 0.25, &[("add", 1.0)]);
    let mut withheld = before.clone();
    withheld.withhold(0, "before the aggregation");
    for desk in [&mut before, &mut withheld] {
        desk.now = swarm_testing::moment("2026-11-21T19:00:01Z");
        desk.state(SessionState::WindowClosed);
        desk.aggregate();
    }
    assert_eq!(figures(&before), figures(&withheld));
    withheld.withhold(1, "after it");
    assert_eq!(figures(&before), figures(&withheld));
}

/// The proof of a take says the digest that its record does not have.
#[test]
fn withheld_take_is_proven_by_its_digest() {
    let desk = withheld();
    let entry = |line: &swarm_core::domain::LogLine| matches!(&line.entry, LogEntry::Take(it) if it.id == TakeId(13));
    let index = desk.lines.iter().position(entry).unwrap() as u64;
    let key = LogKey::parse(&desk.signer().verifier().to_string(), KeySource::Given).unwrap();
    let bare =
        TlogProof { extra: None, index, hashes: desk.proof(index), checkpoint: desk.checkpoint() };
    let proof =
        TlogProof::parse(&bare.clone().with_extra_of(&desk.takes[2].clone().into()).to_string())
            .unwrap();
    let record = Json::read(write(&*desk.takes[2]).as_bytes()).unwrap().into_object();
    assert!(!record.has("body") && !record.has("memoUrl") && !record.has("digest"));
    let findings = audit_take(&record, &proof, &key, None);
    assert!(failing(&findings).is_empty(), "{findings:#?}");
    let of = |check, verdict| findings.iter().any(|it| (it.check, it.verdict) == (check, verdict));
    assert!(of(Check::Inclusion, Verdict::Holds));
    assert!(of(Check::Signature, Verdict::Unproven));
    assert!(of(Check::Withheld, Verdict::Notable));
    // A proof of before the mark does not say the digest. Who knows it can add it.
    let older = audit_take(&record, &bare, &key, None);
    assert!(failing(&older).is_empty(), "{older:#?}");
    let unproven = older.iter().filter(|it| it.verdict == Verdict::Unproven).map(|it| it.check);
    assert!(unproven.collect::<Vec<_>>().contains(&Check::Inclusion));
    assert!(!older.iter().any(|it| it.text.contains("sha256")), "{older:#?}");
    let completed =
        audit_take(&record, &bare.clone().with_digest(desk.takes[2].digest()), &key, None);
    assert!(
        completed.iter().any(|it| (it.check, it.verdict) == (Check::Inclusion, Verdict::Holds))
    );
    let wrong = bare.with_digest(desk.takes[0].digest());
    assert!(failing(&audit_take(&record, &wrong, &key, None)).contains("inclusion"));
    let mut forged = record;
    forged.set("memberId", Json::from("grace"));
    assert!(failing(&audit_take(&forged, &proof, &key, None)).contains("inclusion"));
}
