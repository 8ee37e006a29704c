//! The exact texts of log entries (API.md, 11.2).

use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBody, CommitteeMemberId, CommitteeStance, CommitteeTake,
};
use swarm_core::domain::{
    Act, Actor, Attribution, Bucket, Confidence, LogRow, Logged, Memo, MemoDraft, MemoId, Revision,
    Roster, RosterEntry, Seq, SessionDraft, Subject, SubjectSnapshotId,
};
use swarm_core::proof::{canonical, commit_reference};
use swarm_core::rules::{
    DigestSource, aggregate, brief_published, clock_accepted, convene, digest, digest_source,
    entry, memo_published, memo_retracted, snapshot_added, subject_put,
};
use swarm_core::{Session, SessionId, Take, TakeId, Timestamp, json};
use swarm_testing::{Author, day, id, moment, object, session_draft, subject};

use super::{now, operator};

const HEAD: &str = r#"{"seq":12,"at":"2026-11-21T12:00:00.000Z","#;

fn row(logged: Logged) -> LogRow {
    LogRow { seq: Seq(12), at: now(), logged }
}

/// The row of an act whose commit assigned this id.
fn row_of(act: &Act, minted: Option<u64>) -> LogRow {
    row(Logged::Act { text: act.as_str().to_owned(), minted })
}

/// The expected digest was computed with `sha256sum`.
#[test]
fn digest_is_sha256_of_the_json_text() {
    let abc = "sha256:6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25";
    assert_eq!(digest("abc"), abc);
    assert_eq!(digest(&json::Json::from("abc")), abc);
}

#[test]
fn take_is_logged_with_its_proof() {
    let ada = Author::named("ada");
    let session = session_draft("aurora").convened(SessionId(7), Timestamp::EPOCH);
    let signed = Arc::new(ada.keys.sign(ada.draft(&session, "nonce")));
    let take = Take {
        id: TakeId(5),
        session_id: SessionId(7),
        revision: Revision::FIRST,
        filed_at: now(),
        signed: Arc::clone(&signed),
        public_key: ada.key(),
    };
    let text = canonical(&signed.payload);
    let plain = json::Json::read(text.as_bytes()).unwrap();
    assert_eq!(json::write(&plain), text, "so the digest of the value is that of the text");
    let expected = format!(
        r#"{HEAD}"kind":"take","id":5,"sessionId":7,"memberId":"ada","revision":1,"digest":"{}","signature":"{}","publicKey":"{}"}}"#,
        digest(&plain),
        signed.signature.as_str(),
        ada.key(),
    );
    assert_eq!(entry(&row(Logged::Take(Arc::new(take))), None), expected);
}

#[test]
fn committee_take_is_logged_with_its_commit_reference() {
    let body = "x".repeat(80) + "\nSTANCE: bullish | CONFIDENCE: 0.5";
    let take = CommitteeTake {
        member_id: CommitteeMemberId::parse("ada").unwrap(),
        date: day("2026-11-21"),
        subject_id: subject("aurora"),
        stance: CommitteeStance::parse("bullish").unwrap(),
        confidence: Confidence::parse(0.5).unwrap(),
        body: CommitteeBody::parse(body).unwrap(),
        model: None,
        generated_at: now(),
        received_at: now(),
    };
    let expected = format!(
        r#"{HEAD}"kind":"committee-take","member_id":"ada","date":"2026-11-21","subject_id":"aurora","commit":"{}"}}"#,
        commit_reference(&take),
    );
    let row = row(Logged::CommitteeTake(Arc::new(take)));
    assert_eq!((entry(&row, None), digest_source(&row)), (expected, None));
}

fn drafted() -> SessionDraft {
    SessionDraft {
        window_closes_at: Some(moment("2026-11-21T13:00:00Z")),
        quorum: Some(2),
        buckets: Some(vec![Bucket::parse("cash").unwrap()]),
        roster: Some(
            Roster::parse(vec![RosterEntry { member_id: id("ada"), excused: false }]).unwrap(),
        ),
        ..session_draft("aurora")
    }
}

#[test]
fn session_is_logged_with_digests_of_long_fields() {
    let draft = drafted();
    let begins =
        format!(r#"{HEAD}"kind":"session","act":"convened","by":"operator","note":"why","#);
    let record = |convened: &str, state: &str, published: &str, snapshot: &str| {
        format!(
            r#""session":{{"id":7,"date":"2026-11-21","subjectId":"aurora","state":"{state}","windowClosesAt":"2026-11-21T13:00:00.000Z","convenedAt":"{convened}","quorum":2,"bucketsDigest":"{}","rosterDigest":"{}",{published}"snapshotDigest":{snapshot}}}}}"#,
            digest(&draft.buckets),
            digest(&draft.roster),
        )
    };
    let convened = row_of(&convene(&draft, &operator()).act, Some(7));
    let expected = begins + &record("2026-11-21T12:00:00.000Z", "collecting", "", "null");
    assert_eq!((entry(&convened, None), digest_source(&convened)), (expected, None));

    let session = draft.convened(SessionId(7), Timestamp::EPOCH);
    let snapshot = Arc::new(aggregate(&session, &[], now()));
    let snapshot_digest = format!("\"{}\"", digest(&snapshot));
    let published_at = Some(moment("2026-11-21T12:30:00Z"));
    let snapshot = Some(snapshot);
    let published = Session { published_at, snapshot, ..session };
    let act = brief_published(&published, &Attribution::SCHEDULE);
    assert_eq!(act.session(), Some(SessionId(7)));
    let begins = format!(r#"{HEAD}"kind":"session","act":"brief","by":"schedule","note":null,"#);
    let at = r#""publishedAt":"2026-11-21T12:30:00.000Z","#;
    let expected = begins + &record("1970-01-01T00:00:00.000Z", "collecting", at, &snapshot_digest);
    assert_eq!(entry(&row_of(&act, None), None), expected);
}

#[test]
fn memo_is_logged_with_id_and_digest() {
    let published = row_of(&memo_published(&id("ada")), Some(4));
    assert_eq!(digest_source(&published), Some(DigestSource::Memo(MemoId(4))));
    let expected = format!(
        r#"{HEAD}"kind":"memo","act":"published","id":4,"memberId":"ada","digest":"sha256:00"}}"#
    );
    assert_eq!(entry(&published, Some("sha256:00")), expected);

    let draft = MemoDraft::read(&mut object(r#"{"title":"t","body":"b"}"#)).unwrap();
    let memo = Memo { id: MemoId(4), member_id: id("ada"), draft, published_at: now() };
    let retracted = row_of(&memo_retracted(&memo, &Actor::OPERATOR), None);
    let expected = format!(
        r#"{HEAD}"kind":"memo","act":"retracted","by":"operator","id":4,"memberId":"ada","digest":"{}"}}"#,
        digest(&memo),
    );
    assert_eq!((entry(&retracted, None), digest_source(&retracted)), (expected, None));
}

#[test]
fn operator_changes_are_logged_with_actor_and_key() {
    let aurora = Subject::read(&mut object(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
    let put = row_of(&subject_put(&aurora, &Actor::OPERATOR), None);
    let expected = format!(
        r#"{HEAD}"kind":"subject","by":"operator","id":"aurora","digest":"{}"}}"#,
        digest(&aurora)
    );
    assert_eq!((entry(&put, None), digest_source(&put)), (expected, None));

    let added = row_of(&snapshot_added(&aurora.id, &Actor::OPERATOR), Some(9));
    let source = DigestSource::SubjectSnapshot(aurora.id, SubjectSnapshotId(9));
    assert_eq!(digest_source(&added), Some(source));
    let expected = format!(
        r#"{HEAD}"kind":"subject-snapshot","by":"operator","id":9,"subjectId":"aurora","digest":"sha256:00"}}"#
    );
    assert_eq!(entry(&added, Some("sha256:00")), expected);

    let accepted = row_of(&clock_accepted(&Actor::OPERATOR), None);
    let expected = format!(r#"{HEAD}"kind":"operation","act":"clock-accepted","by":"operator"}}"#);
    assert_eq!(entry(&accepted, None), expected);
}
