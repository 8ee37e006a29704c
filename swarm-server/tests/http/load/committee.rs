//! Members of the committee that submit without a pause. Whoever is told that it is not known what
//! came of it goes on with the next.

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

/// How many submit at a time.
const MEMBERS: usize = 4;

/// How many have their turn one after the other: a member has its quota.
const TURNS: usize = 100;

pub struct Load {
    tally: Arc<Tally>,
    day: Day,
    pub members: Vec<JoinHandle<Vec<Sent>>>,
}

/// A submission as its member knows it: its mark, and the reference of what was acknowledged.
type Sent = (String, Option<String>);

#[derive(Default)]
struct Tally {
    ended: AtomicBool,
    submitted: AtomicUsize,
    failed: AtomicUsize,
}

impl Load {
    /// Submissions to the committee of the fixture, at this address.
    pub fn start(fixture: &Fixture, address: SocketAddr) -> Self {
        let subject = json!({ "id": "aurora", "name": "Aurora" });
        fixture.client.operate("/subjects", &subject).expect(201);
        let open = json!({ "deadline_utc": "2999-12-31T00:00:00Z" });
        let made = chair(&fixture.client, "/briefs", &open).expect(201).json();
        let tally = Arc::<Tally>::default();
        let key = |number: usize| {
            let (id, key) = (format!("m{number}"), format!("ic_m{number}_{number:032}"));
            committee_fixture::insert_member(&*fixture.committee(), &id, &key);
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

    /// How many submissions were acknowledged.
    pub fn submitted(&self) -> usize {
        self.tally.submitted.load(Ordering::SeqCst)
    }

    /// How many were not, so that it is not known what came of them.
    pub fn failed(&self) -> usize {
        self.tally.failed.load(Ordering::SeqCst)
    }

    /// Ends it: what was acknowledged is on record once, in the order in which it was sent; what
    /// was not is there once, or not at all.
    pub fn end(self, fixture: &Fixture) {
        self.tally.ended.store(true, Ordering::SeqCst);
        let members = self.members.into_iter();
        let sent: Vec<Vec<Sent>> = members.map(|member| member.join().unwrap()).collect();
        let mut on_record = BTreeMap::new();
        for (place, record) in
            committee_fixture::records_of(&*fixture.committee(), self.day).iter().enumerate()
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
        assert!(on_record.is_empty(), "nobody sent {on_record:?}");
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
