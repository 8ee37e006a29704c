//! The rules of erasure: which personal data of a member is removed permanently (API.md, 7.8).

use super::log::{self, Act};
use super::membership::{applicant_changed, may_be_read, public};
use super::{MemberChange, MessageChange, Refusal, Versioned};
use crate::domain::{
    Actor, Contact, Lens, Mail, MailState, Member, MemberAct, MemberState, Memo, Message, Name,
    Timestamp,
};

/// The text that replaces an erased one.
pub(crate) const ERASED: &str = "erased";

/// A day, in milliseconds.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Erases name, contact, lens and token of a member that is not active. Its key stays, because it
/// verifies the member's takes. An application that awaits review is rejected. `None` when it is erased already.
///
/// # Errors
/// [`Refusal::MemberIs`] when it is active.
pub fn erase(member: &Versioned<Member>, by: &Actor) -> Result<Option<MemberChange>, Refusal> {
    let record = &member.record;
    if record.state.is_active() {
        return Err(Refusal::MemberIs(record.state));
    }
    if record.is_erased() {
        return Ok(None);
    }
    let state = match record.state {
        MemberState::Applied => MemberState::Rejected,
        state => state,
    };
    let erased = Member {
        name: Name::erased(),
        contact: Contact::erased(),
        lens: Lens::none(),
        token: None,
        token_claimed_at: None,
        used_claim: None,
        state,
        ..Member::clone(record)
    };
    // A member that was never public has no entries in the log, so its erasure adds none.
    Ok(Some(match may_be_read(record) {
        true => public(member, erased, MemberAct::Erased, by),
        false => applicant_changed(member, erased, "application.erased", by),
    }))
}

/// Returns whether a message is for this member, or a test mail to its contact.
pub fn is_message_to(message: &Message, member: &Member) -> bool {
    match &message.member {
        Some(id) => *id == member.id,
        None => message.mail.to == member.contact,
    }
}

/// Erases address and text of a message, and cancels it unless it is sent. `None` when it is erased already.
pub fn erase_message(message: &Versioned<Message>) -> Option<MessageChange> {
    let record = Message::clone(&message.record);
    if record.mail.to.is_erased() {
        return None;
    }
    let (to, text) = (Contact::erased(), ERASED.to_owned());
    let state = match record.state {
        MailState::Sent => MailState::Sent,
        _ => MailState::Cancelled,
    };
    // A mail server may have quoted the address in its error.
    let last_error = None;
    let mail = Mail { to, subject: text.clone(), body: text };
    let message_erased = Message { mail, state, last_error, ..record };
    Some(MessageChange::new(message_erased, message.version))
}

/// Returns the log entry of the erasure of a memo: its retraction, unless it was retracted before.
pub(crate) fn memo_erased(memo: &Memo, was_retracted: bool, by: &Actor) -> Option<Act> {
    (!was_retracted).then(|| log::memo_retracted(memo, by))
}

/// Returns whether the retention of an application has ended: it was rejected or has been pending for this
/// number of days, and was never activated.
pub fn is_past_retention(application: &Member, days: u32, now: Timestamp) -> bool {
    let since = match application.state {
        MemberState::Applied => Some(application.applied_at),
        MemberState::Rejected => application.reviewed_at.or(Some(application.applied_at)),
        MemberState::Approved | MemberState::Claimed | MemberState::Inactive => None,
    };
    let kept = DAY_MILLIS.saturating_mul(i64::from(days));
    let is_over = since.is_some_and(|since| now.millis().saturating_sub(since.millis()) >= kept);
    is_over && !may_be_read(application) && !application.is_erased()
}
