//! The overview: applications, sessions and mail that wait for an operator.

use std::collections::HashSet;

use swarm_core::domain::{Figures, MailState, MemberState, Participation, SessionState};
use swarm_core::rules::{self, PublicTake};
use swarm_core::store::SessionList;
use swarm_core::{MemberId, Session, SessionId};

use super::super::context::ConsoleContext;
use super::super::layout::{Page, anchor, count, quoted, two_lines};
use super::super::table::Table;
use crate::pages::Markup;
use crate::pages::lists::Subjects;
use crate::pages::people::People;
use crate::pages::stage_text;
use crate::response::ApiError;

/// The most rows of each table.
const SHOWN: usize = 20;

/// The most members named in a row.
const NAMED: usize = 8;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let mut page = Page::new("What waits")
        .with_lead("Applications, sessions, mail and the store, as they are now.");
    let ready = context.request.site.ready().await;
    let warnings: Vec<_> = match ready {
        Ok(ready) => ready.warnings,
        Err(error) => vec![swarm_core::service::with_causes(&error).to_string()],
    };
    if !warnings.is_empty() {
        page.heading("Warnings");
        let rows = warnings.iter().map(|warning| vec![Markup::text(warning)]).collect();
        page.table(Table { label: "Warnings", head: vec!["The store says"], rows, empty: "" });
        page.text(Markup("See <a href=\"/operate/store\">what can be accepted</a>.".to_owned()));
    }
    applications(context, &mut page).await?;
    sessions(context, &mut page).await?;
    schedule(context, &mut page).await?;
    let mut failed = tenant.messages_in(MailState::Failed, SHOWN).await?;
    failed.extend(tenant.messages_in(MailState::Undeliverable, SHOWN).await?);
    page.heading("Mail that was not delivered");
    let rows = failed.iter().map(|message| {
        let error = message.last_error.as_deref().unwrap_or("not a mail address");
        vec![
            anchor("/operate/outbox", &message.id.to_string()),
            quoted(message.mail.to.as_str()),
            Markup::text(error),
        ]
    });
    let (label, head) = ("Failed mail", vec!["Message", "To", "Why"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "All mail is sent or queued." });
    if warnings.is_empty() {
        page.heading("Store");
        page.text(Markup(
            "It answers, without a warning. <a href=\"/operate/store\">More about it</a>."
                .to_owned(),
        ));
    }
    Ok(page)
}

async fn applications(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let tenant = context.request.tenant();
    let waiting = tenant.applications(Some(MemberState::Applied), None, SHOWN).await?;
    page.heading("Applications");
    let rows = waiting.applications.iter().map(|member| {
        vec![
            quoted(member.name.as_str()),
            quoted(member.contact.as_str()),
            context.times.time(member.applied_at),
        ]
    });
    let (label, head) = ("Applications", vec!["Name", "Contact", "Applied"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "None waits for a review." });
    if !waiting.applications.is_empty() {
        let more = if waiting.next_after.is_some() { "There are more. " } else { "" };
        page.text(Markup(format!(
            "{more}<a href=\"/operate/applications\">Review applications</a>"
        )));
    }
    Ok(())
}

async fn sessions(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let tenant = context.request.tenant();
    let mut sessions = Vec::new();
    for state in [
        SessionState::Collecting,
        SessionState::WindowClosed,
        SessionState::Aggregated,
        SessionState::Scheduled,
    ] {
        let list = SessionList::InState(state);
        let room = (SHOWN + 1).saturating_sub(sessions.len());
        sessions.extend(tenant.summaries(list, room, None).await?.sessions);
    }
    // It waits for nothing.
    sessions.retain(|session| session.voided.is_none());
    let has_more = sessions.len() > SHOWN;
    sessions.truncate(SHOWN);
    let subjects = Subjects::find(tenant, sessions.iter().map(|it| &it.subject_id)).await?;
    page.heading("Sessions");
    let mut rows = Vec::new();
    for session in &sessions {
        let (filed, missing) = match &session.figures {
            Some(figures) => aggregated(figures),
            None => filed_and_missing(context, session.id).await?,
        };
        rows.push(vec![
            two_lines(
                &anchor(
                    &format!("/operate/sessions/{}", session.id),
                    &subjects.name(&session.subject_id),
                ),
                &context.times.day(session.date),
            ),
            Markup::text(&stage_text::brief(session, context.times)),
            Markup::text(&count(filed, "take", "takes")),
            quoted(&missing),
        ]);
    }
    let (label, head) = ("Sessions", vec!["Session", "Stage", "Filed", "Has not filed"]);
    page.table(Table { label, head, rows, empty: "No session is open, or waits for its result." });
    if has_more {
        page.text(Markup("There are more. <a href=\"/operate/sessions\">All sessions</a>".into()));
    }
    if context.may(&super::super::acts::CONVENE) {
        page.text(Markup("<a href=\"/operate/convene\">Convene a session</a>".to_owned()));
    }
    Ok(())
}

/// The windows of the schedule that come next, and those that get no session; nothing without a schedule.
async fn schedule(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let schedule = &context.request.served.config().schedule;
    let windows = context.request.tenant().schedule_status(schedule).await?;
    if windows.is_empty() {
        return Ok(());
    }
    page.heading("Schedule");
    let rows = windows.iter().map(|window| {
        let local = match window.timezone {
            "UTC" => String::new(),
            zone => format!("{} {zone}", window.local),
        };
        vec![
            quoted(window.subject_id.as_str()),
            two_lines(&context.times.time(window.at), &Markup::text(&local)),
            match &window.skipped {
                Some(why) => quoted(&format!("will be skipped: {why}")),
                None => Markup::text("convenes by itself"),
            },
        ]
    });
    let (label, head) = ("Schedule", vec!["Subject", "Opens", "What happens"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "" });
    Ok(())
}

/// How many takes an aggregated session has, and how many members did not file.
fn aggregated(figures: &Figures) -> (usize, String) {
    let Participation { members, expected, .. } = figures.participation;
    let missing = match expected.map(|expected| expected.saturating_sub(members)) {
        None => "no roster".to_owned(),
        Some(0) => "all filed".to_owned(),
        Some(missing) => count(missing, "member", "members"),
    };
    (members, missing)
}

async fn filed_and_missing(
    context: &ConsoleContext,
    id: SessionId,
) -> Result<(usize, String), ApiError> {
    let tenant = context.request.tenant();
    let (session, takes) = tenant.session(id).await?;
    let silent = silent(&session, &takes);
    let people = People::find(tenant, silent.iter().take(NAMED).copied()).await?;
    let names: Vec<_> = silent.iter().take(NAMED).map(|id| people.person(id).name).collect();
    let more = silent.len().saturating_sub(NAMED);
    let missing = match (&session.roster, names.is_empty()) {
        (None, _) => "no roster".to_owned(),
        (Some(_), true) => "all filed".to_owned(),
        (Some(_), false) if more > 0 => format!("{} and {more} more", names.join(", ")),
        (Some(_), false) => names.join(", "),
    };
    Ok((takes.len(), missing))
}

/// The listed members that are expected and have not filed.
pub(super) fn silent<'a>(session: &'a Session, takes: &[PublicTake]) -> Vec<&'a MemberId> {
    let filed: HashSet<_> = takes.iter().map(|take| take.member_id()).collect();
    rules::missing(session, |member| filed.contains(member))
}
