//! What happened, as the clients saw it.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

/// Everything that was recorded.
#[derive(Default)]
pub struct History {
    events: Mutex<Vec<Event>>,
}

/// A request that was answered, or not.
#[derive(Clone, Debug)]
pub struct Event {
    pub begin: Instant,
    pub end: Instant,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A submission with this nonce of this member. `None`: it is not known what came of it.
    Submitted { member: String, nonce: String, outcome: Option<Outcome> },
    /// A session, with its takes.
    Session { answer: Value },
    /// The session of a day and subject, with its takes.
    SessionOn { answer: Value },
    /// The first page of the list of sessions.
    Sessions { answer: Value },
    /// A page of the log.
    Log { after: u64, entries: Vec<Value> },
    /// A change by the operator.
    Operated { path: String, status: Option<u16> },
    /// Any other answer that should not have been.
    Odd { path: String, status: u16, body: Value },
    /// A server was killed.
    Killed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 201, with the number of the take.
    Filed(u64),
    /// 409, with the number of the very take, where it is on file.
    Conflict { error: String, original: Option<u64> },
    /// Another refusal.
    Refused(u16),
}

impl History {
    pub fn record(&self, begin: Instant, what: What) {
        let event = Event { begin, end: Instant::now(), what };
        self.events.lock().unwrap().push(event);
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    fn count(&self, is_it: impl Fn(&What) -> bool) -> usize {
        self.events.lock().unwrap().iter().filter(|event| is_it(&event.what)).count()
    }

    fn filed(&self) -> usize {
        self.count(|it| matches!(it, What::Submitted { outcome: Some(Outcome::Filed(_)), .. }))
    }

    fn kills(&self) -> usize {
        self.count(|it| matches!(it, What::Killed))
    }

    /// Whether there was enough to check.
    pub fn is_eventful(&self) -> bool {
        self.filed() > 20
            && self.kills() > 0
            && self.count(|it| matches!(it, What::Session { .. })) > 20
    }

    pub fn summary(&self) -> String {
        let unknown = self.count(|it| matches!(it, What::Submitted { outcome: None, .. }));
        let lists = self.count(|it| matches!(it, What::Sessions { .. }));
        let sessions = self.count(|it| matches!(it, What::Session { .. } | What::SessionOn { .. }));
        let acts = self.count(|it| matches!(it, What::Operated { status: Some(200 | 201), .. }));
        format!(
            "{} takes filed, {unknown} with an outcome unknown; {acts} acts of operators; \
             {sessions} reads of sessions, {lists} of the list; {} servers killed",
            self.filed(),
            self.kills(),
        )
    }
}
