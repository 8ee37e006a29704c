//! Round trips of records through their texts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

use std::fmt::Debug;
use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBody, CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeStatus, CommitteeTake, Generation, Model, Synthesis, Voice,
};
use swarm_core::domain::{
    Confidence, Contact, Day, Digest, Lens, Mail, MailState, Member, MemberState, Message,
    MessageId, Name, PublicKey, Revision, SecretHash, SessionDraft, Stances, SubjectId, Webhook,
};
use swarm_core::json::{self, Json, Object};
use swarm_core::proof::KeyPair;
use swarm_core::records::Record;
use swarm_core::store::Collection;
use swarm_core::{MemberId, Session, SessionId, Take, TakeDraft, TakeId, Timestamp};

#[test]
fn take_record_round_trips() {
    let keys = KeyPair::from_seed(&[7; 32]);
    let draft = TakeDraft::read(&mut object(
        r#"{ "memberId": "ada", "date": "2026-02-30", "subjectId": "s \" é", "nonce": "n",
             "stance": "bullish", "confidence": 0.1, "body": "b\n\u0000", "memoUrl": "m",
             "weights": [{ "bucket": "cash", "weight": 1e-7 }] }"#,
    ));
    read_back(&Take {
        salt: None,
        withheld: None,
        id: TakeId(9_007_199_254_740_992),
        session_id: SessionId(7),
        session_version: 0,
        revision: Revision::CAP,
        filed_at: at("2026-11-21T22:45:00.123Z"),
        signed: Arc::new(keys.sign(draft.unwrap())),
        public_key: key(),
    });
}

#[test]
fn session_record_round_trips_with_and_without_snapshot() {
    let draft = SessionDraft::read(&mut object(
        r#"{ "date": "2026-11-21", "subjectId": "s", "quorum": 2, "buckets": ["cash", "eth"],
             "windowClosesAt": "2026-11-21T22:45:00Z",
             "roster": [{ "memberId": "ada" }, { "memberId": "bob", "excused": true }] }"#,
    ));
    let convened = draft.unwrap().convened(SessionId(3), Timestamp::EPOCH);
    let convened = Session { version: 0, ..convened };
    read_back(&convened);
    let snapshot = object(
        r#"{ "aggregatedAt": "2026-11-21T22:46:00.000Z",
             "participation": { "members": 1, "expected": 1, "rate": 1 },
             "quorum": { "required": 2, "met": false },
             "stances": { "bearish": 0, "cautious": 1, "neutral": 0, "constructive": 0,
                          "bullish": 0, "other": 2 },
             "consensus": { "stance": "cautious", "score": -1, "confidence": 0.3333333333333333 },
             "weights": [{ "bucket": "cash", "weight": 1 }],
             "quotes": [{ "takeId": 4, "memberId": "ada", "revision": 2, "stance": "cautious",
                          "confidence": 0.5, "body": "" }] }"#,
    );
    let mut published = object(&convened.to_text());
    published.set("snapshot", Json::Object(snapshot));
    published.set("publishedAt", Json::from("1970-01-01T00:00:00.000Z"));
    let published = Session::from_text(&json::write(&published)).unwrap();
    assert_eq!(published.published_at, Some(Timestamp::EPOCH));
    let figures = &published.snapshot.as_ref().unwrap().figures;
    assert_eq!(figures.stances, Stances::of_service([0, 1, 0, 0, 0], 2));
    read_back(&published);
    assert!(!Session { version: 12, ..published }.to_text().contains("version"));
}

#[test]
fn member_record_round_trips_with_and_without_key_and_token() {
    let member = Member {
        id: MemberId::parse("ada").unwrap(),
        name: Name::parse("Ada \u{1f680}").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: None,
        state: MemberState::Applied,
        applied_at: Timestamp::EPOCH,
        reviewed_at: None,
        joined_at: None,
        claimed_at: None,
        token: None,
        token_claimed_at: None,
        used_claim: None,
    };
    read_back(&member);
    let now = Some(at("2026-11-21T22:45:00.123Z"));
    let token = Some(SecretHash::of(b"token"));
    let (state, public_key) = (MemberState::Claimed, Some(key()));
    let times = Member { reviewed_at: now, joined_at: now, claimed_at: now, ..member };
    let claimed = Member { state, public_key, token, ..times };
    read_back(&Member { token_claimed_at: now, ..claimed.clone() });
    read_back(&Member { used_claim: Some(Digest::of(b"claim")), ..claimed.clone() });
    // A record that is older than the time of the claim.
    assert!(!claimed.to_text().contains("tokenClaimedAt"));
    read_back(&claimed);
}

#[test]
fn message_record_round_trips() {
    let (subject, body) = ("Hello".to_owned(), "line\nline".to_owned());
    let mail = Mail { to: Contact::parse("ada@example.org").unwrap(), subject, body };
    let queued = mail.queued(MessageId(1), Timestamp::EPOCH);
    read_back(&queued);
    let member = Some(MemberId::parse("ada").unwrap());
    let occasion = Some("reminder 7 ada".to_owned());
    read_back(&Message { member, occasion, ..queued.clone() });
    let (state, last_error) = (MailState::Failed, Some("why".to_owned()));
    read_back(&Message { state, last_error, attempts: 10, sent_at: Some(queued.due_at), ..queued });
}

#[test]
fn committee_records_round_trip() {
    let (date, moment) = (Day::parse("2026-11-21").unwrap(), at("2026-11-21T22:45:00.123Z"));
    let (id, subject_id) = (CommitteeMemberId::parse("ada").unwrap(), subject("s"));
    read_back(&CommitteeMember {
        id: id.clone(),
        name: Name::parse("Ada").unwrap(),
        lens: Lens::parse("macro").unwrap(),
        voice: Voice::parse("").unwrap(),
        status: CommitteeStatus::Inactive,
        created_at: moment,
        key: SecretHash::of(b"key"),
    });
    read_back(&CommitteeDay::blank(date));
    let (deadline, generated_at) = (moment, Timestamp::EPOCH);
    let made = Generation {
        subject_id: subject_id.clone(),
        withdrawn: 3,
        deadline,
        generated_at,
        briefs: 2,
    };
    read_back(&CommitteeDay {
        date,
        subject: Some(subject_id.clone()),
        generation: Some(made),
        synthesis: Some(Synthesis::parse("All agree.").unwrap()),
    });
    let (head, tail) = (r#"{"a":"#.to_owned(), "}".to_owned());
    read_back(&CommitteeBrief { member_id: id.clone(), generated_at, head, tail });
    let body = format!("{}\nSTANCE: neutral | CONFIDENCE: 0.5", "x".repeat(80));
    read_back(&CommitteeTake {
        member_id: id,
        date,
        subject_id,
        stance: CommitteeStance::Neutral,
        confidence: Confidence::parse(0.5).unwrap(),
        body: CommitteeBody::parse(body).unwrap(),
        model: Some(Model::parse("m-1").unwrap()),
        generated_at,
        received_at: moment,
    });
}

#[test]
fn names_round_trip() {
    for collection in Collection::ALL {
        assert_eq!(collection.to_string().parse(), Ok(collection));
    }
    for state in MailState::ALL {
        assert_eq!(state.to_string().parse(), Ok(state));
    }
    for state in MemberState::ALL {
        assert_eq!(state.to_string().parse(), Ok(state));
    }
    assert!("Queued".parse::<MailState>().is_err() && "".parse::<Collection>().is_err());
}

/// The texts that stores and dumps keep: a change of them is a new layout.
#[test]
fn texts_of_derived_records_stay() {
    let mail = r#""to":"ada@test.example","subject":"Hello","body":"Text""#;
    let rest = r#""state":"queued","queuedAt":"2026-11-21T09:00:00.000Z","sentAt":null,"attempts":0,"lastError":null,"dueAt":"2026-11-21T09:00:00.000Z""#;
    is_text_of::<Message>(&format!(r#"{{"id":1,{mail},{rest}}}"#));
    let more = r#""memberId":"ada","occasion":"welcome""#;
    is_text_of::<Message>(&format!(r#"{{"id":1,{mail},{rest},{more}}}"#));
    is_text_of::<Message>(&format!(r#"{{"id":1,"to":null,"subject":"","body":"",{rest}}}"#));
    is_text_of::<Webhook>(
        r#"{"url":"https://a.example","log":1,"seq":2,"notice":3,"closing":[{"session":4,"deadline":"2026-11-21T09:00:00.000Z"}]}"#,
    );
    let without = r#"{"url":"https://a.example","log":1,"seq":2,"notice":3}"#;
    assert_eq!(Webhook::from_text(without).map(|webhook| webhook.closing), Ok(vec![]));
    is_text_of::<CommitteeDay>(
        r#"{"date":"2026-11-21","subject":null,"generation":null,"synthesis":null}"#,
    );
    is_text_of::<CommitteeDay>(
        r#"{"date":"2026-11-21","subject":"aurora","generation":{"subject_id":"aurora","withdrawn":1,"deadline":"2026-11-21T23:25:00.000Z","generated_at":"2026-11-21T22:45:00.000Z","briefs":2},"synthesis":"Calm."}"#,
    );
    is_text_of::<CommitteeBrief>(
        r#"{"member_id":"ada","generated_at":"2026-11-21T22:45:00.000Z","head":"{","tail":"}"}"#,
    );
    let hash = format!("sha256:{}", "0f".repeat(32));
    let times = r#""appliedAt":"2026-11-21T09:00:00.000Z","reviewedAt":null,"joinedAt":null,"claimedAt":null"#;
    let who =
        r#""id":"ada","name":"Ada","contact":"ada@test.example","lens":"macro","publicKey":null"#;
    is_text_of::<Member>(&format!(r#"{{{who},"state":"applied",{times},"token":null}}"#));
    is_text_of::<Member>(&format!(
        r#"{{{who},"state":"claimed",{times},"token":"{hash}","tokenClaimedAt":"2026-11-21T09:00:00.000Z"}}"#
    ));
    let erased = r#""id":"ada","name":"erased","contact":null,"lens":null,"publicKey":null"#;
    is_text_of::<Member>(&format!(r#"{{{erased},"state":"inactive",{times},"token":null}}"#));
    is_text_of::<CommitteeMember>(&format!(
        r#"{{"id":"ada","name":"Ada","lens":"macro","voice":"","status":"active","created_at":"2026-11-21T09:00:00.000Z","key":"{hash}"}}"#
    ));
    let unreadable = CommitteeDay::from_text(r#"{"date":7}"#).map_err(|error| error.to_string());
    assert_eq!(unreadable, Err("no record: date must be a string".to_owned()));
}

fn is_text_of<R: Record + Debug>(text: &str) {
    let record = R::from_text(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(record.to_text(), text);
}

/// Asserts that a record round-trips, through other libraries too, and that no truncated text is a record.
fn read_back<R: Record + PartialEq + Debug>(record: &R) {
    let text = record.to_text();
    assert_eq!(R::from_text(&text).as_ref(), Ok(record), "{text}");
    assert_eq!(serde_json::from_str::<R>(&text).ok().as_ref(), Some(record), "{text}");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(R::from_text(&text[..end]).is_err(), "{}", &text[..end]);
    }
}

fn object(text: &str) -> Object {
    Json::read(text.as_bytes()).unwrap().into_object()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse("t", text).unwrap()
}

fn subject(text: &str) -> SubjectId {
    SubjectId::parse(text).unwrap()
}

fn key() -> PublicKey {
    PublicKey::parse("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=").unwrap()
}
