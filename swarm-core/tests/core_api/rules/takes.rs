//! Which takes may be filed, and which of them count (API.md, 5.2). `preflight.rs` tests the
//! order of the checks.

use std::sync::Arc;

use swarm_core::domain::{
    AttemptId, Body, Confidence, Revision, Salt, SessionDraft, SessionState, StoredSealedTake,
    StoredTake, TakeDraft,
};
use swarm_core::proof::canonical;
use swarm_core::rules::{Basis, Draft, Filing, Submission, judge, preflight, resolve};
use swarm_core::{Refusal, Rejection, Session, SessionId, Take, TakeId, Timestamp};
use swarm_testing::{Author, object, session_draft};

use super::{JUDGED, now, versioned};

fn ada() -> Author {
    Author::named("ada")
}

/// A session with a deadline at noon.
fn session() -> Session {
    let draft = SessionDraft { window_closes_at: Some(now()), ..session_draft("aurora") };
    draft.convened(SessionId(7), Timestamp::EPOCH)
}

/// Facts that accept a take of Ada.
fn facts(session: Session) -> Basis {
    Basis {
        now: now(),
        member: Some(versioned(ada().member())),
        session: Some(versioned(session.terms())),
        latest: None,
        spent: None,
    }
}

fn judged(facts: &Basis, submission: &Submission) -> Result<Filing, Rejection> {
    judge(facts, submission, AttemptId([9; 16]), Salt([8; 32]))
}

fn on_file(id: u64, revision: Revision, submission: &Submission) -> Arc<Take> {
    let signed = Arc::clone(submission.signed());
    let (session_id, public_key) = (SessionId(7), ada().key());
    Arc::new(Take {
        salt: None,
        withheld: None,
        id: TakeId(id),
        session_id,
        session_version: 1,
        revision,
        filed_at: now(),
        signed,
        public_key,
    })
}

#[test]
fn filing_guards_the_commit_with_the_judged_facts() {
    let facts = Basis { latest: Some(Revision::FIRST), ..facts(session()) };
    let submission = ada().submission(&session(), "nonce");
    let filing = judged(&facts, &submission).unwrap();
    let draft = submission.draft();
    assert_eq!(filing.attempt(), AttemptId([9; 16]));
    assert_eq!(filing.member(), (&ada().id, JUDGED));
    assert_eq!(filing.session(), (SessionId(7), JUDGED));
    assert_eq!(filing.newest_of(), (draft.date, &draft.subject_id));
    assert_eq!(filing.commit_deadline(), Some(now()));
    assert_eq!(filing.nonce(), &draft.nonce);
    assert_eq!(Some(filing.revision()), Revision::new(2));
    assert_eq!(filing.canonical(), canonical(draft));
    let take = on_file(5, filing.revision(), &submission);
    assert_eq!(filing.take(TakeId(5), now()), *take);
}

#[test]
fn deadline_is_inclusive() {
    let submission = ada().submission(&session(), "nonce");
    let at = |now| judged(&Basis { now, ..facts(session()) }, &submission);
    assert!(at(now()).is_ok());
    assert_eq!(at(now().plus_millis(1)).unwrap_err().reason, Refusal::WindowClosed);
    let endless = Session { window_closes_at: None, ..session() };
    assert!(judged(&Basis { now: now().plus_millis(1), ..facts(endless) }, &submission).is_ok());
}

#[test]
fn after_aggregation_first_take_is_accepted_amendment_is_not() {
    let submission = ada().submission(&session(), "nonce");
    for (state, amendable) in [
        (SessionState::WindowClosed, true),
        (SessionState::Aggregated, false),
        (SessionState::Published, false),
    ] {
        let first = facts(Session { state, ..session() });
        assert!(judged(&first, &submission).is_ok(), "{state}");
        let again = Basis { latest: Some(Revision::FIRST), ..first };
        let refused = judged(&again, &submission).err().map(|rejection| rejection.reason);
        assert_eq!(refused, (!amendable).then_some(Refusal::AmendmentClosed), "{state}");
    }
}

/// A client that lost the response sends the same again, and learns that the take is stored.
#[test]
fn conflict_names_only_the_replayed_take() {
    let sent = ada().submission(&session(), "nonce");
    let same = on_file(5, Revision::FIRST, &sent);
    let other_words = TakeDraft { body: Body::parse("other").unwrap(), ..sent.draft().clone() };
    let other_words = on_file(5, Revision::FIRST, &ada().sign(other_words));
    // Take the same fields with another signature, and other fields with the same signature.
    // Neither can be stored for a member whose signatures were verified.
    let resigned = on_file(
        5,
        Revision::FIRST,
        &Submission::new(Author::named("grace").keys.sign(sent.draft().clone())),
    );
    let mut forged = swarm_core::domain::Signed::clone(sent.signed());
    forged.payload.confidence = Confidence::parse(0.25).unwrap();
    let forged = on_file(5, Revision::FIRST, &Submission::new(forged));

    for (spent, original) in
        [(same.clone(), Some(TakeId(5))), (other_words, None), (resigned, None), (forged, None)]
    {
        let sealed = Take { salt: Some(Salt([8; 32])), ..Take::clone(&spent) };
        let sealed = StoredTake::Sealed(Arc::new(StoredSealedTake::of(&sealed).unwrap()));
        for spent in [spent.into(), sealed] {
            let facts = Basis { spent: Some(spent), ..facts(session()) };
            let rejection = judged(&facts, &sent).unwrap_err();
            assert_eq!((rejection.reason, rejection.original), (Refusal::NonceUsed, original));
            let late = Basis { now: now().plus_millis(1), ..facts };
            let rejection = judged(&late, &sent).unwrap_err();
            assert_eq!((rejection.reason, rejection.original), (Refusal::WindowClosed, original));
        }
    }
    let unknown = Basis { member: None, spent: Some(same.into()), ..facts(session()) };
    let rejection = judged(&unknown, &sent).unwrap_err();
    assert_eq!((rejection.reason, rejection.original), (Refusal::UnknownToken, None));
}

#[test]
fn highest_revision_of_each_member_counts() {
    let take = |id, name: &str, revision| {
        let author = Author::named(name);
        let submission = author.submission(&session(), &format!("nonce {id}"));
        on_file(id, Revision::new(revision).unwrap(), &submission)
    };
    let all = [
        take(1, "ada", 1),
        take(2, "grace", 1),
        take(3, "ada", 3),
        take(4, "ada", 2),
        take(5, "linus", 1),
        take(6, "grace", 2),
    ];
    for turns in 0..all.len() {
        let mut takes = all.to_vec();
        takes.rotate_left(turns);
        let counted: Vec<_> = resolve(&takes).iter().map(|take| take.id.0).collect();
        assert_eq!(counted, [3, 5, 6]);
    }
    assert_eq!(resolve::<Arc<Take>>(&[]), []);
}

/// The replacement of an invalid day or subject is not looked up.
#[test]
fn invalid_fields_are_not_looked_up() {
    let signature = ada().submission(&session(), "nonce").signed().signature.as_str().to_owned();
    for (date, subject, found) in [
        ("2026-11-21", "aurora", true),
        ("tomorrow", "aurora", false),
        ("2026-11-21", "", false),
        ("tomorrow", "", false),
    ] {
        let draft = Draft::read(object(&format!(
            r#"{{"memberId":"ada","date":"{date}","subjectId":"{subject}","nonce":"nonce",
                 "stance":"bullish","confidence":0.5,"signature":"{signature}"}}"#
        )));
        let preflight = preflight(&facts(session()), &draft.unwrap()).unwrap();
        assert_eq!(preflight.session, found.then_some(SessionId(7)), "{date} {subject}");
        assert_eq!(preflight.revision, found.then_some(Revision::FIRST));
        assert_eq!(preflight.findings.is_empty(), found);
        assert!(
            !preflight.findings.contains(&Refusal::NoSession { open: vec![] }),
            "{date} {subject}"
        );
    }
}
