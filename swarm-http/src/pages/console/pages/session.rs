//! A session: the members that filed and that did not, and the forms that change the session.

use std::collections::HashMap;

use swarm_core::domain::{Outcome, Session, SessionState};
use swarm_core::rules;

use super::super::acts::{
    AGGREGATE, ANNUL_OUTCOME, CLEAR_DEADLINE, CLOSE, EXCUSE, FREEZE_ROSTER, MOVE_DEADLINE, OPEN,
    PUBLISH, PUBLISH_BRIEF, RECORD_OUTCOME, REPLACE_BRIEF, SET_QUESTION, SET_QUORUM, UNEXCUSE,
    VOID, WITHDRAW,
};
use super::super::body::typed_time;
use super::super::context::ConsoleContext;
use super::super::form::{Field, FormView, Options};
use super::super::layout::{Block, Page, anchor, quoted};
use super::super::table::Table;
use super::PageId;
use super::{convene, overview};
use crate::pages::people::People;
use crate::pages::{Markup, charts, links, lists, stage_text};
use crate::response::ApiError;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let Some(session) = super::session(PageId::Session, context).await? else {
        return Ok(Page::default());
    };
    let (_, takes) = tenant.session(session.id).await?;
    let brief = tenant.brief(session.id).await?;
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let roster = session.roster.iter().flat_map(|roster| roster.entries()).map(|it| &it.member_id);
    let filed_by = takes.iter().map(|take| take.member_id());
    let people = People::find(tenant, roster.chain(filed_by)).await?;
    let silent = overview::silent(&session, &takes);
    let title = format!("{}, {}", subject.1, session.date);
    let mut page = Page::new(title).below("/operate/sessions", "Sessions");
    let public = links::session(session.id);
    let missing = match &session.roster {
        None => Markup::text("no roster: every member may file"),
        Some(_) if silent.is_empty() => Markup::text("nobody"),
        Some(_) => {
            let names: Vec<_> = silent.iter().map(|id| people.person(id).name).collect();
            quoted(&names.join(", "))
        }
    };
    page.blocks.push(Block::Record(vec![
        ("Session", anchor(&public, &format!("{} (public page)", session.id))),
        ("State", Markup::text(&state_text(&session))),
        ("Deadline", stage_text::deadline(&session.summary(), context.times)),
        ("Filed", Markup::text(&takes.len().to_string())),
        ("Has not filed", missing),
        ("Quorum", Markup::text(&session.quorum.map_or("none".to_owned(), |it| it.to_string()))),
        ("Brief", Markup::text(if brief.is_some() { "published" } else { "not published" })),
        ("Outcome", Markup::text(&outcome_text(session.outcome.as_ref()))),
    ]));
    steps(context, &session, &mut page);
    outcome(context, &session, &mut page);
    deadline(context, &session, &mut page);
    let is_open = session.state < SessionState::Aggregated;
    if is_open {
        roster_forms(context, &session, &people, &mut page).await?;
    }
    if is_open && (brief.is_none() || takes.is_empty()) {
        let fields = vec![
            Field::lines("system", "System prompt", 3),
            Field::lines("user", "User prompt", 3)
                .with_hint("Both, or neither: then the brief has the prompts of the service."),
            Field::note(),
        ];
        let form = match brief {
            None => context.form(&PUBLISH_BRIEF, &[context.part(0)], fields),
            Some(_) => {
                let form = context.form(&REPLACE_BRIEF, &[context.part(0)], fields);
                form.map(|form| with_lead(form, "While no take is on file. It keeps its number."))
            }
        };
        page.forms("Brief", [form]);
    }
    if !is_open && session.counts() {
        let note = Field { label: "Why".to_owned(), ..Field::note() }.required();
        let form = context.form(&VOID, &[context.part(0)], vec![note]);
        let lead =
            "It counts for nothing from then on, and its page says so first. This is not undone.";
        page.forms("Void", [form.map(|form| with_lead(form, lead))]);
    }
    if takes.is_empty() && session.voided.is_none() {
        question(context, &session, &mut page);
        let form = context.form(&WITHDRAW, &[context.part(0)], vec![Field::note()]);
        let lead = "It is as if it had never been convened; its number is not used again.";
        page.forms("Withdraw", [form.map(|form| with_lead(form, lead))]);
    }
    if !takes.is_empty() {
        page.heading("Takes");
        let rows = takes.iter().map(|take| {
            let who = people.person(take.member_id());
            vec![
                quoted(&who.name),
                anchor(&format!("/operate/takes/{}", take.id()), &format!("take {}", take.id())),
                context.times.time(take.filed_at()),
            ]
        });
        let (label, head) = ("Takes", vec!["Member", "Take", "Filed"]);
        page.table(Table { label, head, rows: rows.collect(), empty: "" });
    }
    Ok(page)
}

/// The state, and whether the session counts.
fn state_text(session: &Session) -> String {
    let state = stage_text::state_word(session.state);
    let finished = if session.finish { ", finished by the server" } else { "" };
    let flags = stage_text::flags(&session.summary());
    [state].into_iter().chain(flags).collect::<Vec<_>>().join(", ") + finished
}

fn with_lead(form: FormView, lead: &str) -> FormView {
    FormView { lead: Some(Markup::text(lead)), ..form }
}

/// The forms that move the session to another state.
fn steps(context: &ConsoleContext, session: &Session, page: &mut Page) {
    let steps: &[_] = match session.state {
        SessionState::Scheduled => &[&OPEN, &CLOSE, &AGGREGATE],
        SessionState::Collecting => &[&CLOSE, &AGGREGATE],
        SessionState::WindowClosed => &[&AGGREGATE, &OPEN],
        SessionState::Aggregated if session.voided.is_some() => &[],
        SessionState::Aggregated => &[&PUBLISH],
        SessionState::Published => &[],
    };
    let form = |act: &&'static super::super::acts::Act| {
        context.form(act, &[context.part(0)], vec![Field::note()])
    };
    page.forms("Next step", steps.iter().map(form));
}

fn outcome_text(outcome: Option<&Outcome>) -> String {
    match outcome.map(|outcome| outcome.value) {
        None => "none".to_owned(),
        Some(None) => "annulled".to_owned(),
        Some(Some(value)) => charts::signed(value.get()),
    }
}

/// The forms that record the outcome of a session that counts.
fn outcome(context: &ConsoleContext, session: &Session, page: &mut Page) {
    let is_over = !rules::takes_may_come(session.window_closes_at, context.times.now);
    if session.state < SessionState::Aggregated || !is_over || !session.counts() {
        return;
    }
    let part = [context.part(0)];
    let recorded = session.outcome.as_ref();
    let value = recorded.and_then(|outcome| outcome.value).map(|value| value.get().to_string());
    let source = recorded.and_then(|outcome| outcome.source.as_ref());
    let source = source.map_or("", |source| source.as_str());
    let source = || Field::text("source", "Where it was read").with_value(source);
    let fields = vec![
        Field::text("value", "Outcome")
            .required()
            .with_value(value.unwrap_or_default())
            .with_hint("From -2 (bearish) to 2 (bullish), such as 0.5."),
        source(),
        Field::note(),
    ];
    let record = context.form(&RECORD_OUTCOME, &part, fields);
    let lead =
        "Members are scored by it, in public. It replaces an earlier one; the log keeps both.";
    let annul = context.form(&ANNUL_OUTCOME, &part, vec![source(), Field::note()]);
    let annulled = "Nothing is scored, as where the question has no answer.";
    page.forms(
        "Outcome",
        [record.map(|form| with_lead(form, lead)), annul.map(|form| with_lead(form, annulled))],
    );
}

/// The form that changes the question, which is possible until there is a take.
fn question(context: &ConsoleContext, session: &Session, page: &mut Page) {
    let question = &session.question;
    let text = question.text.as_ref().map_or("", |text| text.as_str());
    let resolution = question.resolution.as_ref().map_or("", |text| text.as_str());
    let resolves_at = question.resolves_at.map(typed_time).unwrap_or_default();
    let fields = vec![
        Field::lines("question", "Question", 2)
            .with_value(text)
            .with_hint("What a stance is about. Empty: none."),
        Field::lines("resolution", "Resolution", 2)
            .with_value(resolution)
            .with_hint("How, by which source and when the outcome is determined."),
        Field::time("resolvesAt", "Outcome known, UTC").with_value(resolves_at),
        Field::note(),
    ];
    let form = context.form(&SET_QUESTION, &[context.part(0)], fields);
    let lead = "Until the first take is on file.";
    page.forms("Question", [form.map(|form| with_lead(form, lead))]);
}

fn deadline(context: &ConsoleContext, session: &Session, page: &mut Page) {
    if rules::may_move_deadline(session) && session.voided.is_none() {
        deadline_forms(context, session, page);
    }
    if session.state < SessionState::Aggregated && !session.practice {
        let quorum = session.quorum.map(|it| it.to_string()).unwrap_or_default();
        let quorum =
            Field::number("quorum", "Members needed").with_value(quorum).with_hint("Empty: none.");
        let form = context.form(&SET_QUORUM, &[context.part(0)], vec![quorum, Field::note()]);
        page.forms("Quorum", [form]);
    }
}

fn deadline_forms(context: &ConsoleContext, session: &Session, page: &mut Page) {
    let part = [context.part(0)];
    let now = session.window_closes_at.map(typed_time).unwrap_or_default();
    let time = Field::time("windowClosesAt", "New deadline, UTC").required().with_value(now);
    let moved = context.form(&MOVE_DEADLINE, &part, vec![time, Field::note()]);
    let is_open = rules::takes_may_come(session.window_closes_at, context.times.now);
    let lead = if is_open {
        "An earlier one asks for your token."
    } else {
        "A later one opens the window again."
    };
    let cleared = session
        .window_closes_at
        .and_then(|_| context.form(&CLEAR_DEADLINE, &part, vec![Field::note()]));
    page.forms("Deadline", [moved.map(|form| with_lead(form, lead)), cleared]);
}

async fn roster_forms(
    context: &ConsoleContext,
    session: &Session,
    people: &People,
    page: &mut Page,
) -> Result<(), ApiError> {
    let part = [context.part(0)];
    if session.practice {
        return Ok(());
    }
    let Some(roster) = &session.roster else {
        let field = convene::members(context, &HashMap::new(), true).await?;
        let form = context.form(&FREEZE_ROSTER, &part, vec![field, Field::note()]);
        let lead = "Once. Only listed members may file from then on.";
        page.forms("Roster", [form.map(|form| with_lead(form, lead))]);
        return Ok(());
    };
    let options = |excused: bool| -> Options {
        let entries = roster.entries().iter().filter(|entry| entry.excused == excused);
        let option = |entry: &swarm_core::domain::RosterEntry| {
            let id = entry.member_id.as_str().to_owned();
            (id, people.person(&entry.member_id).name, false)
        };
        entries.map(option).collect()
    };
    let form = |act, label: &str, options: Options| {
        if options.is_empty() {
            return None;
        }
        let member = Field::choice("memberId", label, options);
        context.form(act, &part, vec![member, Field::note()])
    };
    let excuse = form(&EXCUSE, "Expected", options(false));
    let undo = form(&UNEXCUSE, "Excused", options(true));
    page.forms("Roster", [excuse, undo]);
    Ok(())
}
