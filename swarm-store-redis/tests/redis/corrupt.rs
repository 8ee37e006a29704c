//! Corrupt records: a write that reads one returns an error and changes nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::collections::BTreeMap;

use redis::Commands as _;
use swarm_core::domain::{Message, Session, Version};
use swarm_core::rules::Refusal;
use swarm_core::store::{
    CommitteeDayChange, CommitteeMemberChange, MemberChange, MemberSaved, MessageChange,
    MessageQuery, Records, SessionChange, Versioned,
};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::Author;

use crate::world::committee::{convened, opening, seat};
use crate::world::{RECORDS, creation_with_mail, draft, field_of_number, field_of_texts};

/// The first version of a record.
const FIRST: Version = Version(1);

struct Fixture {
    server: Server,
    store: Records,
    committee: Records,
}

impl Fixture {
    async fn start() -> Self {
        let server = Server::start(&[]);
        let store = RedisStore::connect(&server.url()).await.unwrap();
        let (store, committee) =
            (crate::world::open(&store), crate::world::committee::open(&store));
        Self { server, store, committee }
    }

    /// Replaces a record, which is there.
    fn corrupt(&self, field: Vec<u8>) {
        let mut redis = redis::Client::open(self.server.url()).unwrap().get_connection().unwrap();
        assert_eq!(redis.hset(RECORDS, field, "1 "), Ok(0));
    }

    /// All keys with their values.
    fn dump(&self) -> Vec<String> {
        let keys = self.server.cli(&["keys", "*"]);
        let dump = |key: &str| key.to_owned() + &self.server.cli(&["--no-raw", "dump", key]);
        // An announcement of a change is no record of it. The records have no order.
        let others = keys.lines().filter(|key| ![RECORDS, "swarm:changes"].contains(key));
        let mut all: Vec<String> = others.map(dump).collect();
        all.sort();
        let mut redis = redis::Client::open(self.server.url()).unwrap().get_connection().unwrap();
        let records: BTreeMap<Vec<u8>, Vec<u8>> = redis.hgetall(RECORDS).unwrap();
        all.extend(records.iter().map(|record| format!("{record:?}")));
        all
    }

    async fn assert_saving_a_day_fails(&self) {
        let before = self.dump();
        let change = CommitteeDayChange { expected: Some(FIRST), ..opening("ada") };
        assert!(self.committee.save_committee_day(&change).await.is_err());
        assert_eq!(self.dump(), before);
    }
}

#[tokio::test]
async fn write_over_corrupt_member_changes_nothing() {
    let fixture = Fixture::start().await;
    let change = creation_with_mail(&Author::named("ada"));
    assert_eq!(fixture.store.save_member(&change).await.unwrap(), MemberSaved::Saved);
    fixture.corrupt(field_of_texts("members", &["ada"]));
    let before = fixture.dump();
    let change = MemberChange { expected: Some(FIRST), ..change };
    assert!(fixture.store.save_member(&change).await.is_err());
    assert_eq!(fixture.dump(), before);
}

#[tokio::test]
async fn write_over_corrupt_message_changes_nothing() {
    let fixture = Fixture::start().await;
    let change = creation_with_mail(&Author::named("ada"));
    assert_eq!(fixture.store.save_member(&change).await.unwrap(), MemberSaved::Saved);
    let Versioned { record, version } =
        fixture.store.messages(&MessageQuery::ALL).await.unwrap().pop().unwrap();
    fixture.corrupt(field_of_number("messages", 1));
    let before = fixture.dump();
    let change = MessageChange::new(Message::clone(&record), version);
    assert!(fixture.store.save_message(&change).await.is_err());
    assert_eq!(fixture.dump(), before);
}

#[tokio::test]
async fn write_over_corrupt_session_changes_nothing() {
    let fixture = Fixture::start().await;
    let session = fixture.store.convene(&draft("subject")).await.unwrap();
    fixture.corrupt(field_of_number("sessions", 1));
    let before = fixture.dump();
    let (session, act) = (Session::clone(&session), draft("subject").act);
    let change = SessionChange {
        session,
        expected: FIRST,
        takes: Some(0),
        takes_refusal: Refusal::TakesSealed,
        none_filed_after: None,
        withdrawn: false,
        acts: vec![act],
        opens: false,
    };
    assert!(fixture.store.save_session(&change).await.is_err());
    assert_eq!(fixture.dump(), before);
}

#[tokio::test]
async fn write_over_corrupt_committee_member_changes_nothing() {
    let fixture = Fixture::start().await;
    convened(&fixture.committee, &["ada"]).await;
    fixture.corrupt(field_of_texts("committee_members", &["ada"]));
    let before = fixture.dump();
    let change = CommitteeMemberChange { expected: Some(FIRST), ..seat("ada") };
    assert!(fixture.committee.save_committee_member(&change).await.is_err());
    assert_eq!(fixture.dump(), before);
}

#[tokio::test]
async fn write_over_corrupt_day_changes_nothing() {
    let fixture = Fixture::start().await;
    convened(&fixture.committee, &["ada"]).await;
    fixture.corrupt(field_of_texts("committee_days", &["2026-11-21"]));
    fixture.assert_saving_a_day_fails().await;
}

#[tokio::test]
async fn write_over_corrupt_brief_changes_nothing() {
    let fixture = Fixture::start().await;
    convened(&fixture.committee, &["ada"]).await;
    fixture.corrupt(field_of_texts("committee_briefs", &["2026-11-21", "ada"]));
    fixture.assert_saving_a_day_fails().await;
}
