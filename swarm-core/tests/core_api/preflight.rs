//! A preflight runs the same checks as a submission: its first finding is the refusal of the
//! submission.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::Refusal;
use swarm_core::domain::{
    AttemptId, Bucket, MemberState, Revision, Roster, RosterEntry, Salt, Session, SessionId,
    SessionState, Take, TakeId, Timestamp, Version,
};
use swarm_core::json::{Json, Object, write};
use swarm_core::rules::{
    Basis, Draft, Preflight, Submission, Versioned, Warning, judge, preflight,
};
use swarm_testing::{Author, claimed, session_draft};

const DEADLINE: i64 = 1_000;

/// The facts that make the checks fail.
#[derive(Clone, Debug, Default)]
struct Against {
    token: bool,
    other_member: bool,
    no_session: bool,
    late: bool,
    not_listed: bool,
    excused: bool,
    no_key: bool,
    revisions: u8,
    aggregated: bool,
    signature: bool,
    nonce: bool,
}

fn against() -> impl Strategy<Value = Against> {
    let flags = proptest::collection::vec(proptest::bool::weighted(0.3), 10);
    (flags, 0..=5u8).prop_map(|(flags, revisions)| Against {
        token: flags[0],
        other_member: flags[1],
        no_session: flags[2],
        late: flags[3],
        not_listed: flags[4],
        excused: flags[5],
        no_key: flags[6],
        revisions,
        aggregated: flags[7],
        signature: flags[8],
        nonce: flags[9],
    })
}

fn session(facts: &Against) -> Session {
    let mut session = session_draft("aurora").convened(SessionId(7), Timestamp::EPOCH);
    session.window_closes_at = Timestamp::from_millis(DEADLINE);
    let entry = RosterEntry { member_id: swarm_testing::id("ada"), excused: facts.excused };
    let entries = if facts.not_listed { vec![] } else { vec![entry] };
    session.roster = Some(Roster::parse(entries).unwrap());
    if facts.aggregated {
        session.state = SessionState::Aggregated;
    }
    session
}

/// The fields of the request.
fn request(facts: &Against) -> Object {
    let ada = Author::named("ada");
    let signer = if facts.signature { Author::named("grace") } else { Author::named("ada") };
    let signed = signer.keys.sign(ada.draft(&session(facts), "nonce"));
    let mut request: Vec<_> = vec![("signature", Json::from(signed.signature.as_str()))];
    let text = |text: &str| Json::from(text);
    let draft = &signed.payload;
    request.extend([
        ("memberId", text(draft.member_id.as_str())),
        ("date", text("2026-11-21")),
        ("subjectId", text("aurora")),
        ("nonce", text("nonce")),
        ("stance", text(draft.stance.as_str())),
        ("confidence", draft.confidence.get().into()),
    ]);
    request.into_iter().collect::<Json>().into_object()
}

fn basis(facts: &Against) -> Basis {
    let mut member = claimed("ada");
    if facts.token {
        member.state = MemberState::Inactive;
    }
    if facts.other_member {
        member.id = swarm_testing::id("grace");
    }
    if facts.no_key {
        member.public_key = None;
    }
    let ada = Author::named("ada");
    let spent = Take {
        salt: None,
        withheld: None,
        id: TakeId(3),
        session_id: SessionId(1),
        session_version: 1,
        revision: Revision::FIRST,
        filed_at: Timestamp::EPOCH,
        signed: Arc::new(ada.keys.sign(ada.draft(&session(facts), "nonce"))),
        public_key: ada.key(),
    };
    Basis {
        now: Timestamp::from_millis(DEADLINE + i64::from(facts.late)).unwrap(),
        member: Some(Versioned { version: Version(1), record: Arc::new(member) }),
        session: (!facts.no_session)
            .then(|| Versioned { version: Version(1), record: Arc::new(session(facts).terms()) }),
        latest: Revision::new(facts.revisions),
        spent: facts.nonce.then(|| Arc::new(spent).into()),
    }
}

/// The expected findings, in the order of API.md, 5.2.
fn expected(facts: &Against) -> Vec<Refusal> {
    let member = !facts.other_member;
    let session = !facts.no_session;
    let all = [
        (facts.other_member, Refusal::TokenMismatch),
        (facts.no_session, Refusal::NoSession { open: vec![] }),
        (session && facts.late, Refusal::WindowClosed),
        (session && member && facts.not_listed, Refusal::NotOnRoster),
        (session && member && !facts.not_listed && facts.excused, Refusal::Excused),
        (member && facts.no_key, Refusal::NoKey),
        (facts.revisions == 5, Refusal::CapReached { cap: Revision::CAP }),
        (session && facts.aggregated && facts.revisions > 0, Refusal::AmendmentClosed),
        (member && !facts.no_key && facts.signature, Refusal::BadSignature),
        (facts.nonce, Refusal::NonceUsed),
    ];
    all.into_iter().filter_map(|(refused, refusal)| refused.then_some(refusal)).collect()
}

fn preflown(facts: &Against, request: Object) -> Result<Preflight, Refusal> {
    preflight(&basis(facts), &Draft::read(request).unwrap())
}

proptest! {
    #[test]
    fn first_finding_equals_the_refusal(facts in against()) {
        let submission = Submission::read(&mut request(&facts)).unwrap();
        let judged = judge(&basis(&facts), &submission, AttemptId([0; 16]), Salt([0; 32]));
        let judged = judged.err().map(|rejection| rejection.reason);
        match preflown(&facts, request(&facts)) {
            Ok(preflight) => {
                prop_assert_eq!(&preflight.findings, &expected(&facts));
                prop_assert_eq!(judged.as_ref(), preflight.findings.first());
            }
            Err(refusal) => prop_assert_eq!(judged, Some(refusal)),
        }
    }
}

#[test]
fn preflight_reports_session_revision_and_time_left() {
    let facts = Against { revisions: 2, ..Against::default() };
    let Preflight { session, revision, takes_left, window_closes_at, millis_left, .. } =
        preflown(&facts, request(&facts)).unwrap();
    let Preflight { findings, warnings, .. } = preflown(&facts, request(&facts)).unwrap();
    assert_eq!((takes_left, warnings), (Some(2), vec![]));
    assert_eq!((session, revision), (Some(SessionId(7)), Revision::new(3)));
    assert_eq!((window_closes_at, millis_left), (Timestamp::from_millis(DEADLINE), Some(0)));
    assert_eq!(findings, []);

    let late = preflown(&Against { late: true, ..facts }, request(&Against::default())).unwrap();
    assert_eq!(late.millis_left, Some(0));
}

#[test]
fn every_invalid_field_is_reported_and_other_rules_are_checked() {
    let facts = Against { late: true, revisions: 5, ..Against::default() };
    let mut broken = write(&Json::Object(request(&facts)));
    broken =
        broken.replace("\"confidence\":0.5", "\"confidence\":70,\"weights\":[{\"bucket\":\"\"}]");
    broken = broken.replace("\"stance\":\"bullish\",", "");
    let broken = Json::read(broken.as_bytes()).unwrap().into_object();
    let preflight = preflown(&facts, broken).unwrap();
    let found: Vec<_> = preflight
        .findings
        .iter()
        .map(|refusal| match refusal {
            Refusal::InvalidSubmission(invalid) => invalid.to_string(),
            refusal => refusal.to_string(),
        })
        .collect();
    assert_eq!(
        found,
        [
            "stance is missing",
            "confidence must be a number from 0 to 1",
            "weights must be a list of {bucket, weight}, and bucket of entry 1 must have 1 to 100 characters",
            "submission window closed",
            "amendment cap reached (5 takes per member per session)",
        ]
    );
    assert_eq!(preflight.session, Some(SessionId(7)));

    let nothing = preflown(&facts, Object::default()).unwrap();
    assert_eq!((nothing.takes_left, &nothing.warnings), (None, &vec![]));
    assert_eq!((nothing.session, nothing.revision, nothing.millis_left), (None, None, None));
    let invalid = |refusal: &Refusal| matches!(refusal, Refusal::InvalidSubmission(_));
    let (invalid, others): (Vec<_>, Vec<_>) = nothing.findings.iter().partition(|one| invalid(one));
    assert_eq!((invalid.len(), others), (7, vec![&Refusal::CapReached { cap: Revision::CAP }]));
}

/// The warnings of a take with these members more, in a session with these facts.
fn warned(facts: &Against, change: impl FnOnce(&mut Session), more: &str) -> Vec<Warning> {
    let mut session = session(facts);
    change(&mut session);
    let mut basis = basis(facts);
    basis.session = Some(Versioned { version: Version(1), record: Arc::new(session.terms()) });
    let mut request = request(facts);
    for (key, value) in Json::read(more.as_bytes()).unwrap().into_object().members() {
        request.set(key, value.clone());
    }
    preflight(&basis, &Draft::read(request).unwrap()).unwrap().warnings
}

#[test]
fn an_unknown_stance_and_unlisted_buckets_are_warned_of() {
    let facts = Against::default();
    let buckets = |session: &mut Session| {
        session.buckets = Some(vec![Bucket::parse("btc").unwrap(), Bucket::parse("eth").unwrap()]);
    };
    let weights =
        r#"{ "weights": [{ "bucket": "BTC", "weight": 1 }, { "bucket": "eth", "weight": 1 }] }"#;
    let unlisted = Warning::UnlistedBuckets(vec![Bucket::parse("BTC").unwrap()]);
    assert_eq!(warned(&facts, buckets, weights), [unlisted]);
    assert_eq!(warned(&facts, |_| (), weights), []);
    assert_eq!(warned(&facts, |_| (), r#"{ "stance": "Bullish" }"#), [Warning::UnknownStance]);
    // It was not sent: that is a finding.
    assert_eq!(warned(&facts, |_| (), r#"{ "stance": null }"#), []);
    assert_eq!(warned(&facts, buckets, "{}"), [Warning::MissingWeights]);
    assert_eq!(warned(&facts, buckets, r#"{ "weights": [] }"#), [], "a finding");
}

#[test]
fn unknown_field_is_warned_of_with_the_nearest_name() {
    for (sent, nearest) in [
        ("weight", Some("weights")),
        ("Stance", Some("stance")),
        ("memo_url", Some("memoUrl")),
        ("subject", Some("subjectId")),
        ("noncee", Some("nonce")),
        ("publicKey", None),
        ("model", None),
        ("x", None),
    ] {
        let more = format!(r#"{{ "{sent}": 1 }}"#);
        let warning = Warning::UnknownField { name: sent.to_owned(), nearest };
        assert_eq!(warned(&Against::default(), |_| (), &more), [warning], "{sent}");
    }
    let many: Vec<_> = (0..1_000).map(|number| format!(r#""{number}": 1"#)).collect();
    let many = format!("{{ {} }}", many.join(","));
    assert_eq!(warned(&Against::default(), |_| (), &many).len(), 4);
}

#[test]
fn a_first_take_after_aggregation_is_warned_of() {
    let facts = Against { aggregated: true, ..Against::default() };
    assert_eq!(warned(&facts, |_| (), "{}"), [Warning::AlreadyAggregated]);
    // An amendment is refused.
    assert_eq!(warned(&Against { revisions: 1, ..facts }, |_| (), "{}"), []);
}
