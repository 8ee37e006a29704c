//! Messages: `version state id queued due json`.

use std::sync::Arc;

use swarm_core::domain::{Contact, Mail, MailState, Message, MessageId, Version};
use swarm_core::json::{self, Json};
use swarm_core::store::Versioned;

use super::{Garbled, Read, Words, text, timestamp_if_any, whole};
use crate::outbox::state_name;

pub(crate) fn message_row(version: Version, message: &Message) -> String {
    let Message { id, state, queued_at, due_at, .. } = message;
    let (state, queued, due) = (state_name(*state), queued_at.millis(), due_at.millis());
    format!("{version} {state} {id} {queued} {due} {}", message_text(message))
}

/// The text of a message that is yet to be queued: as it will be, but for what stands in words.
pub(crate) fn mail_text(mail: &Mail) -> String {
    message_text(&mail.queued(MessageId(0), swarm_core::Timestamp::EPOCH))
}

pub(crate) fn message(row: &str) -> Read<Versioned<Message>> {
    let mut words = Words(row);
    let version = words.version()?;
    let state = state(words.next()?)?;
    let id = MessageId(words.number()?);
    let (queued_at, due_at) = (words.timestamp()?, words.timestamp()?);
    let mut fields = words.object()?;
    let mail = Mail {
        to: Contact::parse(fields.text("to")?)?,
        subject: fields.text("subject")?,
        body: fields.text("body")?,
    };
    let message = Message {
        id,
        mail,
        state,
        queued_at,
        sent_at: timestamp_if_any(&mut fields, "sentAt")?,
        attempts: whole(&mut fields, "attempts")?,
        last_error: fields.text_if_any("lastError")?,
        due_at,
    };
    Ok(Versioned { version, record: Arc::new(message) })
}

fn message_text(message: &Message) -> String {
    json::write(&Json::from([
        ("to", Json::from(message.mail.to.as_str())),
        ("subject", Json::from(message.mail.subject.as_str())),
        ("body", Json::from(message.mail.body.as_str())),
        ("sentAt", text(message.sent_at)),
        ("attempts", Json::from(f64::from(message.attempts))),
        ("lastError", text(message.last_error.as_ref())),
    ]))
}

fn state(name: &str) -> Read<MailState> {
    let state = MailState::ALL.into_iter().find(|state| state_name(*state) == name);
    state.ok_or_else(|| Garbled::new("no state of a message"))
}
