//! Implements [`Committee`].

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, AttemptId, Day, Timestamp, Version};
use swarm_core::store::records::Record as _;
use swarm_core::store::{
    Committee, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Result, Saved, Versioned,
};
use tokio_postgres::Row;

use crate::commit::{Change, Mode, to_complete};
use crate::db::{
    Arg, after, any, bytes, limit, maybe_text, number, owned, record, signed, text, time_of,
    versioned, versioned_at,
};
use crate::failure::Failure;
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
        const SAVE: &str = include_str!("commits/save_committee_member.sql");
        let CommitteeMemberChange { member, expected } = change;
        let mut args = member_row(member, after(*expected));
        args["expected"] = expected.map(|version| signed(version.0)).into();
        self.save(Change::new("save committee member", SAVE, args)).await
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
        let (about, subject) = match &query.subject {
            Some(subject) => ("about = $4", Some(text(subject.as_str()))),
            None => ("about IS NOT NULL", None),
        };
        let sql = format!(
            "SELECT version, record FROM swarm.committee_days
            WHERE tenant = $1 AND {about} AND ($2::text IS NULL OR date < $2)
            ORDER BY date DESC LIMIT $3"
        );
        let before = query.before.map(|day| day.to_string());
        let page = [maybe_text(before.as_deref()), limit(query.limit)];
        let values: Vec<_> = page.into_iter().chain(subject).collect();
        self.all("committee sessions", &sql, &values, versioned).await
    }

    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        const SAVE: &str = include_str!("commits/save_committee_day.sql");
        let CommitteeDayChange { day, expected, briefs, act } = change;
        let mut args = day_row(day, after(*expected));
        args["expected"] = expected.map(|version| signed(version.0)).into();
        if let Some(briefs) = briefs {
            args["briefs"] = briefs.iter().map(|brief| brief_row(day.date, brief)).collect();
        }
        self.save(Change::new("save committee day", SAVE, args).with([act])).await
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
        const BASIS: &str = include_str!("queries/committee_basis.sql");
        let seen = self.seen.position();
        let values = [number(seen.size.0), Arg::Bytes(key.as_bytes())];
        let read = |row: &Row| {
            Ok(CommitteeBasis {
                now: time_of(row)?,
                member: versioned_at(row, 4)?,
                session: versioned_at(row, 6)?,
            })
        };
        self.facts("committee basis", BASIS, &seen, &values, read).await
    }

    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        const OP: &str = "file committee take";
        const FILE: &str = include_str!("commits/file_committee.sql");
        let times: &[_] = match filing.generated_at() {
            None => &["received_at", "generated_at"],
            Some(_) => &["received_at"],
        };
        let take = filing.take(Timestamp::EPOCH);
        let mut args = take_row(0, filing.attempt(), &take);
        args["record"] = to_complete(&take.to_text(), times).into();
        args["member_version"] = signed(filing.member().1.0).into();
        args["day_version"] = signed(filing.session().1.0).into();
        args["deadline"] = filing.commit_deadline().millis().into();
        args["quota"] = filing.quota().into();
        let change = Change { mode: Mode::Filing, ..Change::new(OP, FILE, args) };
        let filed = self.commit(change).await?;
        match (&*filed.outcome, &filed.detail) {
            ("saved", _) => Ok(CommitteeFiled::Filed(Arc::new(filing.take(filed.at)))),
            ("again", Some(record)) => {
                let take = CommitteeTake::from_text(record).map_err(Failure::from);
                Ok(CommitteeFiled::Filed(Arc::new(take.map_err(|failure| failure.of(OP))?)))
            }
            ("stale", _) => Ok(CommitteeFiled::Stale),
            ("late", _) => Ok(CommitteeFiled::Late),
            ("full", _) => Ok(CommitteeFiled::Full),
            _ => Err(filed.unknown(OP)),
        }
    }

    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        const ON: &str = include_str!("queries/committee_takes_on_days.sql");
        const LATEST: &str = include_str!("queries/committee_takes_of_member.sql");
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

/// The row of a member at this version.
pub(crate) fn member_row(member: &CommitteeMember, version: Version) -> Value {
    json!({
        "id": any(member.id.as_str()),
        "version": signed(version.0),
        "api_key": bytes(member.key.as_bytes()),
        "record": member.to_text(),
    })
}

/// The row of a day at this version.
pub(crate) fn day_row(day: &CommitteeDay, version: Version) -> Value {
    json!({
        "date": day.date.to_string(),
        "version": signed(version.0),
        "about": day.generation.as_ref().map(|made| any(made.subject_id.as_str())),
        "record": day.to_text(),
    })
}

/// The row of a brief.
pub(crate) fn brief_row(date: Day, brief: &CommitteeBrief) -> Value {
    json!({
        "date": date.to_string(),
        "member": any(brief.member_id.as_str()),
        "record": brief.to_text(),
    })
}

/// The row of a submission.
pub(crate) fn take_row(id: u64, attempt: AttemptId, take: &CommitteeTake) -> Value {
    json!({
        "id": signed(id),
        "date": take.date.to_string(),
        "member": any(take.member_id.as_str()),
        "subject": any(take.subject_id.as_str()),
        "attempt": bytes(&attempt.0),
        "record": take.to_text(),
    })
}
