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
    time_of_read,
};
use tokio_postgres::Row;

use crate::commit::{Change, Commit};
use crate::db::{
    Arg, limit, maybe_text, moment_of, next, number, number_of, owned, record, saved, text,
    timestamp, versioned,
};
use crate::failure::{Failure, Outcome};
use crate::tenant::TenantStore;

#[async_trait]
impl Committee for TenantStore {
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>> {
        const ALL: &str =
            "SELECT version, record FROM swarm.committee_members WHERE tenant = $1 ORDER BY id";
        self.all("committee members", ALL, &[], versioned).await
    }

    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>> {
        const BY_ID: &str = "SELECT version, record FROM swarm.committee_members
            WHERE tenant = $1 AND id = $2";
        self.one("committee member", BY_ID, &[text(id.as_str())], versioned).await
    }

    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved> {
        self.commit("save committee member", change).await
    }

    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>> {
        const ON: &str = "SELECT version, record FROM swarm.committee_days
            WHERE tenant = $1 AND date = $2";
        self.one("committee day", ON, &[owned(date.to_string())], versioned).await
    }

    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>> {
        const ALL: &str = "SELECT version, record FROM swarm.committee_days
            WHERE tenant = $1 AND about IS NOT NULL AND ($2::text IS NULL OR date < $2)
            ORDER BY date DESC LIMIT $3";
        const ABOUT: &str = "SELECT version, record FROM swarm.committee_days
            WHERE tenant = $1 AND ($2::text IS NULL OR date < $2) AND about = $4
            ORDER BY date DESC LIMIT $3";
        const OP: &str = "committee sessions";
        let before = query.before.map(|day| day.to_string());
        let (before, most) = (maybe_text(before.as_deref()), limit(query.limit));
        match &query.subject {
            Some(about) => {
                self.all(OP, ABOUT, &[before, most, text(about.as_str())], versioned).await
            }
            None => self.all(OP, ALL, &[before, most], versioned).await,
        }
    }

    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        self.commit("save committee day", change).await
    }

    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        const OF_DAY: &str = "SELECT record FROM swarm.committee_briefs
            WHERE tenant = $1 AND date = $2 AND ($3::text IS NULL OR member = $3) ORDER BY member";
        let values = [owned(date.to_string()), maybe_text(member.map(CommitteeMemberId::as_str))];
        self.all("committee briefs", OF_DAY, &values, record).await
    }

    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        const BASIS: &str = "SELECT swarm.clock_1(), t.last_at, coalesce(t.log, 1),
                (SELECT swarm.mark_1(at, take, committee_take, act) FROM swarm.log
                 WHERE tenant = $1 AND seq = $2),
                m.version, m.record, d.version, d.record
            FROM (SELECT) AS one
            LEFT JOIN swarm.tenants t ON t.tenant = $1
            LEFT JOIN swarm.committee_members m ON m.tenant = $1 AND m.api_key = $3
            LEFT JOIN LATERAL (
                SELECT version, record FROM swarm.committee_days
                WHERE tenant = $1 AND about IS NOT NULL ORDER BY date DESC LIMIT 1
            ) AS d ON true LIMIT 1";
        const OP: &str = "committee basis";
        let seen = self.seen.position();
        let values = [number(seen.size.0), Arg::Bytes(key.as_bytes())];
        let basis = self.one(OP, BASIS, &values, |row| {
            seen.check_facts(number_of(row, 2)?, row.try_get(3)?)?;
            let last_at = row.try_get::<_, Option<i64>>(1)?.map(timestamp).transpose()?;
            Ok(CommitteeBasis {
                now: time_of_read(moment_of(row, 0)?, last_at),
                member: versioned_at(row, 4)?,
                session: versioned_at(row, 6)?,
            })
        });
        let basis = self.seen.note(basis.await)?;
        basis.ok_or_else(|| Failure::corrupt("no facts").of(OP))
    }

    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        self.commit("file committee take", filing).await
    }

    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        self.takes_of_committee(query).await
    }
}

/// The record of a row that has its version and its text from a column on, if any.
fn versioned_at<T: Record>(row: &Row, first: usize) -> Outcome<Option<Versioned<T>>> {
    let Some(text) = row.try_get::<_, Option<&str>>(first + 1)? else { return Ok(None) };
    let version = Version(number_of(row, first)?);
    Ok(Some(Versioned { version, record: Arc::new(T::from_text(text)?) }))
}

#[async_trait]
impl Change for CommitteeMemberChange {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const CREATE: &str =
            "INSERT INTO swarm.committee_members (tenant, id, version, api_key, record)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        const CHANGE: &str =
            "UPDATE swarm.committee_members SET version = $3, api_key = $4, record = $5
            WHERE tenant = $1 AND id = $2 AND version = $6";
        commit.time()?;
        let Self { member, expected } = self;
        let (id, version, text) =
            (text(member.id.as_str()), next(*expected), owned(member.to_text()));
        let key = Arg::Bytes(member.key.as_bytes());
        Ok(saved(match expected {
            None => commit.run(CREATE, &[id, version, key, text]).await?,
            Some(Version(expected)) => {
                commit.run(CHANGE, &[id, version, key, text, number(*expected)]).await?
            }
        }))
    }
}

#[async_trait]
impl Change for CommitteeDayChange {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const CREATE: &str =
            "INSERT INTO swarm.committee_days (tenant, date, version, about, record)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        const CHANGE: &str = "UPDATE swarm.committee_days SET version = $3, about = $4, record = $5
            WHERE tenant = $1 AND date = $2 AND version = $6";
        let Self { day, expected, briefs, act } = self;
        let now = commit.time()?;
        let about = day.generation.as_ref().map(|made| made.subject_id.as_str());
        let (date, version) = (owned(day.date.to_string()), next(*expected));
        let (about, text) = (maybe_text(about), owned(day.to_text()));
        let saved = saved(match expected {
            None => commit.run(CREATE, &[date, version, about, text]).await?,
            Some(Version(expected)) => {
                commit.run(CHANGE, &[date, version, about, text, number(*expected)]).await?
            }
        });
        if saved == Saved::Stale {
            return Ok(saved);
        }
        if let Some(briefs) = briefs {
            replace_briefs(commit, day.date, briefs).await?;
        }
        commit.append(act, now, 0).await?;
        Ok(saved)
    }
}

/// Replaces the briefs of a day, and deletes those of earlier days, which are never read.
async fn replace_briefs(
    commit: &mut Commit<'_>,
    date: Day,
    briefs: &[CommitteeBrief],
) -> Outcome<()> {
    const FORGET: &str = "DELETE FROM swarm.committee_briefs WHERE tenant = $1 AND date <= $2";
    const KEEP: &str = "INSERT INTO swarm.committee_briefs (tenant, date, member, record)
        SELECT $1, $2, * FROM unnest($3, $4)";
    commit.run(FORGET, &[owned(date.to_string())]).await?;
    let members = Arg::texts(briefs.iter().map(|brief| brief.member_id.as_str()));
    let records = Arg::Texts(briefs.iter().map(|brief| brief.to_text().into()).collect());
    commit.run(KEEP, &[owned(date.to_string()), members, records]).await?;
    Ok(())
}
