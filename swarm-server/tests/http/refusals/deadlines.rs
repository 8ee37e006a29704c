//! Session deadlines, to the millisecond, by the store's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use serde_json::json;
use swarm_core::domain::Timestamp;
use swarm_store_memory::MemoryStore;

use crate::backend::{Backend, on_every_store};
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer};

on_every_store! {
    deadline_is_inclusive_to_the_millisecond,
    deadline_at_the_end_of_a_leap_day,
    session_state_does_not_decide_the_window,
    deadline_cannot_move_before_a_stored_take,
}

const DATE: &str = "2026-11-21";
const CLOSED: &str = "submission window closed";

fn set_deadline(fixture: &Fixture, session: u64, deadline: &str) -> Answer {
    try_deadline(fixture, session, deadline).expect(200)
}

fn try_deadline(fixture: &Fixture, session: u64, deadline: &str) -> Answer {
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let body = json!({ "windowClosesAt": deadline }).to_string();
    fixture.client.send("PATCH", &path, &headers, body.as_bytes())
}

fn deadline_is_inclusive_to_the_millisecond(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let session = fixture.convene(DATE, "aurora");
    set_deadline(&fixture, session, &fixture.clock.after(1_000));
    for (step, accepted) in [(999, true), (1, true), (1, false), (60_000, false)] {
        fixture.clock.move_by(step);
        let answer = fixture.client.submit(&author, author.draft(DATE, "aurora"));
        if accepted {
            let id = answer.expect(201).json()["recommendationId"].as_u64().unwrap();
            let take = fixture.client.get(&format!("/api/swarm/takes/{id}")).expect(200).json();
            assert_eq!(take["filedAt"], fixture.clock.after(0));
        } else {
            answer.refused(409, CLOSED);
        }
    }
    // An offset denotes the same instant, and a later deadline reopens the window.
    set_deadline(&fixture, session, "2026-11-21T23:00:00.000+05:30");
    let read = fixture.client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    assert_eq!(read["session"]["windowClosesAt"], "2026-11-21T17:30:00.000Z");
    fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
}

fn deadline_at_the_end_of_a_leap_day(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let session = fixture.convene("2028-02-29", "aurora");
    let midnight = Timestamp::parse("midnight", "2028-03-01T00:00:00Z").unwrap();
    fixture.clock.move_by(midnight.millis() - fixture.clock.now().millis() - 1);
    set_deadline(&fixture, session, "2028-02-29T23:59:59.999Z");
    fixture.client.submit(&author, author.draft("2028-02-29", "aurora")).expect(201);
    let take = fixture.client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!(take["filedAt"], "2028-02-29T23:59:59.999Z");
    fixture.clock.move_by(1);
    fixture.client.submit(&author, author.draft("2028-02-29", "aurora")).refused(409, CLOSED);
}

/// Neither state refuses a take before the deadline, nor accepts one after it (API.md, 5.3).
fn session_state_does_not_decide_the_window(backend: &Backend) {
    let fixture = Fixture::on(backend);
    for state in ["scheduled", "collecting", "window_closed", "aggregated", "published"] {
        let subject = format!("subject-{state}");
        let session = match state {
            "scheduled" => {
                fixture
                    .client
                    .operate("/subjects", &json!({ "id": subject, "name": "s" }))
                    .expect(201);
                let body = json!({ "date": DATE, "subjectId": subject, "state": "scheduled" });
                let convened = fixture.client.operate("/sessions", &body).expect(201).json();
                convened["session"]["id"].as_u64().unwrap()
            }
            _ => fixture.convene(DATE, &subject),
        };
        let path = format!("/sessions/{session}/state");
        if state == "published" {
            fixture.client.operate(&path, &json!({ "state": "aggregated" })).expect(200);
        }
        if session > 1 && state != "collecting" {
            fixture.client.operate(&path, &json!({ "state": state })).expect(200);
        }
        let read = fixture.client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
        assert_eq!(read["session"]["state"], state);
        let author = fixture.author();
        fixture.client.submit(&author, author.draft(DATE, &subject)).expect(201);
        set_deadline(&fixture, session, &fixture.clock.after(0));
        fixture.clock.move_by(1);
        let author = fixture.author();
        fixture.client.submit(&author, author.draft(DATE, &subject)).refused(409, CLOSED);
    }
}

/// Superseded or not, and whatever state the session is in (API.md, 7.3).
fn deadline_cannot_move_before_a_stored_take(backend: &Backend) {
    const LATER: &str = "a take on file was filed after that deadline";
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let session = fixture.convene(DATE, "aurora");
    set_deadline(&fixture, session, "2020-01-01T00:00:00.000Z");
    set_deadline(&fixture, session, &fixture.clock.after(60_000));
    for _ in 0..2 {
        fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
        fixture.clock.move_by(1_000);
    }
    let path = format!("/sessions/{session}/state");
    for state in ["collecting", "window_closed", "aggregated", "published"] {
        if state != "collecting" {
            fixture.client.operate(&path, &json!({ "state": state })).expect(200);
        }
        for after in [-2_000, -1_001] {
            let refused = try_deadline(&fixture, session, &fixture.clock.after(after));
            refused.refused(409, LATER);
        }
        for after in [-1_000, -999, 5_000] {
            set_deadline(&fixture, session, &fixture.clock.after(after));
        }
    }
}

/// The take is in time when judged, and late when committed: the commit decides.
#[test]
fn deadline_passed_before_the_commit_refuses() {
    let clock = Clock::noon();
    let noon = clock.now().millis();
    let late = Arc::new(AtomicI64::new(0));
    // The number of clock readings before the deadline.
    let in_time = Arc::new(AtomicUsize::new(usize::MAX));
    let store = {
        let (late, in_time) = (Arc::clone(&late), Arc::clone(&in_time));
        MemoryStore::with_clock(move || {
            let left = in_time.load(Ordering::SeqCst);
            in_time.store(left.saturating_sub(1), Ordering::SeqCst);
            let late = if left == 0 { late.load(Ordering::SeqCst) } else { 0 };
            Timestamp::from_millis(noon + late).unwrap()
        })
    };
    let fixture = Fixture::serve(clock, store.clone(), store);
    let author = fixture.author();
    let session = fixture.convene(DATE, "aurora");
    set_deadline(&fixture, session, &fixture.clock.after(5));
    late.store(6, Ordering::SeqCst);
    let nonce = "the-nonce";
    let draft = || author.draft_of(json!({ "date": DATE, "subjectId": "aurora", "nonce": nonce }));
    for readings in [0, 1] {
        in_time.store(readings, Ordering::SeqCst);
        fixture.client.submit(&author, draft()).refused(409, CLOSED);
        assert_eq!(fixture.takes().len(), 0);
        assert!(fixture.basis(&author, DATE, "aurora", nonce).spent.is_none());
    }
    // The commit makes the second and last reading; at the deadline it is in time.
    late.store(5, Ordering::SeqCst);
    in_time.store(1, Ordering::SeqCst);
    fixture.client.submit(&author, draft()).expect(201);
    assert_eq!(fixture.takes()[0].filed_at.to_string(), fixture.clock.after(5));
}
