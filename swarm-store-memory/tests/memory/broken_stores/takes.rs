//! Faults of takes, and of the facts that they are judged by.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::domain::{
    MemberState, Nonce, Revision, Session, StoredTake, Take, TakeId, TakeOnFile, Timestamp,
};
use swarm_core::rules::{Filing, Refusal, restore};
use swarm_core::store::{
    Aggregated, Aggregation, Basis, BasisQuery, Filed, MemberQuery, MemberTake, MemberTakeQuery,
    Result, SessionChange, SessionQuery, Store, TakeContext, TakeMark, TakeMarks, async_trait,
};
use swarm_testing::{act, takes_of};
use tokio::time::sleep;

use crate::broken_stores::broken::{Fault, TenantStores, time};
use crate::broken_stores::filing::acknowledge;
use crate::broken_stores::tenants::fault;

/// All sessions, the newest first.
const ALL: SessionQuery = SessionQuery {
    on: None,
    state: None,
    before: None,
    limit: usize::MAX,
    without_snapshots: false,
};

fault!(SomeMemberShownToStrangers: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let mut facts = stores.own.basis(query).await?;
    let all = stores.own.members(&MemberQuery::in_states(&MemberState::ALL)).await?;
    if let (None, Some(any)) = (&facts.member, all.first()) {
        facts.member = stores.own.member(&any.id).await?.member;
    }
    Ok(facts)
});

fault!(FactsOfTheActiveAlone: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let facts = stores.own.basis(query).await?;
    let member = facts.member.filter(|member| member.record.state.is_active());
    Ok(Basis { member, ..facts })
});

fault!(FactsOfTheFirstSession: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let on = Some((query.date, query.subject_id.clone()));
    let found = stores.own.sessions(&SessionQuery { on, ..ALL }).await?.pop();
    facts_of(&*stores.own, query, found).await
});

fault!(FactsOfAnyDay: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let all = stores.own.sessions(&ALL).await?;
    let found = all.into_iter().find(|session| session.subject_id == *query.subject_id);
    facts_of(&*stores.own, query, found).await
});

fault!(FactsOfAnySubject: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let found = stores.own.sessions(&ALL).await?.into_iter().next();
    facts_of(&*stores.own, query, found).await
});

/// The facts with this session in place of the right one.
async fn facts_of(
    store: &dyn Store,
    query: &BasisQuery<'_>,
    session: Option<Arc<Session>>,
) -> Result<Basis> {
    let facts = store.basis(query).await?;
    let Some(session) = session else { return Ok(facts) };
    let session = store.session(session.id).await?.map(|session| session.map(Session::terms));
    Ok(Basis { session, ..facts })
}

fault!(RevisionsOfAllSessions: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let facts = stores.own.basis(query).await?;
    let Some(member) = &facts.member else { return Ok(facts) };
    let mut filed = 0;
    for session in stores.own.sessions(&ALL).await? {
        let takes = takes_of(&*stores.own, session.id).await?;
        filed += takes.iter().filter(|take| take.draft().member_id == member.record.id).count();
    }
    Ok(Basis { latest: Revision::new(u8::try_from(filed).unwrap()), ..facts })
});

fault!(AnotherTakeSpentIt: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let facts = stores.own.basis(query).await?;
    let another = |take: &Arc<Take>| Arc::new(Take { id: TakeId(77), ..Take::clone(take) }).into();
    Ok(Basis { spent: facts.spent.as_ref().and_then(StoredTake::whole).map(another), ..facts })
});

fault!(TimeOfFilingForgotten: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    Ok(stores.own.take(id).await?.map(|TakeOnFile { take, superseded_by }| {
        let take = Take { filed_at: Timestamp::EPOCH, ..Take::clone(take.whole().unwrap()) };
        TakeOnFile { take: Arc::new(take).into(), superseded_by }
    }))
});

fault!(NothingIsSuperseded: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    Ok(stores.own.take(id).await?.map(|it| TakeOnFile { superseded_by: None, ..it }))
});

fault!(EarlierRevisionsForgotten: take_context(stores, id: TakeId) -> Option<TakeContext> {
    Ok(stores.own.take_context(id).await?.map(|mut context| {
        context.revisions.retain(|take| take.id() >= id);
        context
    }))
});

fault!(SupersededNeighbour: take_context(stores, id: TakeId) -> Option<TakeContext> {
    let Some(context) = stores.own.take_context(id).await? else { return Ok(None) };
    let Some(own) = context.revisions.first() else { return Ok(Some(context)) };
    let takes = takes_of(&*stores.own, own.session_id()).await?;
    let is_other = |take: &&Arc<Take>| take.draft().member_id != *own.member_id();
    let previous = takes.iter().rev().filter(is_other).find(|take| take.id < id);
    let previous = previous.cloned().map(StoredTake::from);
    Ok(Some(TakeContext { previous, ..context }))
});

fault!(SupersededTakesOfAMember: member_takes(stores, query: &MemberTakeQuery) -> Vec<MemberTake> {
    let mut found = Vec::new();
    for take in stores.own.member_takes(query).await? {
        let all = takes_of(&*stores.own, take.session.id).await?;
        let own = all.into_iter().filter(|it| it.draft().member_id == query.member);
        found.extend(own.map(|own| MemberTake { take: own.into(), ..take.clone() }));
    }
    Ok(found)
});

fault!(ExcusedExpected: member_takes(stores, query: &MemberTakeQuery) -> Vec<MemberTake> {
    let takes = stores.own.member_takes(query).await?.into_iter();
    Ok(takes.map(|take| MemberTake { expected: take.session.has_roster, ..take }).collect())
});

fault!(TakeInvented: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    match stores.own.take(id).await? {
        None => stores.own.take(TakeId(1)).await,
        there => Ok(there),
    }
});

// A filing changes its session's version.
fault!(FilingSavesItsSession: file(stores, filing: &Filing) -> Filed {
    let outcome = stores.own.file(filing).await?;
    if let Some(there) = stores.own.session(filing.session().0).await? {
        let change = SessionChange {
            session: Session::clone(&there.record),
            expected: there.version,
            takes: None,
            takes_refusal: Refusal::TakesSealed,
            none_filed_after: None,
            withdrawn: false,
            acts: vec![act("filed")],
            opens: false,
        };
        let _ = stores.own.save_session(&change).await?;
    }
    Ok(outcome)
});

fault!(LateBeforeStale: file(stores, filing: &Filing) -> Filed {
    match filing.commit_deadline() {
        Some(deadline) if time() > deadline => Ok(Filed::Late),
        _ => stores.own.file(filing).await,
    }
});

fault!(LateWithADeadline: file(stores, filing: &Filing) -> Filed {
    match filing.commit_deadline() {
        Some(_) => Ok(Filed::Late),
        None => stores.own.file(filing).await,
    }
});

fault!(DeadlineOfTheRecord: file(stores, filing: &Filing) -> Filed {
    let session = stores.own.session(filing.session().0).await?;
    match session.and_then(|session| session.record.window_closes_at) {
        Some(deadline) if time() > deadline => Ok(Filed::Late),
        _ => stores.own.file(filing).await,
    }
});

/// Nonces are shared among members.
#[derive(Default)]
pub(crate) struct NonceSpentForAll(Mutex<HashSet<Nonce>>);

#[async_trait]
impl Fault for NonceSpentForAll {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let is_new = self.0.lock().unwrap().insert(filing.nonce().clone());
        if is_new { stores.own.file(filing).await } else { Ok(Filed::NonceUsed) }
    }
}

/// Nonces are compared without case.
#[derive(Default)]
pub(crate) struct NoncesInAnyCase(Mutex<HashSet<String>>);

#[async_trait]
impl Fault for NoncesInAnyCase {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let is_new = self.0.lock().unwrap().insert(filing.nonce().as_str().to_lowercase());
        if is_new { stores.own.file(filing).await } else { Ok(Filed::NonceUsed) }
    }
}

// Slow, so that a session is convened meanwhile.
fault!(NewerSessionUncheckedForLong: file(stores, filing: &Filing) -> Filed {
    sleep(Duration::from_millis(100)).await;
    acknowledge(stores, filing, |outcome| *outcome == Filed::Stale).await
});

// Slow, so that all are judged before one is committed.
fault!(RevisionTwiceInARace: file(stores, filing: &Filing) -> Filed {
    sleep(Duration::from_millis(100)).await;
    acknowledge(stores, filing, |outcome| *outcome == Filed::RevisionTaken).await
});

fault!(MarkForgotten: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    let found = stores.own.take(id).await?;
    Ok(found.map(|found| {
        let take = Take { withheld: None, ..Take::clone(found.take.whole().unwrap()) };
        TakeOnFile { take: Arc::new(take).into(), ..found }
    }))
});

// The marks are not there when a session is aggregated.
fault!(MarkOfTheSessionForgotten: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    for take in takes_of(&*stores.own, aggregation.session).await? {
        let session = stores.own.session(aggregation.session).await?.unwrap();
        if take.withheld.is_some() {
            let marks = restore(&session, &take, &aggregation.by).unwrap();
            let _ = stores.own.mark_takes(&marks).await?;
        }
    }
    stores.own.aggregate(aggregation).await
});

fault!(MarkedAtAnyVersion: mark_takes(stores, marks: &TakeMarks) -> Option<Timestamp> {
    let expected = stores.own.session(marks.session.id).await?.unwrap().version;
    stores.own.mark_takes(&TakeMarks { expected, author: None, ..marks.clone() }).await
});

fault!(TextsKept: mark_takes(stores, marks: &TakeMarks) -> Option<Timestamp> {
    let mut marks = marks.clone();
    for (_, mark) in &mut marks.takes {
        if let TakeMark::Erased(note) = mark {
            *mark = TakeMark::Withheld(note.clone());
        }
    }
    stores.own.mark_takes(&marks).await
});
