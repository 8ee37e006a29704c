//! Errors that are not due to a kill. Contention of clients is no outage.

use std::time::{Duration, Instant};

use crate::histories::history::{Event, EventKind, Outcome};

/// The shortest time that a server waits for its store: two seconds for a connection to Redis. A store that is slower
/// than that, on a machine that is very busy, is rightly called unavailable.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// A status, or `None` for a lost connection.
type Failure = Option<u16>;

pub fn check(events: &[Event], faults: &mut Vec<String>) {
    let kills: Vec<_> = events.iter().filter_map(Outage::of).collect();
    for event in events {
        let Some((request, failure)) = failure(&event.kind) else { continue };
        let excused =
            kills.iter().filter(|kill| kill.begin <= event.end && event.begin <= kill.end);
        let is_excused = match failure {
            None => excused.clone().any(|kill| kill.servers),
            Some(503) => {
                event.end - event.begin >= STORE_TIMEOUT || excused.clone().any(|kill| kill.store)
            }
            Some(_) => false,
        };
        if !is_excused {
            let status = failure.map_or("no answer".to_owned(), |status| status.to_string());
            let took = (event.end - event.begin).as_millis();
            faults.push(format!("{request}: {status} after {took} ms, though all it needs was up"));
        }
    }
}

/// The time in which servers, or the store, were gone.
struct Outage {
    begin: Instant,
    end: Instant,
    servers: bool,
    store: bool,
}

impl Outage {
    fn of(event: &Event) -> Option<Self> {
        let EventKind::Killed { servers, store } = event.kind else { return None };
        Some(Self { begin: event.begin, end: event.end, servers: servers > 0, store })
    }
}

/// The request of an event that failed, and how.
fn failure(kind: &EventKind) -> Option<(&str, Failure)> {
    match kind {
        EventKind::Submitted { nonce, outcome: Outcome::Unavailable, .. } => {
            Some((nonce, Some(503)))
        }
        EventKind::Submitted { nonce, outcome: Outcome::NoAnswer, .. } => Some((nonce, None)),
        EventKind::Changed { path, status: None } => Some((path, None)),
        EventKind::Changed { path, status: Some(status @ 500..) } => Some((path, Some(*status))),
        EventKind::FailedRead { path, answer } => {
            Some((path, answer.as_ref().map(|(status, _)| *status)))
        }
        _ => None,
    }
}
