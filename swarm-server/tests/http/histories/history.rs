//! The history: what the clients sent and were answered, and what was killed, with begin and end of each.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

use crate::histories::client::Answer;

/// All events of a run.
#[derive(Default)]
pub struct History {
    events: Mutex<Vec<Event>>,
}

/// A request, or a kill.
#[derive(Clone, Debug)]
pub struct Event {
    pub begin: Instant,
    pub end: Instant,
    pub kind: EventKind,
}

#[derive(Clone, Debug)]
pub enum EventKind {
    /// A submission with this nonce by this member.
    Submitted { member: String, nonce: String, outcome: Outcome },
    /// A read of a session by its id, with its takes.
    ReadSession { answer: Value },
    /// A read of the session of a day and subject, with its takes.
    ReadSessionOfDay { answer: Value },
    /// A read of the first page of the list of sessions.
    ListedSessions { answer: Value },
    /// A read of a page of the log.
    ReadLog { after: u64, entries: Vec<Value> },
    /// A change by an operator.
    Changed { path: String, status: Option<u16> },
    /// A read that was not answered with 200. `None`: the connection was lost.
    FailedRead { path: String, answer: Option<(u16, Value)> },
    /// Processes were killed; ends once all of them are ready again.
    Killed { servers: usize, store: bool },
}

/// How a submission was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 201, with the id of the take.
    Filed(u64),
    /// 409, with the id of the take on file, if the submission is a replay of one.
    Conflict { error: String, original: Option<u64> },
    /// 503: the store could not be reached.
    Unavailable,
    /// The connection was lost.
    NoAnswer,
    /// Any other status.
    Refused(u16),
}

impl Outcome {
    pub fn of(answer: Option<Answer>) -> Self {
        let Some(answer) = answer else { return Self::NoAnswer };
        let id = answer.body["recommendationId"].as_u64();
        let error = answer.body["error"].as_str().unwrap_or_default().to_owned();
        match answer.status {
            201 => Self::Filed(id.unwrap()),
            409 => Self::Conflict { error, original: id },
            503 => Self::Unavailable,
            status => Self::Refused(status),
        }
    }

    /// Whether the client knows if the take is on file.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unavailable | Self::NoAnswer)
    }
}

impl History {
    pub fn of(events: Vec<Event>) -> Self {
        Self { events: Mutex::new(events) }
    }

    /// Appends an event that ends now.
    pub fn record(&self, begin: Instant, kind: EventKind) {
        let event = Event { begin, end: Instant::now(), kind };
        self.events.lock().unwrap().push(event);
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    fn count(&self, is_counted: impl Fn(&EventKind) -> bool) -> usize {
        self.events.lock().unwrap().iter().filter(|event| is_counted(&event.kind)).count()
    }

    fn filed(&self) -> usize {
        self.count(|kind| matches!(kind, EventKind::Submitted { outcome: Outcome::Filed(_), .. }))
    }

    fn session_reads(&self) -> usize {
        self.count(|kind| {
            matches!(kind, EventKind::ReadSession { .. } | EventKind::ReadSessionOfDay { .. })
        })
    }

    /// Whether it holds enough for the checks to mean something: takes, reads, and an amendment that was read.
    pub fn has_enough(&self) -> bool {
        let shows_amendment = |kind: &EventKind| match kind {
            EventKind::ReadSession { answer } => {
                let takes = answer["takes"].as_array().unwrap();
                takes.len() > 1 && takes.iter().any(|take| take["revision"] != 1)
            }
            _ => false,
        };
        let lists = self.count(|kind| matches!(kind, EventKind::ListedSessions { .. }));
        self.filed() > 20
            && self.session_reads() > 20
            && lists > 5
            && self.count(shows_amendment) > 0
    }

    pub fn summary(&self) -> String {
        let unknown = self.count(
            |kind| matches!(kind, EventKind::Submitted { outcome, .. } if !outcome.is_known()),
        );
        let changes =
            self.count(|kind| matches!(kind, EventKind::Changed { status: Some(200 | 201), .. }));
        let lists = self.count(|kind| matches!(kind, EventKind::ListedSessions { .. }));
        let servers =
            self.count(|kind| matches!(kind, EventKind::Killed { servers, .. } if *servers > 0));
        let stores = self.count(|kind| matches!(kind, EventKind::Killed { store: true, .. }));
        format!(
            "{} takes filed, {unknown} submissions of unknown outcome; {changes} changes by operators; \
             {} reads of sessions, {lists} of their list; servers killed {servers} times, the store {stores} times",
            self.filed(),
            self.session_reads(),
        )
    }
}
