//! The exact texts of log entries (API.md, 11.2).

use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBody, CommitteeMemberId, CommitteeStance, CommitteeTake,
};
use swarm_core::domain::{
    Actor, Attribution, Bucket, Confidence, Digest, LogLine, LogRow, Logged, Memo, MemoDraft,
    MemoId, Revision, Roster, RosterEntry, Seq, SessionDraft, Subject, SubjectSnapshotDraft,
};
use swarm_core::proof::{canonical, commit_reference, log_line};
use swarm_core::rules::{
    Act, aggregate, brief_published, clock_accepted, convene, memo_published, memo_retracted,
    snapshot_added, subject_put,
};
use swarm_core::{Session, SessionId, Take, TakeId, Timestamp, json};
use swarm_testing::{Author, day, id, moment, object, session_draft, subject};

use super::{now, operator};

const HEAD: &str = r#"{"seq":12,"at":"2026-11-21T12:00:00.000Z","#;

fn digest<T: serde::Serialize + ?Sized>(record: &T) -> Digest {
    Digest::of_json(record)
}

fn row(logged: Logged) -> LogRow {
    LogRow { seq: Seq(12), at: now(), logged }
}

/// The exact text of the entry of a commit that mints this id.
fn text_of(act: &Act, minted: u64) -> String {
    let row = row(Logged::Entry(act.entry(minted, now())));
    let text = log_line(&row).text();
    assert_eq!(LogLine::read(&text).map(|line| line.text()), Ok(text.clone()));
    text
}

/// The expected digest was computed with `sha256sum`.
#[test]
fn digest_is_sha256_of_the_json_text() {
    let abc = "sha256:6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25";
    assert_eq!(digest("abc").to_string(), abc);
    assert_eq!(digest(&json::Json::from("abc")).to_string(), abc);
}

#[test]
fn take_is_logged_with_its_proof() {
    let ada = Author::named("ada");
    let session = session_draft("aurora").convened(SessionId(7), Timestamp::EPOCH);
    let signed = Arc::new(ada.keys.sign(ada.draft(&session, "nonce")));
    let take = Take {
        salt: None,
        withheld: None,
        id: TakeId(5),
        session_id: SessionId(7),
        session_version: 1,
        revision: Revision::FIRST,
        filed_at: now(),
        signed: Arc::clone(&signed),
        public_key: ada.key(),
    };
    let text = canonical(&signed.payload);
    let plain = json::Json::read(text.as_bytes()).unwrap();
    assert_eq!(json::write(&plain), text, "so the digest of the value is that of the text");
    let expected = format!(
        r#"{HEAD}"kind":"take","id":5,"sessionId":7,"sessionVersion":1,"memberId":"ada","revision":1,"digest":"{}","signature":"{}","publicKey":"{}"}}"#,
        digest(&plain),
        signed.signature.as_str(),
        ada.key(),
    );
    assert_eq!(log_line(&row(Logged::Take(Arc::new(take).into()))).text(), expected);
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
    assert_eq!(log_line(&row).text(), expected);
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
    let begins = format!(
        r#"{HEAD}"kind":"session","version":1,"act":"convened","by":"operator","note":"why","#
    );
    let record = |convened: &str, state: &str, published: &str, snapshot: &str| {
        format!(
            r#""session":{{"id":7,"date":"2026-11-21","subjectId":"aurora","state":"{state}","windowClosesAt":"2026-11-21T13:00:00.000Z","convenedAt":"{convened}","quorum":2,"bucketsDigest":"{}","rosterDigest":"{}",{published}"snapshotDigest":{snapshot}}}}}"#,
            digest(&draft.buckets),
            digest(&draft.roster),
        )
    };
    let convened = text_of(&convene(&draft, &operator()).act, 7);
    let expected = begins + &record("2026-11-21T12:00:00.000Z", "collecting", "", "null");
    assert_eq!(convened, expected);

    let session = draft.convened(SessionId(7), Timestamp::EPOCH);
    let snapshot = Arc::new(aggregate(&session, &[], now()));
    let snapshot_digest = format!("\"{}\"", digest(&snapshot));
    let published_at = Some(moment("2026-11-21T12:30:00Z"));
    let snapshot = Some(snapshot);
    let published = Session { published_at, snapshot, ..session };
    let act = brief_published(&published, &Attribution::SCHEDULE);
    assert_eq!(act.session(), Some(SessionId(7)));
    let begins =
        format!(r#"{HEAD}"kind":"session","version":1,"act":"brief","by":"schedule","note":null,"#);
    let at = r#""publishedAt":"2026-11-21T12:30:00.000Z","#;
    let expected = begins + &record("1970-01-01T00:00:00.000Z", "collecting", at, &snapshot_digest);
    assert_eq!(text_of(&act, 0), expected);
}

#[test]
fn memo_is_logged_with_id_and_digest() {
    let draft = MemoDraft::read(&mut object(r#"{"title":"t","body":"b"}"#)).unwrap();
    let published = text_of(&memo_published(&id("ada"), &draft), 4);
    let content = r#"{"memberId":"ada","title":"t","body":"b","subjectId":null,"sessionId":null}"#;
    let digest = Digest::of(content.as_bytes());
    let memo = Memo { id: MemoId(4), member_id: id("ada"), draft, published_at: now() };
    let expected = format!(
        r#"{HEAD}"kind":"memo","act":"published","id":4,"memberId":"ada","digest":"{digest}"}}"#,
    );
    assert_eq!(published, expected);

    let retracted = text_of(&memo_retracted(&memo, &Actor::OPERATOR), 0);
    let expected = format!(
        r#"{HEAD}"kind":"memo","act":"retracted","by":"operator","id":4,"memberId":"ada","digest":"{digest}"}}"#,
    );
    assert_eq!(retracted, expected);
}

#[test]
fn operator_changes_are_logged_with_actor_and_key() {
    let aurora = Subject::read(&mut object(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
    let put = text_of(&subject_put(&aurora, &Actor::OPERATOR), 0);
    let expected = format!(
        r#"{HEAD}"kind":"subject","by":"operator","id":"aurora","digest":"{}"}}"#,
        digest(&aurora)
    );
    assert_eq!(put, expected);

    let draft = SubjectSnapshotDraft::read(&mut object(r#"{"date":"2026-11-21"}"#)).unwrap();
    let added = text_of(&snapshot_added(&aurora.id, &draft, &Actor::OPERATOR), 9);
    let content = r#"{"subjectId":"aurora","date":"2026-11-21","totalValueUsd":null,"positions":[],"notable":[]}"#;
    let expected = format!(
        r#"{HEAD}"kind":"subject-snapshot","by":"operator","id":9,"subjectId":"aurora","digest":"{}"}}"#,
        Digest::of(content.as_bytes()),
    );
    assert_eq!(added, expected);

    let accepted = text_of(&clock_accepted(&Actor::OPERATOR), 0);
    let expected = format!(r#"{HEAD}"kind":"operation","act":"clock-accepted","by":"operator"}}"#);
    assert_eq!(accepted, expected);
}

#[test]
fn recorded_entries_round_trip_byte_for_byte() {
    for text in include_str!("../../../../vectors/log/entries.jsonl").lines() {
        assert_eq!(LogLine::read(text).map(|line| line.text()), Ok(text.to_owned()));
    }
}

#[test]
fn only_the_exact_text_of_an_entry_is_read() {
    let text = r#"{"seq":1,"at":"2026-11-21T12:00:00.000Z","kind":"operation","act":"clock-accepted","by":"a"}"#;
    assert!(LogLine::read(text).is_ok());
    for (from, to) in [
        ("{\"seq", "{ \"seq"),
        ("\"seq\":1", "\"seq\":1.0"),
        ("12:00:00.000Z", "12:00:00Z"),
        ("\"a\"}", "\"\\u0061\"}"),
        ("\"a\"}", "\"a\",\"more\":1}"),
        ("clock-accepted", "clock-refused"),
        ("operation", "unknown"),
    ] {
        assert!(LogLine::read(&text.replace(from, to)).is_err(), "{from} as {to}");
    }
}
