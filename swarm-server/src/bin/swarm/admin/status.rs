//! `swarm admin status`: what needs an operator, then how the desk and the server are.

use swarm_core::json::Json;

use super::operator::{Member, Operator};
use crate::command::{cell, in_both_times, session_state};
use crate::console;
use crate::failure::CommandError;

/// Applications, sessions with who has not filed and what comes next, mail, the schedule, the log, the committee, and
/// warnings.
pub(super) fn run(operator: &Operator) -> Result<(), CommandError> {
    let status = operator.get("/api/swarm/admin/status")?;
    operator.output.answer(&status, |status| Ok(console::print(&text(status))?))
}

fn text(status: &Json) -> String {
    let of = |name| list(status, name);
    let mut lines = agenda(&field(status, "agenda"));
    lines.extend([
        format!("applications that wait: {}", cell(status, "applications")),
        format!("active members: {}", cell(status, "members")),
        format!("sessions: {}", of("sessions").len()),
    ]);
    lines.extend(of("sessions").iter().map(session));
    let mail = field(status, "mail");
    let [queued, failed, undeliverable] =
        ["queued", "failed", "undeliverable"].map(|name| cell(&mail, name));
    let server = if has_mail_server(status) { "" } else { "; there is no mail server" };
    lines.push(format!(
        "mail: {queued} queued, {failed} failed, {undeliverable} undeliverable{server}"
    ));
    lines.extend(of("webhooks").iter().map(|row| {
        let state = if cell(row, "failing") == "true" { "failing" } else { "well" };
        let oldest = match cell(row, "oldest") {
            oldest if oldest.is_empty() => oldest,
            oldest => format!(", the oldest delivery waits since {oldest}"),
        };
        format!("webhook {}: {state}{oldest}", cell(row, "url"))
    }));
    let windows = of("schedule");
    if !windows.is_empty() {
        lines.push("schedule:".to_owned());
    }
    lines.extend(windows.iter().map(|row| {
        let skipped = match cell(row, "skipped") {
            text if text.is_empty() => text,
            text => format!("  will be skipped: {text}"),
        };
        let [at, local, zone] = ["at", "local", "timezone"].map(|name| cell(row, name));
        let at = in_both_times(at, &local, &zone);
        format!("  {at}  {}{skipped}", cell(row, "subjectId"))
    }));
    let committee = field(status, "committee");
    if committee != Json::Null {
        let [date, closes, filed] =
            ["date", "deadline_utc", "filed"].map(|name| cell(&committee, name));
        lines.push(format!("committee: {date}, until {closes}, takes: {filed}"));
        lines.extend(
            list(&committee, "missing")
                .into_iter()
                .map(|id| format!("    not filed: {}", cell(&Json::from([("id", id)]), "id"))),
        );
    }
    let log = field(status, "log");
    let signed = |name| match cell(&log, name) {
        size if size.is_empty() => "none".to_owned(),
        size => size,
    };
    lines.push(format!(
        "log: {} entries, signed: {}, witnessed: {}",
        cell(&log, "size"),
        signed("signed"),
        signed("witnessed")
    ));
    let certificate = cell(status, "certificate");
    if !certificate.is_empty() {
        lines.push(format!("certificate: valid until {certificate}"));
    }
    if cell(status, "ready") != "true" {
        lines.push("the server is not ready".to_owned());
    }
    lines.push(format!("warnings: {}", of("warnings").len()));
    let warning = |text| format!("  {}", cell(&Json::from([("warning", text)]), "warning"));
    lines.extend(of("warnings").into_iter().map(warning));
    lines.join("\n")
}

/// Whether messages are sent, as far as this status says.
pub(super) fn has_mail_server(status: &Json) -> bool {
    cell(status, "mailServer") != "false"
}

/// What needs an operator, and what waits for one later.
fn agenda(agenda: &Json) -> Vec<String> {
    let item = |row: &Json| {
        let [at, message] = ["at", "message"].map(|name| cell(row, name));
        let at = if at.is_empty() { at } else { format!("{at}  ") };
        let session = match cell(row, "sessionId") {
            id if id.is_empty() => id,
            id => format!("session {id}: "),
        };
        format!("  {at}{session}{message}")
    };
    let needs = list(agenda, "needs");
    let count = if needs.is_empty() { "nothing".to_owned() } else { needs.len().to_string() };
    [format!("needs you: {count}")].into_iter().chain(needs.iter().map(item)).collect()
}

fn session(row: &Json) -> String {
    let [id, subject, closes, filed, expected] =
        ["id", "subjectId", "windowClosesAt", "filed", "expected"].map(|it| cell(row, it));
    let state = session_state(row);
    let closes = if closes.is_empty() { "no deadline".to_owned() } else { closes };
    let filed = if expected.is_empty() { filed } else { format!("{filed} of {expected}") };
    let next = field(row, "next");
    let [act, by] = ["act", "by"].map(|name| cell(&next, name));
    let line =
        format!("  {id}  {subject}  {state}  {closes}  takes: {filed}  next: {act}, by {by}");
    let missing = list(row, "missing");
    let missing = missing.iter().map(|row| format!("    not filed: {}", Member::missing(row)));
    [line].into_iter().chain(missing).collect::<Vec<_>>().join("\n")
}

fn field(of: &Json, name: &str) -> Json {
    of.clone().into_object().take(name).unwrap_or(Json::Null)
}

fn list(of: &Json, name: &str) -> Vec<Json> {
    match field(of, name) {
        Json::List(items) => items,
        _ => Vec::new(),
    }
}
