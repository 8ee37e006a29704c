//! Submissions to the committee: filing and reading.

use std::sync::Arc;

use swarm_core::domain::committee::{CommitteeMemberId, CommitteeTake};
use swarm_core::domain::{AttemptId, Day};
use swarm_core::store::records::Record;
use swarm_core::store::{CommitteeFiled, CommitteeFiling};

use crate::failure::Outcome;
use crate::log_rows;
use crate::tenant_rows::{TenantRows, limit_arg, record, signed};

/// All submissions on these days.
pub(super) fn on(world: &TenantRows<'_>, days: &[Day]) -> Outcome<Vec<Arc<CommitteeTake>>> {
    const OF_DAY: &str = "SELECT record FROM committee_takes
        WHERE tenant = ?1 AND date = ?2 ORDER BY id";
    let of_day = |day: &Day| world.all(OF_DAY, &[&day.to_string()], record);
    Ok(days.iter().map(of_day).collect::<Outcome<Vec<_>>>()?.concat())
}

/// The member's last submission per day and subject, the latest first.
pub(super) fn latest(
    world: &TenantRows<'_>,
    member: &CommitteeMemberId,
    before: Day,
    limit: usize,
) -> Outcome<Vec<Arc<CommitteeTake>>> {
    const LATEST: &str = "SELECT record FROM committee_takes
        WHERE tenant = ?1 AND id IN (
            SELECT max(id) FROM committee_takes WHERE tenant = ?1 AND member = ?2 AND date < ?3
            GROUP BY date, subject ORDER BY date DESC, max(id) DESC LIMIT ?4)
        ORDER BY date DESC, id DESC";
    world.all(LATEST, &[&member.as_str(), &before.to_string(), &limit_arg(limit)], record)
}

pub(super) fn file(world: &TenantRows<'_>, filing: &CommitteeFiling) -> Outcome<CommitteeFiled> {
    if let Some(take) = attempted(world, filing)? {
        return Ok(CommitteeFiled::Filed(take));
    }
    if !is_current(world, filing)? {
        return Ok(CommitteeFiled::Stale);
    }
    let now = world.time_of_commit()?;
    if now > filing.commit_deadline() {
        return Ok(CommitteeFiled::Late);
    }
    if is_full(world, filing)? {
        return Ok(CommitteeFiled::Full);
    }
    let take = filing.take(now);
    let id = world.next_id("SELECT max(id) FROM committee_takes WHERE tenant = ?1", &[])?;
    insert(world, id, &take, filing.attempt())?;
    log_rows::append_committee_take(world, id, now)?;
    Ok(CommitteeFiled::Filed(Arc::new(take)))
}

/// Writes a submission.
pub(crate) fn insert(
    world: &TenantRows<'_>,
    id: u64,
    take: &CommitteeTake,
    attempt: AttemptId,
) -> Outcome<()> {
    world.run(
        "INSERT INTO committee_takes (tenant, id, date, member, subject, attempt, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &signed(id),
            &take.date.to_string(),
            &take.member_id.as_str(),
            &take.subject_id.as_str(),
            &attempt.0,
            &take.to_text(),
        ],
    )?;
    Ok(())
}

/// The submission with this id.
pub(crate) fn by_id(world: &TenantRows<'_>, id: u64) -> Outcome<Option<Arc<CommitteeTake>>> {
    const BY_ID: &str = "SELECT record FROM committee_takes WHERE tenant = ?1 AND id = ?2";
    world.one(BY_ID, &[&signed(id)], record)
}

/// The submission that this attempt has filed already, if any.
fn attempted(
    world: &TenantRows<'_>,
    filing: &CommitteeFiling,
) -> Outcome<Option<Arc<CommitteeTake>>> {
    const ATTEMPTED: &str = "SELECT record FROM committee_takes
        WHERE tenant = ?1 AND member = ?2 AND date = ?3 AND attempt = ?4";
    let ((member, _), (date, _)) = (filing.member(), filing.session());
    world.one(ATTEMPTED, &[&member.as_str(), &date.to_string(), &filing.attempt().0], record)
}

/// Whether the member has reached its quota of the day.
fn is_full(world: &TenantRows<'_>, filing: &CommitteeFiling) -> Outcome<bool> {
    const OWN: &str = "SELECT count(*) FROM committee_takes
        WHERE tenant = ?1 AND member = ?2 AND date = ?3";
    let ((member, _), (date, _)) = (filing.member(), filing.session());
    let Some(quota) = filing.quota() else { return Ok(false) };
    Ok(world.number(OWN, &[&member.as_str(), &date.to_string()])? >= Some(u64::from(quota)))
}

/// Whether member and day have the versions that were judged.
fn is_current(world: &TenantRows<'_>, filing: &CommitteeFiling) -> Outcome<bool> {
    const MEMBER: &str = "SELECT 1 FROM committee_members
        WHERE tenant = ?1 AND id = ?2 AND version = ?3";
    const DAY: &str = "SELECT 1 FROM committee_days
        WHERE tenant = ?1 AND date = ?2 AND version = ?3";
    let ((member, member_version), (date, day_version)) = (filing.member(), filing.session());
    Ok(world.any(MEMBER, &[&member.as_str(), &signed(member_version.0)])?
        && world.any(DAY, &[&date.to_string(), &signed(day_version.0)])?)
}
