//! Implements [`Takes`]: filing, and reading takes.

mod row;

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{
    AttemptId, Day, MemberId, Nonce, Revision, SessionId, SessionSummary, SubjectId, Take, TakeId,
    TakeOnFile,
};
use swarm_core::rules::Filing;
use swarm_core::store::records::{BEFORE_SNAPSHOT, Record as _, expecting};
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberTake, MemberTakeQuery, Result, Revisions, SessionTakes,
    TakeContext, TakeQuery, Takes,
};

use crate::failure::Outcome;
use crate::tenant_rows::{TenantRows, Values, limit_arg, signed, text};
use crate::{TenantStore, log_rows, members, session_rows};
use row::revision;
pub(crate) use row::{TakeText, take};

#[async_trait]
impl Takes for TenantStore {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        let (token, date) = (*query.token, query.date);
        let (subject, nonce) = (query.subject_id.clone(), query.nonce.clone());
        self.facts("basis", move |world| {
            let member = members::bearer(world, &token)?;
            let session = session_rows::newest_terms(world, date, &subject)?;
            let id = member.as_ref().map(|member| &member.record.id);
            let in_session = id.zip(session.as_ref().map(|session| session.record.id));
            Ok(Basis {
                now: world.now()?,
                latest: in_session.map_or(Ok(None), |(id, session)| latest(world, id, session))?,
                spent: id.map_or(Ok(None), |id| spent(world, id, &nonce))?,
                member,
                session,
            })
        })
        .await
    }

    async fn file(&self, filing: &Filing) -> Result<Filed> {
        let (filing, text) = (filing.clone(), TakeText::of(filing));
        self.write_filing("file", move |world| file(world, &filing, &text)).await
    }

    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>> {
        self.read("take", move |world| on_file(world, id)).await
    }

    async fn take_context(&self, id: TakeId) -> Result<Option<TakeContext>> {
        self.read("take context", move |world| context(world, id)).await
    }

    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        let query = *query;
        self.read("session takes", move |world| session_takes(world, &query)).await
    }

    async fn member_takes(&self, query: &MemberTakeQuery) -> Result<Vec<MemberTake>> {
        let query = query.clone();
        self.read("member takes", move |world| member_takes(world, &query)).await
    }
}

fn member_takes(world: &TenantRows<'_>, query: &MemberTakeQuery) -> Outcome<Vec<MemberTake>> {
    const OF_MEMBER: &str =
        "SELECT take.id, filed_at, session, revision, public_key, signature, payload, summary, record
        FROM takes AS take JOIN sessions ON sessions.tenant = ?1 AND sessions.id = take.session
        WHERE take.tenant = ?1 AND take.member = ?2 AND take.session < ?3 AND NOT EXISTS
            (SELECT 1 FROM takes AS later WHERE later.tenant = ?1 AND later.member = ?2
             AND later.session = take.session AND later.revision = take.revision + 1)
        ORDER BY take.session DESC LIMIT ?4";
    let before = query.before.map_or(i64::MAX, |id| signed(id.0));
    let expecting = expecting(&query.member);
    let values: Values<'_> = &[&query.member.as_str(), &before, &limit_arg(query.limit)];
    world.all(OF_MEMBER, values, |row| {
        let session = Arc::new(SessionSummary::from_text(text(row, 7)?)?);
        // The roster comes before the snapshot, which may be long.
        let before_snapshot = text(row, 8)?.split(BEFORE_SNAPSHOT).next().unwrap_or_default();
        Ok(MemberTake { take: take(row)?, session, expected: before_snapshot.contains(&expecting) })
    })
}

/// The latest revision of a member in a session.
fn latest(
    world: &TenantRows<'_>,
    member: &MemberId,
    session: SessionId,
) -> Outcome<Option<Revision>> {
    const LATEST: &str = "SELECT max(revision) FROM takes
        WHERE tenant = ?1 AND session = ?2 AND member = ?3";
    let number = world.number(LATEST, &[&signed(session.0), &member.as_str()])?;
    number.map(revision).transpose()
}

/// A session and its takes, as selected by the query.
pub(crate) fn session_takes(
    world: &TenantRows<'_>,
    query: &TakeQuery,
) -> Outcome<Option<SessionTakes>> {
    const ALL: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes WHERE tenant = ?1 AND session = ?2 AND id > ?3 ORDER BY id LIMIT ?4";
    const LATEST: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes AS take WHERE tenant = ?1 AND session = ?2 AND id > ?3 AND NOT EXISTS
            (SELECT 1 FROM takes AS later WHERE later.tenant = ?1 AND later.session = ?2
             AND later.member = take.member AND later.revision = take.revision + 1)
        ORDER BY id LIMIT ?4";
    let Some(session) = session_rows::by_id(world, query.session)? else { return Ok(None) };
    let sql = match query.revisions {
        Revisions::All => ALL,
        Revisions::Latest => LATEST,
    };
    let (id, after) = (signed(query.session.0), signed(query.after.0));
    let takes = world.all(sql, &[&id, &after, &limit_arg(query.limit)], take)?;
    Ok(Some(SessionTakes { session, takes }))
}

/// The take of a member with this nonce.
fn spent(world: &TenantRows<'_>, member: &MemberId, nonce: &Nonce) -> Outcome<Option<Arc<Take>>> {
    const SPENT: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes WHERE tenant = ?1 AND member = ?2 AND nonce = ?3";
    world.one(SPENT, &[&member.as_str(), &nonce.as_str()], take)
}

/// The take with this id.
pub(crate) fn by_id(world: &TenantRows<'_>, id: TakeId) -> Outcome<Option<Arc<Take>>> {
    const BY_ID: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes WHERE tenant = ?1 AND id = ?2";
    world.one(BY_ID, &[&signed(id.0)], take)
}

fn on_file(world: &TenantRows<'_>, id: TakeId) -> Outcome<Option<TakeOnFile>> {
    const NEXT: &str = "SELECT id FROM takes
        WHERE tenant = ?1 AND session = ?2 AND member = ?3 AND revision = ?4";
    let Some(take) = by_id(world, id)? else { return Ok(None) };
    let (session, next) = (signed(take.session_id.0), take.revision.get().saturating_add(1));
    let next = world.number(NEXT, &[&session, &take.draft().member_id.as_str(), &next])?;
    Ok(Some(TakeOnFile { take, superseded_by: next.map(TakeId) }))
}

fn context(world: &TenantRows<'_>, id: TakeId) -> Outcome<Option<TakeContext>> {
    const OWN: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes WHERE tenant = ?1 AND session = ?2 AND member = ?3";
    const PREVIOUS: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes AS take WHERE tenant = ?1 AND session = ?2 AND member <> ?3 AND id < ?4 AND NOT EXISTS
            (SELECT 1 FROM takes AS later WHERE later.tenant = ?1 AND later.session = ?2
             AND later.member = take.member AND later.revision = take.revision + 1)
        ORDER BY id DESC LIMIT 1";
    const NEXT: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes AS take WHERE tenant = ?1 AND session = ?2 AND member <> ?3 AND id > ?4 AND NOT EXISTS
            (SELECT 1 FROM takes AS later WHERE later.tenant = ?1 AND later.session = ?2
             AND later.member = take.member AND later.revision = take.revision + 1)
        ORDER BY id LIMIT 1";
    let Some(shown) = by_id(world, id)? else { return Ok(None) };
    let (session, member) = (signed(shown.session_id.0), shown.draft().member_id.as_str());
    let mut takes = world.all(OWN, &[&session, &member], take)?;
    for sql in [PREVIOUS, NEXT] {
        takes.extend(world.one(sql, &[&session, &member, &signed(id.0)], take)?);
    }
    Ok(TakeContext::of(id, takes))
}

fn file(world: &TenantRows<'_>, filing: &Filing, text: &TakeText) -> Outcome<Filed> {
    let (member, _) = filing.member();
    if let Some(take) = attempted(world, filing)? {
        return Ok(Filed::Filed(take));
    }
    if !is_current(world, filing)? {
        return Ok(Filed::Stale);
    }
    let now = world.time_of_commit()?;
    if filing.commit_deadline().is_some_and(|deadline| now > deadline) {
        return Ok(Filed::Late);
    }
    if spent(world, member, filing.nonce())?.is_some() {
        return Ok(Filed::NonceUsed);
    }
    if Revision::after(latest(world, member, filing.session().0)?) != Some(filing.revision()) {
        return Ok(Filed::RevisionTaken);
    }
    let id = world.next_id(LAST_ID, &[])?;
    let take = filing.take(TakeId(id), now);
    insert(world, &take, filing.attempt(), text)?;
    log_rows::append_take(world, TakeId(id), now)?;
    Ok(Filed::Filed(Arc::new(take)))
}

/// The last id of a take. If somebody deleted that take, the log still refers to it, and it stays used; its row is
/// looked for among the last hundred.
const LAST_ID: &str = "SELECT max(
    coalesce((SELECT max(id) FROM takes WHERE tenant = ?1), 0),
    coalesce((SELECT take FROM log WHERE tenant = ?1 AND take IS NOT NULL AND act IS NULL
        AND seq > (SELECT max(seq) - 100 FROM log WHERE tenant = ?1)
        ORDER BY seq DESC LIMIT 1), 0))";

/// Writes a take.
pub(crate) fn insert(
    world: &TenantRows<'_>,
    take: &Take,
    attempt: AttemptId,
    text: &TakeText,
) -> Outcome<()> {
    world.run(
        "INSERT INTO takes (tenant, id, session, member, revision, nonce, attempt, filed_at,
            public_key, signature, payload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        &[
            &signed(take.id.0),
            &signed(take.session_id.0),
            &take.draft().member_id.as_str(),
            &take.revision.get(),
            &take.draft().nonce.as_str(),
            &attempt.0,
            &take.filed_at.millis(),
            &text.public_key,
            &text.signature,
            &text.payload,
        ],
    )?;
    Ok(())
}

/// The take that this attempt has filed already, if any.
fn attempted(world: &TenantRows<'_>, filing: &Filing) -> Outcome<Option<Arc<Take>>> {
    const ATTEMPTED: &str = "SELECT id, filed_at, session, revision, public_key, signature, payload
        FROM takes WHERE tenant = ?1 AND member = ?2 AND nonce = ?3 AND attempt = ?4";
    let (member, _) = filing.member();
    let values = [member.as_str(), filing.nonce().as_str()];
    world.one(ATTEMPTED, &[&values[0], &values[1], &filing.attempt().0], take)
}

/// Whether member and session have the versions that were judged, and no newer session was convened.
fn is_current(world: &TenantRows<'_>, filing: &Filing) -> Outcome<bool> {
    let (member, member_version) = filing.member();
    let (session, session_version) = filing.session();
    let (date, subject) = filing.newest_of();
    Ok(members::is_at(world, member, member_version)?
        && session_rows::is_at(world, session, session_version)?
        && newest_id(world, date, subject)? == Some(session))
}

fn newest_id(world: &TenantRows<'_>, date: Day, subject: &SubjectId) -> Outcome<Option<SessionId>> {
    const NEWEST: &str = "SELECT max(id) FROM sessions
        WHERE tenant = ?1 AND date = ?2 AND subject = ?3";
    let id = world.number(NEWEST, &[&date.to_string(), &subject.as_str()])?;
    Ok(id.map(SessionId))
}
