//! Entries of the log in words (contract, section 10).

use swarm_core::domain::{Day, MemoId, SubjectId};
use swarm_core::json::{Json, Object};
use swarm_core::{MemberId, SessionId, TakeId, Timestamp};

use super::links;
use super::markup::{Markup, clipped, escape};
use super::people::People;
use super::time_text::Reading;

/// An entry, as the log gives it.
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    kind: String,
    fields: Object,
}

impl Entry {
    /// Reads the text of an entry.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut fields = Json::read(text.as_bytes()).ok()?.into_object();
        Some(Self {
            seq: fields.whole_if_any("seq").ok()??,
            at: Timestamp::parse("at", &fields.text("at").ok()?).ok()?,
            kind: fields.text("kind").ok()?,
            fields,
        })
    }

    /// What it says, with links to what it is about.
    pub(super) fn describe(mut self, reading: Reading) -> Markup {
        let text = |fields: &mut Object, field| fields.text_if_any(field).ok().flatten();
        let fields = &mut self.fields;
        let told = match self.kind.as_str() {
            "take" => {
                let id = number(fields, "id").map(TakeId);
                let session = number(fields, "sessionId").map(SessionId);
                let revision = number(fields, "revision").unwrap_or(1);
                let (take, session) = (take_link(id), session_link(session));
                format!("{take}, revision {revision}, filed in {session}")
            }
            "session" => {
                let id = session_of(fields).and_then(|mut session| number(&mut session, "id"));
                let link = session_link(id.map(SessionId));
                format!("{link}: {}", escape(&act_text(fields, None, &People::default(), reading)))
            }
            "member" => {
                let act = text(fields, "act").unwrap_or_default();
                format!("{} {}", member_link(text(fields, "id")), escape(&act.replace('-', " ")))
            }
            "memo" => {
                let id = number(fields, "id").map(MemoId);
                let act = text(fields, "act").unwrap_or_default();
                let memo = match id.filter(|_| act == "published") {
                    Some(id) => anchor(&links::memo(id), &format!("memo {id}")),
                    None => "a memo".to_owned(),
                };
                let of = member_link(text(fields, "memberId"));
                format!("{memo} of {of} {}", escape(&act))
            }
            "subject" => format!("subject {} written", subject_link(text(fields, "id"))),
            "subject-snapshot" => {
                format!("snapshot of {}", subject_link(text(fields, "subjectId")))
            }
            "committee-day" => {
                let act = text(fields, "act").unwrap_or_default();
                format!("{}: {}", committee_link(text(fields, "date")), escape(&act))
            }
            "committee-take" => {
                format!("take for {}", committee_link(text(fields, "date")))
            }
            "operation" => {
                let act = text(fields, "act").unwrap_or_default();
                escape(&act.replace('-', " "))
            }
            kind => escape(&kind.replace('-', " ")),
        };
        Markup(told + &escape(&by(fields)))
    }

    /// What an operator did to a session, after the act before it.
    pub(super) fn act(
        mut self,
        before: Option<&Deadline>,
        people: &People,
        reading: Reading,
    ) -> String {
        let told = act_text(&mut self.fields, before, people, reading);
        told + &by(&mut self.fields)
    }

    /// The deadline of the session after this act.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let mut session = session_of(&mut self.fields.clone())?;
        let deadline = session.text_if_any("windowClosesAt").ok().flatten();
        Some(Deadline(deadline.and_then(|text| Timestamp::parse("windowClosesAt", &text).ok())))
    }

    /// The member that the act names.
    pub(super) fn member(&self) -> Option<MemberId> {
        MemberId::parse(self.fields.clone().text("memberId").ok()?).ok()
    }
}

/// The deadline of a session, where it had one.
pub(super) struct Deadline(Option<Timestamp>);

fn session_of(fields: &mut Object) -> Option<Object> {
    let session = fields.clone().take("session")?;
    Some(session.into_object()).filter(|session| session.has("id"))
}

fn act_text(
    fields: &mut Object,
    before: Option<&Deadline>,
    people: &People,
    reading: Reading,
) -> String {
    let act = fields.text("act").unwrap_or_default();
    let mut session = session_of(fields).unwrap_or_default();
    let state = session.text("state").unwrap_or_default();
    let deadline = session.text_if_any("windowClosesAt").ok().flatten();
    let deadline = deadline.and_then(|text| Timestamp::parse("windowClosesAt", &text).ok());
    let time = |moment| reading.time_text(moment);
    match act.as_str() {
        "convened" => match deadline {
            Some(deadline) => format!("convened, deadline {}", time(deadline)),
            None => "convened, without a deadline".to_owned(),
        },
        "state" => match state.as_str() {
            "collecting" => "opened".to_owned(),
            "window_closed" => "window closed".to_owned(),
            "aggregated" => "aggregated: the snapshot is frozen".to_owned(),
            state => state.to_owned(),
        },
        "deadline" => match (before.and_then(|before| before.0), deadline) {
            (Some(from), Some(to)) => {
                format!("deadline moved from {} to {}", time(from), time(to))
            }
            (_, Some(to)) => format!("deadline set to {}", time(to)),
            (_, None) => "deadline lifted".to_owned(),
        },
        "quorum" => match number(&mut session, "quorum") {
            Some(quorum) => format!("quorum set to {quorum}"),
            None => "quorum lifted".to_owned(),
        },
        "roster" => "roster frozen".to_owned(),
        "excuse" => {
            let who = fields.text("memberId").ok().and_then(|id| MemberId::parse(id).ok());
            let name = who.map_or("a member".to_owned(), |id| people.person(&id).name);
            let excused = fields.bool_if_any("excused").ok().flatten().unwrap_or(true);
            format!("{name} {}", if excused { "excused" } else { "expected again" })
        }
        "brief" => "brief published".to_owned(),
        act => act.to_owned(),
    }
}

/// `, by ada: “a note”`
fn by(fields: &mut Object) -> String {
    let who = fields.text_if_any("by").ok().flatten();
    let note = fields.text_if_any("note").ok().flatten().filter(|note| !note.is_empty());
    let who = who.map(|who| match who.as_str() {
        "schedule" => ", by schedule".to_owned(),
        who => format!(", by {}", clipped(who, 60)),
    });
    let note = note.map(|note| format!(": “{note}”"));
    who.unwrap_or_default() + &note.unwrap_or_default()
}

fn number(fields: &mut Object, field: &'static str) -> Option<u64> {
    fields.whole_if_any(field).ok().flatten()
}

fn anchor(href: &str, text: &str) -> String {
    format!("<a href=\"{}\"><bdi>{}</bdi></a>", escape(href), escape(text))
}

fn take_link(id: Option<TakeId>) -> String {
    id.map_or("a take".to_owned(), |id| anchor(&links::take(id), &format!("take {id}")))
}

fn session_link(id: Option<SessionId>) -> String {
    id.map_or("a session".to_owned(), |id| anchor(&links::session(id), &format!("session {id}")))
}

fn member_link(id: Option<String>) -> String {
    let id = id.and_then(|id| MemberId::parse(id).ok());
    id.map_or("a member".to_owned(), |id| anchor(&links::member(&id), &clipped(id.as_str(), 40)))
}

fn subject_link(id: Option<String>) -> String {
    let id = id.and_then(|id| SubjectId::parse(id).ok());
    id.map_or("a subject".to_owned(), |id| anchor(&links::subject(&id), &clipped(id.as_str(), 40)))
}

fn committee_link(date: Option<String>) -> String {
    let date = date.and_then(|date| Day::parse(&date).ok());
    let link = |date| anchor(&links::committee(date), &format!("the committee of {date}"));
    date.map_or("the committee".to_owned(), link)
}
