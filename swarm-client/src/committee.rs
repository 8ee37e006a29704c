//! The daily committee.

use serde::Serialize;
use swarm_core::json::Json;

use crate::connection::{Client, Credential};
use crate::error::{Error, unreadable};
use crate::reading::part;

/// What a member of the committee submits.
#[derive(Clone, Debug, Serialize)]
pub struct CommitteeTakeFields<'a> {
    /// bullish, constructive, neutral, cautious or bearish.
    pub stance: &'a str,
    /// 0 to 1.
    pub confidence: f64,
    /// 80 to 4,000 characters, ending with `STANCE: <stance> | CONFIDENCE: <0-1>`.
    pub body: &'a str,
    /// What wrote it.
    pub model: Option<&'a str>,
}

/// What a member of the committee is given for a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitteeReceipt {
    /// The day of the session, `YYYY-MM-DD`.
    pub date: String,
    /// The reference of the record, which the published session shows.
    pub commit: String,
}

impl Client {
    /// The brief of a member for today.
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `not-found` when there is none.
    pub fn committee_brief(&self, member_id: &str) -> Result<Json, Error> {
        self.get(&format!("/data/committee/briefs/today/{}.json", part(member_id)))
    }

    /// Submits to the day's session. It is sent once; two of the same do no harm.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn committee_submit(
        &self,
        api_key: &str,
        take: &CommitteeTakeFields<'_>,
    ) -> Result<CommitteeReceipt, Error> {
        let mut receipt = self.post("/api/ic/submit", Credential::ApiKey(api_key), take)?;
        let mut text = |field| receipt.text(field).map_err(unreadable);
        Ok(CommitteeReceipt { date: text("date")?, commit: text("commit")? })
    }
}
