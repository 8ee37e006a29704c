//! `swarm admin status`: what needs an operator, then how the desk and the server are.

use swarm_client::answers::{Agenda, AgendaItem, ScheduleStatus, SessionStatus, Status};

use super::operator::{Member, Operator};
use crate::command::{in_both_times, print_json, printable_line, state_word};
use crate::console;
use crate::failure::CommandError;

/// Applications, sessions with who has not filed and what comes next, mail, the schedule, the log, the committee, and
/// warnings.
pub(super) fn run(operator: &Operator) -> Result<(), CommandError> {
    if operator.output.json {
        return print_json(&operator.get("/api/swarm/admin/status")?);
    }
    Ok(console::print(&text(&operator.calls().status()?))?)
}

fn text(status: &Status) -> String {
    let desk = &status.desk;
    let mut lines = agenda(&status.agenda);
    lines.extend([
        format!("applications that wait: {}", desk.applications),
        format!("active members: {}", desk.members),
        format!("sessions: {}", desk.sessions.len()),
    ]);
    lines.extend(desk.sessions.iter().map(session));
    let mail = &desk.mail;
    lines.push(format!(
        "mail: {} queued, {} failed, {} undeliverable{}",
        mail.queued,
        mail.failed,
        mail.undeliverable,
        if status.mail_server { "" } else { "; there is no mail server" }
    ));
    lines.extend(desk.webhooks.iter().map(|webhook| {
        let state = if webhook.failing { "failing" } else { "well" };
        let oldest = webhook.oldest.map(|at| format!(", the oldest delivery waits since {at}"));
        format!("webhook {}: {state}{}", printable_line(&webhook.url), oldest.unwrap_or_default())
    }));
    if !desk.schedule.is_empty() {
        lines.push("schedule:".to_owned());
    }
    lines.extend(desk.schedule.iter().map(window));
    if let Some(day) = &status.committee {
        let (date, closes, filed) = (day.date, day.deadline_utc, day.filed);
        lines.push(format!("committee: {date}, until {closes}, takes: {filed}"));
        lines.extend(day.missing.iter().map(|id| format!("    not filed: {id}")));
    }
    let log = &status.log;
    let [signed, witnessed] = [log.signed, log.witnessed]
        .map(|size| size.map_or_else(|| "none".to_owned(), |size| size.to_string()));
    lines.push(format!("log: {} entries, signed: {signed}, witnessed: {witnessed}", log.size));
    lines.extend(status.certificate.map(|until| format!("certificate: valid until {until}")));
    if !status.ready {
        lines.push("the server is not ready".to_owned());
    }
    lines.push(format!("warnings: {}", status.warnings.len()));
    lines.extend(status.warnings.iter().map(|text| format!("  {}", printable_line(text))));
    lines.join("\n")
}

/// What needs an operator, and what waits for one later.
fn agenda(agenda: &Agenda) -> Vec<String> {
    let item = |item: &AgendaItem| {
        let at = item.at.map_or_else(String::new, |at| format!("{at}  "));
        let session = item.session_id.map_or_else(String::new, |id| format!("session {id}: "));
        format!("  {at}{session}{}", printable_line(&item.message))
    };
    let needs = &agenda.needs;
    let count = if needs.is_empty() { "nothing".to_owned() } else { needs.len().to_string() };
    [format!("needs you: {count}")].into_iter().chain(needs.iter().map(item)).collect()
}

fn session(session: &SessionStatus) -> String {
    let SessionStatus { id, filed, .. } = session;
    let subject = printable_line(session.subject_id.as_str());
    let state = state_word(session.state.as_str());
    let closes = session.window_closes_at;
    let closes = closes.map_or_else(|| "no deadline".to_owned(), |at| at.to_string());
    let expected = session.expected.map_or_else(String::new, |all| format!(" of {all}"));
    let [act, by] = session.next.map_or(["", ""], |next| [next.act.as_str(), next.by.as_str()]);
    let line = format!(
        "  {id}  {subject}  {state}  {closes}  takes: {filed}{expected}  next: {act}, by {by}"
    );
    let missing = session.missing.iter();
    let missing = missing.map(|member| format!("    not filed: {}", Member::missing(member)));
    [line].into_iter().chain(missing).collect::<Vec<_>>().join("\n")
}

fn window(window: &ScheduleStatus) -> String {
    let skipped = window
        .skipped
        .as_deref()
        .map_or_else(String::new, |why| format!("  will be skipped: {}", printable_line(why)));
    let [local, zone] = [&window.local, &window.timezone].map(|text| printable_line(text));
    let at = in_both_times(window.at, &local, &zone);
    format!("  {at}  {}{skipped}", printable_line(window.subject_id.as_str()))
}
