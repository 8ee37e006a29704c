//! All acts of operators, also those that no public log has, the latest first.

use std::collections::{HashMap, HashSet};

use futures_util::future::try_join_all;
use swarm_core::domain::{Actor, LogEntry, LogLine, Name, RecordedAct, SessionAct, SessionEntry};
use swarm_core::store::ActQuery;
use swarm_core::{Error, MemberId, SessionId, Timestamp};

use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, anchor, quoted};
use crate::pages::links::{has_path, part};
use crate::pages::people::People;
use crate::pages::time_text::TimeFormatter;
use crate::pages::{Markup, acts};
use crate::request::parameters::number;
use crate::response::ApiError;

/// Acts on a page.
const PER_PAGE: usize = 50;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let by = context.query("by").filter(|by| !by.is_empty());
    let before = context.query("before").and_then(|at| Timestamp::parse("before", &at).ok());
    let named = by.as_deref().map(Actor::operator);
    let found = match named {
        // Nobody has a name that no operator can have.
        Some(Err(_)) => None,
        named => {
            let by = named.transpose().unwrap_or_default();
            let query =
                ActQuery { by, since: None, before, limit: context.request.portion.of(PER_PAGE) };
            Some(context.request.tenant().operator_acts(&query).await?)
        }
    };
    let (found, next) = found.map_or((Vec::new(), None), |found| (found.acts, found.next_before));
    let records = Records::of(context, &found).await?;
    let mut page = Page::new("All acts").with_lead(
        "What operators did in the last 400 days, also what no public log says: reviews, mail, the committee, sign-ins.",
    );
    let field = Field::text("by", "Operator").with_value(by.clone().unwrap_or_default());
    page.search("/operate/acts/all", "Show", field);
    let text = |text: Option<&str>| text.map_or_else(Markup::default, quoted);
    let rows = found.iter().map(|recorded| {
        let act = &recorded.act;
        vec![
            context.times.time(recorded.at),
            text(act.by.as_ref().map(Actor::as_str)),
            Markup::text(&records.words(recorded)),
            records.target(recorded),
            text(act.note.as_ref().map(|note| note.as_str())),
        ]
    });
    let head = ["When", "Operator", "Act", "Of", "Note"];
    page.table("All acts", head, rows, "None found.");
    if let Some(next) = next {
        let by = by.map(|by| format!("by={}&", part(&by))).unwrap_or_default();
        page.more(&format!("/operate/acts/all?{by}before={next}"), "Earlier acts");
    }
    Ok(page)
}

/// What the acts of a page were on.
struct Records {
    /// The acts on each of the sessions, as the log has them.
    sessions: HashMap<SessionId, Vec<LogLine>>,
    people: People,
    times: TimeFormatter,
}

impl Records {
    async fn of(context: &ConsoleContext, found: &[RecordedAct]) -> Result<Self, Error> {
        let tenant = context.request.tenant();
        let ids: HashSet<_> = found.iter().filter_map(session_of).collect();
        let read = ids.into_iter().map(|id| async move {
            let lines = tenant.acts_on(id).await?;
            Ok::<_, Error>((id, lines))
        });
        let sessions: HashMap<_, _> = try_join_all(read).await?.into_iter().collect();
        let excused =
            sessions.values().flatten().filter_map(|line| acts::member_named(&line.entry));
        let excused: Vec<_> = excused.cloned().collect();
        let members: Vec<_> = found.iter().filter_map(member_of).chain(excused).collect();
        let people = People::find(tenant, &members).await?;
        Ok(Self { sessions, people, times: context.times })
    }

    /// The act in the words of the page of the log.
    fn words(&self, recorded: &RecordedAct) -> String {
        let act = &*recorded.act.act;
        if let Some(entry) = self.session_entry(recorded) {
            return acts::session_act(entry, None, &self.people, self.times);
        }
        let (kind, verb) = act.split_once('.').unwrap_or((act, "written"));
        let verb = verb.replace('-', " ");
        match kind {
            "take-mark" => format!("texts {verb}"),
            "application" | "configuration" | "regime" | "signal" | "subject" => {
                format!("{kind} {verb}")
            }
            "subject-snapshot" => "snapshot added".to_owned(),
            "committee-day" if verb == "generated" => "briefs generated".to_owned(),
            "console" if verb == "refused" => "sign-in refused".to_owned(),
            _ => verb,
        }
    }

    /// The entry of the log for an act on a session.
    fn session_entry(&self, recorded: &RecordedAct) -> Option<&SessionEntry> {
        let lines = self.sessions.get(&session_of(recorded)?)?;
        let is_it =
            |line: &&LogLine| line.at == recorded.at && line.entry.event() == recorded.act.act;
        match &lines.iter().find(is_it)?.entry {
            LogEntry::Session(entry) => Some(entry),
            _ => None,
        }
    }

    /// What the act was on, with a link where the console has a page of it.
    fn target(&self, recorded: &RecordedAct) -> Markup {
        let Some(target) = recorded.act.target.as_deref() else { return Markup::default() };
        let link = |path: &str, text: &str| anchor(&format!("{path}/{}", part(target)), text);
        match kind_of(recorded) {
            "session" if self.is_withdrawn(recorded) => Markup::text(&format!("session {target}")),
            "session" => link("/operate/sessions", &format!("session {target}")),
            "take-mark" => link("/operate/takes", &format!("take {target}")),
            "member" | "application" if has_path(target) => {
                link("/operate/members", &self.name(recorded).unwrap_or_else(|| target.to_owned()))
            }
            "subject" if has_path(target) => link("/operate/subjects", target),
            "subject-snapshot" => Markup::text(&format!("snapshot {target}")),
            "memo" | "message" => Markup::text(&format!("{} {target}", kind_of(recorded))),
            "webhook" => Markup::text(&format!("delivery {target}")),
            "committee-member" => Markup(format!("{} of the committee", quoted(target))),
            "committee-day" | "regime" => quoted(&self.times.written_out(target)),
            _ => quoted(target),
        }
    }

    /// Whether the act was on a session that has no page any more.
    fn is_withdrawn(&self, recorded: &RecordedAct) -> bool {
        let lines = session_of(recorded).and_then(|id| self.sessions.get(&id));
        lines.into_iter().flatten().any(|line| match &line.entry {
            LogEntry::Session(entry) => entry.act == SessionAct::Withdrawn,
            _ => false,
        })
    }

    /// The name of the member, unless it was erased: all of those have the same.
    fn name(&self, recorded: &RecordedAct) -> Option<String> {
        let name = self.people.person(&member_of(recorded)?).name;
        (name != Name::erased().as_str()).then_some(name)
    }
}

/// What kind of record the act was on.
fn kind_of(recorded: &RecordedAct) -> &str {
    let act = &*recorded.act.act;
    act.split_once('.').map_or(act, |(kind, _)| kind)
}

fn session_of(recorded: &RecordedAct) -> Option<SessionId> {
    let target = recorded.act.target.as_deref().filter(|_| kind_of(recorded) == "session")?;
    number(target).map(SessionId)
}

fn member_of(recorded: &RecordedAct) -> Option<MemberId> {
    let is_of_member = matches!(kind_of(recorded), "member" | "application");
    let target = recorded.act.target.clone().filter(|_| is_of_member)?;
    MemberId::parse(target).ok()
}
