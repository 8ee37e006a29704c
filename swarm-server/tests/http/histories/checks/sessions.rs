//! Takes, deadlines and snapshots of each session.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::histories::final_state::FinalState;
use crate::histories::timeline::{SessionTimeline, Timeline, millis, number};

/// How long after its deadline a window may close, in milliseconds.
const MAX_DELAY: i64 = 15_000;

pub fn check(state: &FinalState, timeline: &Timeline, faults: &mut Vec<String>) {
    let end = timeline.entries.last().and_then(|entry| millis(&entry["at"])).unwrap();
    for (id, session) in &timeline.sessions {
        check_takes(*id, session, faults);
        check_deadlines(*id, session, end, faults);
        check_snapshot(*id, session, &state.sessions[id], faults);
    }
}

fn check_takes(id: u64, session: &SessionTimeline, faults: &mut Vec<String>) {
    let mut revisions: HashMap<&str, u64> = HashMap::new();
    let aggregated = session.aggregated().unwrap_or(u64::MAX);
    for take in &session.takes {
        let latest = revisions.entry(&take.member).or_default();
        *latest += 1;
        if take.revision != *latest || take.revision > 5 {
            faults.push(format!("session {id}: take {} is revision {}", take.id, take.revision));
        }
        let record = session.record_before(take.seq);
        let deadline = record.and_then(|record| millis(&record["windowClosesAt"]));
        if deadline.is_some_and(|deadline| take.filed_at > deadline) {
            faults.push(format!("session {id}: take {} was filed after the deadline", take.id));
        }
        if take.seq > aggregated && take.revision > 1 {
            faults.push(format!("session {id}: take {} amends after the snapshot", take.id));
        }
    }
}

/// `end` is the time of the last entry of the log.
fn check_deadlines(id: u64, session: &SessionTimeline, end: i64, faults: &mut Vec<String>) {
    let mut due = None;
    for (seq, act) in &session.acts {
        let (at, deadline) =
            (millis(&act["at"]).unwrap(), millis(&act["session"]["windowClosesAt"]));
        let mut before = session.takes.iter().take_while(|take| take.seq < *seq);
        if before.any(|take| deadline.is_some_and(|deadline| take.filed_at > deadline)) {
            faults.push(format!("session {id}: entry {seq} moves the deadline before a take"));
        }
        if due.is_some_and(|due| at > due + MAX_DELAY) {
            faults.push(format!("session {id}: its window stayed open until entry {seq}"));
        }
        let collecting = act["session"]["state"] == "collecting";
        due = deadline.filter(|_| collecting).map(|deadline| deadline.max(at));
    }
    if due.is_some_and(|due| end > due + MAX_DELAY) {
        faults.push(format!("session {id}: its window is still open"));
    }
}

fn check_snapshot(id: u64, session: &SessionTimeline, record: &Value, faults: &mut Vec<String>) {
    let Some(aggregated) = session.aggregated() else { return };
    let quotes = record["snapshot"]["quotes"].as_array().unwrap();
    let quoted: BTreeSet<_> = quotes.iter().map(|quote| number(&quote["takeId"])).collect();
    if quoted != session.latest_takes(aggregated) {
        faults.push(format!("session {id}: its snapshot does not quote the takes before it"));
    }
}
