//! Sessions with takes whose texts were withheld.

use std::sync::Arc;

use swarm_core::audit::{
    Check, Finding, KeySource, Known, LogKey, Verdict, audit_take, verify_texts,
};
use swarm_core::domain::{
    Body, LogEntry, LogLine, Quote, Session, SessionDraft, SessionState, Snapshot, Take, TakeId,
};
use swarm_core::json::{Json, write};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_testing::moment;

use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;
use crate::bundles::failing;
use crate::bundles::rewrites::renumber;
use crate::bundles::seals::replace_salt;

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
    let mut alone = open_ended();
    alone.withhold(0, "it names a client");
    alone.aggregate();
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
            "notable-withheld-alone",
            "the only take of a session without a deadline was withheld",
            &alone,
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

/// A session without a deadline, with one take.
fn open_ended() -> Desk {
    let mut desk = Desk::new(|draft| SessionDraft { window_closes_at: None, ..draft });
    desk.file("ada", "bullish", 0.7, &[]);
    desk
}

/// The lines on this check.
fn lines(desk: &Desk, check: Check) -> Vec<String> {
    let findings = crate::bundles::findings(&desk.bundle(), None);
    let of_check = findings.iter().filter(|found| found.check == check);
    of_check.map(Finding::to_string).collect()
}

/// Of a take without texts the seal cannot be computed, whatever the salt is.
#[test]
fn seal_of_a_withheld_take_is_unproven() {
    let opened = "what the seals in the log were made of, and were opened together";
    let withheld = "the texts are withheld";
    let shown = format!("holds: seal: 3 takes are {opened}");
    let partly = [
        format!("holds: seal: 2 takes are {opened}"),
        format!("unproven: seal: that 1 take is what its seal was made of: {withheld}"),
    ];
    let none =
        format!("unproven: seal: that 3 takes are what their seals were made of: {withheld}");
    let mut desk = Desk::blind();
    assert_eq!(lines(&desk, Check::Seal), [shown]);
    desk.withhold(1, "it names a client");
    assert_eq!(lines(&desk, Check::Seal), partly);
    replace_salt(&mut desk);
    assert_eq!(lines(&desk, Check::Seal), partly);
    assert!(failing(&crate::bundles::findings(&desk.bundle(), None)).is_empty());
    desk.withhold(0, "so does this");
    desk.withhold(2, "and this");
    assert_eq!(lines(&desk, Check::Seal), [none]);
    let mut fails = Desk::blind();
    replace_salt(&mut fails);
    fails.withhold(0, "it names a client");
    let other = "fails: seal: take 12 has another seal than its entry";
    assert_eq!(lines(&fails, Check::Seal), [other, &partly[1]]);
}

#[test]
fn seal_of_a_withheld_take_with_its_proof_is_unproven() {
    let mut desk = Desk::blind();
    desk.withhold(1, "it names a client");
    let replaced = {
        let mut desk = desk.clone();
        replace_salt(&mut desk);
        desk
    };
    for desk in [&desk, &replaced] {
        let findings = with_proof(desk, 1);
        assert!(failing(&findings).is_empty(), "{findings:#?}");
        let seal = findings.iter().filter(|found| found.check == Check::Seal);
        let seal: Vec<_> = seal.map(Finding::to_string).collect();
        let unproven =
            "unproven: seal: that it is what its seal was made of: the texts are withheld";
        assert_eq!(seal, [unproven]);
        // The entry has the seal, so nothing vouches for the digest in the proof.
        assert!(!findings.iter().any(|found| found.text.contains("sha256")), "{findings:#?}");
    }
    let findings = with_proof(&desk, 0);
    assert!(!findings.iter().any(|found| found.check == Check::Seal), "{findings:#?}");
}

/// What is found of the take in this place with its proof.
fn with_proof(desk: &Desk, place: usize) -> Vec<Finding> {
    let take = &desk.takes[place];
    let is_entry = |line: &LogLine| matches!(&line.entry, LogEntry::Take(it) if it.id == take.id);
    let index = desk.lines.iter().position(is_entry).unwrap() as u64;
    let (extra, checkpoint) = (None, desk.checkpoint());
    let proof = TlogProof { extra, index, hashes: desk.proof(index), checkpoint };
    let key = LogKey::parse(&desk.signer().verifier().to_string(), KeySource::Given).unwrap();
    let record = Json::read(write(&**take).as_bytes()).unwrap().into_object();
    audit_take(&record, &proof.with_extra_of(&take.clone().into()), &key, None)
}

/// What holds is said of the takes that were looked at, and what cannot be checked of the others.
#[test]
fn nothing_that_was_signed_holds_of_withheld_takes() {
    let mut desk = open_ended();
    desk.withhold(0, "it names a client");
    desk.aggregate();
    let one = |check, line: &str| assert_eq!(lines(&desk, check), [line]);
    let signature = lines(&desk, Check::Signature);
    assert!(signature.len() == 1 && signature[0].starts_with("unproven: "), "{signature:?}");
    one(
        Check::Nonce,
        "unproven: nonce: that 1 take has the nonce that was signed: the texts are withheld",
    );
    one(Check::Members, "holds: members: 1 key, those in the takes");
    one(Check::Deadline, "holds: deadline: none, so no take could be late");
    let mut partly = Desk::declared();
    partly.withhold(1, "it names a client");
    let among = "among the takes whose texts are shown";
    for (check, field, holds) in [
        (Check::Nonce, "nonce", "no member used one twice in this session"),
        (Check::Stance, "stance", "each take has one of the 4 stances that the session declares"),
    ] {
        let expected = [
            format!("holds: {field}: {holds}, {among}"),
            format!(
                "unproven: {field}: that 1 take has the {field} that was signed: the texts are withheld"
            ),
        ];
        assert_eq!(lines(&partly, check), expected);
    }
}

#[test]
fn deadline_holds_of_the_takes_that_had_one() {
    let mut desk = open_ended();
    desk.deadline(Some("2026-11-21T19:00:00Z"));
    let free = "1 take was filed when there was none";
    let last = |desk: &Desk| lines(desk, Check::Deadline).remove(0);
    assert_eq!(last(&desk), format!("holds: deadline: {free}"));
    desk.file("grace", "bearish", 0.4, &[]);
    let within = "1 take was filed within the deadline in force, which was moved 1 time";
    assert_eq!(last(&desk), format!("holds: deadline: {within}; {free}"));
}

#[test]
fn seal_of_a_blind_session_without_takes_is_none() {
    let mut desk = Desk::new(|draft| SessionDraft { blind: true, ..draft });
    desk.now = moment("2026-11-21T19:00:01Z");
    desk.state(SessionState::WindowClosed);
    let none = "holds: seal: none, as no take was filed before it was opened";
    assert_eq!(lines(&desk, Check::Seal), [none]);
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
        desk.now = moment("2026-11-21T19:00:01Z");
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
    let entry = |line: &LogLine| matches!(&line.entry, LogEntry::Take(it) if it.id == TakeId(13));
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
    let wrong = bare.clone().with_digest(desk.takes[0].digest());
    assert!(failing(&audit_take(&record, &wrong, &key, None)).contains("inclusion"));
    // Anybody could have made up a take of which nothing was verified.
    let verifier = desk.signer().verifier().to_string();
    let text = write(&*desk.takes[2]);
    for (proof, is_verified) in [(&proof, true), (&bare, false)] {
        let (proof, known) =
            (proof.to_string(), Known { key: Some(&verifier), ..Known::default() });
        let lines = verify_texts(&[text.as_bytes(), proof.as_bytes()], &known).unwrap();
        let last = &lines.iter().last().unwrap().text;
        let begins = if is_verified { "only its place in the log" } else { "nothing was verified" };
        assert!(last.starts_with(begins), "{lines:#?}");
        assert_eq!(lines.is_verified(), is_verified, "{lines:#?}");
    }
    let mut forged = record;
    forged.set("memberId", Json::from("grace"));
    assert!(failing(&audit_take(&forged, &proof, &key, None)).contains("inclusion"));
}
