//! The form that convenes a session, filled in from the last session of the subject.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use swarm_core::domain::{
    Day, Method, QuestionText, Resolution, Session, SessionState, SessionSummary, SubjectId,
    Timestamp,
};
use swarm_core::json;
use swarm_core::store::SessionList;
use swarm_core::{MemberId, Refusal, Resource, SessionId};

use super::super::acts::CONVENE;
use super::super::context::ConsoleContext;
use super::super::form::{Field, FormData, FormView};
use super::super::layout::{Page, anchor, quoted};
use crate::pages::Markup;
use crate::pages::lists::subject_title;
use crate::pages::people::member_name;
use crate::pages::stage_text;
use crate::pages::time_text::day_number;
use crate::request::parameters::number;
use crate::response::ApiError;

/// The most subjects to choose from; beyond it the id is typed.
const MAX_SUBJECTS: usize = 500;

/// The most members to choose from; beyond it the ids are typed.
const MAX_MEMBERS: usize = 300;

/// The sessions of the subject that are looked at: the newest ones, which include those to which takes go now.
const MAX_SESSIONS: usize = 100;

/// The most sessions named to which takes go now.
const MAX_NAMED: usize = 5;

/// The choice of the roster of another session, and the field with the id of that session.
const KEPT_ROSTER: &str = "kept";
const ROSTER_OF: &str = "rosterOf";

const DAY: i64 = 24 * 60 * 60 * 1_000;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    if !context.may(&CONVENE) {
        return Err(Refusal::NotForRole.into());
    }
    let tenant = context.request.tenant();
    let refused = context.refused.as_ref().map(|refused| refused.sent.text("subjectId").to_owned());
    let chosen = refused.or_else(|| context.query("subject"));
    let subject = match chosen {
        Some(id) => SubjectId::parse(id).ok(),
        // That of the newest session.
        None => {
            let newest = tenant.summaries(SessionList::All, None, 1).await?.sessions;
            newest.first().map(|session| session.subject_id.clone())
        }
    };
    let sessions = match &subject {
        Some(subject) => {
            let list = SessionList::About(subject.clone());
            tenant.summaries(list, None, MAX_SESSIONS).await?.sessions
        }
        None => Vec::new(),
    };
    let last = match sessions.first() {
        Some(last) => Some(tenant.session_record(last.id).await?),
        None => None,
    };
    let mut page = Page::new("Convene a session").below("/operate/sessions", "Sessions");
    let found = tenant.subjects(None, context.request.portion.of(MAX_SUBJECTS)).await?;
    let options = found.subjects.iter().map(|it| (it.id.as_str(), subject_title(it)));
    let chosen = subject.as_ref().map_or("", SubjectId::as_str);
    let choose = match &found.next_after {
        None => Field::choice("subject", "Subject", options, chosen),
        Some(_) => Field::text("subject", "Subject, by id").with_value(chosen),
    };
    page.search("/operate/convene", "Choose", choose);
    let Some(subject) = subject else { return Ok(page) };
    let name = subject_title(&tenant.subject(&subject).await?);
    if let Some(last) = &last {
        let path = format!("/operate/sessions/{}", last.id);
        let day = context.times.day_text(last.date);
        let link = anchor(&path, &format!("session {} of {day}", last.id));
        page.text(Markup(format!(
            "Filled in as the last one of the subject was: {link}. Day, deadline and the time of the outcome are moved."
        )));
    }
    let has_brief = match &last {
        Some(last) => tenant.brief(last.id).await?.is_some(),
        None => false,
    };
    let day = first_free_day(&sessions, last.as_deref(), context.times.now);
    let fields = fields(context, last.as_ref(), day, has_brief).await?;
    let mut form = context.form(&CONVENE, &[], fields);
    if let Some(form) = &mut form {
        form.hidden.push(("subjectId".to_owned(), subject.as_str().to_owned()));
        let long = last.as_ref().filter(|last| has_long_roster(context, last));
        form.hidden.extend(long.map(|last| (ROSTER_OF.to_owned(), last.id.to_string())));
        form.remark = takes_go_to(context, &name, &sessions);
    }
    page.forms(&format!("On {name}"), [form.map(FormView::primary)]);
    Ok(page)
}

async fn fields(
    context: &ConsoleContext,
    last: Option<&Arc<Session>>,
    day: Day,
    has_brief: bool,
) -> Result<Vec<Field>, ApiError> {
    let days = last.map_or(0, |last| days_between(last.date, day));
    let later = |at: Option<Timestamp>| {
        let at = at.map(|at| in_minutes(at).plus_millis(days * DAY));
        at.map(|at| at.to_string()).unwrap_or_default()
    };
    let closes = later(last.and_then(|last| last.window_closes_at));
    let question = last.map(|last| last.question.clone()).unwrap_or_default();
    let quorum = last.and_then(|last| last.quorum).map(|it| it.to_string()).unwrap_or_default();
    let buckets = last.and_then(|last| last.buckets.as_ref());
    let buckets: Vec<_> = buckets.into_iter().flatten().map(|it| it.as_str().to_owned()).collect();
    let roster = last.and_then(|last| last.roster.as_ref());
    let listed = roster.map(|roster| {
        roster.entries().iter().map(|it| (it.member_id.clone(), it.excused)).collect()
    });
    let has_roster = roster.is_some();
    let long = last.filter(|last| has_long_roster(context, last));
    let chosen = match (&long, has_roster) {
        (Some(_), _) => KEPT_ROSTER,
        (None, true) => "listed",
        (None, false) => "",
    };
    let mut choices = vec![
        ("", "Every member may file".to_owned()),
        ("listed", "Only those listed below".to_owned()),
    ];
    choices.extend(long.zip(roster).map(|(last, roster)| {
        let label = format!(
            "As in session {}: those of its {} members that are active",
            last.id,
            roster.entries().len()
        );
        (KEPT_ROSTER, label)
    }));
    let states = [SessionState::Collecting, SessionState::Scheduled]
        .map(|state| (state.as_str(), stage_text::state_word(state)));
    let either = |name, label, [off, on]: [&str; 2], is_on: bool| {
        Field::choice(name, label, [("", off), ("on", on)], if is_on { "on" } else { "" })
    };
    let blind = ["Shown as they are filed", "Sealed until the window is over"];
    let is_blind = last.is_some_and(|last| last.blind);
    let finish = ["By operators", "By the server, once the window has closed"];
    let is_finished = last.is_some_and(|last| last.finish);
    let practice = ["Yes", "No: for practice"];
    let is_practice = last.is_some_and(|last| last.practice);
    let declaration = last.map(|last| last.declaration.clone()).unwrap_or_default();
    let stances = declaration.stances.iter().flat_map(|scale| scale.stances());
    let stances: Vec<_> =
        stances.map(|stance| format!("{} {}", json::write(&stance.rank), stance.name)).collect();
    let max_revisions = declaration.max_revisions.map(|it| it.get().to_string());
    let method = [
        ("", "The mean, weighted by confidence"),
        (Method::WeightedMedian.as_str(), "The median, weighted by confidence"),
    ];
    Ok(vec![
        Field::day("date", "Day, UTC").required().with_value(day.to_string()),
        Field::time("windowClosesAt", "Deadline, UTC")
            .with_value(closes)
            .with_hint("Empty: none yet."),
        Field::choice("state", "State", states, SessionState::Collecting.as_str()),
        Field::choice("rosterKind", "Roster", choices, chosen),
        members(context, &listed.unwrap_or_default(), !has_roster)
            .await?
            .with_chooser(CONVENE.path.to_owned()),
        Field::number("quorum", "Quorum")
            .with_value(quorum)
            .with_hint("How many members it needs. Empty: none."),
        either("blind", "Takes", blind, is_blind)
            .with_hint("A blind session shows nobody a stance before it is opened."),
        either("publishBrief", "Brief", ["Later", "Published at once"], has_brief),
        either("finish", "Result computed and published", finish, is_finished),
        either("practice", "It counts", practice, is_practice).with_hint(
            "A practice session has no roster and no quorum, is open to every active member, and counts for nothing.",
        ),
        Field::lines("question", "Question", 2)
            .with_value(question.text.as_ref().map_or("", QuestionText::as_str))
            .with_hint("What a stance is about. Empty: none."),
        Field::lines("resolution", "Resolution", 2)
            .with_value(question.resolution.as_ref().map_or("", Resolution::as_str))
            .with_hint("How, by which source and when the outcome is determined."),
        Field::time("resolvesAt", "Outcome known, UTC").with_value(later(question.resolves_at)),
        Field::lines("buckets", "Buckets", 3)
            .with_list(buckets)
            .with_hint("One a line, for a session of bucket weights. Empty: none."),
        Field::lines("stances", "Stances of its own", 3)
            .with_list(stances)
            .with_hint("A rank and a name on each line, 2 to 20: -1 sell. No others are accepted. Empty: bearish to bullish."),
        Field::number("maxRevisions", "Takes of a member")
            .with_value(max_revisions.unwrap_or_default())
            .with_hint("1 to 5. Empty: 5."),
        Field::choice("method", "Score", method, declaration.method.map_or("", Method::as_str)),
        Field::note(),
    ])
}

/// The first day from today on for which there is none of these sessions of the subject, but void ones: another session of the
/// same day would get the takes in its place. The deadline of the last session, or else the time of its outcome, lies ahead once it is
/// moved by as many days.
fn first_free_day(sessions: &[Arc<SessionSummary>], last: Option<&Session>, now: Timestamp) -> Day {
    let days_from_today = |last: &Session| {
        let at = in_minutes(last.window_closes_at.or(last.question.resolves_at)?);
        let moved = (now.millis() - at.millis()).div_euclid(DAY) + 1;
        Some(moved - days_between(last.date, now.day()))
    };
    let first = last.and_then(days_from_today).unwrap_or_default().max(0);
    let standing = sessions.iter().filter(|session| session.voided.is_none());
    let taken: HashSet<_> = standing.map(|session| session.date).collect();
    // Of one day more than are taken, one is free.
    let mut days = (first..).map(|days| now.plus_millis(days * DAY).day()).take(taken.len() + 1);
    days.find(|day| !taken.contains(day)).unwrap_or_else(|| now.day())
}

/// How many days the second of these days is after the first.
fn days_between(from: Day, to: Day) -> i64 {
    day_number(from).zip(day_number(to)).map_or(0, |(from, to)| to - from)
}

/// The time in whole minutes, as the form shows it.
fn in_minutes(at: Timestamp) -> Timestamp {
    at.plus_millis(-at.millis().rem_euclid(60_000))
}

/// The sessions of the subject to which takes go now, and what another one means for them.
fn takes_go_to(
    context: &ConsoleContext,
    subject: &str,
    sessions: &[Arc<SessionSummary>],
) -> Option<Markup> {
    let times = context.times;
    let gets_takes = |session: &&Arc<SessionSummary>| {
        let stage = stage_text::stage_of(session, times);
        stage.takes_count() && session.is_newest_of_its_day(sessions)
    };
    let sentence = |session: &Arc<SessionSummary>| {
        let path = format!("/operate/sessions/{}", session.id);
        let link = anchor(&path, &format!("session {}", session.id));
        let until = match session.window_closes_at {
            Some(at) => format!("until {}", times.time(at)),
            None => "without a deadline".to_owned(),
        };
        let (day, stage) = (times.day(session.date), stage_text::stage_of(session, times).word());
        format!("Takes of {} for {day} go to {link} ({stage}, {until}).", quoted(subject))
    };
    let mut sentences: Vec<_> =
        sessions.iter().filter(gets_takes).take(MAX_NAMED).map(sentence).collect();
    if sentences.is_empty() {
        return None;
    }
    sentences.push(
        "Once another session is convened for the same day, they go to that one; takes on file stay where they are."
            .to_owned(),
    );
    Some(Markup(sentences.join(" ")))
}

/// Whether the roster of a session is too long for a form.
fn has_long_roster(context: &ConsoleContext, session: &Session) -> bool {
    let listed = session.roster.as_ref().map_or(0, |roster| roster.entries().len());
    listed > context.request.portion.of(MAX_MEMBERS)
}

/// The members of the roster that a form keeps instead of listing them: those of another session that are active.
pub(in super::super) async fn kept_roster(
    context: &ConsoleContext,
    sent: &FormData,
) -> Result<Option<Vec<MemberId>>, ApiError> {
    if sent.text("rosterKind") != KEPT_ROSTER {
        return Ok(None);
    }
    let id = number(sent.text(ROSTER_OF)).map(SessionId);
    let id = id.ok_or(Refusal::NotFound(Resource::Session))?;
    let tenant = context.request.tenant();
    let session = tenant.session_record(id).await?;
    let active = tenant.members().await?;
    let active: HashSet<_> = active.iter().map(|member| &member.id).collect();
    let listed = session.roster.iter().flat_map(|roster| roster.entries());
    let listed = listed.map(|entry| &entry.member_id).filter(|id| active.contains(id));
    Ok(Some(listed.cloned().collect()))
}

/// The members to choose a roster from, of which these are chosen, or all.
pub(super) async fn members(
    context: &ConsoleContext,
    chosen: &HashMap<MemberId, bool>,
    is_all: bool,
) -> Result<Field, ApiError> {
    let active = context.request.tenant().members().await?;
    let is_chosen = |id: &MemberId| is_all || chosen.contains_key(id);
    if active.len() > context.request.portion.of(MAX_MEMBERS) {
        let ids = active.iter().filter(|it| is_chosen(&it.id)).map(|it| it.id.as_str());
        let ids: Vec<_> = ids.collect();
        let (value, hint) = match ids.len() > MAX_MEMBERS {
            true => (String::new(), "One a line. There are too many to fill them in."),
            false => (ids.join("\n"), "One a line."),
        };
        let field = Field::lines("roster", "Listed members, by id", 8);
        return Ok(field.with_value(value).with_hint(hint));
    }
    let option = |member: &Arc<swarm_core::Member>| {
        (member.id.as_str().to_owned(), member_name(member), is_chosen(&member.id))
    };
    Ok(Field::several("roster", "Listed members", active.iter().map(option).collect()))
}
