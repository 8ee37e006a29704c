//! Submissions to the committee: filing and reading.

use std::sync::Arc;

use serde_json::{Value, json};
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{AttemptId, Timestamp};
use swarm_core::store::records::Record as _;
use swarm_core::store::{CommitteeFiled, CommitteeFiling, CommitteeTakesQuery, Result};

use crate::commit::{Change, Mode, to_complete};
use crate::db::{Arg, any, bytes, limit, owned, record, signed, text};
use crate::failure::Failure;
use crate::tenant::TenantStore;

impl TenantStore {
    pub(super) async fn takes_of_committee(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        const ON: &str = include_str!("../queries/committee_takes_on_days.sql");
        const LATEST: &str = include_str!("../queries/committee_takes_of_member.sql");
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

    pub(super) async fn file_with_committee(
        &self,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        const OP: &str = "file committee take";
        const FILE: &str = include_str!("../commits/file_committee.sql");
        let times: &[_] = match filing.generated_at() {
            None => &["received_at", "generated_at"],
            Some(_) => &["received_at"],
        };
        let take = filing.take(Timestamp::EPOCH);
        let mut args = row(0, filing.attempt(), &take);
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
}

/// The row of a submission.
pub(crate) fn row(id: u64, attempt: AttemptId, take: &CommitteeTake) -> Value {
    json!({
        "id": signed(id),
        "date": take.date.to_string(),
        "member": any(take.member_id.as_str()),
        "subject": any(take.subject_id.as_str()),
        "attempt": bytes(&attempt.0),
        "record": take.to_text(),
    })
}
