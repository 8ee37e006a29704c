//! Submissions to the committee.

use super::{CommitteeError, CommitteeTenant};
use crate::domain::committee::{CommitteeMemberId, CommitteeTake};
use crate::domain::{AttemptId, Day, SubjectId, Timestamp};
use crate::proof::{ApiKey, commit_reference};
use crate::rules::committee::{self as rules, CommitteeRefusal};
use crate::rules::{Quota, QuotaReached};
use crate::service::Commit;
use crate::service::retries::until_committed;
use crate::store::CommitteeFiled;

/// The receipt of a submission (API.md, 8.4).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The commit reference of the record: see [`commit_reference`].
    pub commit: String,
    /// When it was committed. This is the only field of the record that its author does not know,
    /// and needs to recompute the reference.
    pub received_at: Timestamp,
}

impl CommitteeTenant {
    /// Files a submission: `key` is the API key, `body` the unparsed submission. It is committed
    /// when this returns the receipt. Front ends refuse a request without a key of the right form
    /// with [`CommitteeRefusal::MissingKey`].
    ///
    /// # Errors
    /// [`CommitteeError::Refused`] with the first check that fails, in the order of API.md, 8.5;
    /// the other variants when the outcome is unknown.
    pub async fn submit(&self, key: &ApiKey, body: &[u8]) -> Result<Receipt, CommitteeError> {
        let (hash, prefix) = (key.hash(), self.settings.key_prefix());
        let attempt = AttemptId(self.entropy.bytes()?);
        until_committed("file committee take", || async {
            let basis = self.store.committee_basis(&hash).await?;
            let filing = rules::judge(&basis, prefix, key, body, attempt)?;
            let filing = filing.with_quota(self.quotas.committee_submissions_per_day);
            match self.store.file_committee(&filing).await? {
                CommitteeFiled::Filed(take) => {
                    self.observer.tell(Commit::CommitteeTake(&take));
                    Ok(Some(receipt(&take)))
                }
                CommitteeFiled::Late => Err(CommitteeRefusal::WindowClosed.into()),
                CommitteeFiled::Full => {
                    let quota = Quota::CommitteeSubmissionsPerDay;
                    let reached = QuotaReached::session(quota, basis.now, filing.commit_deadline());
                    Err(CommitteeRefusal::QuotaReached(reached).into())
                }
                CommitteeFiled::Stale => Ok(None),
            }
        })
        .await
    }
}

fn receipt(take: &CommitteeTake) -> Receipt {
    Receipt {
        member_id: take.member_id.clone(),
        date: take.date,
        subject_id: take.subject_id.clone(),
        commit: commit_reference(take),
        received_at: take.received_at,
    }
}
