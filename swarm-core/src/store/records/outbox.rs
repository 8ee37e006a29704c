//! The records of messages in the outbox.

use super::fields::{contact, contact_if_any, number, text, time, time_if_any, whole};
use super::{Record, Unreadable};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Invalid, Mail, MailState, Message, MessageId};

impl Record for Message {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("id", number(self.id.0)),
            ("to", contact(&self.mail.to)),
            ("subject", Json::from(self.mail.subject.as_str())),
            ("body", Json::from(self.mail.body.as_str())),
            ("state", text(Some(self.state))),
            ("queuedAt", text(Some(self.queued_at))),
            ("sentAt", text(self.sent_at)),
            ("attempts", number(self.attempts)),
            ("lastError", text(self.last_error.as_ref())),
            ("dueAt", text(Some(self.due_at))),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let state = MailState::parse(&fields.text("state")?);
        Ok(Self {
            id: MessageId(whole(fields, "id")?),
            mail: Mail {
                to: contact_if_any(fields, "to")?,
                subject: fields.text("subject")?,
                body: fields.text("body")?,
            },
            state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
            queued_at: time(fields, "queuedAt")?,
            sent_at: time_if_any(fields, "sentAt")?,
            attempts: whole(fields, "attempts")?,
            last_error: fields.text_if_any("lastError")?,
            due_at: time(fields, "dueAt")?,
        })
    }
}
