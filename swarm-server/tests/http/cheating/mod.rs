//! What an operator with database, signing key and admin token can try, and how it is noticed: the rows of the table in
//! PROOFS.md. Each test drives a server, forges with its key, and asks `swarm verify`, the Python verifier and `swarm watch`.

mod checkpoints;
mod desk;
mod forged;
mod honest;

use std::sync::Arc;

use serde_json::json;
use swarm_core::domain::{
    Actor, Day, Digest, EndorsedKey, KeyReplacement, LogEntry, MemberAct, MemberEntry,
    MemberStatus, Operation, OutcomeDraft, QuestionText, SessionAct, SessionState, SubjectId, Take,
};
use swarm_core::proof::take_entry;
use swarm_core::rules;

use crate::backend::Backend;
use crate::fixture::Fixture;
use desk::{Desk, Forged};

/// Drops the entries with these numbers from the bundle. They stay in the log.
fn without(forged: &mut Forged, seqs: &[u64]) {
    forged.bundled.retain(|seq| !seqs.contains(seq));
}

/// Asserts that a verifier printed a line with these words, as notable.
#[track_caller]
fn assert_notable(said: &str, words: &str) {
    let line = said.lines().find(|line| line.contains(words));
    assert!(line.is_some_and(|line| line.starts_with("notable: ")), "{words}: {said}");
}

#[test]
fn honest_session_has_nothing_to_notice() {
    let desk = Desk::aggregated();
    let honest = desk.read();
    let said = honest.verified(&["--strict"], 0);
    assert!(said.contains("unproven: completeness"), "{said}");
    let said = honest.verified_with_log(&["--strict"], 0);
    for holds in ["holds: completeness: ", "holds: keys: ", "holds: takes: 3 takes precede"] {
        assert!(said.contains(holds), "{said}");
    }
    let said = honest.verified_by_url(&desk, 0);
    assert!(said.contains("holds: completeness: "), "{said}");
    let said = honest.watched(0);
    assert!(said.contains("holds: ") && !said.contains("notable: "), "{said}");
}

#[test]
fn take_that_was_counted_is_missed() {
    let desk = Desk::aggregated();
    let mut forged = desk.read();
    let seq = forged.seq_of(|entry| matches!(entry, LogEntry::Take(take) if take.id.0 == 2));
    without(&mut forged, &[seq]);
    forged.takes.remove(1);
    assert!(forged.verified(&[], 1).contains("fails: takes: 2 takes precede"));
    // The log has it, and nothing else is wrong with that.
    assert!(forged.verified_with_log(&[], 1).contains("fails: completeness: "));
    forged.watched(0);

    // Also where the result is computed again without it, and the log is rewritten to say so.
    let takes: Vec<_> = forged.takes.iter().map(|it| Arc::new(it.clone())).collect();
    let at = forged.session.snapshot.as_ref().unwrap().figures.aggregated_at;
    let snapshot = rules::aggregate(&forged.session, &takes, at);
    forged.session.snapshot = Some(Arc::new(snapshot));
    let digest = rules::logged(&forged.session).snapshot_digest;
    forged.each_act(|act| act.session.snapshot_digest = act.session.snapshot_digest.and(digest));
    let said = forged.verified(&[], 1);
    assert!(said.contains("fails: takes: 2 takes precede"), "{said}");
    assert!(said.contains("holds: snapshot"), "{said}");

    // Where the log says that only two were on file, it contradicts itself.
    forged.each_act(|act| act.takes = act.takes.and(Some(2)));
    forged.verified(&[], 0);
    assert!(forged.verified_with_log(&[], 1).contains("fails: completeness: "));
    assert!(forged.watched(1).contains("aggregated over 2 takes, 3 are on file"));
}

#[test]
fn acts_that_were_taken_back_are_missed() {
    let desk = Desk::convened(&json!({ "windowClosesAt": "2999-01-01T00:00:00Z", "quorum": 2 }));
    desk.file(&desk.ada);
    for change in [
        json!({ "windowClosesAt": "2999-01-02T00:00:00Z", "quorum": 1 }),
        json!({ "windowClosesAt": "2999-01-01T00:00:00Z", "quorum": 2 }),
    ] {
        desk.patch(&change);
    }
    desk.brief();
    let honest = desk.read();
    let said = honest.verified(&["--strict"], 3);
    assert!(said.contains("notable: deadline: ") && said.contains("notable: quorum: "), "{said}");
    let mut forged = honest;
    let moves = forged.seqs_of(
        |entry| matches!(entry, LogEntry::Session(act) if act.act == SessionAct::Deadline),
    );
    assert_eq!(moves.len(), 2);
    without(&mut forged, &moves);
    let said = forged.verified(&[], 1);
    assert!(said.contains("fails: version: ") && said.contains("version 4, expected 2"), "{said}");
    assert_eq!(forged.watched(0).matches(": deadline moved from 2999-01-0").count(), 2);
    // Left out of the log too.
    forged.remove(&moves);
    assert!(forged.verified(&[], 1).contains("version 4, expected 2"));
    assert!(forged.watched(1).contains("version 4 after version 1"));
}

#[test]
fn second_result_is_missed() {
    let desk = Desk::aggregated();
    let mut first = desk.read();
    let LogEntry::Session(mut act) = first.entries.last().unwrap().entry.clone() else { panic!() };
    act.version += 1;
    act.session.snapshot_digest = Some(swarm_core::domain::Digest::of(b"another result"));
    first.append(LogEntry::Session(act), false);
    // The bundle with the first result ends before the second one. It is missed in the log.
    first.verified(&[], 0);
    assert!(first.verified_with_log(&[], 1).contains("fails: completeness: "));
    assert!(first.watched(1).contains("aggregated a second time"));
    // The bundle with the second result lacks the first one, or has both.
    let mut second = first;
    let last = second.entries.len() as u64;
    without(&mut second, &[last - 1]);
    second.bundled.push(last);
    assert!(second.verified(&[], 1).contains("fails: version: "));
    second.bundled.insert(second.bundled.len() - 1, last - 1);
    assert!(second.verified(&[], 1).contains("aggregated a second time"));
}

#[test]
fn withdrawn_session_is_missed() {
    let desk = Desk::convened(&json!({}));
    let mut forged = desk.read();
    let LogEntry::Session(mut act) = forged.entries.last().unwrap().entry.clone() else { panic!() };
    (act.version, act.act) = (2, SessionAct::Withdrawn);
    let withdrawn = act.clone();
    forged.append(LogEntry::Session(act), false);
    forged.verified(&[], 0);
    assert!(forged.verified_with_log(&[], 1).contains("fails: completeness: "));
    assert!(forged.watched(0).contains("session 1: withdrawn"));
    // An act after it.
    let mut brief = withdrawn;
    (brief.version, brief.act) = (3, SessionAct::Brief);
    forged.append(LogEntry::Session(brief), false);
    assert!(forged.verified_with_log(&[], 1).contains("fails: completeness: "));
    assert!(forged.watched(1).contains("\"brief\" after it was withdrawn"));
}

/// An act that says nothing of the deadline moves it, and the session is convened again.
#[test]
fn act_under_another_label_is_missed() {
    let desk = Desk::convened(&json!({ "windowClosesAt": "2999-01-01T00:00:00Z" }));
    desk.file(&desk.ada);
    let last = |forged: &Forged, label| {
        let act = forged.entries.iter().rev().find_map(|line| match &line.entry {
            LogEntry::Session(act) => Some(act.clone()),
            _ => None,
        });
        let mut act = act.unwrap();
        (act.version, act.act) = (act.version + 1, label);
        act
    };
    let mut forged = desk.read();
    let mut act = last(&forged, SessionAct::Brief);
    act.session.window_closes_at = None;
    forged.session.window_closes_at = None;
    forged.append(LogEntry::Session(act.clone()), true);
    let said = forged.verified(&[], 1);
    assert!(said.contains("fails: history: ") && said.contains("\"windowClosesAt\""), "{said}");
    assert!(forged.watched(1).contains("\"brief\" also changes \"windowClosesAt\""));

    let mut forged = desk.read();
    let again = last(&forged, SessionAct::Convened);
    forged.append(LogEntry::Session(again), false);
    forged.verified(&[], 0);
    assert!(forged.verified_with_log(&[], 1).contains("fails: completeness: "));
    assert!(forged.watched(1).contains("session 1: convened again"));

    // The quorum, by an act on the question: the rules allow it.
    let mut forged = desk.read();
    let mut act = last(&forged, SessionAct::Question);
    act.session.quorum = Some(1);
    forged.session.quorum = Some(1);
    forged.append(LogEntry::Session(act), true);
    assert!(forged.verified(&["--strict"], 3).contains("notable: quorum: "));
    let said = forged.watched(0);
    assert_notable(&said, "quorum from none to 1");
}

/// A session that has an outcome, a result or an end before it begins.
#[test]
fn session_that_is_convened_as_no_server_does_is_noticed() {
    let desk = Desk::convened(&json!({}));
    let honest = desk.read();
    let at = honest.session.convened_at;
    for (change, words) in [
        (
            &(|session: &mut swarm_core::Session| {
                let draft = OutcomeDraft { value: None, source: None };
                session.outcome = Some(draft.recorded(at));
            }) as &dyn Fn(&mut swarm_core::Session),
            "convened with \"outcome\"",
        ),
        (&|session| session.published_at = Some(at), "convened with \"publishedAt\""),
        (&|session| session.state = SessionState::WindowClosed, "convened as window_closed"),
        (&|session| session.date = Day::parse("2026-02-30").unwrap(), "which is no day"),
    ] {
        let mut forged = desk.read();
        change(&mut forged.session);
        let logged = rules::logged(&forged.session);
        forged.each_act(|act| act.session = logged.clone());
        let said = forged.verified(&[], 1);
        assert!(said.contains("fails: history: ") && said.contains(words), "{said}");
        assert!(forged.watched(1).contains(words));
    }
}

/// The server goes on serving what it served before an act, under the checkpoint of that time.
#[test]
fn bundle_under_an_old_checkpoint_is_missed() {
    let desk = Desk::aggregated();
    let old = desk.read();
    old.verified_with_log(&["--strict"], 0);
    let note = json!({ "note": "another result is better" });
    desk.client().operate("/sessions/1/void", &note).expect(200);
    let mut new = desk.read();
    old.verified(&["--strict"], 0);
    let said = old.verified_with_log_of(&new, &[], 1);
    let words = format!("fails: completeness: entry {} of the log concerns", new.size());
    assert!(said.contains(&words), "{said}");
    let said = old.verified_by_url(&desk, 1);
    assert!(said.contains(&words), "{said}");
    assert!(new.watched(0).contains("notable: entry"));
    // The log that goes on is another one.
    let eve = Actor::operator("eve").unwrap();
    new.each_act(|act| act.by = eve.clone());
    let said = old.verified_with_log_of(&new, &[], 1);
    assert!(said.contains("fails: consistency: a fork: the log of"), "{said}");
}

#[test]
fn second_session_of_the_day_is_noticed() {
    let desk = Desk::convened(&json!({}));
    desk.client().convene(desk::DAY, "aurora");
    let honest = desk.read();
    assert!(honest.verified(&["--strict"], 0).contains("unproven: sessions"));
    let said = honest.verified_with_log(&["--strict"], 3);
    assert!(said.contains("notable: sessions: session 2 of 2026-11-21"), "{said}");
    let said = honest.watched(0);
    let words = "session 2: convened, another session of its day and subject";
    assert_notable(&said, words);
}

/// The operator convenes the day again, and files there what the members signed for the first session.
#[test]
fn take_that_is_filed_again_in_another_session_is_noticed() {
    let desk = Desk::convened(&json!({}));
    desk.file(&desk.ada);
    let mut first = desk.read();
    desk.client().convene(desk::DAY, "aurora");
    desk.file(&desk.grace);
    let mut forged = desk.read_session(2);
    forged.verified_with_log(&["--strict"], 3);
    let ours = first.takes.remove(0);
    let take = Take {
        id: swarm_core::TakeId(3),
        session_id: forged.session.id,
        session_version: 1,
        filed_at: forged.entries.last().unwrap().at,
        ..ours
    };
    forged.append(LogEntry::Take(take_entry(&take)), true);
    forged.takes.push(take);
    // Alone, the bundle holds: the member signed it, for this day and subject.
    forged.verified(&[], 0);
    let said = forged.verified_with_log(&[], 1);
    let words = "fails: nonce: take 3 was filed in session 1 too, as take 1";
    assert!(said.contains(words), "{said}");
    assert!(forged.watched(1).contains("was filed before, in session 1"));
}

/// The entry that convenes the other session comes after the take in it.
#[test]
fn take_that_is_filed_again_before_its_session_is_convened_is_noticed() {
    let desk = Desk::convened(&json!({}));
    desk.file(&desk.ada);
    let mut forged = desk.read();
    let session_id = swarm_core::SessionId(2);
    let again = Take { id: swarm_core::TakeId(2), session_id, ..forged.takes[0].clone() };
    forged.append(LogEntry::Take(take_entry(&again)), false);
    let convened = forged.entries.iter().find_map(|line| match &line.entry {
        LogEntry::Session(act) if act.act == SessionAct::Convened => Some(act.clone()),
        _ => None,
    });
    let mut convened = convened.unwrap();
    convened.session.id = session_id;
    forged.append(LogEntry::Session(convened), false);
    forged.verified(&[], 0);
    let said = forged.verified_with_log(&[], 1);
    let words = "fails: nonce: take 1 was filed in session 2 too, as take 2";
    assert!(said.contains(words), "{said}");
    forged.watched(1);
}

/// A member that was erased has no key any more; one that was deactivated keeps it.
#[test]
fn take_of_a_member_that_is_inactive_in_the_log_is_noticed() {
    let desk = Desk::convened(&json!({}));
    desk.file(&desk.ada);
    let key = desk.grace.key.public_key();
    let inactive = format!("\"{}\" was not active when it was filed", desk.grace.id);
    for (act, key_after, fault) in [
        (MemberAct::Erased, None, "the log had not given"),
        (MemberAct::Deactivated, Some(key.clone()), &*inactive),
    ] {
        let mut forged = desk.read();
        let after = (desk.grace.id.clone(), MemberStatus::Inactive);
        let eve = Actor::operator("eve").ok();
        let entry = MemberEntry::new(act, eve, after, key_after);
        forged.append(LogEntry::Member(entry), false);
        let mut take = forged.takes[0].clone();
        take.signed = Arc::new(desk.grace.key.sign(desk.grace.draft(desk::DAY, "aurora")));
        take.public_key = key.clone();
        (take.id, take.session_version) = (swarm_core::TakeId(2), 1);
        take.filed_at = forged.entries.last().unwrap().at;
        forged.append(LogEntry::Take(take_entry(&take)), true);
        forged.takes.push(take);
        forged.verified(&[], 0);
        let said = forged.verified_with_log(&[], 1);
        assert!(said.contains(&format!("fails: keys: take 2: {fault}")), "{said}");
        forged.watched(1);
    }
}

#[test]
fn take_by_a_key_that_no_entry_registered_is_noticed() {
    let desk = Desk::convened(&json!({}));
    let mut forged = desk.read();
    let key = crate::harness::fresh_key();
    let draft = desk.ada.draft(desk::DAY, "aurora");
    let take = Take {
        id: swarm_core::TakeId(1),
        session_id: forged.session.id,
        session_version: 1,
        revision: swarm_core::domain::Revision::FIRST,
        filed_at: forged.entries.last().unwrap().at,
        signed: Arc::new(key.sign(draft)),
        public_key: key.public_key(),
        salt: None,
        withheld: None,
    };
    forged.append(LogEntry::Take(take_entry(&take)), true);
    forged.takes.push(take);
    assert!(forged.verified(&[], 0).contains("unproven: keys"));
    assert!(
        forged.verified_with_log(&[], 1).contains("fails: keys: take 1: the log had not given")
    );
    let members = format!("{} {}\n", desk.ada.id, desk.ada.key.public_key());
    assert!(forged.verified_with_members(&members, 1).contains("fails: keys: take 1"));
    assert!(forged.watched(1).contains("is not the one that the log registered"));
}

/// A key in the name of the member, which did not endorse it, and one by an act that has another name.
#[test]
fn key_that_the_member_did_not_replace_is_noticed() {
    let desk = Desk::convened(&json!({}));
    let (key, old) = (crate::harness::fresh_key(), &desk.ada.key);
    let signed = |by: &swarm_core::proof::KeyPair| {
        let payload = KeyReplacement {
            member_id: desk.ada.id.clone(),
            public_key: key.public_key().to_string(),
            replaces: old.public_key().to_string(),
        };
        EndorsedKey { replaces: old.public_key(), endorsement: by.sign(payload).signature }
    };
    let eve = Actor::operator("eve").unwrap();
    let (rotated, updated) = (MemberAct::KeyRotated, MemberAct::Updated);
    for (act, by, endorsed, status) in [
        (rotated, Actor::MEMBER, Some(signed(old)), 0),
        (rotated, Actor::MEMBER, Some(signed(&key)), 1),
        (rotated, Actor::MEMBER, None, 1),
        (updated, Actor::MEMBER, None, 1),
        (updated, eve, None, 1),
    ] {
        let mut forged = desk.read();
        let (after, key_after) =
            ((desk.ada.id.clone(), MemberStatus::Active), Some(key.public_key()));
        let mut entry = MemberEntry::new(act, Some(by), after, key_after);
        entry.endorsed = endorsed;
        forged.append(LogEntry::Member(entry), false);
        let take = Take {
            id: swarm_core::TakeId(1),
            session_id: forged.session.id,
            session_version: 1,
            revision: swarm_core::domain::Revision::FIRST,
            filed_at: forged.entries.last().unwrap().at,
            signed: Arc::new(key.sign(desk.ada.draft(desk::DAY, "aurora"))),
            public_key: key.public_key(),
            salt: None,
            withheld: None,
        };
        forged.append(LogEntry::Take(take_entry(&take)), true);
        forged.takes.push(take);
        let said = forged.verified_with_log(&["--strict"], status);
        let words = "which neither an operator nor the key before replaced";
        assert_eq!(said.contains(words), status == 1, "{said}");
        let said = forged.watched(status);
        assert!(!said.contains("notable: "), "{said}");
    }
}

/// An operator sets the clock back, so that a take comes in after the deadline.
#[test]
fn clock_that_an_operator_set_back_is_noticed() {
    let desk = Desk::convened(&json!({ "windowClosesAt": "2999-01-01T00:00:00Z" }));
    desk.file(&desk.ada);
    let mut forged = desk.read();
    let last = forged.entries.last().unwrap().at;
    let eve = Actor::operator("eve").unwrap();
    forged.append(LogEntry::Operation(Operation::ClockAccepted { by: eve }), true);
    forged.entries.last_mut().unwrap().at = last.plus_millis(-3_600_000);
    let mut take = forged.takes[0].clone();
    let draft = desk.grace.draft(desk::DAY, "aurora");
    take.signed = Arc::new(desk.grace.key.sign(draft));
    take.public_key = desk.grace.key.public_key();
    (take.id, take.session_version) = (swarm_core::TakeId(2), 1);
    take.filed_at = last.plus_millis(-3_600_000);
    forged.append(LogEntry::Take(take_entry(&take)), true);
    forged.takes.push(take);
    forged.verified(&[], 0);
    let said = forged.verified(&["--strict"], 3);
    assert!(
        said.contains("notable: time: ") && said.contains("1 take was filed after it"),
        "{said}"
    );
    assert!(!said.contains("never run back"), "{said}");
    let said = forged.watched(0);
    assert_notable(&said, "clock-accepted");
}

/// An entry about something else has the later time, and no entry of the session runs back.
#[test]
fn clock_that_was_set_back_after_another_entry_is_noticed() {
    let desk = Desk::convened(&json!({ "windowClosesAt": "2999-01-01T00:00:00Z" }));
    desk.file(&desk.ada);
    let eve = || Actor::operator("eve").unwrap();
    let subject = || LogEntry::Subject {
        by: eve(),
        id: SubjectId::parse("borealis").unwrap(),
        digest: Digest::of_json(&"borealis"),
    };
    let accepted = || LogEntry::Operation(Operation::ClockAccepted { by: eve() });
    for (is_accepted, is_bundled) in [(true, true), (true, false), (false, false)] {
        let mut forged = desk.read();
        let last = forged.entries.last().unwrap().at;
        let append = |forged: &mut Forged, entry, later, is_bundled| {
            forged.append(entry, is_bundled);
            forged.entries.last_mut().unwrap().at = last.plus_millis(later);
            forged.serve();
        };
        append(&mut forged, subject(), 7_200_000, false);
        if is_accepted {
            append(&mut forged, accepted(), 1_000, is_bundled);
        }
        let mut take = forged.takes[0].clone();
        take.signed = Arc::new(desk.grace.key.sign(desk.grace.draft(desk::DAY, "aurora")));
        take.public_key = desk.grace.key.public_key();
        (take.id, take.session_version) = (swarm_core::TakeId(2), 1);
        take.filed_at = last.plus_millis(2_000);
        append(&mut forged, LogEntry::Take(take_entry(&take)), 2_000, true);
        forged.takes.push(take);
        let (status, said) = match (is_accepted, is_bundled) {
            (true, true) => (3, forged.verified(&["--strict"], 3)),
            (true, false) => (3, forged.verified_with_log(&["--strict"], 3)),
            (false, _) => (1, forged.verified_with_log(&[], 1)),
        };
        let verdict = if status == 3 { "notable: time: entry " } else { "fails: time: entry " };
        assert!(said.contains(verdict), "{said}");
        assert_eq!(said.contains("which the bundle leaves out"), is_accepted && !is_bundled);
    }
}

#[test]
fn bundle_has_the_clocks_that_operators_accepted_between_its_entries() {
    const TWO_HOURS: i64 = 7_200_000;
    let fixture = Fixture::on(&Backend::memory());
    let client = &fixture.client;
    let ada = fixture.author();
    fixture.convene(desk::DAY, "aurora");
    fixture.clock.move_by(TWO_HOURS);
    client.operate("/subjects", &json!({ "id": "borealis", "name": "Borealis" })).expect(201);
    fixture.clock.move_by(1_000 - TWO_HOURS);
    client.operate("/accept", &json!({ "what": "clock" })).expect(200);
    client.submit(&ada, ada.draft(desk::DAY, "aurora")).expect(201);
    fixture.sign_log();
    let bundle = client.get("/api/swarm/sessions/1/bundle").expect(200).text;
    assert!(bundle.contains("clock-accepted") && !bundle.contains("borealis"), "{bundle}");
}

#[test]
fn key_that_an_operator_replaced_is_noticed() {
    let desk = Desk::convened(&json!({}));
    let key = crate::harness::fresh_key();
    let rotate = |key: &str| {
        let body = json!({ "memberId": desk.ada.id.as_str(), "publicKey": key });
        desk.client().operate("/rotate-key", &body).expect(200).json()["token"].clone()
    };
    let token = rotate(&key.public_key().to_string()).as_str().unwrap().to_owned();
    let intruder = crate::harness::Author { id: desk.ada.id.clone(), key, token };
    desk.file(&intruder);
    rotate(&desk.ada.key.public_key().to_string());
    let honest = desk.read();
    let said = honest.verified_with_log(&["--strict"], 3);
    assert_eq!(said.matches("notable: keys: entry ").count(), 2, "{said}");
    let members = format!("# mine\n{} {}\n", desk.ada.id, desk.ada.key.public_key());
    assert!(honest.verified_with_members(&members, 1).contains("fails: keys: take 1"));
    let said = honest.watched(0);
    assert_eq!(said.matches("notable: ").count(), 2, "{said}");
    assert_eq!(said.matches(" replaced the key of ").count(), 2, "{said}");
}

#[test]
fn terms_that_changed_after_takes_are_notable() {
    let desk = Desk::convened(&json!({ "windowClosesAt": "2999-01-01T00:00:00Z" }));
    desk.file(&desk.ada);
    desk.file(&desk.grace);
    let roster = [&desk.ada, &desk.grace].map(|it| json!({ "memberId": it.id.as_str() }));
    let operate = |path: &str, body| desk.client().operate(path, &body).expect(200);
    operate("/sessions/1/roster", json!({ "members": roster }));
    let excuse = json!({ "memberId": desk.grace.id.as_str(), "excused": true });
    operate("/sessions/1/roster/excuse", excuse);
    desk.patch(&json!({ "quorum": 1 }));
    operate("/sessions/1/state", json!({ "state": "aggregated" }));
    let honest = desk.read();
    assert_eq!(honest.session.state, SessionState::Aggregated);
    let said = honest.verified(&["--strict"], 3);
    honest.verified(&[], 0);
    for text in [
        "notable: roster: entry ",
        "roster none → 2 members, when 2 takes were on file",
        "expected → excused, when 2 takes were on file; its 1 take there would not count",
        "quorum none → 1, when 2 members had filed",
        "aggregated before the deadline 2999-01-01T00:00:00.000Z; 0 takes were filed after it",
        "holds: roster: 2 members by its digest; 2 takes were filed before",
        "computed again from 2 takes, of which those of 1 member count",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let member = json!({ "memberId": desk.grace.id.as_str() });
    desk.client().convene(desk::DAY, "gold");
    operate("/deactivate", member);
    let said = desk.read().watched(0);
    for text in [
        ": roster from none to ",
        "excused, whose take counts no more, 2 takes on file",
        "quorum from none to 1, 2 takes on file",
        "state aggregated, before its deadline 2999-01-01T00:00:00.000Z, 2 takes on file",
        "while open: session 2, in which the member had filed 0",
    ] {
        assert_notable(&said, text);
    }
}

#[test]
fn log_of_another_checkpoint_shows_nothing() {
    let desk = Desk::aggregated();
    let mut other = desk.read();
    other.served.last_mut().unwrap().push(' ');
    let said = other.verified_with_log(&[], 2);
    assert!(said.contains("are not those of the latest checkpoint"), "{said}");
    other.watched(2);
}

/// The last act on the session again, changed, with its record.
fn act_again(forged: &mut Forged, act: SessionAct, change: impl Fn(&mut swarm_core::Session)) {
    let LogEntry::Session(mut entry) = forged.entries.last().unwrap().entry.clone() else {
        panic!()
    };
    change(&mut forged.session);
    entry.version += 1;
    (entry.act, entry.takes) = (act, None);
    entry.session = rules::logged(&forged.session);
    forged.append(LogEntry::Session(entry), true);
}

#[test]
fn late_question_and_early_outcome_are_noticed() {
    let desk = Desk::aggregated();
    let mut forged = desk.read();
    act_again(&mut forged, SessionAct::Question, |session| {
        session.question.text = Some(QuestionText::parse("Lower?").unwrap());
    });
    let said = forged.verified(&[], 1);
    assert!(said.contains("fails: history: ") && said.contains("changes the question"), "{said}");
    assert!(forged.watched(1).contains("question changed with 3 takes on file"));

    let mut forged = desk.read();
    let draft = OutcomeDraft { value: None, source: None };
    let at = forged.entries.last().unwrap().at;
    act_again(&mut forged, SessionAct::Outcome, |session| {
        session.outcome = Some(draft.recorded(at));
    });
    let said = forged.verified(&[], 1);
    assert!(
        said.contains("fails: outcome: ") && said.contains("before its window was over"),
        "{said}"
    );
    assert!(forged.watched(1).contains("outcome recorded before its window was over"));
}

#[test]
fn outcome_that_was_replaced_is_noticed() {
    let desk = Desk::aggregated();
    let take = desk.client().get("/api/swarm/takes/3").expect(200).json();
    desk.patch(&json!({ "windowClosesAt": take["filedAt"] }));
    let outcome = |value: f64| {
        let body = json!({ "value": value, "source": "prices.example" });
        desk.client().operate("/sessions/1/outcome", &body).expect(200);
    };
    std::thread::sleep(std::time::Duration::from_millis(5));
    outcome(1.0);
    let first = desk.read();
    let said = first.verified(&[], 0);
    assert!(said.contains("holds: outcome: 1; from the snapshot, 2 members scored"), "{said}");
    assert!(said.contains("unproven: outcome: "), "{said}");
    outcome(-1.0);
    let mut second = desk.read();
    let said = second.verified(&["--strict"], 3);
    assert!(said.contains("notable: outcome: ") && said.contains("the outcome 1 → -1"), "{said}");
    // A bundle that ends before the second one is missed in the log.
    let last = second.entries.len() as u64;
    without(&mut second, &[last]);
    second.session = first.session;
    let said = second.verified(&[], 0);
    assert!(!said.contains("notable: outcome: "), "{said}");
    assert!(second.verified_with_log(&[], 1).contains("fails: completeness: "));
    let said = second.watched(0);
    assert_notable(&said, ": outcome from {");
}
