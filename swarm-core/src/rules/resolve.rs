//! Which revision of a member's takes counts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{MemberId, Take};

/// The highest revision of each member, in the order of filing (API.md, 5.4).
pub fn resolve(takes: &[Arc<Take>]) -> Vec<Arc<Take>> {
    let mut by_revision: Vec<_> = takes.iter().collect();
    by_revision.sort_unstable_by_key(|take| take.revision);
    // Later entries replace earlier ones, so the highest revision remains.
    let latest: HashMap<&MemberId, &Arc<Take>> =
        by_revision.into_iter().map(|take| (&take.draft().member_id, take)).collect();
    let mut resolved: Vec<_> = latest.into_values().map(Arc::clone).collect();
    resolved.sort_unstable_by_key(|take| take.id);
    resolved
}
