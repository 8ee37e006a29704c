//! Mails to members: their texts, and their delivery with attempts and retries, by one server at a time (API.md, 7.5).

use super::{Refusal, Versioned};
use crate::domain::json::is_unprintable;
use crate::domain::{
    Actor, Contact, Links, Mail, MailState, Member, MemberId, Message, NoticeDraft, OperatorAct,
    Session, SessionId, SessionState, Timestamp, Version,
};

/// The duration of the lease for one attempt, in milliseconds: two minutes. Afterwards another
/// server may try. So a message is sent at least once even if a server crashes.
pub const LEASE_MILLIS: i64 = 2 * 60 * 1_000;

/// The maximum number of attempts. After that the message is `failed`.
pub const MAX_MAIL_ATTEMPTS: u32 = 10;

/// The backoff after the first attempt, in milliseconds: half a minute. It doubles with each
/// attempt.
const MIN_BACKOFF_MILLIS: i64 = 30 * 1_000;

/// The maximum backoff, in milliseconds: one hour.
const MAX_BACKOFF_MILLIS: i64 = 60 * 60 * 1_000;

/// Writes the mails to members. Implementations have no side effects: a mail is written before the
/// commit that queues it, and that commit may fail.
pub trait MailText: Send + Sync {
    /// The mail that announces the first activation of `member`; `None` sends no mail, for example
    /// because the program tells the member by other means.
    fn approval(&self, member: &Member, links: &dyn Links) -> Option<Mail>;

    /// The mail that reminds `member` of a session in which it has not filed.
    fn reminder(&self, member: &Member, session: &Session, links: &dyn Links) -> Mail;

    /// The mail that tests the delivery to this address.
    fn test(&self, to: &Contact, links: &dyn Links) -> Mail;
}

/// The default texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardMailText;

impl MailText for StandardMailText {
    fn approval(&self, member: &Member, links: &dyn Links) -> Option<Mail> {
        // A name may contain line breaks; in a mail it must stay on one line.
        let name = line(member.name.as_str());
        let (id, origin) = (&member.id, links.origin());
        let (challenge, claim) = (links.challenge(), links.token_claim());
        Some(Mail {
            to: member.contact.clone(),
            subject: "Your application was approved".to_owned(),
            body: format!(
                "Hello {name},\n\n\
                 your application to {origin} was approved. Your member id is {id}.\n\n\
                 Claim your bearer token with the key that you applied with. If you applied with the \
                 program swarm, run: swarm member claim\n\n\
                 Else ask for a challenge at\n{challenge}, sign it, and post the proof to\n\
                 {claim}. The token is shown once. The guide, with code that runs, is at\n\
                 {origin}/skill.md.\n"
            ),
        })
    }

    fn reminder(&self, member: &Member, session: &Session, links: &dyn Links) -> Mail {
        let (name, subject) = (line(member.name.as_str()), line(session.subject_id.as_str()));
        let (id, date, origin) = (session.id, session.date, links.origin());
        let closes = match session.window_closes_at {
            Some(deadline) => format!("The window closes at {deadline} (UTC).\n\n"),
            None => String::new(),
        };
        Mail {
            to: member.contact.clone(),
            subject: format!("Your take on {subject} is not filed yet"),
            body: format!(
                "Hello {name},\n\n\
                 you are expected in session {id} of {origin}, about {subject}, for {date}, and have not filed a take. \
                 {closes}How to file is at {origin}/skill.md.\n"
            ),
        }
    }

    fn test(&self, to: &Contact, links: &dyn Links) -> Mail {
        let origin = links.origin();
        Mail {
            to: to.clone(),
            subject: "A test".to_owned(),
            body: format!("An operator of {origin} tests whether its mail arrives here.\n"),
        }
    }
}

/// A text that members or operators wrote, on one line.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Returns when the members that have not filed in a session are reminded, so long before its deadline; `None` if nobody
/// is.
pub(crate) fn reminder_due(session: &Session, before_millis: i64) -> Option<Timestamp> {
    let accepts = session.state < SessionState::Aggregated;
    let deadline = session.window_closes_at.filter(|_| accepts && session.roster.is_some())?;
    Some(deadline.plus_millis(-before_millis))
}

/// Returns the e-mail address in a contact: the whole of it, or what follows `mailto:`, or what is in angle brackets after a name. `None` if
/// it cannot be one.
pub fn address(contact: &Contact) -> Option<&str> {
    let text = contact.as_str().trim_matches(|it: char| it.is_whitespace() || is_unprintable(it));
    let in_brackets = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    let text = in_brackets.map_or(text, |(_, address)| address);
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let is_clean = !text.chars().any(|it| it.is_whitespace() || is_unprintable(it));
    let (user, domain) = text.rsplit_once('@')?;
    (is_clean && !user.is_empty() && !domain.is_empty()).then_some(text)
}

/// A change of a message.
#[derive(Clone, Debug)]
pub struct MessageChange {
    /// The complete new record.
    pub message: Message,
    /// The version that was judged.
    pub expected: Version,
    /// What webhooks are told of it.
    pub notice: Option<NoticeDraft>,
    /// The act of the operator who makes the change, if any. It has no entry in the log.
    pub operator_act: Option<OperatorAct>,
}

impl MessageChange {
    /// The change of a message that was judged at this version, by no operator, of which no webhook is told.
    pub fn new(message: Message, expected: Version) -> Self {
        Self { message, expected, notice: None, operator_act: None }
    }
}

/// A message that no change of a member queues.
#[derive(Clone, Debug)]
pub struct QueuedMail {
    /// The mail.
    pub mail: Mail,
    /// The reminder that the mail is; `None` for a test mail.
    pub reminder: Option<Reminder>,
    /// The act of the operator who queues it, if any. The message is its target.
    pub operator_act: Option<OperatorAct>,
}

/// What a mail reminds a member of. One is queued for each member and session, and none for a member that has filed.
#[derive(Clone, Debug)]
pub struct Reminder {
    /// The member.
    pub member: MemberId,
    /// The session.
    pub session: SessionId,
    /// Guard: the version of the session that was judged.
    pub expected: Version,
}

impl Reminder {
    /// Returns what makes the message unique.
    pub fn occasion(&self) -> String {
        format!("reminder {} {}", self.session, self.member)
    }
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attempt {
    /// The mail server accepted the message.
    Sent,
    /// The attempt failed, with this error, and may be repeated.
    Failed(String),
    /// The contact is not a mail address.
    Undeliverable(String),
}

/// Leases a message for an attempt, if it is due.
pub fn lease(message: &Versioned<Message>, now: Timestamp) -> Option<MessageChange> {
    let record = &message.record;
    let due = record.state == MailState::Queued && record.due_at <= now;
    due.then(|| {
        let leased = Message {
            attempts: record.attempts.saturating_add(1),
            due_at: now.plus_millis(LEASE_MILLIS),
            ..Message::clone(record)
        };
        MessageChange::new(leased, message.version)
    })
}

/// Records the outcome of the attempt that the message was leased for.
pub fn settle(leased: &MessageChange, attempt: Attempt, now: Timestamp) -> MessageChange {
    let message = leased.message.clone();
    let settled = match attempt {
        Attempt::Sent => {
            Message { state: MailState::Sent, sent_at: Some(now), last_error: None, ..message }
        }
        Attempt::Undeliverable(error) => {
            Message { state: MailState::Undeliverable, last_error: Some(error), ..message }
        }
        Attempt::Failed(error) if message.attempts >= MAX_MAIL_ATTEMPTS => {
            Message { state: MailState::Failed, last_error: Some(error), ..message }
        }
        Attempt::Failed(error) => {
            let due_at = now.plus_millis(backoff(message.attempts));
            Message { due_at, last_error: Some(error), ..message }
        }
    };
    MessageChange::new(settled, leased.expected.next())
}

/// Queues an unsent message again, for its first attempt now.
///
/// # Errors
/// [`Refusal::MessageIs`] when it is sent, or was erased.
pub fn retry(
    message: &Versioned<Message>,
    now: Timestamp,
    by: &Actor,
) -> Result<MessageChange, Refusal> {
    let record = unsent(message)?;
    let queued = Message { state: MailState::Queued, attempts: 0, due_at: now, ..record };
    let operator_act = OperatorAct::new(by, "message.retried", message.record.id);
    Ok(MessageChange { operator_act, ..MessageChange::new(queued, message.version) })
}

/// Cancels an unsent message.
///
/// # Errors
/// [`Refusal::MessageIs`] when it is sent.
pub fn cancel(message: &Versioned<Message>, by: &Actor) -> Result<MessageChange, Refusal> {
    let last_error = Some("cancelled by an operator".to_owned());
    let cancelled = Message { state: MailState::Cancelled, last_error, ..unsent(message)? };
    let operator_act = OperatorAct::new(by, "message.cancelled", message.record.id);
    Ok(MessageChange { operator_act, ..MessageChange::new(cancelled, message.version) })
}

fn unsent(message: &Versioned<Message>) -> Result<Message, Refusal> {
    match message.record.state {
        MailState::Sent => Err(Refusal::MessageIs(MailState::Sent)),
        state if message.record.mail.to.is_erased() => Err(Refusal::MessageIs(state)),
        _ => Ok(Message::clone(&message.record)),
    }
}

/// The backoff after this number of attempts, in milliseconds.
pub(super) fn backoff(attempts: u32) -> i64 {
    let doubled = 2_i64.saturating_pow(attempts.saturating_sub(1));
    MIN_BACKOFF_MILLIS.saturating_mul(doubled).min(MAX_BACKOFF_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_an_hour() {
        let half_minutes: Vec<_> = (1..=9).map(|attempts| backoff(attempts) / 30_000).collect();
        assert_eq!(half_minutes, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
        assert_eq!(backoff(u32::MAX), MAX_BACKOFF_MILLIS);
    }
}
