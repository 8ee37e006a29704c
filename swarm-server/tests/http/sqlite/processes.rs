//! Two servers with cached facts on one file: a change through one of them applies at once to takes filed
//! through either.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::{DAY, TOKEN};
use crate::clock::Clock;
use crate::harness::{ADMIN, Author, Client, signed_text};
use crate::program::Program;

const ROUNDS: usize = 8;

/// Takes that each server is sent while the change is made. Two more were filed before, and five is the cap.
const RACING: usize = 1;

const LOST_RACE: &str = "a concurrent submission from this member won the same revision; retry";

/// A change of a session or its member, by an operator.
type Act<'a> = &'a dyn Fn(&Client, u64, &Author);

#[test]
fn deadline_moved_in_one_process_holds_in_both() {
    let clock = Clock::of_programs();
    let pass_deadline: Act<'_> = &|client, session, _| {
        set_deadline(client, session, &json!(clock.after(1)));
        clock.move_by(2);
    };
    let reopen: Act<'_> = &|client, session, _| set_deadline(client, session, &Value::Null);
    race_at(&clock, pass_deadline, (409, "submission window closed"), Some(reopen));
}

#[test]
fn deactivation_in_one_process_holds_in_both() {
    let deactivate: Act<'_> = &|client, _, author| operate_on(client, "/deactivate", author);
    let activate: Act<'_> = &|client, _, author| operate_on(client, "/activate", author);
    race(deactivate, (401, "unknown member token"), Some(activate));
}

#[test]
fn rotated_token_is_unknown_in_both_processes() {
    let rotate: Act<'_> = &|client, _, author| operate_on(client, "/rotate-key", author);
    race(rotate, (401, "unknown member token"), None);
}

#[test]
fn roster_frozen_in_one_process_holds_in_both() {
    let freeze: Act<'_> = &|client, session, _| {
        let other = Author::join(client, "other");
        let roster = json!({ "members": [{ "memberId": other.id.as_str() }] });
        client.operate(&format!("/sessions/{session}/roster"), &roster).expect(200);
    };
    race(freeze, (403, "member is not on this session's expected roster"), None);
}

#[test]
fn aggregation_in_one_process_holds_in_both() {
    let aggregate: Act<'_> = &|client, session, _| {
        let state = json!({ "state": "aggregated" });
        client.operate(&format!("/sessions/{session}/state"), &state).expect(200);
    };
    let closed = "amendment window closed (session already aggregated); the take on file stands";
    race(aggregate, (409, closed), None);
}

fn race(change: Act<'_>, refusal: (u16, &str), undo: Option<Act<'_>>) {
    race_at(&Clock::of_programs(), change, refusal, undo);
}

/// In each round a member amends through both servers while `change` is made through one of them.
/// What is filed after the change was answered is refused with `refusal`, and accepted again after `undo`.
fn race_at(clock: &Clock, change: Act<'_>, refusal: (u16, &str), undo: Option<Act<'_>>) {
    let environment = [TOKEN, &clock.environment()].concat();
    let one = Program::start(&["serve"], &environment);
    let other = Program::start_in(Arc::clone(&one.folder), &["serve"], &environment);
    for round in 0..ROUNDS {
        let clients = [&one, &other].map(|server| server.client.clone());
        let operator = &clients[round % 2];
        let subject = format!("round-{round}");
        let session = operator.convene(DAY, &subject);
        let author = Author::join(operator, "Ada");
        let sign = || signed_text(&author.key.sign(author.draft(DAY, &subject)));
        // Now both have the member and the session in their caches.
        clients.iter().for_each(|client| drop(client.submit_text(&author, &sign()).expect(201)));

        let changed = AtomicBool::new(false);
        let (changed, author, sign) = (&changed, &author, &sign);
        thread::scope(|scope| {
            for client in &clients {
                scope.spawn(move || {
                    for _ in 0..RACING {
                        let is_after = changed.load(Ordering::SeqCst);
                        let answer = client.submit_text(author, &sign());
                        let error = (answer.status != 201).then(|| answer.json()["error"].clone());
                        let before = [None, Some(json!(LOST_RACE))];
                        let is_refused = error == Some(json!(refusal.1));
                        assert!(is_refused || !is_after && before.contains(&error), "{answer:?}");
                    }
                });
            }
            change(operator, session, author);
            changed.store(true, Ordering::SeqCst);
        });
        for client in &clients {
            client.submit_text(author, &sign()).refused(refusal.0, refusal.1);
        }
        if let Some(undo) = undo {
            undo(operator, session, author);
            clients[1 - round % 2].submit_text(author, &sign()).expect(201);
        }
    }
}

fn set_deadline(client: &Client, session: u64, deadline: &Value) {
    let patch = json!({ "windowClosesAt": deadline }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    client.send("PATCH", &path, &headers, patch.as_bytes()).expect(200);
}

fn operate_on(client: &Client, path: &str, author: &Author) {
    client.operate(path, &json!({ "memberId": author.id.as_str() })).expect(200);
}
