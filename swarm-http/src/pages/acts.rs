//! Entries of the log in words (API.md, 11.2).

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

    /// What it says, with links to what it is about; a memo that was retracted is not there any more.
    pub(super) fn describe(mut self, is_retracted: bool, reading: Reading) -> Markup {
        let text = |fields: &mut Object, field| fields.text_if_any(field).ok().flatten();
        let published = self.memo();
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
                let act = text(fields, "act").unwrap_or_default();
                let memo = match published.filter(|_| !is_retracted) {
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
        before: Option<&Terms>,
        people: &People,
        reading: Reading,
    ) -> String {
        let told = act_text(&mut self.fields, before, people, reading);
        told + &by(&mut self.fields)
    }

    /// The terms of the session after this act.
    pub(super) fn terms(&self) -> Option<Terms> {
        session_of(&mut self.fields.clone()).as_mut().map(Terms::of)
    }

    /// The memo that was published.
    pub(super) fn memo(&self) -> Option<MemoId> {
        let mut fields = self.fields.clone();
        let published = self.kind == "memo" && fields.text("act").is_ok_and(|it| it == "published");
        number(&mut fields, "id").filter(|_| published).map(MemoId)
    }

    /// The member that the act names.
    pub(super) fn member(&self) -> Option<MemberId> {
        MemberId::parse(self.fields.clone().text("memberId").ok()?).ok()
    }
}

/// What an operator may change of a session.
pub(super) struct Terms {
    deadline: Option<Timestamp>,
    quorum: Option<u64>,
}

impl Terms {
    fn of(session: &mut Object) -> Self {
        let deadline = session.text_if_any("windowClosesAt").ok().flatten();
        let deadline = deadline.and_then(|text| Timestamp::parse("windowClosesAt", &text).ok());
        Self { deadline, quorum: number(session, "quorum") }
    }

    /// How they differ from those before; where these are not known, what they are.
    fn told(&self, before: Option<&Self>, reading: Reading) -> String {
        let time = |moment| reading.time_text(moment);
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
        let told: Vec<_> = deadline.into_iter().chain(quorum).collect();
        if told.is_empty() { "remark".to_owned() } else { told.join(", ") }
    }
}

fn session_of(fields: &mut Object) -> Option<Object> {
    let session = fields.clone().take("session")?;
    Some(session.into_object()).filter(|session| session.has("id"))
}

fn act_text(
    fields: &mut Object,
    before: Option<&Terms>,
    people: &People,
    reading: Reading,
) -> String {
    let act = fields.text("act").unwrap_or_default();
    let mut session = session_of(fields).unwrap_or_default();
    let state = session.text("state").unwrap_or_default();
    let terms = Terms::of(&mut session);
    match act.as_str() {
        "convened" => match terms.deadline {
            Some(deadline) => format!("convened, deadline {}", reading.time_text(deadline)),
            None => "convened, without a deadline".to_owned(),
        },
        "state" => match state.as_str() {
            "collecting" => "opened".to_owned(),
            "window_closed" => "window closed".to_owned(),
            "aggregated" => "aggregated: the snapshot is frozen".to_owned(),
            state => state.to_owned(),
        },
        "deadline" | "quorum" => terms.told(before, reading),
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
