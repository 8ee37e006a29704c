//! What a history is held to:
//!
//! - the log is gap-free, its time never runs back, and a page of it never changes;
//! - each answer shows the store at one position of the log, and a later answer, by either server, at no
//!   earlier position, nor one from before a take that had been acknowledged;
//! - what was acknowledged is on file, once; what was refused is not;
//! - a submission that is sent again names the take on file;
//! - revisions count from 1 to 5, and a member spends a nonce once;
//! - no take was filed after the deadline in force, and no deadline moved before a take on file;
//! - a snapshot is of the takes that came before it, and no amendment follows it;
//! - windows close within 15 s of their deadline;
//! - contention is no outage: no server answers 5xx.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::history::{Event, History, Outcome, What};
use crate::servers::Servers;
use crate::timeline::{Positions, SessionLine, Timeline, both, millis, number};

/// How late a window may close, in milliseconds.
const LATE: i64 = 15_000;

/// Everything that is wrong with a history, a line each.
pub fn check(servers: &Servers, history: &History) -> Vec<String> {
    let (events, mut faults) = (history.events(), Vec::new());
    let log = read_log(servers, 0);
    if read_log(servers, 1) != log {
        faults.push("the servers serve different logs".to_owned());
    }
    check_log(&log, &mut faults);
    let timeline = Timeline::new(log);
    for (id, line) in &timeline.sessions {
        check_takes(*id, line, &mut faults);
        check_deadlines(*id, line, &timeline, &mut faults);
        check_snapshot(servers, *id, line, &mut faults);
    }
    check_submissions(servers, &timeline, &events, &mut faults);
    check_answers(&timeline, &events, &mut faults);
    faults.truncate(40);
    faults
}

fn read_log(servers: &Servers, server: u64) -> Vec<Value> {
    let (mut entries, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/api/swarm/log?after={after}&limit=1000");
        let page = servers.client(server).get(&path).unwrap().body;
        entries.extend(page["entries"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_u64() else { return entries };
        after = next;
    }
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

fn check_takes(id: u64, line: &SessionLine, faults: &mut Vec<String>) {
    let mut revisions: HashMap<&str, u64> = HashMap::new();
    let aggregated = line.aggregated().unwrap_or(u64::MAX);
    for take in &line.takes {
        let latest = revisions.entry(&take.member).or_default();
        *latest += 1;
        if take.revision != *latest || take.revision > 5 {
            faults.push(format!("session {id}: take {} is revision {}", take.id, take.revision));
        }
        let deadline = line.before(take.seq).and_then(|session| millis(&session["windowClosesAt"]));
        if deadline.is_some_and(|deadline| take.filed_at > deadline) {
            faults.push(format!("session {id}: take {} was filed after the deadline", take.id));
        }
        if take.seq > aggregated && take.revision > 1 {
            faults.push(format!("session {id}: take {} amends after the snapshot", take.id));
        }
    }
}

fn check_deadlines(id: u64, line: &SessionLine, timeline: &Timeline, faults: &mut Vec<String>) {
    let mut due = None;
    for (seq, act) in &line.acts {
        let (at, deadline) =
            (millis(&act["at"]).unwrap(), millis(&act["session"]["windowClosesAt"]));
        let mut before = line.takes.iter().take_while(|take| take.seq < *seq);
        if before.any(|take| deadline.is_some_and(|deadline| take.filed_at > deadline)) {
            faults.push(format!("session {id}: entry {seq} moves the deadline before a take"));
        }
        if due.is_some_and(|due| at > due + LATE) {
            faults.push(format!("session {id}: its window stood open until entry {seq}"));
        }
        let collecting = act["session"]["state"] == "collecting";
        due = deadline.filter(|_| collecting).map(|deadline| deadline.max(at));
    }
    let end = timeline.entries.last().and_then(|entry| millis(&entry["at"])).unwrap();
    if due.is_some_and(|due| end > due + LATE) {
        faults.push(format!("session {id}: its window still stands open"));
    }
}

fn check_snapshot(servers: &Servers, id: u64, line: &SessionLine, faults: &mut Vec<String>) {
    let Some(aggregated) = line.aggregated() else { return };
    let session = servers.client(0).get(&format!("/api/swarm/sessions/{id}")).unwrap().body;
    let quotes = session["session"]["snapshot"]["quotes"].as_array().unwrap();
    let quoted: BTreeSet<_> = quotes.iter().map(|quote| number(&quote["takeId"])).collect();
    if quoted != line.latest(aggregated) {
        faults.push(format!("session {id}: its snapshot is not of the takes before it"));
    }
}

/// What became of everything that was sent.
fn check_submissions(
    servers: &Servers,
    timeline: &Timeline,
    events: &[Event],
    faults: &mut Vec<String>,
) {
    let mut on_file: HashMap<(String, String), u64> = HashMap::new();
    for take in timeline.sessions.values().flat_map(|line| &line.takes) {
        let read = servers.client(0).get(&format!("/api/swarm/takes/{}", take.id)).unwrap().body;
        let nonce = read["nonce"].as_str().unwrap_or_default().to_owned();
        if read["memberId"] != *take.member || millis(&read["filedAt"]) != Some(take.filed_at) {
            faults.push(format!("take {} is not what the log says: {read}", take.id));
        }
        if on_file.insert((take.member.clone(), nonce), take.id).is_some() {
            faults.push(format!("take {} spends a nonce again", take.id));
        }
    }
    let mut acknowledged: HashMap<(String, String), Instant> = HashMap::new();
    for event in by_end(events) {
        let What::Submitted { member, nonce, outcome: Some(outcome) } = &event.what else {
            continue;
        };
        let (key, say) = ((member.clone(), nonce.clone()), format!("{nonce}: {outcome:?}"));
        let id = on_file.get(&key).copied();
        match outcome {
            Outcome::Filed(filed) => {
                if id != Some(*filed) || acknowledged.insert(key, event.end).is_some() {
                    faults.push(format!("{say} was acknowledged, and {id:?} is on file"));
                }
            }
            Outcome::Conflict { original, .. } => {
                let stood = acknowledged.get(&key).is_some_and(|then| *then < event.begin);
                if (original.is_some() && *original != id) || (stood && original.is_none()) {
                    faults.push(format!("{say}, and {id:?} is on file"));
                }
            }
            Outcome::Refused(status) => {
                faults.push(format!("{say}: nothing is refused with {status} here"));
            }
        }
    }
    check_refused(events, &on_file, faults);
}

/// What was only ever refused is not on file.
fn check_refused(
    events: &[Event],
    on_file: &HashMap<(String, String), u64>,
    faults: &mut Vec<String>,
) {
    let mut may_stand: HashMap<(String, String), bool> = HashMap::new();
    for event in events {
        let What::Submitted { member, nonce, outcome } = &event.what else { continue };
        let refused =
            matches!(outcome, Some(Outcome::Conflict { original: None, .. } | Outcome::Refused(_)));
        *may_stand.entry((member.clone(), nonce.clone())).or_default() |= !refused;
    }
    for ((_, nonce), _) in may_stand.iter().filter(|(key, may)| !**may && on_file.contains_key(key))
    {
        faults.push(format!("{nonce} was refused, and is on file"));
    }
}

/// Where each answer stands, and that none stands before what was known when it was asked for.
fn check_answers(timeline: &Timeline, events: &[Event], faults: &mut Vec<String>) {
    // The earliest position of what had been answered by a moment.
    let mut known: BTreeMap<Instant, u64> = BTreeMap::new();
    let mut floor = 0;
    let standing: Vec<_> =
        by_end(events).map(|event| (event, positions(timeline, event))).collect();
    for (event, positions) in &standing {
        let Some(positions) = positions else { continue };
        let first = positions.iter().map(|(first, _)| *first).min();
        floor = floor.max(first.unwrap_or(0));
        known.insert(event.end, floor);
    }
    for (event, positions) in &standing {
        let Some(positions) = positions else { continue };
        let Some(last) = positions.iter().map(|(_, last)| *last).max() else {
            faults.push(format!("an answer of no position of the log: {}", brief(&event.what)));
            continue;
        };
        let before = known.range(..event.begin).next_back().map_or(0, |(_, floor)| *floor);
        if last < before {
            faults
                .push(format!("an answer of {last} after one of {before}: {}", brief(&event.what)));
        }
    }
    for event in events {
        match &event.what {
            What::Log { after, entries } => {
                let then = timeline.entries.iter().skip(usize::try_from(*after).unwrap());
                if !then.take(entries.len()).eq(entries) {
                    faults.push(format!("the log after {after} has changed"));
                }
            }
            What::Odd { path, status, body } => faults.push(format!("{path}: {status} {body}")),
            What::Operated { path, status: Some(status @ 500..) } => {
                faults.push(format!("{path}: {status}"));
            }
            _ => {}
        }
    }
}

/// The positions of the log at which an answer is right; `None` where it says nothing of that.
fn positions(timeline: &Timeline, event: &Event) -> Option<Positions> {
    Some(match &event.what {
        What::Session { answer } => session(timeline, answer),
        What::SessionOn { answer } => {
            let (id, subject) = (number(&answer["session"]["id"]), &answer["session"]["subjectId"]);
            both(&session(timeline, answer), &timeline.newest(id, subject.as_str()))
        }
        What::Sessions { answer } => {
            let shown = answer["sessions"].as_array().unwrap();
            let newest = shown.first().map(|session| number(&session["id"]));
            let newest = newest.map_or(vec![(0, u64::MAX)], |id| timeline.newest(id, None));
            shown.iter().fold(newest, |found, it| both(&found, &timeline.of_session(it)))
        }
        What::Log { after, entries } => vec![(after + entries.len() as u64, u64::MAX)],
        What::Submitted { outcome: Some(Outcome::Filed(id)), .. } => {
            vec![(timeline.seq_of_take(*id).unwrap_or(0), u64::MAX)]
        }
        _ => return None,
    })
}

fn session(timeline: &Timeline, answer: &Value) -> Positions {
    let (session, takes) = (&answer["session"], answer["takes"].as_array().unwrap());
    let takes = timeline.of_takes(number(&session["id"]), takes);
    both(&timeline.of_session(session), &takes)
}

fn by_end(events: &[Event]) -> impl Iterator<Item = &Event> {
    let mut sorted: Vec<_> = events.iter().collect();
    sorted.sort_by_key(|event| event.end);
    sorted.into_iter()
}

fn brief(what: &What) -> String {
    let text = format!("{what:?}");
    text.chars().take(600).collect()
}

/// Asks until something is so, for at most this long; whether it became so.
pub fn within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
