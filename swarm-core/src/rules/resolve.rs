//! Which take counts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{MemberId, Take};

/// One take per member, the highest revision, in the order of filing (specification, section 1).
pub fn resolve(takes: &[Arc<Take>]) -> Vec<Arc<Take>> {
    let mut latest: HashMap<&MemberId, &Arc<Take>> = HashMap::new();
    for take in takes {
        let counted = latest.entry(&take.draft().member_id).or_insert(take);
        if take.revision > counted.revision {
            *counted = take;
        }
    }
    let mut resolved: Vec<_> = latest.into_values().map(Arc::clone).collect();
    resolved.sort_unstable_by_key(|take| take.id);
    resolved
}
