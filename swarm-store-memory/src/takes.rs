//! Takes.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{Revision, Take, TakeId, TakeOnFile};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, Filed, Result, Revisions, SessionTakes, TakeQuery, Takes,
};

use crate::TenantStore;
use crate::world::{SpentNonce, World, next_id};

#[async_trait]
impl Takes for TenantStore {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        self.facts(|world| basis(world, query, self.time(world)))
    }

    async fn file(&self, filing: &Filing) -> Result<Filed> {
        self.commit(|world, now| file(world, filing, now))
    }

    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>> {
        Ok(self.read(|world| {
            let take = Arc::clone(world.take(id)?);
            let session = world.sessions.get(&take.session_id)?;
            let revisions = session.revisions.get(&take.draft().member_id)?;
            let superseded_by = revisions.get(usize::from(take.revision.get())).copied();
            Some(TakeOnFile { take, superseded_by })
        }))
    }

    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        Ok(self.read(|world| {
            let row = world.sessions.get(&query.session)?;
            let first = row.takes.partition_point(|id| *id <= query.after);
            let takes = row.takes.iter().skip(first).filter_map(|id| world.take(*id));
            let is_latest = |take: &Take| row.latest_id(take.draft()) == Some(take.id);
            let takes = takes.filter(|it| query.revisions == Revisions::All || is_latest(it));
            let takes = takes.take(query.limit).map(Arc::clone).collect();
            Some(SessionTakes { session: row.session.clone(), takes })
        }))
    }
}

fn basis(world: &World, query: &BasisQuery<'_>, now: Timestamp) -> Basis {
    let member = world.bearer(query.token);
    let session = world.newest_session(query.date, query.subject_id);
    let spent = member.and_then(|member| member.nonces.get(query.nonce));
    let latest = member.zip(session);
    Basis {
        now,
        member: member.map(|row| row.member.clone()),
        session: session.map(|row| row.terms.clone()),
        latest: latest.and_then(|(member, session)| session.latest(&member.member.record.id)),
        spent: spent.and_then(|spent| world.take(spent.take).map(Arc::clone)),
    }
}

fn file(world: &mut World, filing: &Filing, now: Timestamp) -> Filed {
    let (member_id, member_version) = filing.member();
    let (session_id, session_version) = filing.session();
    let (date, subject) = filing.newest_of();
    let is_newest =
        world.newest_session(date, subject).is_some_and(|it| it.session.record.id == session_id);
    let id = TakeId(next_id(world.takes.len()));

    let Some(member) = world.members.get_mut(member_id) else { return Filed::Stale };
    let Some(session) = world.sessions.get_mut(&session_id) else { return Filed::Stale };
    let spent = member.nonces.get(filing.nonce());
    if let Some(spent) = spent.filter(|spent| spent.attempt == filing.attempt()) {
        let take = spent.take;
        return world.take(take).map_or(Filed::Stale, |take| Filed::Filed(Arc::clone(take)));
    }
    let is_current =
        member.member.version == member_version && session.session.version == session_version;
    if !(is_current && is_newest) {
        return Filed::Stale;
    }
    if filing.commit_deadline().is_some_and(|deadline| now > deadline) {
        return Filed::Late;
    }
    if spent.is_some() {
        return Filed::NonceUsed;
    }
    if Revision::after(session.latest(member_id)) != Some(filing.revision()) {
        return Filed::RevisionTaken;
    }

    let take = Arc::new(filing.take(id, now));
    member
        .nonces
        .insert(filing.nonce().clone(), SpentNonce { attempt: filing.attempt(), take: id });
    session.takes.push(id);
    session.revisions.entry(member_id.clone()).or_default().push(id);
    world.takes.push(Arc::clone(&take));
    world.log.take(&take);
    Filed::Filed(take)
}
