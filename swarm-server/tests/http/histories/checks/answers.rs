//! The log position that each answer shows, and that these positions never go back.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use crate::histories::history::{Event, EventKind, Outcome};
use crate::histories::timeline::{Positions, Timeline, intersect, number};

pub fn check(timeline: &Timeline, events: &[Event], faults: &mut Vec<String>) {
    // The latest position that clients had certainly seen by a moment.
    let mut seen: BTreeMap<Instant, u64> = BTreeMap::new();
    let mut latest = 0;
    let shown: Vec<_> =
        by_end(events).filter_map(|event| Some((event, positions(timeline, event)?))).collect();
    for (event, positions) in &shown {
        let first = positions.iter().map(|(first, _)| *first).min();
        latest = latest.max(first.unwrap_or(0));
        seen.insert(event.end, latest);
    }
    for (event, positions) in &shown {
        let Some(last) = positions.iter().map(|(_, last)| *last).max() else {
            faults.push(format!("no position of the log reads like {}", shorten(&event.kind)));
            continue;
        };
        let before = seen.range(..event.begin).next_back().map_or(0, |(_, seen)| *seen);
        if last < before {
            faults.push(format!(
                "position {last} was shown after position {before}: {}",
                shorten(&event.kind)
            ));
        }
    }
    for event in events {
        if let EventKind::ReadLog { after, entries } = &event.kind {
            let now = timeline.entries.iter().skip(usize::try_from(*after).unwrap());
            if !now.take(entries.len()).eq(entries) {
                faults.push(format!("the log after {after} has changed"));
            }
        }
    }
}

/// The positions of the log at which an answer is right; `None` if it shows nothing of the log.
fn positions(timeline: &Timeline, event: &Event) -> Option<Positions> {
    Some(match &event.kind {
        EventKind::ReadSession { answer } => positions_of_session(timeline, answer),
        EventKind::ReadSessionOfDay { answer } => {
            let (id, subject) = (number(&answer["session"]["id"]), &answer["session"]["subjectId"]);
            let newest = timeline.positions_as_newest(id, subject.as_str());
            intersect(&positions_of_session(timeline, answer), &newest)
        }
        EventKind::ListedSessions { answer } => {
            let shown = answer["sessions"].as_array().unwrap();
            let newest = shown.first().map(|session| number(&session["id"]));
            let newest = newest
                .map_or(vec![(0, u64::MAX)], |newest| timeline.positions_as_newest(newest, None));
            shown.iter().fold(newest, |found, session| {
                intersect(&found, &timeline.positions_of_session(session))
            })
        }
        EventKind::ReadLog { after, entries } => vec![(after + entries.len() as u64, u64::MAX)],
        EventKind::Submitted { outcome: Outcome::Filed(id), .. } => {
            vec![(timeline.seq_of_take(*id).unwrap_or(0), u64::MAX)]
        }
        _ => return None,
    })
}

fn positions_of_session(timeline: &Timeline, answer: &Value) -> Positions {
    let (session, takes) = (&answer["session"], answer["takes"].as_array().unwrap());
    let takes = timeline.positions_of_takes(number(&session["id"]), takes);
    intersect(&timeline.positions_of_session(session), &takes)
}

/// The events in the order in which they ended.
pub(super) fn by_end(events: &[Event]) -> impl Iterator<Item = &Event> {
    let mut sorted: Vec<_> = events.iter().collect();
    sorted.sort_by_key(|event| event.end);
    sorted.into_iter()
}

fn shorten(kind: &EventKind) -> String {
    format!("{kind:?}").chars().take(600).collect()
}
