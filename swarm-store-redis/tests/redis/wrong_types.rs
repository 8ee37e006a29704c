//! Keys of the wrong type: a commit that would write to one returns an error and changes nothing.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::collections::BTreeMap;

use redis::{Commands as _, Connection};
use swarm_core::domain::{Attribution, MessageId, TenantId};
use swarm_core::rules::{convene, offer_challenge};
use swarm_core::store::{
    ChallengeOffer, Collection, CommitteeDayChange, CommitteeFiling, CommitteeMemberChange,
    Convocation, DocumentDraft, Filing, MemberChange, MessageChange, Result, SessionChange,
    StoreErrorKind,
};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::committee::{self, TestCommittee};
use swarm_testing::{
    Author, TestTenant, act, applicant, creation, mail, seed, session_draft, unique,
};

use crate::world::snapshots::aggregate;

/// A tenant with members, a session with a take, a message, a document, and a committee with a
/// submission.
struct Tenant {
    id: TenantId,
    world: TestTenant,
    committee: TestCommittee,
}

/// A commit that was judged.
enum Commit {
    Take(Filing),
    Challenge(ChallengeOffer),
    Member(Box<MemberChange>),
    Session(SessionChange),
    Convocation(Convocation),
    ConvocationOnce(Convocation),
    Document(DocumentDraft),
    Message(MessageChange),
    CommitteeTake(CommitteeFiling),
    CommitteeDay(CommitteeDayChange),
    CommitteeMember(CommitteeMemberChange),
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_is_not_half_done_when_a_key_has_another_type() {
    let server = Server::start(&["--appendonly", "no"]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let mut redis = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    for number in 0..commits(&Tenant::filled(&store).await).await.len() {
        let tenant = Tenant::filled(&store).await;
        let before = tenant.dump(&mut redis);
        tenant.commit(number).await.unwrap();
        let mut written = tenant.dump(&mut redis);
        // The key of the attempt is new each time, and read first.
        written.retain(|key, dump| before.get(key) != Some(dump) && !key.contains("attempt:"));
        assert!(!written.is_empty(), "commit {number} writes nothing");

        for key in written.keys() {
            let tenant = Tenant::filled(&store).await;
            let judged = commits(&tenant).await.remove(number);
            tenant.plant(&mut redis, key);
            let before = tenant.dump(&mut redis);
            let error = tenant.run(&judged).await.expect_err(key);
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "commit {number}: {key}");
            assert_eq!(tenant.dump(&mut redis), before, "commit {number}: {key}");
        }
    }
}

impl Tenant {
    async fn filled(store: &RedisStore) -> Self {
        let id = TenantId::parse(format!("tenant-{}", unique())).unwrap();
        let world = TestTenant::open(store.clone(), id.clone());
        let committee = TestCommittee::open(store.clone(), id.clone());
        let ada = world.author("ada").await;
        let session = world.convened("subject").await;
        world.filed(&ada, &session, "1").await;
        let grace = MemberChange { mail: Some(mail("first")), ..creation(&applicant("grace")) };
        let _ = world.save_member(&grace).await;
        let _ = world.put_document(Collection::Memos, &document()).await;
        let seat = committee::creation(&committee::member("ada"));
        let _ = committee.save_member(&seat).await;
        committee.put_subject("aurora").await;
        let day = committee.generated(committee::far()).await;
        committee.filed(&committee::key("ada"), day, "1").await;
        Self { id, world, committee }
    }

    async fn commit(&self, number: usize) -> Result<()> {
        self.run(&commits(self).await[number]).await
    }

    async fn run(&self, commit: &Commit) -> Result<()> {
        let (store, committee) = (self.world.store(), self.committee.store());
        match commit {
            Commit::Take(filing) => store.file(filing).await.map(drop),
            Commit::Challenge(offer) => store.give_challenge(offer).await.map(drop),
            Commit::Member(change) => store.save_member(change).await.map(drop),
            Commit::Session(change) => store.save_session(change).await.map(drop),
            Commit::Convocation(convocation) => store.convene(convocation).await.map(drop),
            Commit::ConvocationOnce(convocation) => {
                store.convene_once("occasion", convocation).await.map(drop)
            }
            Commit::Document(draft) => store.put_document(Collection::Memos, draft).await.map(drop),
            Commit::Message(change) => store.save_message(change).await.map(drop),
            Commit::CommitteeTake(filing) => committee.file_committee(filing).await.map(drop),
            Commit::CommitteeDay(change) => committee.save_committee_day(change).await.map(drop),
            Commit::CommitteeMember(change) => {
                committee.save_committee_member(change).await.map(drop)
            }
        }
    }

    /// Replaces the value of this key by a string.
    fn plant(&self, redis: &mut Connection, key: &str) {
        let () = redis.set(format!("swarm:{{{}}}:{key}", self.id), "text").unwrap();
    }

    /// All values of the tenant, by the last part of their keys; without what is staged for a commit, which expires.
    fn dump(&self, redis: &mut Connection) -> BTreeMap<String, Vec<u8>> {
        let prefix = format!("swarm:{{{}}}:", self.id);
        let mut keys: Vec<String> = redis.keys(format!("{prefix}*")).unwrap();
        keys.retain(|key| !key.contains(":staged:"));
        let dump = |key: String| {
            let fields: redis::RedisResult<BTreeMap<Vec<u8>, Vec<u8>>> = redis.hgetall(&key);
            let dump = match fields {
                // The fields of a hash have no order.
                Ok(fields) => format!("{fields:?}").into_bytes(),
                Err(_) => redis::cmd("DUMP").arg(&key).query(redis).unwrap(),
            };
            (key[prefix.len()..].to_owned(), dump)
        };
        keys.into_iter().map(dump).collect()
    }
}

/// A commit of each kind; of members, sessions and documents, two.
async fn commits(Tenant { world, committee, .. }: &Tenant) -> Vec<Commit> {
    let session = world.session(swarm_core::SessionId(1)).await.unwrap().record;
    let (ada, grace) = (Author::named("ada"), Author::named("grace"));
    let mut renewed = world.edited(&grace.id, |member| *member = grace.member()).await;
    (renewed.mail, renewed.act) = (Some(mail("second")), Some(act("member")));
    let mut joined = Author::named("new").creation();
    (joined.mail, joined.act) = (Some(mail("second")), Some(act("member")));
    let message = world.messages(None, None).await.pop().unwrap();
    assert_eq!(message.record.id, MessageId(1));
    let mut sent = swarm_core::domain::Message::clone(&message.record);
    sent.state = swarm_core::domain::MailState::Sent;
    let amended = |it: &mut swarm_core::Session| {
        it.state = swarm_core::domain::SessionState::Published;
        it.published_at = Some(it.convened_at);
    };
    let replaced = DocumentDraft { key: Some("1".to_owned()), replace: true, ..document() };
    let key = committee::key("ada");
    let today = committee.now().await.day();
    let day = committee.day(today).await.unwrap();
    let again = CommitteeDayChange {
        briefs: Some(vec![committee::brief("ada", "again")]),
        ..committee::next_save(&day, (*day.record).clone())
    };
    let seat = committee::creation(&committee::member("new"));
    let challenged = world.member(&ada.id).await;
    let offer = offer_challenge(&ada.id, &challenged, seed("challenge"), world.now().await);
    vec![
        Commit::Challenge(offer),
        Commit::Take(world.judged(&ada, &ada.submission(&session, "2")).await),
        Commit::Member(Box::new(renewed)),
        Commit::Member(Box::new(joined)),
        Commit::Session(world.amended(session.id, amended).await),
        Commit::Session(world.amended(session.id, aggregate).await),
        Commit::Convocation(convene(&session_draft("other"), &Attribution::SCHEDULE)),
        Commit::ConvocationOnce(convene(&session_draft("other"), &Attribution::SCHEDULE)),
        Commit::Document(document()),
        Commit::Document(replaced),
        Commit::Message(MessageChange::new(sent, message.version)),
        Commit::CommitteeTake(committee.judged(&key, today, "2").await),
        Commit::CommitteeDay(again),
        Commit::CommitteeMember(seat),
    ]
}

fn document() -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: None,
        group: "group".to_owned(),
        json: "{}".to_owned(),
        replace: false,
        guard: None,
        quota: None,
        act: Some(act("memo")),
    }
}
