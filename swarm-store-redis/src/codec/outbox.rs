//! Messages: `version state id queued due record`.

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{Mail, Message, MessageId, Version};
use swarm_core::store::Versioned;
use swarm_core::store::records::Record as _;

use super::{Decoded, Words, text_or_null};

pub(crate) fn encode_message(version: Version, message: &Message) -> String {
    let Message { id, state, queued_at, due_at, .. } = message;
    let (queued, due) = (queued_at.millis(), due_at.millis());
    format!("{version} {state} {id} {queued} {due} {}", message.to_text())
}

/// The record of a message that is not queued yet. The id and the times in it are placeholders: the
/// words that the commit puts in front take precedence.
pub(crate) fn encode_mail(mail: &Mail) -> String {
    mail.queued(MessageId(0), Timestamp::EPOCH).to_text()
}

/// The words in front take precedence over the record.
pub(crate) fn decode_message(row: &str) -> Decoded<Versioned<Message>> {
    let mut words = Words(row);
    let (version, state) = (words.version()?, words.next()?);
    let id = words.number()?;
    let (queued_at, due_at) = (words.timestamp()?, words.timestamp()?);
    let mut fields = words.object()?;
    fields.set("id", 0.0.into());
    fields.set("state", state.into());
    fields.set("queuedAt", text_or_null(Some(queued_at)));
    fields.set("dueAt", text_or_null(Some(due_at)));
    let record = Message { id: MessageId(id), ..Message::read(&mut fields)? };
    Ok(Versioned { version, record: Arc::new(record) })
}
