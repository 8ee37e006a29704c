//! The next windows of a schedule, and which of them get no session as things stand (API.md, 7.9).

use std::collections::HashMap;

use super::{Error, Tenant};
use crate::answers::ScheduleStatus;
use crate::domain::{Schedule, ScheduleEntry, SubjectId, Timestamp};
use crate::rules::{self, ScheduledWindow};
use crate::store::{Collection, SessionList, SummaryQuery};

/// The number of windows ahead that are shown of each entry.
pub const NEXT_RUNS: usize = 3;

/// What the windows of one subject and entry have in common.
#[derive(Clone)]
struct Outlook {
    last: Option<Timestamp>,
    skipped: Option<String>,
}

impl Tenant {
    /// Returns the windows of a schedule that are open and have no session, and the next three of each entry, entry by
    /// entry.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn schedule_status(&self, schedule: &Schedule) -> Result<Vec<ScheduleStatus>, Error> {
        let now = self.now().await?;
        let open = rules::open_windows(schedule, now);
        let mut all = Vec::new();
        for entry in schedule.entries() {
            let mut outlooks = HashMap::new();
            for window in open.iter().filter(|window| std::ptr::eq(window.entry, entry)) {
                let claim = self.store.document(Collection::Occasions, &window.name()).await?;
                if claim.is_none() {
                    all.push(self.window_status(window, &mut outlooks).await?);
                }
            }
            for window in rules::next_windows(entry, now).take(NEXT_RUNS) {
                all.push(self.window_status(&window, &mut outlooks).await?);
            }
        }
        Ok(all)
    }

    async fn window_status<'a>(
        &self,
        window: &ScheduledWindow<'a>,
        outlooks: &mut HashMap<&'a SubjectId, Outlook>,
    ) -> Result<ScheduleStatus, Error> {
        let outlook = match outlooks.get(window.subject_id) {
            Some(outlook) => outlook.clone(),
            None => self.outlook(window).await?,
        };
        // Whether a practice session can be convened also depends on its day.
        if !window.entry.practice {
            outlooks.insert(window.subject_id, outlook.clone());
        }
        let ScheduleEntry { timezone, .. } = window.entry;
        Ok(ScheduleStatus {
            subject_id: window.subject_id.clone(),
            at: window.opens,
            local: timezone.local(window.opens),
            timezone: timezone.name().to_owned(),
            last: outlook.last,
            skipped: outlook.skipped,
        })
    }

    async fn outlook(&self, window: &ScheduledWindow<'_>) -> Result<Outlook, Error> {
        let list = SessionList::About(window.subject_id.clone());
        let query = SummaryQuery { list, limit: 1, ..SummaryQuery::default() };
        let newest = self.store.session_summaries(&query).await?;
        let skipped = match self.draft_for(window).await {
            Err(Error::Refused(refusal)) => Some(refusal.explained()),
            drafted => drafted.map(|_| None)?,
        };
        Ok(Outlook { last: newest.first().map(|session| session.convened_at), skipped })
    }
}
