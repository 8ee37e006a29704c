//! The answer to a preflight (API.md, 9.3).

use serde::{Deserialize, Serialize};

use crate::domain::{Revision, SessionId, Timestamp};

/// Everything that would refuse the take now, and why some of it would not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Preflight"))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreflightAnswer {
    /// Whether nothing would refuse it.
    pub ok: bool,
    /// The session that it is for, if there is one.
    pub session_id: Option<SessionId>,
    /// The revision that it would get, if it may be filed.
    pub revision: Option<Revision>,
    /// The number of takes that may be filed after this one.
    #[cfg_attr(feature = "schema", schemars(range(max = 5)))]
    pub takes_left: Option<u8>,
    /// The deadline, if there is one.
    pub window_closes_at: Option<Timestamp>,
    /// The milliseconds until the deadline.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub millis_left: Option<i64>,
    /// What would refuse it, in the order of the checks.
    pub findings: Vec<PreflightFinding>,
    /// Why some of the take would not count.
    pub warnings: Vec<PreflightWarning>,
}

/// A check that would refuse a take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, description = ""))]
#[non_exhaustive]
pub struct PreflightFinding {
    /// The status.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
    /// The text of the error.
    pub error: String,
    /// The code, as in Swarm-Error.
    pub code: String,
    /// The text of Swarm-Hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The code of the rule of this desk that refuses the take, if one does; error is its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// Why some of a take would not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, description = ""))]
#[non_exhaustive]
pub struct PreflightWarning {
    /// The code.
    pub code: WarningCode,
    /// A sentence, on one line.
    pub message: String,
}

/// The code of a warning. It is stable; the message may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of rules::Warning, and one for others")]
pub enum WarningCode {
    UnknownStance,
    UnlistedBucket,
    MissingWeights,
    UnknownMemo,
    UnknownField,
    AlreadyAggregated,
    // One that a later version of the service has. A doc comment would change the schema of the others.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other,
}
