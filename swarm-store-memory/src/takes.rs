//! Takes.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{Revision, SessionId, Take, TakeId, TakeOnFile};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberTake, MemberTakeQuery, Result, Revisions, SessionTakes,
    TakeContext, TakeQuery, Takes,
};

use crate::TenantStore;
use crate::tenant_records::{SpentNonce, TenantRecords, next_id};

#[async_trait]
impl Takes for TenantStore {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        self.facts(|tenant| basis(tenant, query, self.time(tenant)))
    }

    async fn file(&self, filing: &Filing) -> Result<Filed> {
        self.commit_unless(|tenant| known(tenant, filing), |tenant, now| file(tenant, filing, now))
    }

    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>> {
        Ok(self.read(|tenant| {
            let take = Arc::clone(tenant.take(id)?);
            let session = tenant.sessions.get(take.session_id)?;
            let revisions = session.revisions.get(&take.draft().member_id)?;
            let superseded_by = revisions.get(usize::from(take.revision.get())).copied();
            Some(TakeOnFile { take, superseded_by })
        }))
    }

    async fn take_context(&self, id: TakeId) -> Result<Option<TakeContext>> {
        Ok(self.read(|tenant| {
            let take = tenant.take(id)?;
            let row = tenant.sessions.get(take.session_id)?;
            let is_other = |other: &&Arc<Take>| {
                row.latest_id(other.draft()) == Some(other.id)
                    && other.draft().member_id != take.draft().member_id
            };
            let (before, after) = row.takes.split_at(row.takes.partition_point(|it| *it < id));
            let previous = before.iter().rev().filter_map(|id| tenant.take(*id)).find(is_other);
            let next = after.iter().filter_map(|id| tenant.take(*id)).find(is_other);
            let own = row.revisions.get(&take.draft().member_id)?.iter();
            let own = own.filter_map(|id| tenant.take(*id));
            TakeContext::of(id, own.chain(previous).chain(next).map(Arc::clone).collect())
        }))
    }

    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        Ok(self.read(|tenant| {
            let row = tenant.sessions.get(query.session)?;
            let first = row.takes.partition_point(|id| *id <= query.after);
            let takes = row.takes.iter().skip(first).filter_map(|id| tenant.take(*id));
            let is_latest = |take: &Take| row.latest_id(take.draft()) == Some(take.id);
            let takes = takes.filter(|it| query.revisions == Revisions::All || is_latest(it));
            let takes = takes.take(query.limit).map(Arc::clone).collect();
            Some(SessionTakes { session: row.session.clone(), takes })
        }))
    }

    async fn member_takes(&self, query: &MemberTakeQuery) -> Result<Vec<MemberTake>> {
        Ok(self.read(|tenant| {
            let filed_in = tenant.members.get(&query.member).map(|row| &row.sessions);
            let end = query.before.unwrap_or(SessionId(u64::MAX));
            let filed_in = filed_in.into_iter().flat_map(|ids| ids.range(..end).rev());
            let take = |id: &SessionId| {
                let row = tenant.sessions.get(*id)?;
                let roster = row.session.record.roster.as_ref();
                let entry = roster.and_then(|roster| roster.entry(&query.member));
                Some(MemberTake {
                    take: Arc::clone(tenant.take(*row.revisions.get(&query.member)?.last()?)?),
                    session: Arc::clone(&row.summary),
                    expected: entry.is_some_and(|entry| !entry.excused),
                })
            };
            filed_in.filter_map(take).take(query.limit).collect()
        }))
    }
}

fn basis(tenant: &TenantRecords, query: &BasisQuery<'_>, now: Timestamp) -> Basis {
    let member = tenant.bearer(query.token);
    let session = tenant.newest_session(query.date, query.subject_id);
    let spent = member.and_then(|member| member.nonces.get(query.nonce));
    let latest = member.zip(session);
    Basis {
        now,
        member: member.map(|row| row.member.clone()),
        session: session.map(|row| row.terms.clone()),
        latest: latest.and_then(|(member, session)| session.latest(&member.member.record.id)),
        spent: spent.and_then(|spent| tenant.take(spent.take).map(Arc::clone)),
    }
}

/// The outcome that does not depend on the time: of an attempt that was filed before, or of facts that changed.
fn known(tenant: &TenantRecords, filing: &Filing) -> Option<Filed> {
    let (member_id, member_version) = filing.member();
    let (session_id, session_version) = filing.session();
    let (date, subject) = filing.newest_of();
    let Some(member) = tenant.members.get(member_id) else { return Some(Filed::Stale) };
    let spent = member.nonces.get(filing.nonce());
    if let Some(spent) = spent.filter(|spent| spent.attempt == filing.attempt()) {
        return tenant.take(spent.take).map(|take| Filed::Filed(Arc::clone(take)));
    }
    let newest = tenant.newest_session(date, subject).map(|row| &row.session);
    let is_current = member.member.version == member_version
        && newest.is_some_and(|it| (it.record.id, it.version) == (session_id, session_version));
    (!is_current).then_some(Filed::Stale)
}

/// Files a take whose facts are current.
fn file(tenant: &mut TenantRecords, filing: &Filing, now: Timestamp) -> Filed {
    let (member_id, _) = filing.member();
    let id = TakeId(next_id(tenant.takes.len()));
    let Some(member) = tenant.members.get_mut(member_id) else { return Filed::Stale };
    let Some(session) = tenant.sessions.get_mut(filing.session().0) else { return Filed::Stale };
    let spent = member.nonces.get(filing.nonce());
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
    member.sessions.insert(filing.session().0);
    session.takes.push(id);
    session.revisions.entry(member_id.clone()).or_default().push(id);
    tenant.takes.push(Arc::clone(&take));
    tenant.log.take(&take);
    Filed::Filed(take)
}
