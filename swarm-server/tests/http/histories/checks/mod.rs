//! The invariants of a history:
//!
//! - The log has no gap, its time never runs back, and no page of it ever changes; both servers serve the same log.
//! - Each answer shows the store at one position of the log. A later answer, by either server, shows no earlier position
//!   (monotonic reads), and a take that was acknowledged before the request is in it.
//! - What was acknowledged is on file, once. What was refused is not.
//! - A submission that is sent again is answered with the id of the take on file.
//! - Revisions count from 1 to 5, and a nonce is used once per member.
//! - No take was filed after the deadline in force, and no deadline moved before a take on file.
//! - A snapshot quotes exactly the takes before it, and no amendment follows it.
//! - Windows close within 15 s of their deadline.
//! - There is a 503 only while the store is gone, a lost connection only while a server is gone, and no other 5xx.

mod answers;
mod availability;
mod sessions;
mod submissions;

use serde_json::Value;

use crate::histories::final_state::FinalState;
use crate::histories::history::History;
use crate::histories::timeline::{Timeline, millis};

/// Every violation of an invariant, a line each.
pub fn check(state: &FinalState, history: &History) -> Vec<String> {
    let (events, mut faults) = (history.events(), Vec::new());
    if !history.has_enough() {
        faults.push("there are too few events to check".to_owned());
    }
    // The second log is read later: a window may have closed in between.
    if !state.logs[1].starts_with(&state.logs[0]) {
        faults.push("the servers serve different logs".to_owned());
    }
    check_log(&state.logs[0], &mut faults);
    let timeline = Timeline::new(state.logs[0].clone());
    sessions::check(state, &timeline, &mut faults);
    submissions::check(state, &timeline, &events, &mut faults);
    answers::check(&timeline, &events, &mut faults);
    availability::check(&events, &mut faults);
    faults
}

fn check_log(log: &[Value], faults: &mut Vec<String>) {
    let mut last = 0;
    for (entry, seq) in log.iter().zip(1..) {
        if entry["seq"] != seq {
            faults.push(format!("entry {seq} of the log is {entry}"));
        }
        let at = millis(&entry["at"]).unwrap();
        if at < last {
            faults.push(format!("the time of entry {seq} runs back"));
        }
        last = at;
    }
}
