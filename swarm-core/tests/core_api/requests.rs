//! Requests of operators, as clients write them: they are read as what was written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

use std::fmt::Debug;

use serde::Serialize;
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberPatch, GenerationOrder, StatusOrder, SubjectOrder,
    SynthesisOrder, WithdrawalOrder,
};
use swarm_core::domain::{
    BriefOrder, Erasure, ExcuseOrder, Form, KeyReplacementRequest, KeyRotation, MailAddress,
    MemberName, MemberUpdate, NoteAlone, Noted, OutcomeDraft, Regime, RosterFreeze, SessionDraft,
    SessionPatch, Signal, StateChange, Subject, SubjectSnapshotDraft, WebhookName, Withholding,
};
use swarm_core::json::{Json, write};

fn read<T: Form>(text: &str) -> T {
    T::read(&mut Json::read(text.as_bytes()).unwrap().into_object()).unwrap()
}

fn is_read_as_written<T: Form + Serialize + PartialEq + Debug>(text: &str) {
    let request: T = read(text);
    let written = write(&request);
    assert_eq!(read::<T>(&written), request, "{text} is written as {written}");
}

/// Also with the example of the reference, which has most fields.
fn are_read_as_written<T: Form + Serialize + PartialEq + Debug>(texts: &[&str]) {
    let mut schema = T::schema().into_object();
    let Some(Json::List(examples)) = schema.take("examples") else { panic!("no example") };
    examples.iter().for_each(|example| is_read_as_written::<T>(&write(example)));
    texts.iter().for_each(|text| is_read_as_written::<T>(text));
}

#[test]
fn requests_of_operators_are_read_as_written() {
    are_read_as_written::<MemberName>(&[]);
    are_read_as_written::<MemberUpdate>(&[r#"{"memberId": "ada", "name": "A", "lens": ""}"#]);
    are_read_as_written::<Erasure>(&[r#"{"memberId": "ada"}"#]);
    are_read_as_written::<KeyRotation>(&[
        r#"{"memberId": "ada", "publicKey": "cHJPUSdG9XlGh/lG8peTuzR1IBW56umVsG2mMtrk2Pc="}"#,
    ]);
    are_read_as_written::<MailAddress>(&[]);
    are_read_as_written::<Subject>(&[r#"{"id": "a", "name": "A", "wallets": [{"n": 1.50}]}"#]);
    are_read_as_written::<SubjectSnapshotDraft>(&[r#"{"date": "2026-11-21"}"#]);
    are_read_as_written::<Regime>(&[r#"{"date": "2026-11-21", "other": [1.0, null]}"#]);
    are_read_as_written::<Signal>(&[]);
    are_read_as_written::<Noted<BriefOrder>>(&[
        r#"{"prompt": {"system": "s", "user": "u"}, "replaces": true}"#,
    ]);
    are_read_as_written::<Noted<OutcomeDraft>>(&[r#"{"value": null}"#]);
    are_read_as_written::<NoteAlone>(&["{}"]);
    are_read_as_written::<Withholding>(&[]);
    are_read_as_written::<WebhookName>(&[]);
    are_read_as_written::<KeyReplacementRequest>(&[]);
}

#[test]
fn requests_about_the_committee_are_read_as_written() {
    are_read_as_written::<CommitteeMemberDraft>(&[r#"{"id": "ada", "name": "Ada"}"#]);
    are_read_as_written::<CommitteeMemberPatch>(&[r#"{"name": "Ada", "voice": ""}"#]);
    are_read_as_written::<StatusOrder>(&[]);
    are_read_as_written::<SubjectOrder>(&[]);
    are_read_as_written::<GenerationOrder>(&["{}", r#"{"deadline_utc": "2026-11-21T23:25:00Z"}"#]);
    are_read_as_written::<SynthesisOrder>(&[]);
    are_read_as_written::<WithdrawalOrder>(&[]);
}

#[test]
fn requests_about_sessions_are_read_as_written() {
    are_read_as_written::<Noted<SessionDraft>>(&[
        r#"{"date": "2026-11-21", "subjectId": "aurora"}"#,
        r#"{"date": "2026-11-21", "subjectId": "aurora", "state": "scheduled", "blind": true, "finish": true,
            "roster": [{"memberId": "ada", "excused": true}], "question": "More?", "resolution": "By the close.",
            "resolvesAt": "2026-11-22T18:00:00Z", "maxRevisions": 2, "method": "weighted_median",
            "stances": [{"name": "no", "rank": -1.5}, {"name": "yes", "rank": 1}]}"#,
        r#"{"date": "2026-11-21", "subjectId": "aurora", "practice": true}"#,
    ]);
    // `null` clears a field, which differs from leaving it out.
    are_read_as_written::<Noted<SessionPatch>>(&[
        "{}",
        r#"{"windowClosesAt": null, "quorum": null, "question": null, "resolution": null, "resolvesAt": null}"#,
        r#"{"quorum": 3, "question": "More?", "note": "n"}"#,
    ]);
    are_read_as_written::<Noted<StateChange>>(&[
        r#"{"state": "window_closed", "endWindow": true}"#,
    ]);
    are_read_as_written::<Noted<RosterFreeze>>(&[]);
    are_read_as_written::<Noted<ExcuseOrder>>(&[]);
}
