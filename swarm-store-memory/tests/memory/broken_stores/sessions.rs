//! Faults of sessions.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swarm_core::domain::{
    LogEntry, LogRow, Logged, SealedTake, Seq, Session, SessionId, SessionSummary, StoredTake,
    Take, TakeId, TakeOnFile, Timestamp,
};
use swarm_core::rules::{Filing, Refusal};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, DocumentDraft, Filed, Result, Saved,
    SessionChange, SessionList, SessionQuery, SessionTakes, StoreError, SummaryQuery, TakeQuery,
    Versioned, async_trait,
};
use swarm_testing::takes_of;
use tokio::time::sleep;

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(SessionInvented: session(stores, id: SessionId) -> Option<Versioned<Session>> {
    match stores.own.session(id).await? {
        None => stores.own.session(SessionId(1)).await,
        there => Ok(there),
    }
});

fault!(NumbersByTwo: convene(stores, convocation: &Convocation) -> Arc<Session> {
    stores.own.convene(convocation).await?;
    stores.own.convene(convocation).await
});

fault!(ConvenedIn1970: convene(stores, convocation: &Convocation) -> Arc<Session> {
    let session = stores.own.convene(convocation).await?;
    Ok(Arc::new(Session { convened_at: Timestamp::EPOCH, ..Session::clone(&session) }))
});

fault!(OccasionUnclaimed: convene_once(stores, _occasion: &str, convocation: &Convocation) -> Option<Arc<Session>> {
    stores.own.convene(convocation).await.map(Some)
});

// Looks whether the occasion is claimed, and convenes later.
fault!(OccasionClaimedTwice: convene_once(stores, occasion: &str, convocation: &Convocation) -> Option<Arc<Session>> {
    if stores.own.document(Collection::Occasions, occasion).await?.is_some() {
        return Ok(None);
    }
    sleep(Duration::from_millis(20)).await;
    let session = stores.own.convene(convocation).await?;
    let claim = DocumentDraft::of_occasion(occasion, session.id);
    let _ = stores.own.put_document(Collection::Occasions, &claim).await?;
    Ok(Some(session))
});

fault!(OccasionOfTheSessionBefore: convene_once(stores, occasion: &str, convocation: &Convocation) -> Option<Arc<Session>> {
    let convened = stores.own.convene_once(occasion, convocation).await?;
    let Some(session) = &convened else { return Ok(None) };
    let before = SessionId(session.id.0.saturating_sub(1));
    let claim = DocumentDraft { replace: true, ..DocumentDraft::of_occasion(occasion, before) };
    let _ = stores.own.put_document(Collection::Occasions, &claim).await?;
    Ok(convened)
});

fault!(QuorumForgotten: session(stores, id: SessionId) -> Option<Versioned<Session>> {
    Ok(stores.own.session(id).await?.map(|Versioned { version, record }| {
        let session = Session { quorum: None, ..Session::clone(&record) };
        Versioned { version, record: Arc::new(session) }
    }))
});

fault!(OldestFirst: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    Ok(stores.own.sessions(query).await?.into_iter().rev().collect())
});

fault!(BeforeUnasked: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    stores.own.sessions(&SessionQuery { before: None, ..query.clone() }).await
});

fault!(DayAndSubjectUnasked: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    stores.own.sessions(&SessionQuery { on: None, ..query.clone() }).await
});

fault!(StateUnasked: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    stores.own.sessions(&SessionQuery { state: None, ..query.clone() }).await
});

fault!(SnapshotsUnasked: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    stores.own.sessions(&SessionQuery { without_snapshots: false, ..query.clone() }).await
});

fault!(SessionsReadOneByOne: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    let (mut one, mut found) = (SessionQuery { limit: 1, ..query.clone() }, Vec::new());
    while found.len() < query.limit {
        let Some(next) = stores.own.sessions(&one).await?.pop() else { break };
        one.before = Some(next.id);
        found.push(next);
        sleep(Duration::from_millis(1)).await;
    }
    Ok(found)
});

fault!(FiguresForgotten: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    let without_figures = |it: Arc<SessionSummary>| {
        Arc::new(SessionSummary { figures: None, ..SessionSummary::clone(&it) })
    };
    let summaries = stores.own.session_summaries(query).await?;
    Ok(summaries.into_iter().map(without_figures).collect())
});

fault!(SummariesInAnyState: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    let list = match &query.list {
        SessionList::InState(_) => SessionList::All,
        list => list.clone(),
    };
    stores.own.session_summaries(&SummaryQuery { list, ..query.clone() }).await
});

fault!(SummariesAboutAnySubject: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    let list = match &query.list {
        SessionList::About(_) => SessionList::All,
        list => list.clone(),
    };
    stores.own.session_summaries(&SummaryQuery { list, ..query.clone() }).await
});

fault!(LaterSummariesHighestFirst: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    let Some(after) = query.after else { return stores.own.session_summaries(query).await };
    let newest = SummaryQuery { after: None, ..query.clone() };
    let mut found = stores.own.session_summaries(&newest).await?;
    found.retain(|session| session.id > after);
    Ok(found)
});

fault!(SummariesReadOneByOne: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    let (mut one, mut found) = (SummaryQuery { limit: 1, ..query.clone() }, Vec::new());
    while found.len() < query.limit {
        let Some(next) = stores.own.session_summaries(&one).await?.pop() else { break };
        one.before = Some(next.id);
        found.push(next);
        sleep(Duration::from_millis(1)).await;
    }
    Ok(found)
});

fault!(PublishedByNumber: published(stores, limit: usize) -> Vec<Arc<SessionSummary>> {
    let mut all = stores.own.published(usize::MAX).await?;
    all.sort_by_key(|session| Reverse(session.id));
    all.truncate(limit);
    Ok(all)
});

fault!(OldestOfAMomentFirst: published(stores, limit: usize) -> Vec<Arc<SessionSummary>> {
    let mut all = stores.own.published(usize::MAX).await?;
    all.sort_by_key(|session| (Reverse(session.published_at), session.id));
    all.truncate(limit);
    Ok(all)
});

fault!(SavedThoughUnknown: save_session(stores, change: &SessionChange) -> Saved {
    match stores.own.session(change.session.id).await? {
        None => Ok(Saved::Saved),
        Some(_) => stores.own.save_session(change).await,
    }
});

fault!(SealForgotten: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    let found = stores.own.take(id).await?;
    Ok(found.map(|found| {
        let take = found.take.whole().map(|take| Take { salt: None, ..Take::clone(take) });
        TakeOnFile { take: take.map_or(found.take, |take| Arc::new(take).into()), ..found }
    }))
});

fault!(ReadPastTheSeal: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    let Some(found) = stores.own.take(id).await? else { return Ok(None) };
    let takes = takes_of(&*stores.own, found.take.session_id()).await?;
    let take = takes.into_iter().find(|take| take.id == id);
    Ok(Some(TakeOnFile { take: take.map_or(found.take, StoredTake::from), ..found }))
});

fault!(OpenedTakeStaysSealed: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    let mut found = stores.own.session_takes(query).await?;
    for take in found.iter_mut().flat_map(|found| &mut found.takes) {
        let sealed = take.whole().and_then(|take| SealedTake::of(take));
        if let Some(sealed) = sealed.filter(|_| !query.unsealed) {
            *take = StoredTake::Sealed(Arc::new(sealed));
        }
    }
    Ok(found)
});

fault!(NothingOpened: log(stores, after: Seq, limit: usize) -> Vec<LogRow> {
    let mut rows = stores.own.log(after, limit).await?;
    rows.retain(|row| match &row.logged {
        Logged::Entry(entry) => !matches!(**entry, LogEntry::Opening(_)),
        _ => true,
    });
    Ok(rows)
});

fault!(OpenedThoughStale: save_session(stores, change: &SessionChange) -> Saved {
    let saved = stores.own.save_session(change).await?;
    if saved == Saved::Stale && change.opens {
        stores.own.accept_clock(&change.acts[0]).await?;
    }
    Ok(saved)
});

fault!(WithdrawnIsKept: save_session(stores, change: &SessionChange) -> Saved {
    stores.own.save_session(&SessionChange { withdrawn: false, ..change.clone() }).await
});

fault!(WithdrawnInAnyCase: save_session(stores, change: &SessionChange) -> Saved {
    let takes = change.takes.filter(|_| !change.withdrawn);
    stores.own.save_session(&SessionChange { takes, ..change.clone() }).await
});

fault!(AggregatedAgain: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    match stores.own.aggregate(aggregation).await? {
        Err(Refusal::SessionIs(_)) => {
            let session = stores.own.session(aggregation.session).await?;
            Ok(Ok(session.unwrap().record))
        }
        first => Ok(first),
    }
});

fault!(LastTakeNotAggregated: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    let Some(session) = stores.own.session(aggregation.session).await? else {
        return stores.own.aggregate(aggregation).await;
    };
    let mut takes = takes_of(&*stores.own, aggregation.session).await?;
    takes.pop();
    let now = stores.own.now().await?;
    let change = match aggregation.judge(Some(&session), &takes, now) {
        Ok(change) => SessionChange { takes: None, ..change },
        Err(refusal) => return Ok(Err(refusal)),
    };
    let saved = stores.own.save_session(&change).await?;
    saved.committed(Ok(Arc::new(change.session))).ok_or_else(|| StoreError::contended("aggregate", "stale"))
});

// Looks which takes there are, and later writes the snapshot of those.
fault!(AggregatedAsOfARead: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    let change = judged(stores, aggregation).await?;
    sleep(Duration::from_millis(20)).await;
    let _ = stores.own.save_session(&SessionChange { takes: None, ..change.clone() }).await?;
    Ok(Ok(Arc::new(change.session)))
});

// Looks again while takes arrive, and gives up in the end.
fault!(AggregationStarved: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    for _ in 0..8 {
        let change = judged(stores, aggregation).await?;
        sleep(Duration::from_millis(10)).await;
        if stores.own.save_session(&change).await? == Saved::Saved {
            return Ok(Ok(Arc::new(change.session)));
        }
    }
    Err(StoreError::contended("aggregate", "takes kept arriving"))
});

async fn judged(stores: &TenantStores, aggregation: &Aggregation) -> Result<SessionChange> {
    let session = stores.own.session(aggregation.session).await?;
    let takes = takes_of(&*stores.own, aggregation.session).await?;
    let now = stores.own.now().await?;
    Ok(aggregation.judge(session.as_ref(), &takes, now).unwrap())
}

/// A slow save that ignores takes filed meanwhile.
#[derive(Default)]
pub(crate) struct TakesComeMeanwhile(AtomicU64);

#[async_trait]
impl Fault for TakesComeMeanwhile {
    async fn save_session(&self, stores: &TenantStores, change: &SessionChange) -> Result<Saved> {
        sleep(Duration::from_millis(200)).await;
        let unguarded = SessionChange { takes: None, none_filed_after: None, ..change.clone() };
        stores.own.save_session(&unguarded).await
    }

    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let place = self.0.fetch_add(1, Ordering::SeqCst) % 16;
        sleep(Duration::from_millis(25 * place)).await;
        stores.own.file(filing).await
    }
}
