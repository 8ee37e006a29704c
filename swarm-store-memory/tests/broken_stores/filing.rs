//! Faults of filing, and of the facts that a filing is judged by.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::domain::{AttemptId, Take, TakeId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberChange, MemberSaved, Result, Saved, SessionChange, TakeQuery,
    async_trait,
};
use tokio::time::sleep;

use crate::broken::{At, Fault, SHOWN, time};
use crate::tenants::fault;

/// An attempt that is sent again is another.
#[derive(Default)]
pub(crate) struct AttemptForgotten(Mutex<HashSet<AttemptId>>);

#[async_trait]
impl Fault for AttemptForgotten {
    async fn file(&self, at: &At, filing: &Filing) -> Result<Filed> {
        match self.0.lock().unwrap().insert(filing.attempt()) {
            true => {}
            false => return Ok(Filed::NonceUsed),
        }
        at.own.file(filing).await
    }
}

fault!(StaleAcknowledged: file(at, filing: &Filing) -> Filed {
    acknowledge(at, filing, |outcome| *outcome == Filed::Stale).await
});

fault!(NewerSessionUnchecked: file(at, filing: &Filing) -> Filed {
    acknowledge(at, filing, |outcome| *outcome == Filed::Stale).await
});

fault!(DeadlineUnchecked: file(at, filing: &Filing) -> Filed {
    acknowledge(at, filing, |outcome| *outcome == Filed::Late).await
});

fault!(LateAtTheDeadline: file(at, filing: &Filing) -> Filed {
    let outcome = at.own.file(filing).await?;
    let at_the_deadline =
        matches!(&outcome, Filed::Filed(take) if Some(take.filed_at) == filing.commit_deadline());
    Ok(if at_the_deadline { Filed::Late } else { outcome })
});

/// One commit waits long for its turn, after it has read the clock.
#[derive(Default)]
pub(crate) struct ClockReadWhenQueued(AtomicBool);

#[async_trait]
impl Fault for ClockReadWhenQueued {
    async fn file(&self, at: &At, filing: &Filing) -> Result<Filed> {
        let queued = time();
        if !self.0.swap(true, Ordering::SeqCst) {
            sleep(Duration::from_millis(2_500)).await;
        }
        SHOWN.scope(queued, at.own.file(filing)).await
    }
}

fault!(NonceNotSpent: file(at, filing: &Filing) -> Filed {
    acknowledge(at, filing, |outcome| *outcome == Filed::NonceUsed).await
});

fault!(RevisionTwice: file(at, filing: &Filing) -> Filed {
    acknowledge(at, filing, |outcome| *outcome == Filed::RevisionTaken).await
});

fault!(FactsReadOneByOne: basis(at, query: &BasisQuery<'_>) -> Basis {
    let first = at.own.basis(query).await?;
    sleep(Duration::from_millis(1)).await;
    let then = at.own.basis(query).await?;
    Ok(Basis { session: first.session, ..then })
});

fault!(TimeReadBeforeTheFacts: basis(at, query: &BasisQuery<'_>) -> Basis {
    let now = time();
    sleep(Duration::from_millis(3)).await;
    Ok(Basis { now, ..at.own.basis(query).await? })
});

/// Commits what comes within some milliseconds in one go, and keeps nothing of it when one of them
/// is refused, whatever it has told the others.
#[derive(Default)]
pub(crate) struct RollsBackItsNeighbours(AtomicUsize);

#[async_trait]
impl Fault for RollsBackItsNeighbours {
    async fn file(&self, at: &At, filing: &Filing) -> Result<Filed> {
        let refused = self.0.load(Ordering::SeqCst);
        sleep(Duration::from_millis(5)).await;
        if self.0.load(Ordering::SeqCst) > refused {
            let lost = filing.take(TakeId(1), time());
            return Ok(Filed::Filed(Arc::new(lost)));
        }
        at.own.file(filing).await
    }

    async fn save_member(&self, at: &At, change: &MemberChange) -> Result<MemberSaved> {
        let saved = at.own.save_member(change).await?;
        self.0.fetch_add(usize::from(saved != MemberSaved::Saved), Ordering::SeqCst);
        Ok(saved)
    }

    async fn save_session(&self, at: &At, change: &SessionChange) -> Result<Saved> {
        let saved = at.own.save_session(change).await?;
        self.0.fetch_add(usize::from(saved != Saved::Saved), Ordering::SeqCst);
        Ok(saved)
    }
}

/// Files, and says that it is on file where it should have refused.
async fn acknowledge(at: &At, filing: &Filing, refused: impl Fn(&Filed) -> bool) -> Result<Filed> {
    let outcome = at.own.file(filing).await?;
    let lost = || filing.take(TakeId(1), Timestamp::EPOCH);
    Ok(if refused(&outcome) { Filed::Filed(Arc::new(lost())) } else { outcome })
}

fault!(SupersededTakesCount: latest_takes(at, query: &TakeQuery) -> Vec<Arc<Take>> {
    at.own.takes(query.session).await
});

fault!(TakesBeforeThePage: latest_takes(at, query: &TakeQuery) -> Vec<Arc<Take>> {
    at.own.latest_takes(&TakeQuery { after: TakeId(0), ..*query }).await
});
