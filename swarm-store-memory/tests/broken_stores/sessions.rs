//! Faults of sessions.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swarm_core::domain::{Session, SessionId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Convocation, Filed, Result, Saved, SessionChange, SessionQuery, Versioned, async_trait,
};
use tokio::time::sleep;

use crate::broken::{Fault, Worlds};
use crate::tenants::fault;

fault!(SessionInvented: session(worlds, id: SessionId) -> Option<Versioned<Session>> {
    match worlds.own.session(id).await? {
        None => worlds.own.session(SessionId(1)).await,
        there => Ok(there),
    }
});

fault!(NumbersByTwo: convene(worlds, convocation: &Convocation) -> Arc<Session> {
    worlds.own.convene(convocation).await?;
    worlds.own.convene(convocation).await
});

fault!(ConvenedIn1970: convene(worlds, convocation: &Convocation) -> Arc<Session> {
    let session = worlds.own.convene(convocation).await?;
    Ok(Arc::new(Session { convened_at: Timestamp::EPOCH, ..Session::clone(&session) }))
});

fault!(QuorumForgotten: session(worlds, id: SessionId) -> Option<Versioned<Session>> {
    Ok(worlds.own.session(id).await?.map(|Versioned { version, record }| {
        let session = Session { quorum: None, ..Session::clone(&record) };
        Versioned { version, record: Arc::new(session) }
    }))
});

fault!(OldestFirst: sessions(worlds, query: &SessionQuery) -> Vec<Arc<Session>> {
    Ok(worlds.own.sessions(query).await?.into_iter().rev().collect())
});

fault!(BeforeUnasked: sessions(worlds, query: &SessionQuery) -> Vec<Arc<Session>> {
    worlds.own.sessions(&SessionQuery { before: None, ..query.clone() }).await
});

fault!(DayAndSubjectUnasked: sessions(worlds, query: &SessionQuery) -> Vec<Arc<Session>> {
    worlds.own.sessions(&SessionQuery { on: None, ..query.clone() }).await
});

fault!(StateUnasked: sessions(worlds, query: &SessionQuery) -> Vec<Arc<Session>> {
    worlds.own.sessions(&SessionQuery { state: None, ..query.clone() }).await
});

fault!(PublishedByNumber: published(worlds, limit: usize) -> Vec<Arc<Session>> {
    let mut all = worlds.own.published(usize::MAX).await?;
    all.sort_by_key(|session| Reverse(session.id));
    all.truncate(limit);
    Ok(all)
});

fault!(OldestOfAMomentFirst: published(worlds, limit: usize) -> Vec<Arc<Session>> {
    let mut all = worlds.own.published(usize::MAX).await?;
    all.sort_by_key(|session| (Reverse(session.published_at), session.id));
    all.truncate(limit);
    Ok(all)
});

fault!(SavedThoughUnknown: save_session(worlds, change: &SessionChange) -> Saved {
    match worlds.own.session(change.session.id).await? {
        None => Ok(Saved::Saved),
        Some(_) => worlds.own.save_session(change).await,
    }
});

/// A slow save that ignores takes filed meanwhile.
#[derive(Default)]
pub(crate) struct TakesComeMeanwhile(AtomicU64);

#[async_trait]
impl Fault for TakesComeMeanwhile {
    async fn save_session(&self, worlds: &Worlds, change: &SessionChange) -> Result<Saved> {
        sleep(Duration::from_millis(200)).await;
        let unguarded = SessionChange { takes: None, none_filed_after: None, ..change.clone() };
        worlds.own.save_session(&unguarded).await
    }

    async fn file(&self, worlds: &Worlds, filing: &Filing) -> Result<Filed> {
        let place = self.0.fetch_add(1, Ordering::SeqCst) % 16;
        sleep(Duration::from_millis(25 * place)).await;
        worlds.own.file(filing).await
    }
}
