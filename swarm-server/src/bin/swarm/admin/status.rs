//! `swarm admin status`: what needs the attention of an operator.

use std::collections::HashSet;

use swarm_core::domain::Day;
use swarm_core::json::Json;

use super::activity::Activity;
use super::operator::{Member, Operator};
use crate::command::{Progress, cell, text_of};
use crate::console;
use crate::failure::CommandError;

/// Pending applications, sessions that collect takes, sessions that wait for an act, takes of the last days, members that
/// filed none, mail that was not delivered, warnings of the store.
pub(super) fn run(operator: &Operator) -> Result<(), CommandError> {
    let applications = list(
        operator.pages("/api/swarm/admin/applications?state=applied", "applications")?,
        "applications",
    );
    let members = list(operator.get("/api/swarm/members")?, "members");
    let progress = Progress::of_requests();
    let is_unfinished =
        |session: &Json| !matches!(&*cell(session, "state"), "scheduled" | "published");
    let unfinished =
        operator.pages_by("before", "/api/swarm/sessions", "sessions", is_unfinished)?;
    let (collecting, waiting): (Vec<_>, Vec<_>) = list(unfinished, "sessions")
        .into_iter()
        .partition(|session| cell(session, "state") == "collecting");
    let collecting: Vec<_> = collecting
        .iter()
        .map(|session| {
            progress.add(1);
            with_silent(operator, session, &members)
        })
        .collect::<Result<_, _>>()?;
    let waiting = waiting.iter().map(|session| {
        let of = |name| (name, Json::Text(cell(session, name)));
        Json::from([of("id"), of("subjectId"), of("state"), of("windowClosesAt")])
    });
    let is_failed = |message: &Json| matches!(&*cell(message, "state"), "failed" | "undeliverable");
    let mail = list(operator.pages("/api/swarm/admin/outbox", "messages")?, "messages");
    let failed: Vec<_> = mail.into_iter().filter(is_failed).collect();
    let health = operator.client.clone().without_retries().get("/readyz");
    let warnings = match health {
        Ok(ready) => list(ready, "warnings"),
        Err(error) => vec![Json::Text(format!("/readyz: {error}"))],
    };
    drop(progress);
    let activity = Activity::read(operator)?;
    let silent = members.iter().filter(|member| activity.of(&text_of(member, "id")).1 == 0);
    let row = |member: &Json| {
        let (last, _) = activity.of(&text_of(member, "id"));
        Json::from([
            ("id", Json::Text(text_of(member, "id"))),
            ("name", Json::Text(text_of(member, "name"))),
            ("lastTake", last.map_or(Json::Null, |last| Json::Text(last.to_string()))),
        ])
    };
    let day = |(day, takes): (Day, u64)| {
        Json::from([("date", Json::Text(day.to_string())), ("takes", Json::from(takes as f64))])
    };
    let answer = Json::from([
        ("takesPerDay", activity.by_day().into_iter().map(day).collect()),
        ("silentMembers", silent.map(row).collect()),
        ("applications", Json::List(applications)),
        ("sessions", Json::List(collecting)),
        ("waitingSessions", waiting.collect()),
        ("failedMail", Json::List(failed)),
        ("warnings", Json::List(warnings)),
    ]);
    operator.output.answer(&answer, |answer| Ok(console::print(&text(answer))?))
}

/// A session with the listed members who have not filed and are not excused.
fn with_silent(
    operator: &Operator,
    session: &Json,
    members: &[Json],
) -> Result<Json, CommandError> {
    let id = cell(session, "id");
    let mut answer = operator.get(&format!("/api/swarm/sessions/{id}"))?.into_object();
    let session = answer.take("session").unwrap_or(Json::Null);
    let takes = list(Json::Object(answer), "takes");
    let filed: HashSet<_> = takes.iter().map(|take| text_of(take, "memberId")).collect();
    let silent = list(session.clone(), "roster").into_iter().filter_map(|row| {
        let member = text_of(&row, "memberId");
        let is_silent = cell(&row, "excused") != "true" && !filed.contains(&member);
        let known = members.iter().find(|row| text_of(row, "id") == member);
        let name = known.map_or(Json::Null, |row| Json::Text(text_of(row, "name")));
        is_silent.then(|| Json::from([("id", Json::Text(member)), ("name", name)]))
    });
    Ok(Json::from([
        ("id", Json::Text(id)),
        ("subjectId", Json::Text(text_of(&session, "subjectId"))),
        ("windowClosesAt", Json::Text(cell(&session, "windowClosesAt"))),
        ("takes", Json::from(takes.len() as f64)),
        ("silent", silent.collect()),
    ]))
}

fn text(answer: &Json) -> String {
    let of = |name| list(answer.clone(), name);
    let mut lines = vec![format!("pending applications: {}", of("applications").len())];
    let named = |row: &Json| format!("  {}  {}", cell(row, "id"), cell(row, "name"));
    lines.extend(of("applications").iter().map(named));
    lines.push(format!("sessions that collect takes: {}", of("sessions").len()));
    lines.extend(of("sessions").iter().map(|row| {
        let [id, subject, closes, takes] =
            ["id", "subjectId", "windowClosesAt", "takes"].map(|name| cell(row, name));
        let closes = if closes.is_empty() { "no deadline".to_owned() } else { closes };
        let session = format!("  {id}  {subject}  {closes}  takes: {takes}");
        let silent = list(row.clone(), "silent");
        let silent = silent.iter().map(|row| format!("    not filed: {}", Member::of(row)));
        [session].into_iter().chain(silent).collect::<Vec<_>>().join("\n")
    }));
    lines.push(format!("sessions that wait for an act: {}", of("waitingSessions").len()));
    lines.extend(of("waitingSessions").iter().map(|row| {
        let [id, subject, state] = ["id", "subjectId", "state"].map(|name| cell(row, name));
        let next = if state == "aggregated" { "publish" } else { "aggregate" };
        format!("  {id}  {subject}  {state}: {next}")
    }));
    let days = of("takesPerDay");
    let days: Vec<_> =
        days.iter().map(|row| format!("{} {}", cell(row, "date"), cell(row, "takes"))).collect();
    lines.push(format!("takes a day: {}", days.join(", ")));
    lines.push(format!("members without a take in 30 days: {}", of("silentMembers").len()));
    lines.extend(of("silentMembers").iter().map(named));
    lines.push(format!("mail that was not delivered: {}", of("failedMail").len()));
    let message = |row: &Json| {
        format!("  {}  {}  {}", cell(row, "id"), cell(row, "to"), cell(row, "lastError"))
    };
    lines.extend(of("failedMail").iter().map(message));
    lines.push(format!("warnings: {}", of("warnings").len()));
    let warning = |text| format!("  {}", cell(&Json::from([("warning", text)]), "warning"));
    lines.extend(of("warnings").into_iter().map(warning));
    lines.join("\n")
}

fn list(answer: Json, name: &str) -> Vec<Json> {
    match answer.into_object().take(name) {
        Some(Json::List(items)) => items,
        _ => Vec::new(),
    }
}
