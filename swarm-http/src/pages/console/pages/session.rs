//! A session: how far it has come, the members that filed and that did not, and one form with the acts on the session. The
//! act that comes next is open, the others are folded.

use std::collections::{HashMap, HashSet};

use swarm_core::domain::{Outcome, RankedStance, RosterEntry, Session, Timestamp};
use swarm_core::json;
use swarm_core::rules::{self, PublicTake, SessionStep, Stage, SteppedSession, Steps};

use super::super::acts::{
    AGGREGATE, ANNUL_OUTCOME, Act, CLEAR_DEADLINE, CLOSE, CONVENE, EXCUSE, FREEZE_ROSTER,
    MOVE_DEADLINE, OPEN, PUBLISH, PUBLISH_BRIEF, RECORD_OUTCOME, REPLACE_BRIEF, SET_QUESTION,
    SET_QUORUM, UNEXCUSE, VOID, WITHDRAW,
};
use super::super::context::{ConsoleContext, fill_path};
use super::super::form::{Button, Field, Panel};
use super::super::layout::{Block, Page, anchor, count, quoted, two_lines};
use super::super::table::Table;
use super::PageId;
use super::convene;
use crate::pages::links::part;
use crate::pages::people::People;
use crate::pages::result::ResultView;
use crate::pages::time_text::TimeFormatter;
use crate::pages::{Markup, charts, links, lists, stage_text};
use crate::request::parameters::number;
use crate::response::ApiError;

/// Maximum number of members named that have not filed, of takes, and of members of the roster on a page.
const MAX_NAMED: usize = 60;
const MAX_TAKES: usize = 200;
const MAX_LISTED: usize = 120;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let Some(session) = super::session(PageId::Session, context).await? else {
        return Ok(Page::default());
    };
    let (_, takes) = tenant.session(session.id).await?;
    let has_brief = tenant.brief(session.id).await?.is_some();
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let roster = session.roster.iter().flat_map(|roster| roster.entries()).map(|it| &it.member_id);
    let filed_by = takes.iter().map(|take| take.member_id());
    let people = People::find(tenant, roster.chain(filed_by)).await?;
    let rest = format!(", {}", context.times.day_text(session.date));
    let mut page = Page::named(&subject.1, &rest).below("/operate/sessions", "Sessions");
    page.blocks.push(stages(context, &session, has_brief));
    page.blocks.push(Block::Record(record(context, &session, &takes, &people)));
    let steps = tenant.steps(&context.request.served.config().schedule, &session).await?;
    let acts =
        Acts { context, session: &session, takes: &takes, people: &people, has_brief, steps };
    acts.show(&mut page).await?;
    if context.may(&CONVENE) {
        let path = format!("/operate/convene?subject={}", part(session.subject_id.as_str()));
        page.text(anchor(&path, "Convene the next session"));
    }
    if !takes.is_empty() {
        page.heading("Takes, in the order of filing");
        let most = context.request.portion.of(MAX_TAKES);
        let rows = takes.iter().take(most).map(|take| {
            let who = people.person(take.member_id());
            let path = format!("/operate/takes/{}", take.id());
            let link = anchor(&path, &format!("take {}", take.id()));
            vec![
                quoted(&who.name),
                match lists::uncounted_reason(take, &session) {
                    Some(reason) => two_lines(&link, &Markup::text(reason)),
                    None => link,
                },
                context.times.time(take.filed_at()),
            ]
        });
        let head = ["Member", "Take", "Filed"];
        page.table("Takes", head, rows, "");
        if takes.len() > most {
            let more = format!("{} more, on the public page", takes.len() - most);
            page.text(anchor(&links::session(session.id), &more));
        }
    }
    Ok(page)
}

fn record(
    context: &ConsoleContext,
    session: &Session,
    takes: &[PublicTake],
    people: &People,
) -> Vec<(&'static str, Markup)> {
    let silent = lists::missing(session, takes);
    let missing = match &session.roster {
        None => Markup::text("no roster: every member may file"),
        Some(_) if silent.is_empty() => Markup::text("nobody"),
        Some(_) => {
            let most = context.request.portion.of(MAX_NAMED);
            let named = silent.iter().take(most).map(|id| people.person(id).name);
            let more = silent.len().saturating_sub(most);
            let more = (more > 0).then(|| format!("{more} more"));
            quoted(&named.chain(more).collect::<Vec<_>>().join(", "))
        }
    };
    let public = links::session(session.id);
    let times = context.times;
    let mut record = vec![
        ("Session", anchor(&public, &format!("{} (public page)", session.id))),
        ("State", Markup::text(&state_text(session))),
        ("Deadline", deadline(session.window_closes_at, times)),
        ("Filed", Markup::text(&filed_text(session, takes))),
        ("Has not filed", missing),
        ("Quorum", Markup::text(&session.quorum.map_or("none".to_owned(), |it| it.to_string()))),
    ];
    if let Some(snapshot) = &session.snapshot {
        let (figures, at) = (&snapshot.figures, times.time(snapshot.figures.aggregated_at));
        let result = format!("{}; computed {at}", quoted(&ResultView::summary(figures)));
        record.push(("Result", Markup(result)));
        let published = session.published_at.map(|at| times.time(at));
        record.push(("Published", published.unwrap_or_else(|| Markup::text("not yet"))));
    }
    if let Some(voided) = &session.voided {
        let (since, note) = (times.time(voided.at), quoted(voided.note.as_str()));
        record.push(("Void", Markup(format!("since {since}, and counts for nothing: {note}"))));
    }
    record.push(("Outcome", Markup::text(&outcome_text(session.outcome.as_ref()))));
    record
}

/// The deadline, and how long it is until then.
fn deadline(deadline: Option<Timestamp>, times: TimeFormatter) -> Markup {
    let Some(at) = deadline else { return Markup::text("none") };
    match times.left(at) {
        Some(left) => Markup(format!("{}, in {left}", times.time(at))),
        None => times.time(at),
    }
}

/// `13 of 22 expected members`, and the takes that count for nothing.
fn filed_text(session: &Session, takes: &[PublicTake]) -> String {
    let filed = rules::filed(session, takes.iter().map(PublicTake::member_id));
    let text = match &session.roster {
        Some(roster) => format!("{filed} of {} expected members", roster.expected().count()),
        None => count(filed, "member", "members"),
    };
    match takes.len().saturating_sub(filed) {
        0 => text,
        more => {
            let one = "take of a member that is not expected counts for nothing";
            let many = "takes of members that are not expected count for nothing";
            let more = count(more, one, many);
            format!("{text}; {more}")
        }
    }
}

/// The stages of a session, and whether its brief is published.
fn stages(context: &ConsoleContext, session: &Session, has_brief: bool) -> Block {
    const NAMES: [&str; 5] = ["Announced", "Open", "Closed", "Result", "Published"];
    let at = match stage_text::stage_of(&session.summary(), context.times) {
        Stage::Scheduled => 0,
        Stage::Open => 1,
        Stage::Closing | Stage::AwaitingResult => 2,
        Stage::Aggregated => 3,
        Stage::Published => 4,
    };
    let stage = |(nth, name)| (name, (nth != at).then_some(nth < at));
    let brief = if has_brief { "Brief published" } else { "No brief" };
    Block::Stages(NAMES.into_iter().enumerate().map(stage).collect(), Markup::text(brief))
}

/// The state, and whether the session counts.
fn state_text(session: &Session) -> String {
    let state = stage_text::state_word(session.state);
    let finished = if session.finish { ", finished by the server" } else { "" };
    let flags = stage_text::flags(&session.summary());
    [state].into_iter().chain(flags).collect::<Vec<_>>().join(", ") + finished
}

pub(in super::super) fn outcome_text(outcome: Option<&Outcome>) -> String {
    match outcome.map(|outcome| outcome.value) {
        None => "none".to_owned(),
        Some(None) => "annulled".to_owned(),
        Some(Some(value)) => charts::signed(value.get()),
    }
}

/// The acts that make a step.
fn acts_of(step: SessionStep) -> Vec<&'static Act> {
    match step {
        SessionStep::PublishBrief => vec![&PUBLISH_BRIEF],
        SessionStep::ReplaceBrief => vec![&REPLACE_BRIEF],
        SessionStep::Open | SessionStep::OpenAgain => vec![&OPEN],
        SessionStep::Close => vec![&CLOSE],
        SessionStep::Aggregate => vec![&AGGREGATE],
        SessionStep::Publish => vec![&PUBLISH],
        SessionStep::Outcome => vec![&RECORD_OUTCOME, &ANNUL_OUTCOME],
        SessionStep::Deadline => vec![&MOVE_DEADLINE, &CLEAR_DEADLINE],
        SessionStep::Quorum => vec![&SET_QUORUM],
        SessionStep::Question => vec![&SET_QUESTION],
        SessionStep::Withdraw => vec![&WITHDRAW],
        SessionStep::Void => vec![&VOID],
        SessionStep::Roster => vec![&FREEZE_ROSTER],
        _ => vec![],
    }
}

/// The acts on a session.
struct Acts<'a> {
    context: &'a ConsoleContext,
    session: &'a Session,
    takes: &'a [PublicTake],
    people: &'a People,
    has_brief: bool,
    /// What the server does with the session.
    steps: Steps,
}

impl Acts<'_> {
    async fn show(&self, page: &mut Page) -> Result<(), ApiError> {
        let next = self.next();
        let mut primary = None;
        let mut others = Vec::new();
        for (acts, panel) in self.all().await? {
            match next {
                Some(next) if primary.is_none() && acts.iter().any(|act| act.path == next.path) => {
                    primary = panel;
                }
                _ => others.push(panel),
            }
        }
        for button in primary.iter_mut().flat_map(|panel| panel.buttons.first_mut()) {
            button.is_primary = true;
        }
        let mut panels = self.context.panels(primary, others);
        if self.facts().admitted().into_iter().any(|step| step == SessionStep::Void) {
            let hint = "For whichever act you send. To void the session takes one.";
            panels.note = panels.note.needed().with_hint(hint);
        }
        if panels.has_acts() {
            page.blocks.push(Block::Panels(Box::new(panels)));
        }
        Ok(())
    }

    /// The act that an operator does next, if there is one.
    fn next(&self) -> Option<&'static Act> {
        let step = self.facts().due()?;
        acts_of(step).first().copied()
    }

    fn facts(&self) -> SteppedSession<'_> {
        SteppedSession {
            session: self.session,
            has_brief: self.has_brief,
            has_takes: !self.takes.is_empty(),
            steps: self.steps,
            now: self.context.times.now,
        }
    }

    /// All acts that the state of the session admits, those that have the same fields together.
    async fn all(&self) -> Result<Vec<(Vec<&'static Act>, Option<Panel>)>, ApiError> {
        let mut all = Vec::new();
        for step in self.facts().admitted() {
            let acts = acts_of(step);
            let panel = match step {
                SessionStep::Roster => self.roster().await?,
                _ => self.panel(step, &acts),
            };
            all.push((acts, panel));
        }
        Ok(all)
    }

    /// The form of a step.
    fn panel(&self, step: SessionStep, acts: &[&'static Act]) -> Option<Panel> {
        let session = self.session;
        let (summary, lead) = match step {
            SessionStep::PublishBrief => {
                ("Brief", "Members read it before they file. It is public at once.")
            }
            SessionStep::ReplaceBrief => {
                ("Brief", "It is replaced while no take is on file, and keeps its number.")
            }
            SessionStep::Open => {
                ("Open", "Takes are accepted already; from then on it is shown as open.")
            }
            SessionStep::OpenAgain => {
                ("Open again", "Takes are accepted again while the deadline lies ahead.")
            }
            SessionStep::Close => {
                ("Close", "The deadline becomes now, and a take that comes later is refused.")
            }
            SessionStep::Aggregate => {
                ("Compute the result", "It is computed once, from the takes that are on file then.")
            }
            SessionStep::Publish => {
                ("Publish", "The result is in the feed, the lists and later briefs from then on.")
            }
            SessionStep::Outcome => (
                "Outcome",
                "Members are scored by it, in public. It replaces an earlier one; the log keeps both.",
            ),
            SessionStep::Deadline if self.facts().is_accepting() => {
                ("Deadline", "A later one gives more time; an earlier one asks for your token.")
            }
            SessionStep::Deadline => ("Deadline", "A later one opens the window again."),
            SessionStep::Quorum => ("Quorum", SET_QUORUM.texts(self.context.routes).consequence),
            SessionStep::Question => ("Question", "It is changed until the first take is on file."),
            SessionStep::Withdraw => (
                "Withdraw",
                "It is as if it had never been convened; its number is not used again.",
            ),
            SessionStep::Void => (
                "Void",
                "It counts for nothing from then on, and its page says so first, with the note, which it needs. This is not undone.",
            ),
            _ => return None,
        };
        let acts = match step {
            SessionStep::Deadline if session.window_closes_at.is_none() => &[&MOVE_DEADLINE],
            _ => acts,
        };
        let fields = match step {
            SessionStep::PublishBrief | SessionStep::ReplaceBrief => prompts(),
            SessionStep::Outcome => outcome_fields(session),
            SessionStep::Question => question_fields(session),
            SessionStep::Deadline => {
                let now = session.window_closes_at.map(|at| at.to_string()).unwrap_or_default();
                vec![Field::time("windowClosesAt", "New deadline, UTC").needed().with_value(now)]
            }
            SessionStep::Quorum => {
                let quorum = session.quorum.map(|it| it.to_string()).unwrap_or_default();
                let quorum = Field::number("quorum", "Members needed").with_value(quorum);
                vec![quorum.with_hint("Empty: none.")]
            }
            _ => Vec::new(),
        };
        self.context.panel((summary, lead), acts, fields)
    }

    /// The roster: boxes to choose it from, or its members, each with an act.
    async fn roster(&self) -> Result<Option<Panel>, ApiError> {
        let (context, session) = (self.context, self.session);
        let Some(roster) = &session.roster else {
            let field = convene::members(context, &HashMap::new(), true).await?;
            let field = field.with_chooser(fill_path(FREEZE_ROSTER.path, &[context.part(0)]));
            let text = ("Roster", "Only listed members may file from then on. It is set once.");
            return Ok(context.panel(text, &[&FREEZE_ROSTER], vec![field]));
        };
        if !context.may(&EXCUSE) {
            return Ok(None);
        }
        let filed: HashSet<_> = self.takes.iter().map(|take| take.member_id()).collect();
        let row = |entry: &RosterEntry| {
            let (act, word) = match entry.excused {
                true => (&UNEXCUSE, "excused"),
                false if filed.contains(&entry.member_id) => (&EXCUSE, "filed"),
                false => (&EXCUSE, "expected"),
            };
            let button = Button::new(act.texts(context.routes).button)
                .at(fill_path(act.path, &[context.part(0)]))
                .sending("memberId", entry.member_id.as_str());
            let who = self.people.person(&entry.member_id);
            vec![quoted(&who.name), Markup::text(word), button.markup()]
        };
        let entries = roster.entries();
        let from = context.query("roster").and_then(|from| number(&from)).unwrap_or(1).max(1);
        let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let end = skipped.saturating_add(context.request.portion.of(MAX_LISTED));
        let shown = entries.iter().take(end).skip(skipped).map(row);
        let next = (end < entries.len()).then(|| {
            let path = format!("/operate/sessions/{}?roster={}", session.id, end.saturating_add(1));
            vec![anchor(&path, "More members"), Markup::default(), Markup::default()]
        });
        let rows = shown.chain(next).collect();
        let (label, head) = ("Roster", vec!["Member", "State", "Act"]);
        let table = Some(Table { label, head, rows, empty: "It lists nobody." });
        let refused = context.refused.as_ref();
        let is_back = skipped > 0
            || refused.is_some_and(|refused| {
                [&EXCUSE, &UNEXCUSE]
                    .iter()
                    .any(|act| fill_path(act.path, &[context.part(0)]) == refused.action)
            });
        Ok(Some(Panel {
            summary: "Roster",
            lead: EXCUSE.texts(context.routes).consequence,
            fields: Vec::new(),
            table,
            buttons: Vec::new(),
            is_back,
        }))
    }
}

fn prompts() -> Vec<Field> {
    vec![
        Field::lines("system", "System prompt", 3),
        Field::lines("user", "User prompt", 3)
            .with_hint("Both, or neither: then the brief has the prompts of the service."),
    ]
}

fn outcome_fields(session: &Session) -> Vec<Field> {
    let recorded = session.outcome.as_ref();
    let value = recorded.and_then(|outcome| outcome.value).map(|value| value.get().to_string());
    let source = recorded.and_then(|outcome| outcome.source.as_ref());
    let stances = session.declaration.scale().stances();
    let end = |stance: Option<&RankedStance>| {
        let stance =
            stance.map(|stance| format!("{} ({})", json::write(&stance.rank), stance.name));
        stance.unwrap_or_default()
    };
    let (lowest, highest) = (end(stances.first()), end(stances.last()));
    vec![
        Field::text("value", "Outcome").needed().with_value(value.unwrap_or_default()).with_hint(
            format!("From {lowest} to {highest}, such as 0.5. Annulled: nothing is scored."),
        ),
        Field::text("source", "Where it was read")
            .with_value(source.map_or("", |source| source.as_str())),
    ]
}

fn question_fields(session: &Session) -> Vec<Field> {
    let question = &session.question;
    let text = question.text.as_ref().map_or("", |text| text.as_str());
    let resolution = question.resolution.as_ref().map_or("", |text| text.as_str());
    let resolves_at = question.resolves_at.map(|at| at.to_string()).unwrap_or_default();
    vec![
        Field::lines("question", "Question", 2)
            .with_value(text)
            .with_hint("What a stance is about. Empty: none."),
        Field::lines("resolution", "Resolution", 2)
            .with_value(resolution)
            .with_hint("How, by which source and when the outcome is determined."),
        Field::time("resolvesAt", "Outcome known, UTC").with_value(resolves_at),
    ]
}
