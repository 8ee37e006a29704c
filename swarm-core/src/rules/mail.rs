//! Mails to members: their texts, and their delivery with attempts and retries, by one server at a time (API.md, 7.5).

use std::borrow::Cow;

use super::{Refusal, Versioned};
use crate::domain::json::is_unprintable;
use crate::domain::{
    Actor, Contact, Links, Mail, MailState, Member, MemberId, Message, NoticeDraft, OperatorAct,
    Session, SessionId, SessionState, Timestamp, Version, parse_any_hex,
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
pub(super) const MAX_BACKOFF_MILLIS: i64 = 60 * 60 * 1_000;

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

/// The default texts. Each address that ends a sentence ends its line, without a stop: terminals and mail clients would take the stop for a part
/// of it.
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
                 Else ask for a challenge at\n{challenge}\nSign it, and post the proof to\n{claim}\n\n\
                 The token is shown once. The guide, with code that runs, is at\n{origin}/skill.md\n"
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
                 {closes}How to file is at\n{origin}/skill.md\n"
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

/// Returns the e-mail address in a contact: the whole of it, or that of a `mailto:` URI, or what is in angle brackets after a name. `None` if
/// it cannot be one.
pub fn address(contact: &Contact) -> Option<Cow<'_, str>> {
    let text = contact.as_str().trim_matches(|it: char| it.is_whitespace() || is_unprintable(it));
    let in_brackets = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    let text = in_brackets.map_or(text, |(_, address)| address);
    let text = match text.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto") => mailto(rest)?,
        _ => Cow::Borrowed(text),
    };
    let is_unclean = |it: char| it.is_whitespace() || it.is_control() || is_unprintable(it);
    let (user, domain) = text.rsplit_once('@')?;
    let is_address = !text.contains(is_unclean) && !user.is_empty() && !domain.is_empty();
    is_address.then_some(text)
}

/// The address in what follows the scheme of a `mailto:` URI (RFC 6068): without header fields, and decoded.
fn mailto(text: &str) -> Option<Cow<'_, str>> {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let Some((start, rest)) = text.split_once('%') else { return Some(Cow::Borrowed(text)) };
    let mut bytes = start.as_bytes().to_vec();
    for part in rest.split('%') {
        let (digits, after) = part.split_at_checked(2)?;
        bytes.extend(parse_any_hex(digits)?);
        bytes.extend(after.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
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
    fn address_is_read_from_what_people_give_as_contact() {
        for (contact, address) in [
            ("zoe%2Btag@test.example", Some("zoe%2Btag@test.example")),
            ("mailto:zoe%2Btag@test.example?subject=Hi", Some("zoe+tag@test.example")),
            ("MailTo:zo%c3%ab@test.example#a", Some("zoë@test.example")),
            ("Zoe <MAILTO:zoe@test.example?cc=all@test.example>", Some("zoe@test.example")),
            ("mailto:?to=zoe@test.example", None),
            ("mailto:zoe%4", None),
            ("mailto:zoe%+2@test.example", None),
            ("mailto:zoe%é@test.example", None),
            ("mailto:zo%e9@test.example", None),
            ("mailto:zoe@test.example%0D%0ARCPT%20TO:<all@test.example", None),
            ("mailto:zoe%0d%0aBcc%3aall@test.example", None),
            ("mailto:zoe%00@test.example", None),
            ("mailto:zoe%E2%80%8B@test.example", None),
        ] {
            let contact = Contact::parse(contact).unwrap();
            assert_eq!(super::address(&contact).as_deref(), address, "{contact:?}");
        }
    }

    #[test]
    fn backoff_doubles_up_to_an_hour() {
        let half_minutes: Vec<_> = (1..=9).map(|attempts| backoff(attempts) / 30_000).collect();
        assert_eq!(half_minutes, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
        assert_eq!(backoff(u32::MAX), MAX_BACKOFF_MILLIS);
    }
}
