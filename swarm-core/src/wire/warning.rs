//! The texts and codes of warnings to members.

use super::hint::{printable, quote};
use crate::answers::WarningCode;
use crate::domain::json::Json;
use crate::domain::{Bucket, STANCES};
use crate::rules::Warning;

/// Maximum number of unlisted buckets that a warning names.
const MAX_BUCKETS_NAMED: usize = 3;

/// Returns the code of a warning.
pub fn code(warning: &Warning) -> WarningCode {
    match warning {
        Warning::UnknownStance => WarningCode::UnknownStance,
        Warning::UnlistedBuckets(_) => WarningCode::UnlistedBucket,
        Warning::MissingWeights => WarningCode::MissingWeights,
        Warning::UnknownMemo => WarningCode::UnknownMemo,
        Warning::UnknownField { .. } => WarningCode::UnknownField,
        Warning::AlreadyAggregated => WarningCode::AlreadyAggregated,
    }
}

/// Returns the message of a warning: a line of printable ASCII.
pub fn message(warning: &Warning) -> String {
    match warning {
        Warning::UnknownStance => {
            let known = STANCES.map(|(name, _)| name).join(", ");
            format!("stance: counts only if it is one of {known}")
        }
        Warning::UnlistedBuckets(buckets) => {
            let name = |bucket: &Bucket| quote(&Json::from(bucket.as_str()));
            let named: Vec<_> = buckets.iter().take(MAX_BUCKETS_NAMED).map(name).collect();
            let more = if buckets.len() > MAX_BUCKETS_NAMED { ", ..." } else { "" };
            let named = named.join(", ");
            format!("weights: count only for the buckets of the session, not for {named}{more}")
        }
        Warning::MissingWeights => {
            "weights: the session has buckets, and the take divides nothing among them".to_owned()
        }
        Warning::UnknownMemo => {
            "memoUrl: leads to this service, where there is no such memo".to_owned()
        }
        Warning::UnknownField { name, nearest } => {
            let name = quote(&Json::from(name.as_str()));
            let nearest = nearest.map_or_else(String::new, |field| format!("; {field} is one"));
            format!("{name}: is not a field of a take and was not signed{nearest}")
        }
        Warning::AlreadyAggregated => {
            "the session is aggregated: the take is on record, and not in the snapshot".to_owned()
        }
    }
}

/// Returns the value of the header `Swarm-Hint` for a filed take with these warnings.
pub fn hint(warnings: &[Warning]) -> Option<String> {
    let line: Vec<_> = warnings.iter().map(message).collect();
    (!line.is_empty()).then(|| printable(&line.join("; ")))
}
