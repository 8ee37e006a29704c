//! Checks of the checks: each finds a fault that is planted into a history that was consistent.

use serde_json::Value;

use crate::histories::checks::check;
use crate::histories::final_state::FinalState;
use crate::histories::history::{Event, EventKind, History, Outcome};
use crate::histories::timeline::number;

/// Changes a history, and says what the check must report.
type Tampering = fn(&mut Recorded) -> &'static str;

/// A history, and the state after it.
struct Recorded {
    state: FinalState,
    events: Vec<Event>,
}

const TAMPERINGS: [Tampering; 10] = [
    drop_an_acknowledged_take,
    swap_two_takes,
    repeat_a_revision,
    repeat_a_nonce,
    refuse_a_take_on_file,
    forget_the_original_of_a_replay,
    show_an_old_list,
    change_an_entry,
    hide_a_take,
    fail_without_a_kill,
];

/// Panics at a fault that the checks do not find.
pub fn every_fault_is_found(state: &FinalState, history: &History) {
    for tampering in TAMPERINGS {
        let mut recorded = Recorded { state: state.clone(), events: history.events() };
        let report = tampering(&mut recorded);
        let faults = check(&recorded.state, &History::of(recorded.events));
        assert!(faults.iter().any(|fault| fault.contains(report)), "{report}: {faults:#?}");
    }
}

fn drop_an_acknowledged_take(recorded: &mut Recorded) -> &'static str {
    let (filed, _) = filed_once(&recorded.events);
    let EventKind::Submitted { outcome: Outcome::Filed(id), .. } = recorded.events[filed].kind
    else {
        unreachable!()
    };
    let is_its = |entry: &Value| entry["kind"] == "take" && entry["id"] == id;
    recorded.state.logs.iter_mut().for_each(|log| log.retain(|entry| !is_its(entry)));
    "None is on file"
}

/// As if the second of a member's takes had been committed before the first.
fn swap_two_takes(recorded: &mut Recorded) -> &'static str {
    let log = &recorded.state.logs[0];
    let amendment = log.iter().find(|entry| entry["revision"] == 2).unwrap();
    let is_original = |entry: &&Value| {
        entry["sessionId"] == amendment["sessionId"]
            && entry["memberId"] == amendment["memberId"]
            && entry["revision"] == 1
    };
    let original = log.iter().find(is_original).unwrap();
    let [first, second] = [original, amendment].map(|entry| number(&entry["seq"]) as usize - 1);
    recorded.state.logs.iter_mut().for_each(|log| log.swap(first, second));
    "is revision 2"
}

fn repeat_a_revision(recorded: &mut Recorded) -> &'static str {
    for log in &mut recorded.state.logs {
        let amendment = log.iter_mut().find(|entry| entry["revision"] == 2).unwrap();
        amendment["revision"] = 1.into();
    }
    "is revision 1"
}

fn repeat_a_nonce(recorded: &mut Recorded) -> &'static str {
    let first = recorded.state.takes.values().next().unwrap().clone();
    let of_same_member = |take: &&mut Value| take["memberId"] == first["memberId"];
    let other = recorded.state.takes.values_mut().skip(1).find(of_same_member).unwrap();
    other["nonce"] = first["nonce"].clone();
    "uses a nonce again"
}

fn refuse_a_take_on_file(recorded: &mut Recorded) -> &'static str {
    let (_, filed) = filed_once(&recorded.events);
    for event in recorded.events.iter_mut() {
        match &mut event.kind {
            EventKind::Submitted { nonce, outcome, .. } if *nonce == filed => {
                *outcome = Outcome::Conflict { error: String::new(), original: None };
            }
            _ => {}
        }
    }
    "was refused, but is on file"
}

fn forget_the_original_of_a_replay(recorded: &mut Recorded) -> &'static str {
    let (filed, nonce) = filed_once(&recorded.events);
    let EventKind::Submitted { member, .. } = recorded.events[filed].kind.clone() else {
        unreachable!()
    };
    let outcome = Outcome::Conflict { error: String::new(), original: None };
    let kind = EventKind::Submitted { member, nonce, outcome };
    let end = recorded.events.iter().map(|event| event.end).max().unwrap();
    recorded.events.push(Event { begin: end, end, kind });
    "original: None"
}

/// A submission that was acknowledged: its index and its nonce.
fn filed_once(events: &[Event]) -> (usize, String) {
    let filed = events.iter().enumerate().find_map(|(index, event)| match &event.kind {
        EventKind::Submitted { nonce, outcome: Outcome::Filed(_), .. } => {
            Some((index, nonce.clone()))
        }
        _ => None,
    });
    filed.unwrap()
}

/// The first list of sessions, read again after everything else.
fn show_an_old_list(recorded: &mut Recorded) -> &'static str {
    let is_list = |event: &&Event| matches!(event.kind, EventKind::ListedSessions { .. });
    let oldest = recorded.events.iter().filter(is_list).min_by_key(|event| event.end).unwrap();
    let end = recorded.events.iter().map(|event| event.end).max().unwrap();
    let stale = Event { begin: end, end, kind: oldest.kind.clone() };
    recorded.events.push(stale);
    "was shown after position"
}

fn change_an_entry(recorded: &mut Recorded) -> &'static str {
    recorded.state.logs.iter_mut().for_each(|log| log[0]["by"] = "somebody else".into());
    "has changed"
}

/// A session without the oldest of its takes, and with later ones.
fn hide_a_take(recorded: &mut Recorded) -> &'static str {
    let takes = recorded.events.iter_mut().rev().find_map(|event| match &mut event.kind {
        EventKind::ReadSession { answer } => {
            let takes = answer["takes"].as_array_mut().unwrap();
            (takes.len() > 1).then_some(takes)
        }
        _ => None,
    });
    let takes = takes.unwrap();
    let oldest = takes.iter().map(|take| number(&take["id"])).min().unwrap();
    takes.retain(|take| take["id"] != oldest);
    "no position of the log reads like"
}

fn fail_without_a_kill(recorded: &mut Recorded) -> &'static str {
    recorded.events.retain(|event| !matches!(event.kind, EventKind::Killed { .. }));
    let (begin, path) = (recorded.events[0].begin, "/api/swarm/sessions".to_owned());
    let answer = Some((503, Value::Null));
    recorded.events.push(Event { begin, end: begin, kind: EventKind::FailedRead { path, answer } });
    "/api/swarm/sessions: 503"
}
