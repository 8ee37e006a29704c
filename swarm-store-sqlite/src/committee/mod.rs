//! Implements [`Committee`].

mod takes;

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, Day, Version};
use swarm_core::store::records::Record;
use swarm_core::store::{
    Committee, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Result, Saved, Versioned,
};

use crate::TenantStore;
use crate::failure::Outcome;
use crate::log_rows;
use crate::tenant_rows::{TenantRows, limit_arg, next, record, saved, signed, versioned};

pub(crate) use takes::{by_id as take_by_id, insert as insert_take};

#[async_trait]
impl Committee for TenantStore {
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>> {
        const ALL: &str = "SELECT version, record FROM committee_members
            WHERE tenant = ?1 ORDER BY id";
        self.read("committee members", |world| world.all(ALL, &[], versioned)).await
    }

    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>> {
        const BY_ID: &str = "SELECT version, record FROM committee_members
            WHERE tenant = ?1 AND id = ?2";
        let id = id.clone();
        let look = move |world: &TenantRows<'_>| world.one(BY_ID, &[&id.as_str()], versioned);
        self.read("committee member", look).await
    }

    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved> {
        let change = change.clone();
        self.write("save committee member", move |world| save_member(world, &change)).await
    }

    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>> {
        const ON: &str = "SELECT version, record FROM committee_days
            WHERE tenant = ?1 AND date = ?2";
        let look = move |world: &TenantRows<'_>| world.one(ON, &[&date.to_string()], versioned);
        self.read("committee day", look).await
    }

    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>> {
        let query = query.clone();
        self.read("committee sessions", move |world| sessions(world, &query)).await
    }

    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        let change = change.clone();
        self.write("save committee day", move |world| save_day(world, &change)).await
    }

    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        const OF_DAY: &str = "SELECT record FROM committee_briefs
            WHERE tenant = ?1 AND date = ?2 ORDER BY member";
        const OF_MEMBER: &str = "SELECT record FROM committee_briefs
            WHERE tenant = ?1 AND date = ?2 AND member = ?3";
        let (date, member) = (date.to_string(), member.cloned());
        self.read("committee briefs", move |world| match member {
            Some(member) => world.all(OF_MEMBER, &[&date, &member.as_str()], record),
            None => world.all(OF_DAY, &[&date], record),
        })
        .await
    }

    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        let key = *key;
        self.facts("committee basis", move |world| basis(world, &key)).await
    }

    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        let filing = filing.clone();
        self.write_filing("file committee take", move |world| takes::file(world, &filing)).await
    }

    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        const OP: &str = "committee takes";
        match *query {
            CommitteeTakesQuery::On(days) => {
                let days = days.to_vec();
                self.read(OP, move |world| takes::on(world, &days)).await
            }
            CommitteeTakesQuery::Latest { member, before, limit } => {
                let member = member.clone();
                self.read(OP, move |world| takes::latest(world, &member, before, limit)).await
            }
        }
    }
}

fn basis(world: &TenantRows<'_>, key: &ApiKeyHash) -> Outcome<CommitteeBasis> {
    const BY_KEY: &str = "SELECT version, record FROM committee_members
        WHERE tenant = ?1 AND api_key = ?2";
    let latest = CommitteeSessionQuery { limit: 1, ..CommitteeSessionQuery::default() };
    Ok(CommitteeBasis {
        now: world.now()?,
        member: world.one(BY_KEY, &[key.as_bytes()], versioned)?,
        session: sessions(world, &latest)?.pop(),
    })
}

/// The days with a generation that match, the latest first.
fn sessions(
    world: &TenantRows<'_>,
    query: &CommitteeSessionQuery,
) -> Outcome<Vec<Versioned<CommitteeDay>>> {
    const ALL: &str = "SELECT version, record FROM committee_days
        WHERE tenant = ?1 AND about IS NOT NULL AND (?2 IS NULL OR date < ?2)
        ORDER BY date DESC LIMIT ?3";
    const ABOUT: &str = "SELECT version, record FROM committee_days
        WHERE tenant = ?1 AND (?2 IS NULL OR date < ?2) AND about = ?4
        ORDER BY date DESC LIMIT ?3";
    let (before, most) = (query.before.map(|day| day.to_string()), limit_arg(query.limit));
    match &query.subject {
        Some(about) => world.all(ABOUT, &[&before, &most, &about.as_str()], versioned),
        None => world.all(ALL, &[&before, &most], versioned),
    }
}

/// Writes a member, if the guard holds.
pub(crate) fn save_member(
    world: &TenantRows<'_>,
    change: &CommitteeMemberChange,
) -> Outcome<Saved> {
    const CREATE: &str = "INSERT INTO committee_members (tenant, id, version, api_key, record)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    const CHANGE: &str = "UPDATE committee_members SET version = ?3, api_key = ?4, record = ?5
        WHERE tenant = ?1 AND id = ?2 AND version = ?6";
    let CommitteeMemberChange { member, expected } = change;
    let (id, version, text) = (member.id.as_str(), next(*expected), member.to_text());
    saved(match expected {
        None => world.run(CREATE, &[&id, &version, member.key.as_bytes(), &text]),
        Some(Version(expected)) => {
            let expected = signed(*expected);
            world.run(CHANGE, &[&id, &version, member.key.as_bytes(), &text, &expected])
        }
    })
}

fn save_day(world: &TenantRows<'_>, change: &CommitteeDayChange) -> Outcome<Saved> {
    const CREATE: &str = "INSERT INTO committee_days (tenant, date, version, about, record)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    const CHANGE: &str = "UPDATE committee_days SET version = ?3, about = ?4, record = ?5
        WHERE tenant = ?1 AND date = ?2 AND version = ?6";
    let CommitteeDayChange { day, expected, briefs, act } = change;
    let (date, version, text) = (day.date.to_string(), next(*expected), day.to_text());
    let about = day.generation.as_ref().map(|made| made.subject_id.as_str());
    let saved = saved(match expected {
        None => world.run(CREATE, &[&date, &version, &about, &text]),
        Some(Version(expected)) => {
            world.run(CHANGE, &[&date, &version, &about, &text, &signed(*expected)])
        }
    })?;
    if saved == Saved::Stale {
        return Ok(saved);
    }
    if let Some(briefs) = briefs {
        replace_briefs(world, &date, briefs)?;
    }
    log_rows::append_act(world, act, world.time_of_commit()?)?;
    Ok(saved)
}

/// Replaces the briefs of a day, and deletes those of earlier days, which are never read.
fn replace_briefs(world: &TenantRows<'_>, date: &str, briefs: &[CommitteeBrief]) -> Outcome<()> {
    const FORGET: &str = "DELETE FROM committee_briefs WHERE tenant = ?1 AND date <= ?2";
    world.run(FORGET, &[&date])?;
    briefs.iter().try_for_each(|brief| insert_brief(world, date, brief))
}

/// Writes a brief.
pub(crate) fn insert_brief(
    world: &TenantRows<'_>,
    date: &str,
    brief: &CommitteeBrief,
) -> Outcome<()> {
    const KEEP: &str = "INSERT INTO committee_briefs (tenant, date, member, record)
        VALUES (?1, ?2, ?3, ?4)";
    world.run(KEEP, &[&date, &brief.member_id.as_str(), &brief.to_text()])?;
    Ok(())
}
