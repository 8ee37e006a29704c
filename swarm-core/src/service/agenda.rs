//! The agenda of a desk: what needs an operator, what comes next, and what is fine (API.md, 7.9).
//!
//! The console's first page and `swarm admin status` show it. It is computed from the status alone, so that they agree with
//! what the status says.

use std::collections::{HashMap, HashSet};

use super::{Error, ServerStatus, Tenant};
use crate::answers::{
    Agenda, AgendaCode, AgendaItem, DayFiling, DeskStatus, FineItem, MailStatus, SessionStatus,
};
use crate::domain::{SubjectId, Timestamp};
use crate::rules::{NextStep, StepAct, StepBy, takes_may_come};

/// How long mail may be queued before it needs an operator, in milliseconds: two hours, as long as most of its attempts take.
const MAIL_PATIENCE_MILLIS: i64 = 2 * 60 * 60 * 1_000;

/// The most sessions, published last, that are searched for outcomes that are due.
const MAX_PUBLISHED: usize = 200;

impl Tenant {
    /// Returns the agenda of a desk in this state.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn agenda(
        &self,
        server: &ServerStatus,
        desk: &DeskStatus,
        committee: Option<&DayFiling>,
    ) -> Result<Agenda, Error> {
        let now = self.now().await?;
        let mut names = Names::default();
        let outcomes = self.due_outcomes(now, &mut names).await?;
        for session in &desk.sessions {
            names.read(self, &session.subject_id).await?;
        }
        for window in &desk.schedule {
            names.read(self, &window.subject_id).await?;
        }
        let mut agenda = Agenda::default();
        agenda.add_sessions(desk, &names, now);
        agenda.needs.extend(outcomes);
        agenda.add_applications(desk.applications);
        agenda.add_mail(&desk.mail, server.has_mail_server, now);
        agenda.add_webhooks(desk);
        agenda.add_schedule(desk, &names, now);
        if let Some(day) = committee.filter(|day| day.deadline_utc >= now) {
            agenda.next.push(day_ahead(day));
        }
        agenda.needs.sort_by_key(|item| item.at.unwrap_or(now));
        agenda.next.sort_by_key(|item| (item.at.is_none(), item.at));
        agenda.add_server(server);
        Ok(agenda)
    }

    /// The sessions that are published, and whose outcome should be known by now and is not recorded.
    async fn due_outcomes(
        &self,
        now: Timestamp,
        names: &mut Names,
    ) -> Result<Vec<AgendaItem>, Error> {
        let mut due = Vec::new();
        for session in self.store.published(MAX_PUBLISHED).await? {
            let at = session.question.resolves_at.filter(|at| *at <= now);
            if at.is_none() || session.outcome.is_some() {
                continue;
            }
            names.read(self, &session.subject_id).await?;
            let name = names.of(&session.subject_id);
            let what = match takes_may_come(session.window_closes_at, now) {
                false => "the outcome is due and not recorded",
                // It was published without a deadline, or with one that is ahead.
                true => "the outcome is due, and is recorded once the deadline has passed",
            };
            let message = format!("{name}, {}: {what}", session.date);
            due.push(AgendaItem {
                at,
                subject_name: Some(name),
                session_id: Some(session.id),
                subject_id: Some(session.subject_id.clone()),
                ..AgendaItem::new(AgendaCode::Outcome, message)
            });
        }
        Ok(due)
    }
}

impl AgendaItem {
    /// An item that an operator does, at no known time.
    fn new(code: AgendaCode, message: impl Into<String>) -> Self {
        let (message, by) = (message.into(), StepBy::Operator);
        Self { code, at: None, by, message, subject_name: None, session_id: None, subject_id: None }
    }
}

impl Agenda {
    fn fine(&mut self, code: AgendaCode, message: impl Into<String>) {
        self.fine.push(FineItem { code, message: message.into() });
    }

    /// What the server says comes before all else.
    fn add_server(&mut self, server: &ServerStatus) {
        if let Some(fault) = &server.export_fault {
            let message = format!("the briefs of the committee are not exported: {fault}");
            self.needs.insert(0, AgendaItem::new(AgendaCode::Export, message));
        }
        let items = server.warnings.iter().map(|it| AgendaItem::new(AgendaCode::Store, it.clone()));
        self.needs.splice(0..0, items);
        if !server.ready && server.warnings.is_empty() {
            self.needs.insert(0, AgendaItem::new(AgendaCode::Store, "the server is not ready"));
        }
        if server.ready && server.warnings.is_empty() {
            self.fine(AgendaCode::Store, "the store answers, without a warning");
        }
        if server.certificate.is_some() && server.warnings.is_empty() {
            self.fine(AgendaCode::Certificate, "the certificate is valid for the next two weeks");
        }
    }

    fn add_sessions(&mut self, desk: &DeskStatus, names: &Names, now: Timestamp) {
        for session in &desk.sessions {
            let Some(next) = session.next else { continue };
            let is_ahead = next.at.is_some_and(|at| takes_may_come(Some(at), now));
            let waits = match next.act {
                // Without a deadline it is open until an operator closes it.
                StepAct::Close => next.at.is_some(),
                StepAct::Aggregate | StepAct::Publish => true,
            };
            let name = names.of(&session.subject_id);
            let item = AgendaItem {
                code: next.act.into(),
                at: next.at.or(session.window_closes_at.filter(|at| *at <= now)),
                by: next.by,
                message: of_session(session, &name, next, is_ahead),
                subject_name: Some(name),
                session_id: Some(session.id),
                subject_id: Some(session.subject_id.clone()),
            };
            match next.by {
                StepBy::Operator if waits && !is_ahead => self.needs.push(item),
                _ => self.next.push(item),
            }
        }
        if !self.needs.iter().any(|item| item.session_id.is_some()) {
            self.fine(AgendaCode::Aggregate, "no session waits for an operator");
        }
    }

    fn add_applications(&mut self, waiting: u64) {
        match waiting {
            0 => self.fine(AgendaCode::Applications, "no application waits for a review"),
            1 => self.needs.push(AgendaItem::new(
                AgendaCode::Applications,
                "1 application waits for a review",
            )),
            more => self.needs.push(AgendaItem::new(
                AgendaCode::Applications,
                format!("{more} applications wait for a review"),
            )),
        }
    }

    fn add_mail(&mut self, mail: &MailStatus, is_sent: bool, now: Timestamp) {
        const NO_SERVER: &str = ": there is no mail server";
        let undelivered = mail.failed + mail.undeliverable;
        if undelivered > 0 {
            let message =
                format!("{} not delivered", counted(undelivered, "message was", "messages were"));
            self.needs.push(AgendaItem::new(AgendaCode::Mail, message));
        }
        let is_stuck =
            mail.oldest.is_some_and(|oldest| now.millis() - oldest.millis() > MAIL_PATIENCE_MILLIS);
        if is_stuck {
            let why = if is_sent { "" } else { NO_SERVER };
            let queued = counted(mail.queued, "message is", "messages are");
            let message = format!("{queued} not sent yet{why}");
            let item = AgendaItem::new(AgendaCode::Mail, message);
            self.needs.push(AgendaItem { at: mail.oldest, ..item });
        }
        if undelivered == 0 && !is_stuck {
            self.fine(
                AgendaCode::Mail,
                match mail.queued {
                    0 => "all mail is sent".to_owned(),
                    queued if is_sent => format!(
                        "{} about to be sent",
                        counted(queued, "message is", "messages are")
                    ),
                    queued => format!(
                        "{} in the outbox{NO_SERVER}",
                        counted(queued, "message stays", "messages stay")
                    ),
                },
            );
        }
    }

    fn add_webhooks(&mut self, desk: &DeskStatus) {
        for webhook in desk.webhooks.iter().filter(|webhook| webhook.failing) {
            let message = format!("the webhook {} fails", webhook.url);
            let item = AgendaItem::new(AgendaCode::Webhook, message);
            self.needs.push(AgendaItem { at: webhook.oldest, ..item });
        }
        if !desk.webhooks.is_empty() && !desk.webhooks.iter().any(|webhook| webhook.failing) {
            self.fine(AgendaCode::Webhook, "every webhook is delivered");
        }
    }

    fn add_schedule(&mut self, desk: &DeskStatus, names: &Names, now: Timestamp) {
        let mut told = HashSet::new();
        for window in &desk.schedule {
            let name = names.of(&window.subject_id);
            let (by, message) = match &window.skipped {
                None => (StepBy::Schedule, format!("{name}: a session is convened")),
                Some(why) => {
                    // Each window of the subject is skipped for the same reason.
                    if !told.insert((&window.subject_id, why)) {
                        continue;
                    }
                    let message = format!("{name}: the schedule will convene no session: {why}");
                    (StepBy::Operator, message)
                }
            };
            let item = AgendaItem {
                at: Some(window.at),
                by,
                subject_name: Some(name),
                subject_id: Some(window.subject_id.clone()),
                ..AgendaItem::new(AgendaCode::Convene, message)
            };
            match by {
                StepBy::Operator => self.needs.push(item),
                StepBy::Schedule => self.next.push(item),
            }
        }
        let is_late = |item: &AgendaItem| item.at.is_some_and(|at| at <= now);
        if !desk.schedule.is_empty() && told.is_empty() && !self.next.iter().any(is_late) {
            self.fine(AgendaCode::Convene, "the schedule skips no session");
        }
    }
}

/// What comes next for a session, in a sentence.
fn of_session(session: &SessionStatus, name: &str, next: NextStep, is_ahead: bool) -> String {
    let filed = match session.expected {
        Some(expected) => format!("{} of {expected} have filed", session.filed),
        None => counted(session.filed as u64, "member has filed", "members have filed"),
    };
    let by_itself = next.by == StepBy::Schedule;
    let what = match (next.act, next.at) {
        (StepAct::Close, None) => {
            format!("it has no deadline, and is open until it is closed; {filed}")
        }
        (StepAct::Close, _) if by_itself && session.result_by == StepBy::Schedule => {
            format!("the window closes, and the result follows; {filed}")
        }
        (StepAct::Close, _) if by_itself => {
            format!("the window closes, and the result waits for an operator; {filed}")
        }
        (StepAct::Close, _) if is_ahead => {
            format!("the window ends, and an operator closes it; {filed}")
        }
        (StepAct::Close, _) => format!("the window is over and not closed; {filed}"),
        (StepAct::Aggregate, _) if by_itself => format!("the result is computed; {filed}"),
        (StepAct::Aggregate, _) if is_ahead => {
            format!("the last takes may come, and the result waits for an operator; {filed}")
        }
        (StepAct::Aggregate, _) => format!("the window is closed and has no result; {filed}"),
        (StepAct::Publish, _) if by_itself => "the result is published".to_owned(),
        (StepAct::Publish, _) => format!("the result is not published; {filed}"),
    };
    format!("{name}, {}: {what}", session.date)
}

/// The deadline of the committee's day.
fn day_ahead(day: &DayFiling) -> AgendaItem {
    let (filed, all) = (day.filed.len(), day.filed.len() + day.missing.len());
    let message = format!("the committee's day {} ends; {filed} of {all} have filed", day.date);
    AgendaItem {
        at: Some(day.deadline_utc),
        by: StepBy::Schedule,
        subject_id: Some(day.subject_id.clone()),
        ..AgendaItem::new(AgendaCode::Committee, message)
    }
}

fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

impl From<StepAct> for AgendaCode {
    fn from(act: StepAct) -> Self {
        match act {
            StepAct::Close => Self::Close,
            StepAct::Aggregate => Self::Aggregate,
            StepAct::Publish => Self::Publish,
        }
    }
}

/// The names of subjects.
#[derive(Default)]
struct Names(HashMap<SubjectId, String>);

impl Names {
    /// Reads the name of a subject, once.
    async fn read(&mut self, tenant: &Tenant, id: &SubjectId) -> Result<(), Error> {
        if self.0.contains_key(id) {
            return Ok(());
        }
        let name = match tenant.subject(id).await {
            Ok(subject) => subject.name.clone(),
            Err(Error::Refused(_)) => String::new(),
            Err(error) => return Err(error),
        };
        self.0.insert(id.clone(), name);
        Ok(())
    }

    /// The name that was read, or the id where there is none.
    fn of(&self, id: &SubjectId) -> String {
        let name = self.0.get(id).map(|name| name.trim()).filter(|name| !name.is_empty());
        name.map_or_else(|| id.as_str().to_owned(), ToOwned::to_owned)
    }
}
