//! Implements [`Committee`].
//!
//! In fields and indexes a day is its eight digits as a number, so that days are listed like records by id.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::StoreError;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, Day};
use swarm_core::proof::hex;
use swarm_core::store::{
    Committee, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Result, Saved, Versioned,
};

use crate::codec::{self, Context};
use crate::keys;
use crate::rows::{entry_arg, next, optional, saved, version_arg};
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::TenantStore;

/// The facts as a script returns them: the time, and the rows of member and day.
type Facts = (String, Option<String>, Option<String>);

#[async_trait]
impl Committee for TenantStore {
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>> {
        const OP: &str = "committee members";
        let all = redis::cmd("HVALS").arg(self.keys.committee_members()).to_owned();
        let rows: Vec<String> = self.query(OP, &all).await?;
        let mut members = codec::decode_each(&rows, codec::decode_committee_member).context(OP)?;
        members.sort_unstable_by(|one, other| one.record.id.cmp(&other.record.id));
        Ok(members)
    }

    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>> {
        const OP: &str = "committee member";
        let get = redis::cmd("HGET").arg(self.keys.committee_members()).arg(id.as_str()).to_owned();
        let row: Option<String> = self.query(OP, &get).await?;
        codec::decode_optional(row.as_ref(), codec::decode_committee_member).context(OP)
    }

    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved> {
        const OP: &str = "save committee member";
        let CommitteeMemberChange { member, expected } = change;
        let keys = [self.attempt(OP)?, self.keys.committee_members(), self.keys.committee_keys()];
        let mut script = self.call(&scripts::SAVE_COMMITTEE_MEMBER, keys);
        script.arg(member.id.as_str()).arg(version_arg(*expected));
        script.arg(codec::encode_committee_member(next(*expected), member));
        script.arg(codec::encode_hash(&member.key));
        let outcome = self.commit(OP, script).await?;
        saved(OP, &outcome)
    }

    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>> {
        const OP: &str = "committee day";
        let get = redis::cmd("HGET").arg(self.keys.committee_days()).arg(number(date)).to_owned();
        let row: Option<String> = self.query(OP, &get).await?;
        codec::decode_optional(row.as_ref(), codec::decode_committee_day).context(OP)
    }

    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>> {
        const OP: &str = "committee sessions";
        let keys = [self.keys.committee_days(), self.keys.committee_days_index()];
        let listing = match &query.subject {
            Some(subject) => keys::listing(&["about", subject.as_str()]),
            None => all(),
        };
        let before = query.before.map(number);
        let rows = self.listed(OP, keys, &listing, before, Some(query.limit)).await?;
        codec::decode_each(&rows, codec::decode_committee_day).context(OP)
    }

    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        const OP: &str = "save committee day";
        let CommitteeDayChange { day, expected, briefs, act } = change;
        let about = day.generation.as_ref().map_or("", |made| made.subject_id.as_str());
        let keys = [
            self.attempt(OP)?,
            self.keys.committee_days(),
            self.keys.committee_days_index(),
            self.keys.committee_briefs(),
        ];
        let mut script = self.call(&scripts::SAVE_COMMITTEE_DAY, keys);
        script.arg(number(day.date)).arg(version_arg(*expected));
        script.arg(codec::encode_committee_day(next(*expected), day)).arg(about);
        script.arg(all()).arg(keys::listing(&["about"]));
        script.arg(if briefs.is_some() { "1" } else { "" }).arg(entry_arg(Some(act)));
        for brief in briefs.iter().flatten() {
            script.arg(brief_field(day.date, brief.member_id.as_str()));
            script.arg(codec::encode_committee_brief(brief));
        }
        let outcome = self.commit(OP, script).await?;
        saved(OP, &outcome)
    }

    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        const OP: &str = "committee briefs";
        let briefs = self.keys.committee_briefs();
        let rows: Vec<String> = match member {
            Some(member) => {
                let field = brief_field(date, member.as_str());
                let own = redis::cmd("HMGET").arg(briefs).arg(field).to_owned();
                let rows: [Option<String>; 1] = self.query(OP, &own).await?;
                rows.into_iter().flatten().collect()
            }
            None => {
                let mut script = ScriptCall::of(&scripts::COMMITTEE_BRIEFS, [briefs]);
                script.arg(brief_field(date, ""));
                self.read(OP, &script).await?
            }
        };
        let mut briefs = codec::decode_each(&rows, codec::decode_committee_brief).context(OP)?;
        briefs.sort_unstable_by(|one, other| one.member_id.cmp(&other.member_id));
        Ok(briefs)
    }

    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        const OP: &str = "committee basis";
        let keys = [
            self.keys.committee_keys(),
            self.keys.committee_members(),
            self.keys.committee_days(),
            self.keys.committee_days_index(),
        ];
        let mut script = self.call(&scripts::COMMITTEE_BASIS, keys);
        script.arg(codec::encode_hash(key)).arg(all());
        let (now, member, session): Facts = self.facts(OP, script).await?;
        Ok(CommitteeBasis {
            now: codec::decode_timestamp(&now).context(OP)?,
            member: codec::decode_optional(member.as_ref(), codec::decode_committee_member)
                .context(OP)?,
            session: codec::decode_optional(session.as_ref(), codec::decode_committee_day)
                .context(OP)?,
        })
    }

    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        const OP: &str = "file committee take";
        let (member, member_version) = filing.member();
        let (date, day_version) = filing.session();
        let keys = [
            self.keys.committee_members(),
            self.keys.committee_days(),
            self.keys.committee_takes(),
            self.keys.committee_takes_index(),
            self.keys.committee_attempts(),
            self.keys.committee_latest(),
            self.keys.counters(),
            self.keys.committee_counts(),
        ];
        let mut script = self.call(&scripts::FILE_COMMITTEE, keys);
        script.arg(member.as_str()).arg(member_version.0);
        script.arg(number(date)).arg(day_version.0);
        script.arg(filing.commit_deadline().millis()).arg(hex(&filing.attempt().0));
        script.arg(filing.text());
        script.arg(on(date)).arg(by_on(member, date));
        script.arg(filing.subject_id().as_str()).arg(optional(filing.quota()));
        let outcome = self.commit(OP, script).await?;
        match outcome.as_str() {
            "stale" => return Ok(CommitteeFiled::Stale),
            "late" => return Ok(CommitteeFiled::Late),
            "full" => return Ok(CommitteeFiled::Full),
            _ => {}
        }
        let take = match outcome.split_once(' ') {
            Some(("filed", now)) => codec::decode_committee_filed(now, filing),
            Some(("again", row)) => codec::decode_committee_take(row),
            _ => return Err(StoreError::corrupt(OP, "odd answer")),
        };
        take.map(CommitteeFiled::Filed).context(OP)
    }

    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        const OP: &str = "committee takes";
        let keys = [self.keys.committee_takes(), self.keys.committee_takes_index()];
        let rows = match *query {
            CommitteeTakesQuery::On(days) => {
                let days = days.iter().map(|day| on(*day));
                self.listed_after(OP, keys, days, None, usize::MAX).await?
            }
            CommitteeTakesQuery::Latest { member, before, limit } => {
                self.listed(OP, keys, &by(member), Some(number(before)), Some(limit)).await?
            }
        };
        codec::decode_each(&rows, codec::decode_committee_take).context(OP)
    }
}

/// The eight digits of a day, as a number.
pub(crate) fn number(date: Day) -> u64 {
    let date = date.to_string();
    let digits = date.bytes().filter(u8::is_ascii_digit).map(|digit| u64::from(digit - b'0'));
    digits.fold(0, |number, digit| number * 10 + digit)
}

/// The field of a brief; without a member, what those of the day begin with.
pub(crate) fn brief_field(date: Day, member: &str) -> String {
    format!("{}:{member}", number(date))
}

/// The listing of all days with a generation.
pub(crate) fn all() -> String {
    keys::listing(&["all"])
}

/// The listing of the submissions of a day.
pub(crate) fn on(date: Day) -> String {
    keys::listing(&["on", &date.to_string()])
}

/// The listing of a member's latest submissions, by day and id.
fn by(member: &CommitteeMemberId) -> String {
    keys::listing(&["by", member.as_str()])
}

/// The part of that listing for this day.
pub(crate) fn by_on(member: &CommitteeMemberId, date: Day) -> String {
    keys::with_number(&by(member), number(date))
}
