//! The cache of large answers: no stale answer is served, and none is computed twice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer, Author, Client};
use crate::observed_store::observed_store;
use crate::raw_http::Connection;

on_every_store! {
    changed_records_are_not_served_from_the_cache,
    reads_after_a_commit_see_it,
}

const DATE: &str = "2026-11-21";
const SESSION: &str = "/api/swarm/sessions/1";
const BY_DATE: &str = "/api/swarm/sessions/2026-11-21/aurora";

/// A session with takes of 8,000 characters each.
fn large_session(fixture: &Fixture, members: usize) -> Vec<Author> {
    fixture.client.convene(DATE, "aurora");
    let authors: Vec<_> = (0..members).map(|_| fixture.author()).collect();
    for author in &authors {
        file(&fixture.client, author);
    }
    authors
}

fn file(client: &Client, author: &Author) -> u64 {
    file_about(client, author, "aurora")
}

fn file_about(client: &Client, author: &Author, subject: &str) -> u64 {
    let body = "b".repeat(8_000);
    let draft = json!({ "date": DATE, "subjectId": subject, "body": body });
    let answer = client.submit(author, author.draft_of(draft)).expect(201);
    answer.json()["recommendationId"].as_u64().unwrap()
}

fn if_none_match(client: &Client, path: &str, tag: &str) -> Answer {
    client.send("GET", path, &[("if-none-match", tag)], b"")
}

fn changed_records_are_not_served_from_the_cache(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let authors = large_session(&fixture, 4);
    let notes =
        json!({ "id": "aurora", "name": "Aurora", "structuralNotes": ["n".repeat(30_000)] });
    client.operate("/subjects", &notes).expect(200);
    let memo = json!({ "title": "Long", "body": "m".repeat(30_000) }).to_string();
    let bearer = authors[0].bearer();
    client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo).expect(201);

    let changes = |paths: &[&str], change: &dyn Fn()| {
        let tags: Vec<String> = paths
            .iter()
            .map(|path| {
                let tag = client.get(path).expect(200).header("etag").unwrap().to_owned();
                for _ in 0..2 {
                    if_none_match(client, path, &tag).expect(304);
                    assert_eq!(client.get(path).expect(200).header("etag"), Some(tag.as_str()));
                }
                tag
            })
            .collect();
        change();
        for (path, tag) in paths.iter().zip(tags) {
            let answer = if_none_match(client, path, &tag);
            assert!(matches!(answer.status, 200 | 404), "{path}: {answer:?}");
        }
    };
    let operate = |path: &str, body: Value| client.operate(path, &body).expect(200);
    changes(&[SESSION, BY_DATE], &|| _ = file(client, &authors[1]));
    changes(&[SESSION, BY_DATE], &|| _ = file(client, &fixture.author()));
    changes(&[SESSION, BY_DATE], &|| {
        let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
        client
            .send("PATCH", "/api/swarm/admin/sessions/1", &headers, b"{\"quorum\":1}")
            .expect(200);
    });
    changes(&[SESSION, BY_DATE], &|| {
        let members = json!([{ "memberId": authors[0].id.as_str() }]);
        operate("/sessions/1/roster", json!({ "members": members }));
    });
    changes(&["/api/swarm/subjects", "/api/swarm/subjects/aurora"], &|| {
        operate("/subjects", json!({ "id": "aurora", "name": "Other" }));
    });
    changes(&["/api/swarm/memos/1"], &|| drop(operate("/memos/1/retract", json!({}))));
    for state in ["aggregated", "published"] {
        changes(&[SESSION, BY_DATE, "/api/swarm/sessions"], &|| {
            operate("/sessions/1/state", json!({ "state": state }));
        });
    }
    // A newer session of the day hides the other.
    changes(&[BY_DATE], &|| _ = client.convene(DATE, "aurora"));
    assert_eq!(client.get(BY_DATE).expect(200).json()["session"]["id"], 2);
}

fn reads_after_a_commit_see_it(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let authors = large_session(&fixture, 4);
    let (filed, over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
    let reader = |_| {
        let (filed, over) = (Arc::clone(&filed), Arc::clone(&over));
        let client = fixture.server.client();
        thread::spawn(move || {
            let mut reads = 0;
            while !over.load(Ordering::SeqCst) {
                let known = filed.load(Ordering::SeqCst);
                assert!(latest(&client.get(SESSION).expect(200)) >= known, "a stale answer");
                reads += 1;
            }
            reads
        })
    };
    let readers: Vec<_> = (0..3).map(reader).collect();
    for _ in 0..4 {
        for author in &authors {
            filed.store(file(&fixture.client, author), Ordering::SeqCst);
        }
    }
    over.store(true, Ordering::SeqCst);
    assert!(readers.into_iter().all(|reader| reader.join().unwrap() > 0));
}

fn latest(session: &Answer) -> u64 {
    let takes = session.json()["takes"].clone();
    takes.as_array().unwrap().iter().map(|take| take["id"].as_u64().unwrap()).max().unwrap()
}

/// Revalidation reads only the log position, for any number of readers.
#[test]
fn cached_answer_costs_one_store_call() {
    let clock = Clock::noon();
    let store = clock.store();
    let called: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let calls = Arc::clone(&called);
    let observed = observed_store(&store, move |call| {
        if !call.done {
            calls.lock().unwrap().push(call.op);
        }
        Ok(())
    });
    let fixture = Fixture::serve(clock, store, observed);
    large_session(&fixture, 4);
    let tag = fixture.client.get(SESSION).expect(200).header("etag").unwrap().to_owned();
    fixture.client.get(SESSION).expect(200);
    called.lock().unwrap().clear();
    if_none_match(&fixture.client, SESSION, &tag).expect(304);
    fixture.client.get(SESSION).expect(200);
    assert_eq!(*called.lock().unwrap(), ["log position", "log position"]);

    // Takes of another session are checked, and do not invalidate the answer.
    let other = fixture.client.convene(DATE, "basalt");
    fixture.client.get(SESSION).expect(200);
    file_about(&fixture.client, &fixture.author(), "basalt");
    let author = fixture.author();
    fixture.client.get(SESSION).expect(200);
    file_about(&fixture.client, &author, "basalt");
    called.lock().unwrap().clear();
    if_none_match(&fixture.client, SESSION, &tag).expect(304);
    if_none_match(&fixture.client, SESSION, &tag).expect(304);
    assert_eq!(*called.lock().unwrap(), ["log position", "log", "log position"]);
    file_about(&fixture.client, &author, "basalt");
    file(&fixture.client, &author);
    if_none_match(&fixture.client, SESSION, &tag).expect(200);
    let path = format!("/api/swarm/sessions/{other}");
    assert_eq!(fixture.client.get(&path).expect(200).json()["takes"].as_array().unwrap().len(), 2);
}

/// The client that computes an answer may wait for its share of the threads: another then computes it.
#[test]
fn busy_client_does_not_delay_a_shared_answer() {
    let clock = Clock::noon();
    let store = clock.store();
    let called: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let closed: Arc<RwLock<()>> = Arc::default();
    let (calls, gate) = (Arc::clone(&called), Arc::clone(&closed));
    let observed = observed_store(&store, move |call| {
        if !call.done && call.arguments.contains("basalt") {
            calls.lock().unwrap().push("of basalt");
            drop(gate.read());
        } else if !call.done {
            calls.lock().unwrap().push(call.op);
        }
        Ok(())
    });
    let fixture = Fixture::serve(clock, store, observed);
    let authors = large_session(&fixture, 4);
    fixture.client.operate("/subjects", &json!({ "id": "basalt", "name": "Basalt" })).expect(201);
    fixture.client.get(SESSION).expect(200);
    file(&fixture.client, &authors[0]);
    let wait_for = |count: usize, method: &str| {
        let is_there = || {
            let called = called.lock().unwrap();
            called.iter().filter(|it| **it == method).count() >= count
        };
        assert!((0..3_000).any(|_| is_there() || {
            thread::sleep(Duration::from_millis(10));
            false
        }));
    };
    let asked = |path: &'static str| {
        let client = fixture.server.client();
        thread::spawn(move || client.get(path).expect(200))
    };

    let busy = closed.write().unwrap();
    let all = thread::available_parallelism().unwrap().get();
    called.lock().unwrap().clear();
    let mut waiting: Vec<_> = (0..all).map(|_| asked("/swarm/subjects/basalt")).collect();
    wait_for(all, "of basalt");
    called.lock().unwrap().clear();
    waiting.push(asked(SESSION));
    wait_for(1, "log position");
    let mut other = Connection::open_from_elsewhere(fixture.server.address);
    let mut read = || {
        let host = fixture.server.address;
        other.send(format!("GET {SESSION} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).unwrap();
        other.receive(false).unwrap().expect(200);
    };
    read();
    called.lock().unwrap().clear();
    read();
    assert_eq!(*called.lock().unwrap(), ["log position"], "the answer is not cached");
    drop(busy);
    waiting.into_iter().for_each(|thread| drop(thread.join().unwrap()));
}

/// After a restore and further writes, log rows after the position seen do not prove an answer fresh.
#[test]
fn answer_from_before_a_restore_is_not_served() {
    let clock = Clock::noon();
    let store = clock.store();
    let fixture = Fixture::serve(clock.clone(), store.clone(), store.clone());
    let authors = large_session(&fixture, 4);
    fixture.client.convene(DATE, "basalt");
    let backup = store.copy();
    file_about(&fixture.client, &authors[0], "basalt");
    for _ in 0..2 {
        fixture.client.get(SESSION).expect(200);
    }
    store.go_back_to(&backup);
    let others = store.opened_again();
    let second = Fixture::serve(clock, others.clone(), others);
    let newest = file(&second.client, &authors[1]);
    file_about(&second.client, &authors[2], "basalt");
    assert_eq!(latest(&fixture.client.get(SESSION).expect(200)), newest);
}
