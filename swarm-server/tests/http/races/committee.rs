//! Races of the committee: acknowledged submissions are stored, and no others.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use swarm_core::{CommitteeSettings, Committees, SystemEntropy, TenantId};

use super::{RACERS, ROUNDS, RaceFixture};
use crate::backend::{Backend, on_every_store};
use crate::committee_fixture::{self, BRIEF, KEY, chair, records, refused, submit, take_with};
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer};
use crate::observed_store::observed_store;

on_every_store! {
    racing_submissions_of_a_member_are_all_stored_and_the_newest_counts,
    submissions_racing_a_rotation_are_stored_or_refused,
    submissions_racing_status_changes_are_stored_or_refused,
    submissions_racing_the_deadline_are_in_time_or_refused,
    submissions_racing_generations_have_the_subject_of_their_commit,
    one_of_racing_creations_of_a_member_gets_the_key,
}

const CLOSED: &str = "submission window closed";

/// A fixture with the committee member `m` and the briefs of the day, at noon.
fn convened(backend: &Backend) -> RaceFixture {
    let racetrack = RaceFixture::start(backend);
    let fixture = &racetrack.fixture;
    committee_fixture::insert_member(&fixture.committee(), "m", KEY);
    fixture.client.convene("2026-11-21", "aurora");
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    racetrack
}

/// A take that differs from those of other racers.
fn own(round: usize, racer: usize) -> Value {
    take_with("model", json!(format!("{racer} of {round}")))
}

fn commit_of(answer: &Answer) -> String {
    answer.json()["commit"].as_str().unwrap().to_owned()
}

/// The references of the stored submissions, in the order of their commits.
fn on_record(fixture: &Fixture) -> Vec<String> {
    records(&fixture.committee()).iter().map(committee_fixture::commit_of).collect()
}

#[track_caller]
fn assert_stored(fixture: &Fixture, acknowledged: &[String]) {
    let on_record = on_record(fixture);
    assert_eq!(on_record.len(), acknowledged.len());
    let set = |commits: &[String]| commits.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(set(&on_record), set(acknowledged));
}

fn racing_submissions_of_a_member_are_all_stored_and_the_newest_counts(backend: &Backend) {
    let racetrack = convened(backend);
    let fixture = &racetrack.fixture;
    let rounds = racetrack.race(|client, round, racer| submit(client, KEY, &own(round, racer)));
    let receipts = rounds.into_iter().flatten().map(|answer| commit_of(&answer.expect(200)));
    assert_stored(fixture, &receipts.collect::<Vec<_>>());
    fixture.clock.move_by(12 * 60 * 60 * 1_000);
    let session = fixture.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(session["takes"].as_array().unwrap().len(), 1);
    assert_eq!(
        session["takes"][0]["commit"].as_str(),
        on_record(fixture).last().map(String::as_str)
    );
}

fn submissions_racing_a_rotation_are_stored_or_refused(backend: &Backend) {
    let racetrack = RaceFixture::start(backend);
    let fixture = &racetrack.fixture;
    fixture.client.convene("2026-11-21", "aurora");
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    let key = |round: usize| format!("ic_m{round}_{round:032}");
    for round in 0..ROUNDS {
        committee_fixture::insert_member(&fixture.committee(), &format!("m{round}"), &key(round));
    }
    let rounds = racetrack.race(|client, round, racer| match racer {
        0 => chair(client, &format!("/members/m{round}/rotate-key"), &Value::Null),
        _ => submit(client, &key(round), &own(round, racer)),
    });
    let mut receipts = vec![];
    for (round, answers) in rounds.into_iter().enumerate() {
        let mut fresh = None;
        for answer in answers {
            match answer.status {
                200 if answer.json()["api_key"].is_string() => fresh = Some(answer.json()),
                200 => receipts.push(commit_of(&answer)),
                _ => refused(answer, 401, "invalid key"),
            }
        }
        let fresh = fresh.unwrap()["api_key"].as_str().unwrap().to_owned();
        refused(submit(&fixture.client, &key(round), &own(round, RACERS)), 401, "invalid key");
        receipts.push(commit_of(&submit(&fixture.client, &fresh, &own(round, RACERS)).expect(200)));
    }
    assert_stored(fixture, &receipts);
}

fn submissions_racing_status_changes_are_stored_or_refused(backend: &Backend) {
    let racetrack = convened(backend);
    let fixture = &racetrack.fixture;
    let rounds = racetrack.race(|client, round, racer| match racer {
        0 | 1 => {
            let status = if racer == 0 { "inactive" } else { "active" };
            chair(client, "/members/m/status", &json!({ "status": status })).expect(200);
            None
        }
        _ => Some(submit(client, KEY, &own(round, racer))),
    });
    let mut receipts = vec![];
    for answer in rounds.into_iter().flatten().flatten() {
        match answer.status {
            200 => receipts.push(commit_of(&answer)),
            _ => refused(answer, 403, "member is not active"),
        }
    }
    assert_stored(fixture, &receipts);
}

/// The clock advances with each submission, past the deadline.
fn submissions_racing_the_deadline_are_in_time_or_refused(backend: &Backend) {
    let racetrack = convened(backend);
    let fixture = &racetrack.fixture;
    let deadline = fixture.clock.after(i64::try_from(RACERS * ROUNDS / 2).unwrap());
    chair(&fixture.client, "/briefs", &json!({ "deadline_utc": deadline })).expect(201);
    let rounds = racetrack.race(|client, round, racer| {
        fixture.clock.move_by(1);
        submit(client, KEY, &own(round, racer))
    });
    let (mut receipts, mut late) = (vec![], 0);
    for answer in rounds.into_iter().flatten() {
        match answer.status {
            200 => receipts.push(commit_of(&answer)),
            _ => {
                refused(answer, 409, CLOSED);
                late += 1;
            }
        }
    }
    assert!(late > 0 && !receipts.is_empty());
    assert_stored(fixture, &receipts);
    for record in records(&fixture.committee()) {
        assert!(record["received_at"].as_str().unwrap() <= deadline.as_str(), "{record}");
    }
}

/// Several operators generate briefs about two subjects concurrently, while members submit and read. Each take
/// has the subject of its commit, each brief is complete.
fn submissions_racing_generations_have_the_subject_of_their_commit(backend: &Backend) {
    let racetrack = convened(backend);
    let fixture = &racetrack.fixture;
    fixture.client.operate("/subjects", &json!({ "id": "basalt", "name": "Basalt" })).expect(201);
    let rounds = racetrack.race(|client, round, racer| match racer % 16 {
        0 | 1 => {
            let subject = if racer % 16 == 0 { "aurora" } else { "basalt" };
            let answer = chair(client, "/briefs", &json!({ "subject_id": subject })).expect(201);
            assert_eq!(
                (&answer.json()["briefs"], &answer.json()["subject_id"]),
                (&json!(1), &json!(subject))
            );
            None
        }
        2 => {
            let brief = client.get(BRIEF).expect(200).json();
            assert_eq!(brief["subject_id"], brief["subject"]["id"]);
            assert_eq!(brief["submit_to"], format!("http://{}/api/ic/submit", client.address));
            None
        }
        _ => Some(submit(client, KEY, &own(round, racer)).expect(200)),
    });
    let receipts: Vec<_> = rounds.into_iter().flatten().flatten().collect();
    assert_stored(fixture, &receipts.iter().map(commit_of).collect::<Vec<_>>());
    let of = |subject: &Value, all: &[Value]| {
        all.iter().filter(|it| it["subject_id"] == *subject).count()
    };
    let receipts: Vec<_> = receipts.iter().map(Answer::json).collect();
    let session = fixture.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    for subject in [json!("aurora"), json!("basalt")] {
        assert_eq!(of(&subject, &records(&fixture.committee())), of(&subject, &receipts));
    }
    assert!(["aurora", "basalt"].contains(&session["subject_id"].as_str().unwrap()));
}

/// Only one creation of an id returns a key, which is the key of the member.
fn one_of_racing_creations_of_a_member_gets_the_key(backend: &Backend) {
    let racetrack = convened(backend);
    let fixture = &racetrack.fixture;
    let rounds = racetrack.race(|client, round, _| {
        chair(client, "/members", &json!({ "id": format!("n{round}"), "name": "N" }))
    });
    for answers in rounds {
        let mut keys = vec![];
        for answer in answers {
            match answer.status {
                201 => keys.push(answer.json()["api_key"].as_str().unwrap().to_owned()),
                _ => refused(answer, 409, "member id already taken"),
            }
        }
        assert_eq!(keys.len(), 1);
        submit(&fixture.client, &keys[0], &own(0, 0)).expect(200);
    }
}

/// The schedules of many servers on one store.
#[test]
fn one_of_racing_servers_generates() {
    let clock = Clock::noon();
    let store = clock.store();
    let observed = observed_store(&store, |_| Ok(()));
    let fixture = Fixture::serve(clock, store, observed.clone());
    committee_fixture::insert_member(&fixture.committee(), "m", KEY);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let committee = || {
        let committees = Committees::new(observed.clone(), SystemEntropy);
        let tenant = TenantId::parse("default").unwrap();
        Arc::new(committees.tenant(&tenant, CommitteeSettings::default()))
    };
    fixture.client.convene("2026-11-21", "aurora");
    fixture.clock.move_by((10 * 60 + 45) * 60 * 1_000);
    for _ in 0..3 {
        let servers: Vec<_> = (0..16).map(|_| committee()).collect();
        let made: usize = runtime.block_on(async {
            let tasks = servers.into_iter().map(|committee| {
                tokio::spawn(async move { committee.generate_if_due().await.unwrap().is_some() })
            });
            let tasks: Vec<_> = tasks.collect();
            let mut made = 0;
            for task in tasks {
                made += usize::from(task.await.unwrap());
            }
            made
        });
        assert_eq!(made, 1);
        fixture.client.get(BRIEF).expect(200);
        fixture.clock.move_by(24 * 60 * 60 * 1_000);
    }
    let admin = [("x-admin-token", ADMIN)];
    fixture.client.post("/api/ic/admin/briefs", &admin, "{}").expect(201);
}
