//! Load on the committee: members submit without a pause. After an unknown outcome a member continues with
//! the next submission.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::json;
use swarm_core::domain::Day;

use crate::committee_fixture::{self, chair, refused, submit, take_with};
use crate::fixture::Fixture;
use crate::harness::{Client, fresh_nonce};

/// The number of concurrent submitters.
const MEMBERS: usize = 4;

/// The number of members per submitter, used one after another because of quotas.
const TURNS: usize = 100;

pub struct Load {
    tally: Arc<Tally>,
    day: Day,
    pub members: Vec<JoinHandle<Vec<Sent>>>,
}

/// A submission as its member knows it: its mark, and its reference if it was acknowledged.
type Sent = (String, Option<String>);

#[derive(Default)]
struct Tally {
    ended: AtomicBool,
    submitted: AtomicUsize,
    failed: AtomicUsize,
}

impl Load {
    /// Starts submitting to the committee of the fixture, at this address.
    pub fn start(fixture: &Fixture, address: SocketAddr) -> Self {
        let subject = json!({ "id": "aurora", "name": "Aurora" });
        fixture.client.operate("/subjects", &subject).expect(201);
        let open = json!({ "deadline_utc": "2999-12-31T00:00:00Z" });
        let made = chair(&fixture.client, "/briefs", &open).expect(201).json();
        let tally = Arc::<Tally>::default();
        let key = |number: usize| {
            let (id, key) = (format!("m{number}"), format!("ic_m{number}_{number:032}"));
            committee_fixture::insert_member(&fixture.committee(), &id, &key);
            key
        };
        let member = |number| {
            let keys: Vec<_> = (0..TURNS).map(|turn| key(number * TURNS + turn)).collect();
            let tally = Arc::clone(&tally);
            thread::spawn(move || tally.submit_on(&Client::new(address), &keys))
        };
        let members = (0..MEMBERS).map(member).collect();
        Self { members, tally, day: Day::parse(made["date"].as_str().unwrap()).unwrap() }
    }

    /// The number of acknowledged submissions.
    pub fn submitted(&self) -> usize {
        self.tally.submitted.load(Ordering::SeqCst)
    }

    /// The number of submissions with an unknown outcome.
    pub fn failed(&self) -> usize {
        self.tally.failed.load(Ordering::SeqCst)
    }

    /// Stops, and checks that acknowledged submissions are stored once, in the order sent, and the others at
    /// most once.
    pub fn end(self, fixture: &Fixture) {
        self.tally.ended.store(true, Ordering::SeqCst);
        let members = self.members.into_iter();
        let sent: Vec<Vec<Sent>> = members.map(|member| member.join().unwrap()).collect();
        let mut on_record = BTreeMap::new();
        for (place, record) in
            committee_fixture::records_of(&fixture.committee(), self.day).iter().enumerate()
        {
            let mark = record["model"].as_str().unwrap().to_owned();
            assert_eq!(
                on_record.insert(mark, (place, committee_fixture::commit_of(record))),
                None,
                "twice"
            );
        }
        for sent in sent {
            let mut places = vec![];
            for (mark, acknowledged) in sent {
                let found = on_record.remove(&mark);
                if let Some(commit) = acknowledged {
                    let (place, reference) = found.unwrap_or_else(|| panic!("{mark} is lost"));
                    assert_eq!(reference, commit);
                    places.push(place);
                }
            }
            assert!(places.is_sorted(), "{places:?}");
        }
        assert!(on_record.is_empty(), "stored but not sent: {on_record:?}");
    }
}

impl Tally {
    fn submit_on(&self, client: &Client, keys: &[String]) -> Vec<Sent> {
        let (mut sent, mut keys) = (vec![], keys.iter());
        let mut key = keys.next().unwrap();
        while !self.ended.load(Ordering::SeqCst) {
            let mark = fresh_nonce();
            let answer = submit(client, key, &take_with("model", json!(mark)));
            if answer.status == 200 {
                let commit = answer.json()["commit"].as_str().unwrap().to_owned();
                sent.push((mark, Some(commit)));
                self.submitted.fetch_add(1, Ordering::SeqCst);
            } else if answer.status == 429 {
                key = keys.next().expect("another member");
            } else {
                refused(answer, 500, "failed to persist submission");
                client.get("/healthz").expect(200);
                sent.push((mark, None));
                self.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
        sent
    }
}
