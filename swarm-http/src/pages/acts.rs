//! Entries of the log in words (API.md, 11.2).

use serde::Serialize;
use swarm_core::domain::{
    Actor, Day, DayAct, LogEntry, LogLine, LoggedSession, MemberAct, MemoAct, MemoId, Name, Note,
    Operation, SessionAct, SessionEntry, SessionState, TakeMarkEntry,
};
use swarm_core::service::PageEntry;
use swarm_core::{Error, MemberId, Tenant, Timestamp, json};

use super::markup::{Markup, anchor, clipped, escape};
use super::outcome::value_text;
use super::people::People;
use super::time_text::TimeFormatter;
use super::{links, stage_text};

/// An entry as a line of the page of the log, with links to what it is about. A memo that was
/// retracted is not linked.
pub(super) fn describe(
    line: &LogLine,
    is_retracted: bool,
    people: &People,
    times: TimeFormatter,
) -> Markup {
    let (what, by, note) = match &line.entry {
        LogEntry::Take(take) => {
            let link = anchor(&links::take(take.id), &format!("take {}", take.id));
            let session =
                anchor(&links::session(take.session_id), &format!("session {}", take.session_id));
            let author = member_link(&take.member_id, people);
            let revision = take.revision.get();
            (format!("{link} of {author}, revision {revision}, filed in {session}"), None, None)
        }
        LogEntry::Opening(opening) => {
            let link = anchor(&links::take(opening.id), &format!("take {}", opening.id));
            (format!("{link} opened"), None, None)
        }
        LogEntry::TakeMark(mark) => {
            let link = anchor(&links::take(mark.id), &format!("take {}", mark.id));
            (format!("{link}: {}", mark_act(mark)), Some(&mark.by), mark.note.as_ref())
        }
        LogEntry::Session(entry) => {
            let id = entry.session.id;
            let link = anchor(&links::session(id), &format!("session {id}"));
            let act = session_act(entry, None, people, times);
            (format!("{link}: {}", escape(&act)), Some(&entry.by), entry.note.as_ref())
        }
        LogEntry::Member(entry) => {
            let act = match entry.act {
                MemberAct::KeyRotated if entry.endorsed.is_some() => {
                    "replaced its own key".to_owned()
                }
                act => name_of(&act),
            };
            (format!("{} {act}", member_link(&entry.id, people)), entry.by.as_ref(), None)
        }
        LogEntry::Memo(entry) => {
            let act = match entry.act {
                MemoAct::Published => "published".to_owned(),
                MemoAct::Retracted => "retracted".to_owned(),
                act => name_of(&act),
            };
            let memo = match published_memo(&line.entry).filter(|_| !is_retracted) {
                Some(id) => anchor(&links::memo(id), &format!("memo {id}")),
                None => Markup::text("a memo"),
            };
            let author = member_link(&entry.member_id, people);
            (format!("{memo} of {author} {act}"), entry.by.as_ref(), None)
        }
        LogEntry::Subject { by, id, .. } => {
            let link = anchor(&links::subject(id), &clipped(id.as_str(), 40));
            (format!("subject {link} written"), Some(by), None)
        }
        LogEntry::SubjectSnapshot { by, subject_id: id, .. } => {
            let link = anchor(&links::subject(id), &clipped(id.as_str(), 40));
            (format!("snapshot of {link}"), Some(by), None)
        }
        LogEntry::Regime { by, .. } => ("regime".to_owned(), Some(by), None),
        LogEntry::Signal { by, .. } => ("signal".to_owned(), Some(by), None),
        LogEntry::Operation(Operation::ClockAccepted { by }) => {
            ("clock accepted".to_owned(), Some(by), None)
        }
        LogEntry::Operation(Operation::StoreAccepted { by, .. }) => {
            ("store accepted".to_owned(), Some(by), None)
        }
        LogEntry::Operation(Operation::KeyAccepted { by, .. }) => {
            ("key of the log accepted".to_owned(), Some(by), None)
        }
        LogEntry::CommitteeDay(entry) => {
            let act = match entry.act {
                DayAct::Generated => "briefs generated".to_owned(),
                act => name_of(&act),
            };
            let day = match entry.act {
                // The day may have no page yet, or no more.
                DayAct::Subject | DayAct::Withdrawn => {
                    Markup::text(&committee_day(entry.date, times))
                }
                _ => committee_link(entry.date, times),
            };
            (format!("{day}: {act}"), Some(&entry.by), None)
        }
        LogEntry::CommitteeTake(entry) => {
            (format!("take for {}", committee_link(entry.date, times)), None, None)
        }
        entry => (escape(&entry.event()), entry.by(), None),
    };
    Markup(what + &escape(&attribution(by, note)))
}

/// The members that these entries name.
pub(super) async fn people(tenant: &Tenant, entries: &[PageEntry]) -> Result<People, Error> {
    let lines = entries.iter().filter_map(PageEntry::line);
    let named: Vec<_> = lines.filter_map(|line| member_named(&line.entry)).collect();
    People::find(tenant, named).await
}

/// The member that an entry names.
pub(super) fn member_named(entry: &LogEntry) -> Option<&MemberId> {
    match entry {
        LogEntry::Take(take) => Some(&take.member_id),
        LogEntry::Session(entry) => entry.excuse.as_ref().map(|excuse| &excuse.member_id),
        LogEntry::Member(entry) => Some(&entry.id),
        LogEntry::Memo(entry) => Some(&entry.member_id),
        _ => None,
    }
}

/// The memo that an entry publishes.
pub(super) fn published_memo(entry: &LogEntry) -> Option<MemoId> {
    match entry {
        LogEntry::Memo(entry) if entry.act == MemoAct::Published => Some(entry.id),
        _ => None,
    }
}

/// An act on a session, in words, given the terms before it.
pub(super) fn act(
    entry: &SessionEntry,
    before: Option<&Terms>,
    people: &People,
    times: TimeFormatter,
) -> String {
    session_act(entry, before, people, times) + &attribution(Some(&entry.by), entry.note.as_ref())
}

/// An act on the texts of a take of the session, in words.
pub(super) fn take_mark(mark: &TakeMarkEntry) -> String {
    let what = format!("take {}: {}", mark.id, mark_act(mark));
    what + &attribution(Some(&mark.by), mark.note.as_ref())
}

fn mark_act(mark: &TakeMarkEntry) -> String {
    format!("texts {}", name_of(&mark.act))
}

/// The name of an act, as words.
fn name_of(act: &impl Serialize) -> String {
    json::write(act).trim_matches('"').replace('-', " ")
}

/// The terms of a session that an operator can change.
pub(super) struct Terms {
    deadline: Option<Timestamp>,
    quorum: Option<u32>,
}

impl Terms {
    pub(super) fn of(session: &LoggedSession) -> Self {
        Self { deadline: session.window_closes_at, quorum: session.quorum }
    }

    /// The differences from the terms before; all terms if those are unknown.
    fn differences(&self, before: Option<&Self>, times: TimeFormatter) -> String {
        let time = |moment| times.time_text(moment);
        let Some(before) = before else {
            let deadline = self.deadline.map_or("no deadline".to_owned(), |deadline| {
                format!("deadline {}", time(deadline))
            });
            let quorum =
                self.quorum.map_or("no quorum".to_owned(), |quorum| format!("quorum {quorum}"));
            return format!("terms: {deadline}, {quorum}");
        };
        let deadline = match (before.deadline, self.deadline) {
            (from, to) if from == to => None,
            (Some(from), Some(to)) => {
                Some(format!("deadline moved from {} to {}", time(from), time(to)))
            }
            (None, Some(to)) => Some(format!("deadline set to {}", time(to))),
            (_, None) => Some("deadline lifted".to_owned()),
        };
        let quorum = match self.quorum {
            to if before.quorum == to => None,
            Some(quorum) => Some(format!("quorum set to {quorum}")),
            None => Some("quorum lifted".to_owned()),
        };
        let parts: Vec<_> = deadline.into_iter().chain(quorum).collect();
        if parts.is_empty() { "remark".to_owned() } else { parts.join(", ") }
    }
}

/// An act on a session, in words without who did it, given the terms before it.
pub(super) fn session_act(
    entry: &SessionEntry,
    before: Option<&Terms>,
    people: &People,
    times: TimeFormatter,
) -> String {
    let terms = Terms::of(&entry.session);
    match entry.act {
        SessionAct::Convened => {
            let blind = if entry.session.blind { " blind" } else { "" };
            match terms.deadline {
                Some(deadline) => {
                    format!("convened{blind}, deadline {}", times.time_text(deadline))
                }
                None => format!("convened{blind}, without a deadline"),
            }
        }
        SessionAct::State => match entry.session.state {
            SessionState::Collecting => "opened".to_owned(),
            SessionState::Aggregated => "result: the snapshot is frozen".to_owned(),
            state => stage_text::state_word(state).to_owned(),
        },
        SessionAct::Deadline | SessionAct::Quorum => terms.differences(before, times),
        SessionAct::Roster => "roster frozen".to_owned(),
        SessionAct::Excuse => match &entry.excuse {
            Some(excuse) => {
                let name = people.person(&excuse.member_id).name;
                let what = if excuse.excused { "excused" } else { "expected again" };
                format!("{name} {what}")
            }
            None => "a member excused".to_owned(),
        },
        SessionAct::Brief => "brief published".to_owned(),
        SessionAct::Withdrawn => "withdrawn".to_owned(),
        SessionAct::Opened => "takes opened".to_owned(),
        SessionAct::Question => match &entry.session.question.text {
            Some(text) => format!("question: “{text}”"),
            None => "question changed".to_owned(),
        },
        SessionAct::Void => "voided: it counts for nothing".to_owned(),
        SessionAct::Outcome => {
            let value = entry.session.outcome.as_ref().and_then(|outcome| outcome.value);
            match value {
                Some(value) => format!("outcome {}", value_text(value.get())),
                None => "outcome annulled".to_owned(),
            }
        }
        act => name_of(&act),
    }
}

/// `, by ada: “a note”`
fn attribution(by: Option<&Actor>, note: Option<&Note>) -> String {
    let by = by.map(|by| match by.as_str() {
        "schedule" => ", by schedule".to_owned(),
        // The act is of the member, which the line names.
        "member" => String::new(),
        name => format!(", by {}", clipped(name, 60)),
    });
    let note = note.filter(|note| !note.as_str().is_empty());
    let note = note.map(|note| format!(": “{note}”"));
    by.unwrap_or_default() + &note.unwrap_or_default()
}

/// A member by name; an erased one by its id, since all of them have the same name.
fn member_link(id: &MemberId, people: &People) -> Markup {
    let name = people.person(id).name;
    let name = if name == Name::erased().as_str() { id.as_str() } else { &name };
    anchor(&links::member(id), &clipped(name, 40))
}

fn committee_day(date: Day, times: TimeFormatter) -> String {
    format!("the committee of {}", times.day_text(date))
}

fn committee_link(date: Day, times: TimeFormatter) -> Markup {
    let text = committee_day(date, times);
    // A log may have entries of a committee that the site no longer serves.
    match cfg!(feature = "committee") {
        true => anchor(&links::committee(date), &text),
        false => Markup::text(&text),
    }
}
