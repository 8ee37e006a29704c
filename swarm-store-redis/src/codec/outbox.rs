//! Messages: `version state id queued due json`.

use std::sync::Arc;

use swarm_core::domain::{Contact, Mail, MailState, Message, MessageId, Version};
use swarm_core::json::{self, Json};
use swarm_core::store::Versioned;

use super::{Corrupt, Decoded, Words, text_or_null, timestamp_if_any, whole};

pub(crate) fn encode_message(version: Version, message: &Message) -> String {
    let Message { id, state, queued_at, due_at, .. } = message;
    let (state, queued, due) = (encode_mail_state(*state), queued_at.millis(), due_at.millis());
    format!("{version} {state} {id} {queued} {due} {}", message_text(message))
}

/// The text of a message that is yet to be queued: as it will be, but for what stands in words.
pub(crate) fn encode_mail(mail: &Mail) -> String {
    message_text(&mail.queued(MessageId(0), swarm_core::Timestamp::EPOCH))
}

pub(crate) fn decode_message(row: &str) -> Decoded<Versioned<Message>> {
    let mut words = Words(row);
    let version = words.version()?;
    let state = decode_mail_state(words.next()?)?;
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
        ("sentAt", text_or_null(message.sent_at)),
        ("attempts", Json::from(f64::from(message.attempts))),
        ("lastError", text_or_null(message.last_error.as_ref())),
    ]))
}

/// The name that a state is stored by.
pub(crate) fn encode_mail_state(state: MailState) -> &'static str {
    match state {
        MailState::Queued => "queued",
        MailState::Sent => "sent",
        MailState::Failed => "failed",
        MailState::Undeliverable => "undeliverable",
    }
}

fn decode_mail_state(name: &str) -> Decoded<MailState> {
    let state = MailState::ALL.into_iter().find(|state| encode_mail_state(*state) == name);
    state.ok_or_else(|| Corrupt::new("no state of a message"))
}
