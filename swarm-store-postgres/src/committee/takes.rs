//! Submissions to the committee: filing and reading.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::store::records::Record as _;
use swarm_core::store::{CommitteeFiled, CommitteeFiling, CommitteeTakesQuery, Result};

use crate::commit::{Change, Commit, Kind};
use crate::db::{Arg, Db, limit, number, number_of, owned, record, text};
use crate::failure::Outcome;
use crate::tenant::TenantStore;

impl TenantStore {
    pub(super) async fn takes_of_committee(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        const ON: &str = "SELECT take.record
            FROM unnest($2) WITH ORDINALITY AS day (date, place)
            JOIN swarm.committee_takes take ON take.tenant = $1 AND take.date = day.date
            ORDER BY day.place, take.id";
        const LATEST: &str = "SELECT record FROM swarm.committee_takes
            WHERE tenant = $1 AND id IN (
                SELECT max(id) FROM swarm.committee_takes
                WHERE tenant = $1 AND member = $2 AND date < $3
                GROUP BY date, subject ORDER BY date DESC, max(id) DESC LIMIT $4)
            ORDER BY date DESC, id DESC";
        const OP: &str = "committee takes";
        match *query {
            CommitteeTakesQuery::On(days) => {
                let days = days.iter().map(|day| day.to_string().into()).collect();
                self.all(OP, ON, &[Arg::Texts(days)], record).await
            }
            CommitteeTakesQuery::Latest { member, before, limit: most } => {
                let values = [text(member.as_str()), owned(before.to_string()), limit(most)];
                self.all(OP, LATEST, &values, record).await
            }
        }
    }
}

#[async_trait]
impl Change for CommitteeFiling {
    type Made = CommitteeFiled;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<CommitteeFiled> {
        const KEEP: &str = "INSERT INTO swarm.committee_takes
                (tenant, id, date, member, subject, attempt, record)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let db = commit.db();
        if let Some(take) = attempted(&db, self).await? {
            return Ok(CommitteeFiled::Filed(take));
        }
        if !is_current(&db, self).await? {
            return Ok(CommitteeFiled::Stale);
        }
        let now = commit.time()?;
        if now > self.commit_deadline() {
            return Ok(CommitteeFiled::Late);
        }
        if is_full(&db, self).await? {
            return Ok(CommitteeFiled::Full);
        }
        let (id, take) = (commit.next_id(Kind::CommitteeTake), self.take(now));
        let values = [
            number(id),
            owned(take.date.to_string()),
            text(take.member_id.as_str()),
            text(take.subject_id.as_str()),
            Arg::Bytes(&self.attempt().0),
            owned(take.to_text()),
        ];
        commit.run(KEEP, &values).await?;
        commit.append_committee_take(id, now).await?;
        Ok(CommitteeFiled::Filed(Arc::new(take)))
    }
}

/// The submission that this attempt has filed already, if any.
async fn attempted(db: &Db<'_>, filing: &CommitteeFiling) -> Outcome<Option<Arc<CommitteeTake>>> {
    const ATTEMPTED: &str = "SELECT record FROM swarm.committee_takes
        WHERE tenant = $1 AND member = $2 AND date = $3 AND attempt = $4";
    let [member, date] = of(filing);
    db.one(ATTEMPTED, &[member, date, Arg::Bytes(&filing.attempt().0)], record).await
}

/// Whether the member has reached its quota of the day.
async fn is_full(db: &Db<'_>, filing: &CommitteeFiling) -> Outcome<bool> {
    const OWN: &str = "SELECT count(*) FROM swarm.committee_takes
        WHERE tenant = $1 AND member = $2 AND date = $3";
    let Some(quota) = filing.quota() else { return Ok(false) };
    let own = db.one(OWN, &of(filing), |row| number_of(row, 0)).await?;
    Ok(own >= Some(u64::from(quota)))
}

/// Whether member and day have the versions that were judged.
async fn is_current(db: &Db<'_>, filing: &CommitteeFiling) -> Outcome<bool> {
    const CURRENT: &str = "SELECT 1 FROM swarm.committee_members m, swarm.committee_days d
        WHERE m.tenant = $1 AND m.id = $2 AND m.version = $4
            AND d.tenant = $1 AND d.date = $3 AND d.version = $5";
    let ([member, date], (_, member_version)) = (of(filing), filing.member());
    let (_, day_version) = filing.session();
    db.any(CURRENT, &[member, date, number(member_version.0), number(day_version.0)]).await
}

fn of(filing: &CommitteeFiling) -> [Arg<'_>; 2] {
    let ((member, _), (date, _)) = (filing.member(), filing.session());
    [text(member.as_str()), owned(date.to_string())]
}
