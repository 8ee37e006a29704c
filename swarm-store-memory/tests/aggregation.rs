//! Aggregation racing with takes that are being filed.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::ops::RangeInclusive;
use std::sync::Arc;

use swarm_core::domain::{
    Actor, Attribution, Contact, Lens, Member, MemberState, Name, PublicKey, SessionDraft,
    SessionState, Subject, TokenHash,
};
use swarm_core::json::{Json, Object, write};
use swarm_core::proof::KeyPair;
use swarm_core::store::{MemberChange, MemberSaved};
use swarm_core::{
    MemberId, Refusal, SessionId, Submission, SubmitError, Swarm, SystemEntropy, Take, TakeDraft,
    Tenant, TenantId, Tenants, Timestamp,
};
use swarm_store_memory::MemoryStore;
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

const ROUNDS: usize = 10_000;
const AMENDMENTS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_snapshot_is_the_highest_revisions_at_the_freeze_and_stays_so() {
    let (tenant, early, late) = world().await;
    let (mut amended, mut quoted_late) = (0, 0);
    for round in 0..ROUNDS {
        let session = convene(&tenant).await;
        tenant.submit(&early.token, &early.sign(round, 0)).await.unwrap();
        let barrier = Arc::new(Barrier::new(3));
        let amendments = race(&barrier, &tenant, &early, round, 1..=AMENDMENTS);
        let first = race(&barrier, &tenant, &late, round, 0..=0);
        barrier.wait().await;
        let frozen = tenant
            .advance(session, SessionState::Aggregated, &Attribution::SCHEDULE)
            .await
            .unwrap();
        let (amendments, first) = (amendments.await.unwrap(), first.await.unwrap());

        let landed = amendments.iter().take_while(|filed| filed.is_ok()).count();
        assert!(amendments.iter().skip(landed).all(is_closed), "{amendments:?}");
        let (read, takes) = tenant.session(session).await.unwrap();
        let quotes = &read.snapshot.as_ref().unwrap().quotes;
        let of = |author: &Author| quotes.iter().find(|quote| quote.member_id == author.id);
        let quoted = of(&early).unwrap();
        let on_file = takes.iter().find(|take| take.draft().member_id == early.id).unwrap();
        assert_eq!((quoted.take_id, quoted.revision), (on_file.id, on_file.revision));
        assert_eq!(usize::from(quoted.revision.get()), 1 + landed);
        // A first take goes by the window alone: it lands, before the freeze or after it.
        let first = first.first().unwrap().as_ref().unwrap();
        assert!(of(&late).is_none_or(|quote| quote.take_id == first.id));
        assert_eq!(write(&read.snapshot), write(&frozen.snapshot));

        amended += landed;
        quoted_late += usize::from(of(&late).is_some());
    }
    // The race was one: each side won at times.
    assert!((1..ROUNDS * AMENDMENTS).contains(&amended), "{amended}");
    assert!((1..ROUNDS).contains(&quoted_late), "{quoted_late}");
}

type Outcome = Result<Arc<Take>, SubmitError>;

fn is_closed(outcome: &Outcome) -> bool {
    matches!(outcome, Err(SubmitError::Refused(why)) if why.reason == Refusal::AmendmentClosed)
}

/// Files these takes of a round, one after the other, once the barrier opens.
fn race(
    barrier: &Arc<Barrier>,
    tenant: &Tenant,
    author: &Author,
    round: usize,
    numbers: RangeInclusive<usize>,
) -> JoinHandle<Vec<Outcome>> {
    let (barrier, tenant, token) = (Arc::clone(barrier), tenant.clone(), author.token);
    let takes: Vec<_> = numbers.map(|number| author.sign(round, number)).collect();
    tokio::spawn(async move {
        barrier.wait().await;
        let mut filed = Vec::new();
        for take in takes {
            filed.push(tenant.submit(&token, &take).await);
        }
        filed
    })
}

async fn convene(tenant: &Tenant) -> SessionId {
    let mut fields = fields(r#"{"date":"2026-11-21","subjectId":"aurora"}"#);
    tenant
        .convene(&SessionDraft::read(&mut fields).unwrap(), &Attribution::SCHEDULE)
        .await
        .unwrap()
        .id
}

struct Author {
    id: MemberId,
    key: KeyPair,
    token: TokenHash,
}

impl Author {
    fn sign(&self, round: usize, number: usize) -> Submission {
        let text = format!(
            r#"{{"memberId":"{}","date":"2026-11-21","subjectId":"aurora","stance":"neutral",
                "nonce":"{round} {number}","confidence":0.5,"body":"{round} {number}"}}"#,
            self.id
        );
        Submission::new(self.key.sign(TakeDraft::read(&mut fields(&text)).unwrap()))
    }
}

async fn world() -> (Tenant, Author, Author) {
    let store = MemoryStore::new();
    let id = TenantId::parse("acme").unwrap();
    let author = |name: &str, seed| Author {
        id: MemberId::parse(name).unwrap(),
        key: KeyPair::from_seed(&[seed; 32]),
        token: TokenHash::of(name.as_bytes()),
    };
    let (early, late) = (author("early", 1), author("late", 2));
    for author in [&early, &late] {
        let member = member(author);
        let change = MemberChange {
            member,
            expected: None,
            proven: None,
            mail: None,
            quota: None,
            act: None,
        };
        assert_eq!(store.open(&id).save_member(&change).await.unwrap(), MemberSaved::Saved);
    }
    let tenant = Swarm::new(store, SystemEntropy).tenant(&id);
    let subject = Subject::read(&mut fields(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
    tenant.put_subject(&subject, &Actor::SCHEDULE).await.unwrap();
    (tenant, early, late)
}

fn member(author: &Author) -> Member {
    Member {
        id: author.id.clone(),
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@test.example").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: Some(PublicKey::parse(&author.key.public_key()).unwrap()),
        state: MemberState::Claimed,
        applied_at: Timestamp::EPOCH,
        reviewed_at: None,
        joined_at: Some(Timestamp::EPOCH),
        claimed_at: Some(Timestamp::EPOCH),
        token: Some(author.token),
    }
}

fn fields(json: &str) -> Object {
    Json::read(json.as_bytes()).unwrap().into_object()
}
