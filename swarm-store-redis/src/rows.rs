//! Reads of rows through an index, and helpers for writes guarded by a version.

use swarm_core::StoreError;
use swarm_core::domain::Version;
use swarm_core::store::{Act, Result, Saved};

use crate::script_call::ScriptCall;
use crate::tenant::TenantStore;
use crate::{keys, scripts};

/// What is read of each session in a listing.
#[derive(Clone, Copy)]
pub(crate) enum SessionParts {
    WithoutSnapshot,
    Summary,
}

impl TenantStore {
    /// The rows of a listing, by the keys of the rows and of their index, the highest id first: those
    /// with an id lower than `before`, at most `limit`.
    pub(crate) async fn listed(
        &self,
        op: &'static str,
        keys: [String; 2],
        listing: &str,
        before: Option<u64>,
        limit: Option<usize>,
    ) -> Result<Vec<String>> {
        self.read(op, &rows_script(keys, listing, (None, before), limit)).await
    }

    /// As [`listed`](Self::listed), for parts of sessions, and with ids higher and lower than those of the
    /// range: with a lower end, the lowest id first.
    pub(crate) async fn listed_parts(
        &self,
        op: &'static str,
        parts: SessionParts,
        listing: &str,
        range: (Option<u64>, Option<u64>),
        limit: Option<usize>,
    ) -> Result<Vec<String>> {
        let keys = [self.keys.sessions(), self.keys.sessions_index()];
        let mut script = rows_script(keys, listing, range, limit);
        script.arg(match parts {
            SessionParts::WithoutSnapshot => "without snapshots",
            SessionParts::Summary => "summaries",
        });
        script.arg(if range.0.is_some() { "lowest first" } else { "highest first" });
        self.read(op, &script).await
    }

    /// The rows of some listings, one listing after another, the lowest id first: those with an id
    /// higher than `after`, at most `limit` per listing.
    pub(crate) async fn listed_after(
        &self,
        op: &'static str,
        keys: [String; 2],
        listings: impl Iterator<Item = String> + Send,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<String>> {
        let mut script = ScriptCall::of(&scripts::LISTINGS, keys);
        script.arg(limit_arg(limit));
        for listing in listings {
            script.arg(keys::start_of(&listing, after)).arg(keys::end_of(&listing, None));
        }
        self.read(op, &script).await
    }
}

fn rows_script(
    keys: [String; 2],
    listing: &str,
    (after, before): (Option<u64>, Option<u64>),
    limit: Option<usize>,
) -> ScriptCall<'static> {
    let mut script = ScriptCall::of(&scripts::ROWS, keys);
    let lowest = keys::start_of(listing, after.map(|after| after.saturating_add(1)));
    script.arg(lowest).arg(keys::end_of(listing, before)).arg(limit.map_or(-1, limit_arg));
    script
}

/// A limit, for a script: -1 if there is none.
pub(crate) fn limit_arg(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(-1)
}

/// The expected version as a script argument; empty if there is none.
pub(crate) fn version_arg(expected: Option<Version>) -> String {
    optional(expected)
}

/// The entry of an act, all of which is known before the commit, as a script argument; empty where
/// there is none.
pub(crate) fn entry_arg(act: Option<&Act>) -> String {
    act.and_then(Act::known).map(|entry| entry.to_text()).unwrap_or_default()
}

/// A value as a script argument; empty if there is none.
pub(crate) fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The version after this one; the first version if none is expected.
pub(crate) fn next(expected: Option<Version>) -> Version {
    expected.map_or(Version(1), Version::next)
}

/// Decodes the outcome of a write that is guarded by a version.
pub(crate) fn saved(op: &'static str, outcome: &str) -> Result<Saved> {
    match outcome {
        "saved" => Ok(Saved::Saved),
        "stale" => Ok(Saved::Stale),
        _ => Err(StoreError::corrupt(op, format!("odd answer: {outcome}"))),
    }
}
