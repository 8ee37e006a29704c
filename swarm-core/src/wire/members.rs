//! Applications, members, their tokens and messages.

use std::sync::Arc;

use serde::Serialize;

use super::Answer;
use crate::domain::{
    Contact, Lens, MailState, Member, MemberId, MemberState, Message, MessageId, Name, PublicKey,
    Timestamp,
};
use crate::proof::BearerToken;
use crate::service::{ApplicationPage, Challenged, OutboxPage};

/// An application that came in: 201 `{ok, memberId, status}`.
pub fn applied(member_id: &MemberId) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Applied<'a> {
        ok: bool,
        member_id: &'a MemberId,
        status: MemberState,
    }
    Answer::new(201, &Applied { ok: true, member_id, status: MemberState::Applied })
}

/// How far an application has come. Never echoes name, contact or key (API.md, 4.1).
pub fn application(member: &Member) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Progress<'a> {
        id: &'a MemberId,
        state: MemberState,
        applied_at: Timestamp,
        reviewed_at: Option<Timestamp>,
        claimed_at: Option<Timestamp>,
    }
    Answer::ok(&Progress {
        id: &member.id,
        state: member.state,
        applied_at: member.applied_at,
        reviewed_at: member.reviewed_at,
        claimed_at: member.claimed_at,
    })
}

/// A challenge, alike for every member id: `{memberId, challenge, expiresAt}`.
pub fn challenge(member_id: &MemberId, given: &Challenged) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Challenge<'a> {
        member_id: &'a MemberId,
        challenge: &'a str,
        expires_at: Timestamp,
    }
    let (challenge, expires_at) = (given.challenge.as_str(), given.expires_at);
    Answer::ok(&Challenge { member_id, challenge, expires_at })
}

/// A claimed token, shown this once: 201 `{ok, status, memberId, token}`.
pub fn claimed(member_id: &MemberId, token: &BearerToken) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Claimed<'a> {
        member_id: &'a MemberId,
        token: &'a str,
    }
    Answer::done(201, &Claimed { member_id, token: token.reveal() })
}

/// Whose a bearer token is: `{memberId}`.
pub fn bearer(member: &Member) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Bearer<'a> {
        member_id: &'a MemberId,
    }
    Answer::ok(&Bearer { member_id: &member.id })
}

/// A member as everyone may see it.
pub fn public(member: &Member) -> Answer {
    Answer::ok(&PublicMember::of(member))
}

/// All members as everyone may see them: `{members}`.
pub fn all(members: &[Arc<Member>]) -> Answer {
    #[derive(Serialize)]
    struct Members<'a> {
        members: Vec<PublicMember<'a>>,
    }
    Answer::ok(&Members {
        members: members.iter().map(|member| PublicMember::of(member)).collect(),
    })
}

/// What the public reads of a member (API.md, 6.9).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicMember<'a> {
    id: &'a MemberId,
    name: &'a Name,
    lens: &'a Lens,
    status: &'static str,
    public_key: Option<&'a PublicKey>,
    joined_at: Option<Timestamp>,
}

impl<'a> PublicMember<'a> {
    fn of(member: &'a Member) -> Self {
        Self {
            id: &member.id,
            name: &member.name,
            lens: &member.lens,
            status: if member.state.is_active() { "active" } else { "inactive" },
            public_key: member.public_key.as_ref(),
            joined_at: member.joined_at,
        }
    }
}

/// What an operator made of a member: `{ok, status, memberId, state}`.
pub fn reviewed(member_id: &MemberId, state: MemberState) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reviewed<'a> {
        member_id: &'a MemberId,
        state: MemberState,
    }
    Answer::done(200, &Reviewed { member_id, state })
}

/// A new token, shown this once, and the key: `{ok, status, memberId, token, publicKey}`.
pub fn rotated(member: &Member, token: &BearerToken) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Rotated<'a> {
        member_id: &'a MemberId,
        token: &'a str,
        public_key: Option<&'a PublicKey>,
    }
    let public_key = member.public_key.as_ref();
    Answer::done(200, &Rotated { member_id: &member.id, token: token.reveal(), public_key })
}

/// Applications as operators may see them: `{applications, nextAfter?}`.
pub fn applications(page: &ApplicationPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Applications<'a> {
        applications: Vec<FullApplication<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_after: Option<&'a MemberId>,
    }
    let ApplicationPage { applications, next_after } = page;
    let applications = applications.iter().map(|member| FullApplication::of(member)).collect();
    Answer::ok(&Applications { applications, next_after: next_after.as_ref() })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullApplication<'a> {
    id: &'a MemberId,
    state: MemberState,
    name: &'a Name,
    contact: &'a Contact,
    lens: &'a Lens,
    public_key: Option<&'a PublicKey>,
    applied_at: Timestamp,
    reviewed_at: Option<Timestamp>,
    claimed_at: Option<Timestamp>,
}

impl<'a> FullApplication<'a> {
    fn of(member: &'a Member) -> Self {
        Self {
            id: &member.id,
            state: member.state,
            name: &member.name,
            contact: &member.contact,
            lens: &member.lens,
            public_key: member.public_key.as_ref(),
            applied_at: member.applied_at,
            reviewed_at: member.reviewed_at,
            claimed_at: member.claimed_at,
        }
    }
}

/// The messages to members, and what became of them: `{messages, nextAfter}`.
pub fn outbox(page: &OutboxPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Outbox<'a> {
        messages: Vec<Shown<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_after: Option<MessageId>,
    }
    let messages = page.messages.iter().map(|message| Shown::of(message)).collect();
    Answer::ok(&Outbox { messages, next_after: page.next_after })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: MessageId,
    to: &'a Contact,
    subject: &'a str,
    body: &'a str,
    state: MailState,
    queued_at: Timestamp,
    sent_at: Option<Timestamp>,
    attempts: u32,
    last_error: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn of(message: &'a Message) -> Self {
        Self {
            id: message.id,
            to: &message.mail.to,
            subject: &message.mail.subject,
            body: &message.mail.body,
            state: message.state,
            queued_at: message.queued_at,
            sent_at: message.sent_at,
            attempts: message.attempts,
            last_error: message.last_error.as_deref(),
        }
    }
}
