//! The submits that are under way, by member.

use std::collections::HashMap;

use super::{MemberKey, SharedFacts, lock};

#[derive(Default)]
pub(super) struct SubmitsUnderWay(HashMap<MemberKey, Submits>);

/// Those of one member, since it had none.
#[derive(Default)]
struct Submits {
    count: usize,
    /// Whether there have been two at once.
    met: bool,
}

/// A submit that is under way until this is dropped.
pub(in crate::service) struct UnderWay {
    facts: SharedFacts,
    member: MemberKey,
}

impl UnderWay {
    pub(super) fn begin(facts: &SharedFacts, member: MemberKey) -> Self {
        let mut locked = lock(facts);
        let submits = locked.under_way.0.entry(member.clone()).or_default();
        submits.count += 1;
        submits.met |= submits.count > 1;
        drop(locked);
        Self { facts: SharedFacts::clone(facts), member }
    }

    /// Whether another submit of the same member was under way at the same time, or may have been.
    pub(in crate::service) fn met_another(&self) -> bool {
        lock(&self.facts).under_way.0.get(&self.member).is_some_and(|submits| submits.met)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut facts = lock(&self.facts);
        let submits = &mut facts.under_way.0;
        if let Some(of_member) = submits.get_mut(&self.member) {
            of_member.count -= 1;
            if of_member.count == 0 {
                submits.remove(&self.member);
            }
        }
    }
}
