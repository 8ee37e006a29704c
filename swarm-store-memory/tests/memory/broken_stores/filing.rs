//! Faults of filing, and of the facts that it is judged by.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::domain::{AttemptId, SessionId, TakeId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberChange, MemberSaved, Result, Revisions, Saved, SessionAuthors,
    SessionChange, SessionTakes, TakeQuery, async_trait,
};
use tokio::time::sleep;

use crate::broken_stores::broken::{Fault, SHOWN, TenantStores, time};
use crate::broken_stores::tenants::fault;

/// A resent attempt counts as a new one.
#[derive(Default)]
pub(crate) struct AttemptForgotten(Mutex<HashSet<AttemptId>>);

#[async_trait]
impl Fault for AttemptForgotten {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        match self.0.lock().unwrap().insert(filing.attempt()) {
            true => {}
            false => return Ok(Filed::NonceUsed),
        }
        stores.own.file(filing).await
    }
}

fault!(StaleAcknowledged: file(stores, filing: &Filing) -> Filed {
    acknowledge(stores, filing, |outcome| *outcome == Filed::Stale).await
});

fault!(NewerSessionUnchecked: file(stores, filing: &Filing) -> Filed {
    acknowledge(stores, filing, |outcome| *outcome == Filed::Stale).await
});

fault!(DeadlineUnchecked: file(stores, filing: &Filing) -> Filed {
    acknowledge(stores, filing, |outcome| *outcome == Filed::Late).await
});

fault!(LateAtTheDeadline: file(stores, filing: &Filing) -> Filed {
    let outcome = stores.own.file(filing).await?;
    let at_the_deadline =
        matches!(&outcome, Filed::Filed(take, _) if Some(take.filed_at) == filing.commit_deadline());
    Ok(if at_the_deadline { Filed::Late } else { outcome })
});

// Commits wait for the lock for a minute after they read the clock: reads meanwhile show a later time.
fault!(ClockReadWhenQueued: basis(stores, query: &BasisQuery<'_>) -> Basis {
    SHOWN.scope(time().plus_millis(60_000), stores.own.basis(query)).await
});

fault!(NonceNotSpent: file(stores, filing: &Filing) -> Filed {
    acknowledge(stores, filing, |outcome| *outcome == Filed::NonceUsed).await
});

fault!(RevisionTwice: file(stores, filing: &Filing) -> Filed {
    acknowledge(stores, filing, |outcome| *outcome == Filed::RevisionTaken).await
});

fault!(FactsReadOneByOne: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let first = stores.own.basis(query).await?;
    sleep(Duration::from_millis(1)).await;
    let then = stores.own.basis(query).await?;
    Ok(Basis { session: first.session, ..then })
});

fault!(TimeReadBeforeTheFacts: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let now = time();
    sleep(Duration::from_millis(3)).await;
    Ok(Basis { now, ..stores.own.basis(query).await? })
});

/// Commits in batches, and drops the whole batch when one of it is refused, though others were answered.
#[derive(Default)]
pub(crate) struct RollsBackItsNeighbours(AtomicUsize);

#[async_trait]
impl Fault for RollsBackItsNeighbours {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let refused = self.0.load(Ordering::SeqCst);
        sleep(Duration::from_millis(5)).await;
        if self.0.load(Ordering::SeqCst) > refused {
            let lost = filing.take(TakeId(1), time());
            return Ok(Filed::Filed(Arc::new(lost), None));
        }
        stores.own.file(filing).await
    }

    async fn save_member(
        &self,
        stores: &TenantStores,
        change: &MemberChange,
    ) -> Result<MemberSaved> {
        let saved = stores.own.save_member(change).await?;
        self.0.fetch_add(usize::from(saved != MemberSaved::Saved), Ordering::SeqCst);
        Ok(saved)
    }

    async fn save_session(&self, stores: &TenantStores, change: &SessionChange) -> Result<Saved> {
        let saved = stores.own.save_session(change).await?;
        self.0.fetch_add(usize::from(saved != Saved::Saved), Ordering::SeqCst);
        Ok(saved)
    }
}

/// Answers that a take is on file when it should refuse.
pub(crate) async fn acknowledge(
    stores: &TenantStores,
    filing: &Filing,
    refused: impl Fn(&Filed) -> bool,
) -> Result<Filed> {
    let outcome = stores.own.file(filing).await?;
    let lost = || filing.take(TakeId(1), Timestamp::EPOCH);
    Ok(if refused(&outcome) { Filed::Filed(Arc::new(lost()), None) } else { outcome })
}

fault!(SupersededTakesCount: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    stores.own.session_takes(&TakeQuery { revisions: Revisions::All, ..*query }).await
});

fault!(SupersededAuthors: session_authors(stores, session: SessionId) -> Option<SessionAuthors> {
    let all = stores.own.session_takes(&TakeQuery::all(session)).await?;
    Ok(all.map(|SessionTakes { session, takes }| SessionAuthors {
        session,
        authors: takes.iter().map(|take| take.member_id().clone()).collect(),
    }))
});

fault!(TakesBeforeThePage: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    stores.own.session_takes(&TakeQuery { after: TakeId(0), ..*query }).await
});

fault!(SessionReadBeforeItsTakes: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    let session = stores.own.session(query.session).await?;
    sleep(Duration::from_millis(2)).await;
    let found = stores.own.session_takes(query).await?;
    Ok(session.zip(found).map(|(session, found)| SessionTakes { session, ..found }))
});
