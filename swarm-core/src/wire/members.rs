//! Responses about applications, members, tokens and the outbox.

use std::sync::Arc;

use serde::Serialize;

use super::{Answer, Problem};
use crate::domain::{
    Contact, Day, Lens, MailState, Member, MemberId, MemberState, Message, MessageId, Name,
    PublicKey, Revision, SessionId, SessionState, SubjectId, Timestamp,
};
use crate::proof::BearerToken;
use crate::rules::Refusal;
use crate::service::{
    ApplicationPage, IssuedChallenge, MemberStandings, OutboxPage, StandingInSession,
};

/// Returns the response with a received application: 201 `{ok, memberId, status}`.
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

/// Returns the response with the state of an application, without name, contact and key (API.md, 4.1).
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

/// Returns the response with a challenge: `{memberId, challenge, expiresAt}`. It does not reveal whether the member
/// exists.
pub fn challenge(member_id: &MemberId, given: &IssuedChallenge) -> Answer {
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

/// Returns the response with a claimed token, which is shown once: 201 `{ok, status, memberId, token}`.
pub fn claimed(member_id: &MemberId, token: &BearerToken) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Claimed<'a> {
        member_id: &'a MemberId,
        token: &'a str,
    }
    Answer::done(201, &Claimed { member_id, token: token.reveal() })
}

/// Returns the response with the member that a bearer token belongs to: `{memberId}`.
pub fn bearer(member: &Member) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Bearer<'a> {
        member_id: &'a MemberId,
    }
    Answer::ok(&Bearer { member_id: &member.id })
}

/// Returns the response with a member and its standing in the sessions that accept takes: `{member, sessions}`.
pub fn standings(standings: &MemberStandings) -> Answer {
    #[derive(Serialize)]
    struct Standings<'a> {
        member: PublicMember<'a>,
        sessions: Vec<SessionStanding<'a>>,
    }
    let sessions = standings.sessions.iter().map(SessionStanding::of).collect();
    Answer::ok(&Standings { member: PublicMember::of(&standings.member), sessions })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionStanding<'a> {
    id: SessionId,
    date: Day,
    subject_id: &'a SubjectId,
    window_closes_at: Option<Timestamp>,
    state: SessionState,
    practice: bool,
    brief: bool,
    may_file: bool,
    code: Option<&'static str>,
    /// The code and the text of the policy that refuses, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    revision: Option<Revision>,
    takes_left: u8,
}

impl<'a> SessionStanding<'a> {
    fn of(found: &'a StandingInSession) -> Self {
        let StandingInSession { session, has_brief, standing } = found;
        let code = standing.refusal.as_ref().map(|refusal| Problem::from(refusal).code());
        let policy = standing.refusal.as_ref().and_then(Refusal::policy_code);
        Self {
            id: session.id,
            date: session.date,
            subject_id: &session.subject_id,
            window_closes_at: session.window_closes_at,
            state: session.state,
            practice: session.practice,
            brief: *has_brief,
            may_file: code.is_none(),
            code,
            policy,
            error: policy.and(standing.refusal.as_ref()).map(ToString::to_string),
            revision: standing.revision,
            takes_left: standing.takes_left,
        }
    }
}

/// Returns the response with the public view of a member.
pub fn public(member: &Member) -> Answer {
    Answer::ok(&PublicMember::of(member))
}

/// Returns the response with the public view of all members: `{members}`.
pub fn all(members: &[Arc<Member>]) -> Answer {
    #[derive(Serialize)]
    struct Members<'a> {
        members: Vec<PublicMember<'a>>,
    }
    Answer::ok(&Members {
        members: members.iter().map(|member| PublicMember::of(member)).collect(),
    })
}

/// The public view of a member (API.md, 6.9).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicMember<'a> {
    id: &'a MemberId,
    name: &'a Name,
    lens: Option<&'a Lens>,
    status: &'static str,
    public_key: Option<&'a PublicKey>,
    joined_at: Option<Timestamp>,
}

impl<'a> PublicMember<'a> {
    fn of(member: &'a Member) -> Self {
        Self {
            id: &member.id,
            name: &member.name,
            lens: (!member.is_erased()).then_some(&member.lens),
            status: if member.state.is_active() { "active" } else { "inactive" },
            public_key: member.public_key.as_ref(),
            joined_at: member.joined_at,
        }
    }
}

/// Returns the response with the state of a member after an operator's review: `{ok, status, memberId, state}`.
pub fn reviewed(member_id: &MemberId, state: MemberState) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reviewed<'a> {
        member_id: &'a MemberId,
        state: MemberState,
    }
    Answer::done(200, &Reviewed { member_id, state })
}

/// Returns the response with a new token, which is shown once, and the registered key: `{ok, status, memberId, token,
/// publicKey}`.
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

/// Returns the response with the key that a member has now: `{ok, status, memberId, publicKey}`.
pub fn key_replaced(member: &Member) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Replaced<'a> {
        member_id: &'a MemberId,
        public_key: Option<&'a PublicKey>,
    }
    let public_key = member.public_key.as_ref();
    Answer::done(200, &Replaced { member_id: &member.id, public_key })
}

/// Returns the response with a page of applications, for operators: `{applications, nextAfter?}`.
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
    contact: Option<&'a Contact>,
    lens: Option<&'a Lens>,
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
            contact: (!member.is_erased()).then_some(&member.contact),
            lens: (!member.is_erased()).then_some(&member.lens),
            public_key: member.public_key.as_ref(),
            applied_at: member.applied_at,
            reviewed_at: member.reviewed_at,
            claimed_at: member.claimed_at,
        }
    }
}

/// Returns the response with a page of the outbox: `{messages, nextAfter?}`.
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

/// Returns the response with a changed message: `{ok, status, message}`.
pub fn message_changed(message: &Message) -> Answer {
    #[derive(Serialize)]
    struct Changed<'a> {
        message: Shown<'a>,
    }
    Answer::done(200, &Changed { message: Shown::of(message) })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: MessageId,
    to: Option<&'a Contact>,
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
            to: (!message.mail.to.is_erased()).then_some(&message.mail.to),
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
