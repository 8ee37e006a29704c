//! Messages.

use swarm_core::domain::{Contact, Mail, MailState, Message, MessageId};
use swarm_core::json::{self, Json};

use super::{object, text, timestamp_if_any, timestamp_in, whole};
use crate::failure::{Failure, Outcome};

pub(crate) fn message_text(message: &Message) -> String {
    json::write(&Json::from([
        ("id", text(Some(message.id))),
        ("to", Json::from(message.mail.to.as_str())),
        ("subject", Json::from(message.mail.subject.as_str())),
        ("body", Json::from(message.mail.body.as_str())),
        ("state", Json::from(state_name(message.state))),
        ("queuedAt", text(Some(message.queued_at))),
        ("sentAt", text(message.sent_at)),
        ("attempts", Json::from(f64::from(message.attempts))),
        ("lastError", text(message.last_error.as_ref())),
        ("dueAt", text(Some(message.due_at))),
    ]))
}

pub(crate) fn message(text: &str) -> Outcome<Message> {
    let mut fields = object(text)?;
    let id = fields.text("id")?.parse().map_err(Failure::garbled)?;
    let mail = Mail {
        to: Contact::parse(fields.text("to")?)?,
        subject: fields.text("subject")?,
        body: fields.text("body")?,
    };
    Ok(Message {
        id: MessageId(id),
        mail,
        state: state(&fields.text("state")?)?,
        queued_at: timestamp_in(&mut fields, "queuedAt")?,
        sent_at: timestamp_if_any(&mut fields, "sentAt")?,
        attempts: whole(&mut fields, "attempts")?,
        last_error: fields.text_if_any("lastError")?,
        due_at: timestamp_in(&mut fields, "dueAt")?,
    })
}

/// The name of a state in the file.
pub(crate) fn state_name(state: MailState) -> &'static str {
    match state {
        MailState::Queued => "queued",
        MailState::Sent => "sent",
        MailState::Failed => "failed",
        MailState::Undeliverable => "undeliverable",
    }
}

fn state(name: &str) -> Outcome<MailState> {
    let state = MailState::ALL.into_iter().find(|state| state_name(*state) == name);
    state.ok_or_else(|| Failure::garbled("no state of a message"))
}
