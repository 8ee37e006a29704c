//! Aggregation racing with takes that are being filed, and with operators who withhold their texts.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{Actor, Attribution, Note, Session, SessionState};
use swarm_core::json::write;
use swarm_core::store::backend::{Backend, CommitOutcome, Operation, Transaction};
use swarm_core::store::{Interceptor, Result, async_trait};
use swarm_core::{Refusal, SubmitError, Take, TakeId, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::{Author, TestTenant};
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

const ROUNDS: usize = 10_000;
const AMENDMENTS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_aggregation_snapshots_highest_revisions_once() {
    let fixture = TestTenant::fresh(MemoryStore::new()).await;
    let (early, late) = (fixture.author("early").await, fixture.author("late").await);
    let tenant = fixture.service();
    let (mut amended, mut quoted_late) = (0, 0);
    for _ in 0..ROUNDS {
        let session = fixture.convened("aurora").await;
        fixture.filed(&early, &session, &nonce(&session, 0)).await;
        let barrier = Arc::new(Barrier::new(3));
        let amendments = race(&barrier, &tenant, &early, &session, 1..=AMENDMENTS);
        let first = race(&barrier, &tenant, &late, &session, 0..=0);
        barrier.wait().await;
        let (to, by) = (SessionState::Aggregated, &Attribution::SCHEDULE);
        let frozen = tenant.advance(session.id, to, by).await.unwrap();
        let (amendments, first) = (amendments.await.unwrap(), first.await.unwrap());

        let landed = amendments.iter().take_while(|filed| filed.is_ok()).count();
        assert!(amendments.iter().skip(landed).all(is_closed), "{amendments:?}");
        let (read, takes) = tenant.session(session.id).await.unwrap();
        let quotes = &read.snapshot.as_ref().unwrap().quotes;
        let of = |author: &Author| quotes.iter().find(|quote| quote.member_id == author.id);
        let quoted = of(&early).unwrap();
        let on_file = takes.iter().find(|take| *take.member_id() == early.id).unwrap();
        assert_eq!((quoted.take_id, quoted.revision), (on_file.id(), on_file.revision()));
        assert_eq!(usize::from(quoted.revision.get()), 1 + landed);
        // A first take depends on the window alone: it is accepted before or after aggregation.
        let first = first.first().unwrap().as_ref().unwrap();
        assert!(of(&late).is_none_or(|quote| quote.take_id == first.id));
        assert_eq!(write(&read.snapshot), write(&frozen.snapshot));

        amended += landed;
        quoted_late += usize::from(of(&late).is_some());
    }
    // Each side won at times, so it was a race.
    assert!((1..ROUNDS * AMENDMENTS).contains(&amended), "{amended}");
    assert!((1..ROUNDS).contains(&quoted_late), "{quoted_late}");
}

/// A store in which an operator withholds the texts of a take after an aggregation has read them, and before it commits.
struct Withholding {
    desk: Tenant,
    take: Mutex<Option<TakeId>>,
}

#[async_trait]
impl Interceptor for Withholding {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let take = self.take.lock().unwrap().take_if(|_| op == "save session");
        if let Some(take) = take {
            let note = Note::parse("It names a client.").unwrap();
            self.desk.withhold_take(take, &note, &Actor::OPERATOR).await.unwrap();
        }
        next.commit(tenant, op, transaction).await
    }
}

#[tokio::test]
async fn text_that_is_withheld_during_an_aggregation_is_not_quoted() {
    let store = MemoryStore::new();
    let fixture = TestTenant::fresh(store.clone()).await;
    let (ada, session) = (fixture.author("ada").await, fixture.convened("aurora").await);
    let take = fixture.filed(&ada, &session, "1").await.id;
    let withholding = Withholding { desk: fixture.service(), take: Mutex::new(Some(take)) };
    let store = store.intercepted(Arc::new(withholding));
    let tenant = TestTenant::open(store, fixture.id.clone()).service();

    let (to, by) = (SessionState::Aggregated, &Attribution::SCHEDULE);
    let aggregated = tenant.advance(session.id, to, by).await.unwrap();
    let quote = &aggregated.snapshot.as_ref().unwrap().quotes[0];
    assert_eq!((quote.take_id, &quote.body), (take, &None));
}

type Outcome = std::result::Result<Arc<Take>, SubmitError>;

fn is_closed(outcome: &Outcome) -> bool {
    matches!(outcome, Err(SubmitError::Refused(why)) if why.reason == Refusal::AmendmentClosed)
}

/// Files these takes in a session, one after the other, after the barrier.
fn race(
    barrier: &Arc<Barrier>,
    tenant: &Tenant,
    author: &Author,
    session: &Session,
    numbers: RangeInclusive<usize>,
) -> JoinHandle<Vec<Outcome>> {
    let (barrier, tenant, token) = (Arc::clone(barrier), tenant.clone(), author.token);
    let take = |number| author.submission(session, &nonce(session, number));
    let takes: Vec<_> = numbers.map(take).collect();
    tokio::spawn(async move {
        barrier.wait().await;
        let mut filed = Vec::new();
        for take in takes {
            filed.push(tenant.submit(&token, &take).await);
        }
        filed
    })
}

fn nonce(session: &Session, number: usize) -> String {
    format!("{} {number}", session.id)
}
