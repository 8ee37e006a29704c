//! The state of the store after each entry of its log, as far as the entries tell it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use swarm_core::Timestamp;

/// Ranges of log positions, both ends included.
pub type Positions = Vec<(u64, u64)>;

/// The log, and the history of each session in it.
pub struct Timeline {
    pub entries: Vec<Value>,
    pub sessions: BTreeMap<u64, SessionTimeline>,
}

/// The changes and takes of a session, in the order of the log.
#[derive(Default)]
pub struct SessionTimeline {
    /// The entries of its changes, with their numbers.
    pub acts: Vec<(u64, Value)>,
    pub takes: Vec<LoggedTake>,
}

/// A take as the log has it.
pub struct LoggedTake {
    pub seq: u64,
    pub id: u64,
    pub member: String,
    pub revision: u64,
    pub filed_at: i64,
}

impl Timeline {
    pub fn new(entries: Vec<Value>) -> Self {
        let mut sessions: BTreeMap<u64, SessionTimeline> = BTreeMap::new();
        for entry in &entries {
            let seq = number(&entry["seq"]);
            if entry["kind"] == "session" {
                let line = sessions.entry(number(&entry["session"]["id"])).or_default();
                line.acts.push((seq, entry.clone()));
            }
            if entry["kind"] == "take" {
                let line = sessions.entry(number(&entry["sessionId"])).or_default();
                line.takes.push(LoggedTake {
                    seq,
                    id: number(&entry["id"]),
                    member: entry["memberId"].as_str().unwrap().to_owned(),
                    revision: number(&entry["revision"]),
                    filed_at: millis(&entry["at"]).unwrap(),
                });
            }
        }
        Self { entries, sessions }
    }

    /// The number of a take's entry.
    pub fn seq_of_take(&self, id: u64) -> Option<u64> {
        let takes = self.sessions.values().flat_map(|line| &line.takes);
        takes.clone().find(|take| take.id == id).map(|take| take.seq)
    }

    /// The positions at which a session read like this.
    pub fn positions_of_session(&self, shown: &Value) -> Positions {
        let Some(line) = self.sessions.get(&number(&shown["id"])) else { return Vec::new() };
        let ends = line.acts.iter().skip(1).map(|(seq, _)| seq - 1).chain([u64::MAX]);
        let spans = line.acts.iter().zip(ends);
        let spans = spans.filter(|((_, act), _)| matches_record(&act["session"], shown));
        spans.map(|((seq, _), end)| (*seq, end)).collect()
    }

    /// The positions at which these were the latest takes of a session's members.
    pub fn positions_of_takes(&self, session: u64, shown: &[Value]) -> Positions {
        let Some(line) = self.sessions.get(&session) else { return Vec::new() };
        let shown: BTreeSet<_> = shown.iter().map(|take| number(&take["id"])).collect();
        let (mut latest, mut since, mut found) = (BTreeMap::new(), 0, Vec::new());
        for take in &line.takes {
            if latest.values().copied().collect::<BTreeSet<_>>() == shown {
                found.push((since, take.seq - 1));
            }
            latest.insert(&take.member, take.id);
            since = take.seq;
        }
        if latest.values().copied().collect::<BTreeSet<_>>() == shown {
            found.push((since, u64::MAX));
        }
        found
    }

    /// The positions at which a session was the newest: of all, or of its subject.
    pub fn positions_as_newest(&self, id: u64, of_subject: Option<&str>) -> Positions {
        let about = |line: &SessionTimeline| {
            of_subject.is_none_or(|subject| line.acts[0].1["session"]["subjectId"] == subject)
        };
        let next = self.sessions.range(id + 1..).find(|(_, line)| about(line));
        let end = next.map_or(u64::MAX, |(_, line)| line.acts[0].0 - 1);
        let convened = self.sessions.get(&id).map(|line| (line.acts[0].0, end));
        convened.into_iter().collect()
    }
}

impl SessionTimeline {
    /// The record before an entry.
    pub fn record_before(&self, seq: u64) -> Option<&Value> {
        let acts = self.acts.iter().take_while(|(act, _)| *act < seq);
        acts.last().map(|(_, act)| &act["session"])
    }

    /// The number of the entry that aggregated it.
    pub fn aggregated(&self) -> Option<u64> {
        let is_it = |act: &Value| act["session"]["state"] == "aggregated";
        self.acts.iter().find(|(_, act)| is_it(act)).map(|(seq, _)| *seq)
    }

    /// The ids of each member's latest take before an entry.
    pub fn latest_takes(&self, before: u64) -> BTreeSet<u64> {
        let takes = self.takes.iter().take_while(|take| take.seq < before);
        let latest: BTreeMap<_, _> = takes.map(|take| (&take.member, take.id)).collect();
        latest.into_values().collect()
    }
}

/// The positions that are in both.
pub fn intersect(one: &Positions, other: &Positions) -> Positions {
    let meet = |a: &(u64, u64), b: &(u64, u64)| (a.0.max(b.0), a.1.min(b.1));
    let met = one.iter().flat_map(|a| other.iter().map(move |b| meet(a, b)));
    met.filter(|(first, last)| first <= last).collect()
}

fn matches_record(logged: &Value, shown: &Value) -> bool {
    let fields = ["state", "windowClosesAt", "quorum", "date", "subjectId"];
    fields.iter().all(|field| logged[field] == shown[field])
        && logged["snapshotDigest"].is_null() == shown["snapshot"].is_null()
}

pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

pub fn millis(value: &Value) -> Option<i64> {
    Some(Timestamp::parse("moment", value.as_str()?).unwrap().millis())
}
