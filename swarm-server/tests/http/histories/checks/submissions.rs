//! What was answered to each submission, compared with the takes on file.

use std::collections::HashMap;
use std::time::Instant;

use super::answers::by_end;
use crate::histories::final_state::FinalState;
use crate::histories::history::{Event, EventKind, Outcome};
use crate::histories::timeline::{Timeline, millis};

/// A member and a nonce.
type Key = (String, String);

pub fn check(state: &FinalState, timeline: &Timeline, events: &[Event], faults: &mut Vec<String>) {
    let on_file = takes_on_file(state, timeline, faults);
    let mut acknowledged: HashMap<Key, Instant> = HashMap::new();
    for event in by_end(events) {
        let EventKind::Submitted { member, nonce, outcome } = &event.kind else { continue };
        let key = (member.clone(), nonce.clone());
        let id = on_file.get(&key).copied();
        match outcome {
            Outcome::Filed(filed) => {
                if id != Some(*filed) || acknowledged.insert(key, event.end).is_some() {
                    faults.push(format!("{nonce}: {outcome:?}, but {id:?} is on file"));
                }
            }
            Outcome::Conflict { original, .. } => {
                let was_known = acknowledged.get(&key).is_some_and(|then| *then < event.begin);
                if (original.is_some() && *original != id) || (was_known && original.is_none()) {
                    faults.push(format!("{nonce}: {outcome:?}, but {id:?} is on file"));
                }
            }
            Outcome::Refused(status) => {
                faults.push(format!("{nonce}: the workload sends nothing to refuse with {status}"));
            }
            Outcome::Unavailable | Outcome::NoAnswer => {}
        }
    }
    check_refused(events, &on_file, faults);
}

fn takes_on_file(
    state: &FinalState,
    timeline: &Timeline,
    faults: &mut Vec<String>,
) -> HashMap<Key, u64> {
    let mut on_file = HashMap::new();
    for take in timeline.sessions.values().flat_map(|session| &session.takes) {
        let record = &state.takes[&take.id];
        let nonce = record["nonce"].as_str().unwrap_or_default().to_owned();
        if record["memberId"] != *take.member || millis(&record["filedAt"]) != Some(take.filed_at) {
            faults.push(format!("the record of take {} differs from the log: {record}", take.id));
        }
        if on_file.insert((take.member.clone(), nonce), take.id).is_some() {
            faults.push(format!("take {} uses a nonce again", take.id));
        }
    }
    on_file
}

/// A submission whose every answer was a refusal is not on file.
fn check_refused(events: &[Event], on_file: &HashMap<Key, u64>, faults: &mut Vec<String>) {
    let mut may_be_on_file: HashMap<Key, bool> = HashMap::new();
    for event in events {
        let EventKind::Submitted { member, nonce, outcome } = &event.kind else { continue };
        let refused =
            matches!(outcome, Outcome::Conflict { original: None, .. } | Outcome::Refused(_));
        *may_be_on_file.entry((member.clone(), nonce.clone())).or_default() |= !refused;
    }
    for (key, _) in may_be_on_file.iter().filter(|(_, may)| !**may) {
        if on_file.contains_key(key) {
            faults.push(format!("{} was refused, but is on file", key.1));
        }
    }
}
