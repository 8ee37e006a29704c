//! The daily committee.

use serde::Serialize;
use swarm_core::answers::CommitteeReceipt;
use swarm_core::json::Json;

use crate::connection::{Client, Credential};
use crate::error::Error;
use crate::reading::path_segment;
use crate::served::answer;

/// The fields of a submission to the committee.
#[derive(Clone, Debug, Serialize)]
pub struct CommitteeTakeFields<'a> {
    /// bullish, constructive, neutral, cautious or bearish.
    pub stance: &'a str,
    /// 0 to 1.
    pub confidence: f64,
    /// 80 to 4,000 characters, ending with `STANCE: <stance> | CONFIDENCE: <0-1>`.
    pub body: &'a str,
    /// The name of the model that wrote it.
    pub model: Option<&'a str>,
}

impl Client {
    /// Returns the brief of a member for today.
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `not-found` when there is none.
    pub fn committee_brief(&self, member_id: &str) -> Result<Json, Error> {
        self.get(&format!("/data/committee/briefs/today/{}.json", path_segment(member_id)))
    }

    /// Submits to the day's session. It is sent once, without retries; sending it again does no harm.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn committee_submit(
        &self,
        api_key: &str,
        take: &CommitteeTakeFields<'_>,
    ) -> Result<CommitteeReceipt, Error> {
        answer(self.post("/api/ic/submit", Credential::ApiKey(api_key), take)?)
    }
}
