//! Who has filed on a day of the committee, before its deadline too.

use std::collections::BTreeSet;

use super::{CommitteeError, CommitteeTenant};
use crate::answers::DayFiling;
use crate::domain::Day;
use crate::domain::committee::CommitteeStatus;
use crate::rules::Resource;
use crate::rules::committee::{self as rules, CommitteeRefusal};

impl CommitteeTenant {
    /// Returns who filed on a day, before its deadline too.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
    pub async fn day_filing(&self, date: Day) -> Result<DayFiling, CommitteeError> {
        let day = self.store.committee_day(date).await?.map(|day| day.record);
        let generation = day.as_ref().and_then(|day| day.generation.clone());
        let generation = generation.ok_or(CommitteeRefusal::NotFound(Resource::Session))?;
        let takes = self.submissions(date).await?;
        let counted = rules::counted(&generation, &takes);
        let filed: BTreeSet<_> = counted.iter().map(|take| take.member_id.clone()).collect();
        let members = self.members().await?;
        let missing = members.iter().filter(|member| {
            member.status == CommitteeStatus::Active && !filed.contains(&member.id)
        });
        Ok(DayFiling {
            date,
            subject_id: generation.subject_id,
            deadline_utc: generation.deadline,
            missing: missing.map(|member| member.id.clone()).collect(),
            filed: filed.into_iter().collect(),
        })
    }

    /// Returns who filed on the day whose briefs are current, if there is one.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn current_filing(&self) -> Result<Option<DayFiling>, CommitteeError> {
        match self.today().await?.1 {
            Some(day) => Ok(Some(self.day_filing(day.date).await?)),
            None => Ok(None),
        }
    }
}
