//! When briefs are generated, and about which subject.

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::domain::committee::{
    CommitteeDay, CommitteeSettings, CommitteeTake, Generation, GenerationOrder, SubjectOrder,
    Synthesis, SynthesisOrder,
};
use swarm_core::domain::{Actor, Subject, SubjectId};
use swarm_core::rules::committee::{
    CommitteeRefusal, KnownDay, NewBriefs, day_to_generate, deadline, generate, is_current, is_due,
    scheduled, set_subject, set_synthesis, stays_current, subject_for, until_due, withdraw,
};
use swarm_core::{Resource, Timestamp};

use super::{DEADLINE, at, day, fields, generated, subject, take, versioned};

fn due(now: &str, day: &CommitteeDay) -> bool {
    is_due(&CommitteeSettings::default(), at(now), day, &filed())
}

/// The submissions of a day with one.
fn filed() -> [Arc<CommitteeTake>; 1] {
    [take("ada", "bullish", 0.5, "REGIME")]
}

fn blank() -> CommitteeDay {
    CommitteeDay::blank(day("2026-11-21"))
}

fn known(record: CommitteeDay) -> KnownDay {
    KnownDay::new(record.date, Some(versioned(record)))
}

/// The generated day, generated again.
fn remade(generated_at: &str, deadline: &str) -> CommitteeDay {
    let made = generated().generation.unwrap();
    let made = Generation { generated_at: at(generated_at), deadline: at(deadline), ..made };
    CommitteeDay { generation: Some(made), ..generated() }
}

#[test]
fn briefs_are_due_between_brief_time_and_deadline() {
    for (now, expected) in [
        ("2026-11-21T00:00:00.000Z", false),
        ("2026-11-21T22:44:59.999Z", false),
        ("2026-11-21T22:45:00.000Z", true),
        // A server that starts late catches up while the deadline is ahead.
        ("2026-11-21T23:00:00.000Z", true),
        ("2026-11-21T23:24:59.999Z", true),
        ("2026-11-21T23:25:00.000Z", false),
        ("2026-11-21T23:59:59.999Z", false),
        ("2028-02-29T22:45:00.000Z", true),
        ("2026-12-31T22:45:00.000Z", true),
    ] {
        let today = CommitteeDay::blank(at(now).day());
        assert_eq!(due(now, &today), expected, "{now}");
    }
}

#[test]
fn briefs_are_due_once_per_day() {
    let now = "2026-11-21T22:50:00Z";
    assert!(!due(now, &generated()));
    assert!(due(now, &blank()));
    let morning = remade("2026-11-21T08:00:00Z", DEADLINE);
    assert!(due(now, &morning));
    assert!(!due("2026-11-21T22:44:59.999Z", &morning));
    // A deadline that an operator set replaces that of the settings.
    let short = remade("2026-11-21T08:00:00Z", "2026-11-21T22:50:00Z");
    assert!(due("2026-11-21T22:49:59.999Z", &short) && !due(now, &short));
    let long = remade("2026-11-21T08:00:00Z", "2026-11-23T00:00:00Z");
    assert!(due("2026-11-21T23:50:00Z", &long) && !due("2026-11-22T22:50:00Z", &long));
}

#[test]
fn deadline_without_submissions_does_not_block_the_schedule() {
    let settings = CommitteeSettings::default();
    let noon = remade("2026-11-21T08:00:00Z", "2026-11-21T12:00:00Z");
    let (before, time) = (at("2026-11-21T22:44:59.999Z"), at("2026-11-21T22:45:00Z"));
    assert!(!is_due(&settings, before, &noon, &[]) && is_due(&settings, time, &noon, &[]));
    assert_eq!(until_due(&settings, before, &noon, &[]).as_millis(), 1);
    assert_eq!(scheduled(&settings, time, &noon).deadline, Some(at(DEADLINE)));
    assert!(!is_due(&settings, time, &noon, &filed()));
    // A deadline that is ahead is kept.
    let ahead = remade("2026-11-21T08:00:00Z", "2026-11-21T22:50:00Z");
    assert_eq!(scheduled(&settings, time, &ahead).deadline, None);
    assert!(is_due(&settings, at("2026-11-21T22:50:00Z"), &ahead, &[]));
    // Briefs that the schedule generated are not generated again.
    let made = remade("2026-11-21T22:45:00Z", "2026-11-21T22:50:00Z");
    assert!(!is_due(&settings, at("2026-11-21T22:50:00Z"), &made, &[]));
}

/// Whether briefs are due at a time, with the latest stored day.
fn due_at(moment: Timestamp, latest: &CommitteeDay) -> bool {
    is_due(&CommitteeSettings::default(), moment, &at_hand(moment, latest), &filed())
}

fn at_hand(moment: Timestamp, latest: &CommitteeDay) -> CommitteeDay {
    let date = day_to_generate(Some(latest), moment);
    if date == latest.date { latest.clone() } else { CommitteeDay::blank(date) }
}

#[test]
fn until_due_predicts_is_due() {
    let hour = 60 * 60 * 1_000;
    for latest in [
        generated(),
        remade("2026-11-21T08:00:00Z", DEADLINE),
        remade("2026-11-21T08:00:00Z", "2026-11-21T22:50:00Z"),
        remade("2026-11-21T22:45:00Z", "2026-11-22T22:00:00Z"),
        remade("2026-11-21T22:45:00Z", "2026-11-22T23:00:00Z"),
        remade("2026-11-21T22:45:00Z", "2026-11-22T23:25:00Z"),
        remade("2026-11-21T22:45:00Z", "2026-11-23T23:10:00Z"),
    ] {
        for step in 0..30 {
            let now = at("2026-11-21T08:30:00Z").plus_millis(step * hour * 2 + step * 60_000);
            let settings = CommitteeSettings::default();
            let wait = until_due(&settings, now, &at_hand(now, &latest), &filed());
            let wait = i64::try_from(wait.as_millis()).unwrap();
            let mut earlier = (0..wait).step_by(30_000).chain((wait > 0).then(|| wait - 1));
            let early = earlier.find(|passed| due_at(now.plus_millis(*passed), &latest));
            assert_eq!(early, None, "{latest:?} {now} {wait}");
            let (mut asked, mut rounds) = (now.plus_millis(wait), 0);
            while !due_at(asked, &latest) {
                let next = until_due(&settings, asked, &at_hand(asked, &latest), &filed());
                asked = asked.plus_millis(i64::try_from(next.as_millis()).unwrap());
                rounds += 1;
                assert!(rounds <= 3, "{latest:?} {now}: asked again and again");
            }
        }
    }
}

#[test]
fn until_due_waits_for_an_open_earlier_day() {
    for (deadline, next) in [
        ("2026-11-22T23:24:59.999Z", "2026-11-22T23:25:00.000Z"),
        ("2026-11-22T23:25:00.000Z", "2026-11-23T22:45:00.000Z"),
        ("2026-11-22T23:59:00.000Z", "2026-11-23T22:45:00.000Z"),
    ] {
        let (now, earlier) = (at("2026-11-22T23:00:00Z"), remade("2026-11-21T22:45:00Z", deadline));
        let settings = CommitteeSettings::default();
        let wait = until_due(&settings, now, &at_hand(now, &earlier), &filed());
        assert_eq!(wait, now.until(at(next)), "{deadline}");
    }
}

#[test]
fn stays_current_predicts_is_current() {
    for (deadline, now) in [
        (DEADLINE, "2026-11-21T22:50:00Z"),
        (DEADLINE, "2026-11-21T23:30:00Z"),
        ("2026-11-22T00:30:00Z", "2026-11-21T23:00:00Z"),
        ("2026-11-22T00:30:00Z", "2026-11-22T00:29:00Z"),
        ("2026-11-22T00:30:00Z", "2026-11-22T00:30:00Z"),
        ("2026-11-24T12:00:00Z", "2026-11-23T12:00:00Z"),
    ] {
        let (day, now) = (remade("2026-11-21T22:45:00Z", deadline), at(now));
        let stays = i64::try_from(stays_current(&day, now).as_millis()).unwrap();
        let is_current = |passed| is_current(&day, now.plus_millis(passed));
        assert!(is_current(0) && is_current(stays - 1) && !is_current(stays), "{deadline} {now}");
    }
}

#[test]
fn open_session_is_not_replaced_before_its_deadline() {
    let open = remade("2026-11-21T22:45:00Z", "2026-11-22T23:00:00Z");
    for (latest, now, expected) in [
        (None, "2026-11-21T00:00:00Z", "2026-11-21"),
        (Some(&generated()), "2026-11-21T23:59:59.999Z", "2026-11-21"),
        (Some(&generated()), "2026-11-22T00:00:00Z", "2026-11-22"),
        (Some(&open), "2026-11-22T23:00:00.000Z", "2026-11-21"),
        (Some(&open), "2026-11-22T23:00:00.001Z", "2026-11-22"),
    ] {
        assert_eq!(day_to_generate(latest, at(now)), day(expected), "{now}");
    }
}

fn in_turn<'a>(subjects: &'a [Subject], now: &str) -> &'a str {
    let order = GenerationOrder::default();
    subject_for(&order, &blank(), subjects, at(now)).unwrap().id.as_str()
}

#[test]
fn subject_rotation_spans_leap_days_and_years() {
    let [c, a, b, x] = [("c", "active"), ("a", "active"), ("b", "active"), ("0", "archived")];
    let subjects = [c, a, b, x].map(|(id, status)| subject(id, status));
    // 2028-02-28 is day 21242 after 1970-01-01, and 21242 = 3 * 7080 + 2.
    for (date, expected) in [
        ("2028-02-28", "c"),
        ("2028-02-29", "a"),
        ("2028-03-01", "b"),
        ("2028-03-02", "c"),
        ("1970-01-01", "a"),
        ("1969-12-31", "c"),
    ] {
        for time in ["00:00:00.000", "23:59:59.999"] {
            assert_eq!(in_turn(&subjects, &format!("{date}T{time}Z")), expected, "{date}");
        }
    }
    // The day is the UTC day, whatever the offset of the timestamp.
    assert_eq!(in_turn(&subjects, "2028-03-01T00:30:00+01:00"), "a");
}

proptest! {
    #[test]
    fn each_subject_recurs_once_per_rotation(start in -1_000_000i64..1_000_000, count in 1usize..9) {
        let subjects: Vec<_> = (0..count).map(|it| subject(&it.to_string(), "active")).collect();
        let order = GenerationOrder::default();
        let mut seen = Vec::new();
        for number in start..start + i64::try_from(count).unwrap() {
            let now = Timestamp::from_millis(number * 86_400_000).unwrap();
            seen.push(subject_for(&order, &blank(), &subjects, now).unwrap().id.clone());
        }
        seen.sort();
        seen.dedup();
        prop_assert_eq!(seen.len(), count);
    }
}

#[test]
fn operator_subject_takes_precedence_over_rotation() {
    let subjects = [subject("a", "active"), subject("aurora", "archived"), subject("set", "new")];
    let now = at("2026-11-21T22:45:00Z");
    let id = |text: &str| SubjectId::parse(text).unwrap();
    let chosen = |order: Option<&str>, today: &CommitteeDay| {
        let order = GenerationOrder { subject_id: order.map(id), deadline: None };
        subject_for(&order, today, &subjects, now).map(|subject| subject.id.to_string())
    };
    let set = CommitteeDay { subject: Some(id("set")), ..generated() };
    assert_eq!(chosen(None, &blank()), Ok("a".into()));
    assert_eq!(chosen(None, &generated()), Ok("aurora".into()));
    assert_eq!(chosen(None, &set), Ok("set".into()));
    assert_eq!(chosen(Some("a"), &set), Ok("a".into()));
    assert_eq!(chosen(Some("b"), &set), Err(CommitteeRefusal::NotFound(Resource::Subject)));
    let none = subject_for(&GenerationOrder::default(), &blank(), &subjects[1..], now);
    assert_eq!(none, Err(CommitteeRefusal::NoSubject));
}

#[test]
fn deadline_is_requested_kept_or_default() {
    let settings = CommitteeSettings::default();
    let now = at("2026-11-21T22:45:00Z");
    let ordered = at("2026-11-22T08:00:00Z");
    let order = GenerationOrder { subject_id: None, deadline: Some(ordered) };
    let none = GenerationOrder::default();
    assert_eq!(deadline(&none, &settings, &blank(), &[], now), Ok(at(DEADLINE)));
    assert_eq!(deadline(&order, &settings, &blank(), &[], now), Ok(ordered));
    let again = remade("2026-11-21T22:45:00Z", "2026-11-22T08:00:00Z");
    assert_eq!(deadline(&none, &settings, &again, &[], now), Ok(ordered));
}

/// At the deadline it is still open. Without takes, nothing has become public.
#[test]
fn session_with_public_takes_is_not_reopened() {
    let settings = CommitteeSettings::default();
    let (takes, made) =
        ([take("ada", "neutral", 0.5, "")], remade("2026-11-21T22:45:00Z", DEADLINE));
    let (open, over) = (at(DEADLINE), at(DEADLINE).plus_millis(1));
    let moved = |by: Option<i64>, takes: &[_], now| {
        let ordered = by.map(|by| at(DEADLINE).plus_millis(by));
        let order = GenerationOrder { subject_id: None, deadline: ordered };
        let made = deadline(&order, &settings, &made, takes, now);
        assert!(made.as_ref().is_err() || made == Ok(ordered.unwrap_or(at(DEADLINE))));
        made.err()
    };
    for by in [1, 3_600_000] {
        assert_eq!(moved(Some(by), &takes, over), Some(CommitteeRefusal::WindowClosed));
        assert_eq!(moved(Some(by), &takes, open), None);
        assert_eq!(moved(Some(by), &[], over), None);
    }
    for by in [None, Some(0), Some(-1)] {
        assert_eq!(moved(by, &takes, over), None);
    }
}

#[test]
fn generation_keeps_other_fields_of_the_day() {
    let id = |text: &str| SubjectId::parse(text).unwrap();
    let day = CommitteeDay {
        subject: Some(id("set")),
        synthesis: Some(Synthesis::parse("text").unwrap()),
        ..generated()
    };
    let (judged, now) = (known(day.clone()), at("2026-11-21T23:00:00Z"));
    let none = GenerationOrder::default();
    let (aurora, b) = (id("aurora"), id("b"));
    let about = |subject_id, submissions| NewBriefs {
        subject_id,
        deadline: at(DEADLINE),
        contents: &[],
        submissions,
    };
    let change = generate(&none, &judged, &about(&aurora, 1), now, &Actor::SCHEDULE);
    assert_eq!((change.expected, change.briefs), (judged.version, Some(vec![])));
    assert_eq!((change.day.subject, change.day.synthesis), (day.subject, day.synthesis));
    let made = change.day.generation.unwrap();
    assert_eq!((made.generated_at, made.withdrawn), (now, 0));

    // A synthesis belongs to the subject.
    let order = GenerationOrder { subject_id: Some(id("b")), deadline: None };
    let change = generate(&order, &judged, &about(&b, 1), now, &Actor::SCHEDULE);
    assert_eq!((change.day.subject, change.day.synthesis), (Some(id("b")), None));
    let unknown = KnownDay::new(blank().date, None);
    let plain = generate(&none, &unknown, &about(&b, 0), now, &Actor::SCHEDULE);
    assert_eq!((plain.expected, plain.day.subject), (None, None));

    // The submissions of a day without briefs belong to a withdrawn generation.
    let anew = generate(&none, &known(blank()), &about(&b, 2), now, &Actor::SCHEDULE);
    assert_eq!(anew.day.generation.unwrap().withdrawn, 2);
}

#[test]
fn setting_subject_or_synthesis_keeps_other_fields() {
    let order = SubjectOrder::read(&mut fields(r#"{"date":"2026-11-21","subject_id":"b"}"#));
    let order = order.unwrap();
    let judged = known(generated());
    let set = set_subject(&judged, &order.subject_id, &Actor::SCHEDULE);
    assert_eq!(set.day.generation, generated().generation);
    assert_eq!((set.expected, set.briefs), (judged.version, None));

    let order = SynthesisOrder::read(&mut fields(r#"{"date":"2026-11-21","synthesis":"text"}"#));
    let synthesis = order.unwrap().synthesis;
    let written = set_synthesis(&judged, &synthesis, &Actor::SCHEDULE).unwrap();
    assert_eq!(written.day, CommitteeDay { synthesis: Some(synthesis.clone()), ..generated() });
    for unknown in [KnownDay::new(blank().date, None), known(blank())] {
        let refused = set_synthesis(&unknown, &synthesis, &Actor::SCHEDULE).unwrap_err();
        assert_eq!(refused, CommitteeRefusal::NotFound(Resource::Session));
    }
}

/// The log records the withdrawal.
#[test]
fn withdrawn_day_is_blank() {
    let judged = known(CommitteeDay {
        subject: Some(SubjectId::parse("set").unwrap()),
        synthesis: Some(Synthesis::parse("text").unwrap()),
        ..generated()
    });
    let change = withdraw(&judged, &Actor::OPERATOR).unwrap();
    assert_eq!(change.day, blank());
    assert_eq!((change.expected, change.briefs), (judged.version, Some(vec![])));
    assert_eq!(
        change.act.known().unwrap().to_text(),
        r#"{"kind":"committee-day","act":"withdrawn","by":"operator","date":"2026-11-21","subject_id":"aurora","deadline_utc":"2026-11-21T23:25:00.000Z"}"#
    );
    for unknown in [KnownDay::new(blank().date, None), known(blank())] {
        let refused = withdraw(&unknown, &Actor::OPERATOR).unwrap_err();
        assert_eq!(refused, CommitteeRefusal::NotFound(Resource::Session));
    }
}

#[test]
fn invalid_orders_name_the_field() {
    let field = |text: &str| GenerationOrder::read(&mut fields(text)).unwrap_err().field;
    assert_eq!(field(r#"{"subject_id":""}"#), "subject_id");
    assert_eq!(field(r#"{"deadline_utc":"23:25"}"#), "deadline_utc");
    let empty = GenerationOrder::read(&mut fields(r#"{"subject_id":null,"deadline_utc":null}"#));
    assert_eq!(empty, Ok(GenerationOrder::default()));
    let date = SubjectOrder::read(&mut fields(r#"{"date":"2026-02-29","subject_id":"a"}"#));
    assert_eq!(date.unwrap_err().field, "date");
}
