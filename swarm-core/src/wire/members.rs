//! Responses about applications, members, tokens and the outbox.

use std::sync::Arc;

use serde::Serialize;

use super::{Answer, Problem};
use crate::answers::{ApplicationState, Applications, FullApplication, Outbox, QueuedMessage};
use crate::domain::{
    Day, Lens, Member, MemberId, MemberState, MemberStatus, Message, Name, PublicKey, Revision,
    SessionId, SessionState, SubjectId, Timestamp,
};
use crate::proof::BearerToken;
use crate::rules::Refusal;
use crate::service::{
    ApplicationPage, IssuedChallenge, MemberStandings, OutboxPage, StandingInSession,
};

/// Returns the response with a received application: 201 `{ok, memberId, status}`.
pub fn applied(member_id: &MemberId) -> Answer {
    Answer::new(201, &Applied { ok: true, member_id, status: MemberState::Applied })
}

/// An application was received.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Applied<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
    ok: bool,
    /// The id of the member.
    member_id: &'a MemberId,
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("const" = "applied")))]
    status: MemberState,
}

/// Returns the response with the state of an application, without name, contact and key (API.md, 4.1).
pub fn application(member: &Member) -> Answer {
    Answer::ok(&ApplicationState {
        id: member.id.clone(),
        state: member.state,
        applied_at: member.applied_at,
        reviewed_at: member.reviewed_at,
        claimed_at: member.claimed_at,
    })
}

/// Returns the response with a challenge: `{memberId, challenge, expiresAt}`. It does not reveal whether the member
/// exists.
pub fn challenge(member_id: &MemberId, given: &IssuedChallenge) -> Answer {
    let (challenge, expires_at) = (given.challenge.as_str(), given.expires_at);
    Answer::ok(&Challenge { member_id, challenge, expires_at })
}

/// A challenge. It has the same form for every memberId, known or not.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Challenge<'a> {
    /// The member that asked for it.
    member_id: &'a MemberId,
    /// The text to sign.
    challenge: &'a str,
    /// When it expires.
    expires_at: Timestamp,
}

/// Returns the response with a claimed token, which is shown once: 201 `{ok, status, memberId, token}`.
pub fn claimed(member_id: &MemberId, token: &BearerToken) -> Answer {
    Answer::done(201, &Token { member_id, token: token.reveal() })
}

/// The token, shown only once.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Token<'a> {
    /// The member that it belongs to.
    member_id: &'a MemberId,
    /// The token.
    token: &'a str,
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
    let sessions = standings.sessions.iter().map(Standing::of).collect();
    Answer::ok(&Me { member: PublicMember::of(&standings.member), sessions })
}

/// A member, and the sessions that accept takes now.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Me<'a> {
    /// The member.
    member: PublicMember<'a>,
    /// The sessions, the soonest deadline first and those without one last.
    sessions: Vec<Standing<'a>>,
}

/// A session that accepts takes, and whether the member may file in it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Standing<'a> {
    /// The id of the session.
    id: SessionId,
    /// The day.
    date: Day,
    /// The subject.
    subject_id: &'a SubjectId,
    /// The deadline; null if none is set.
    window_closes_at: Option<Timestamp>,
    /// The state.
    state: SessionState,
    /// Whether takes in it are for practice, and count for nothing.
    practice: bool,
    /// Whether its brief is published.
    brief: bool,
    /// Whether a valid take with a fresh nonce would be filed.
    may_file: bool,
    /// The Swarm-Error that a take of the member would get; null if it would be filed.
    code: Option<&'static str>,
    /// The code of the rule of this desk that would refuse the take, if one would.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
    /// The text of that rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The revision that the next take of the member would have, from 1; null if the member has no takes left there.
    revision: Option<Revision>,
    /// The number of takes that the member may still file there, that one included.
    #[cfg_attr(feature = "schema", schemars(range(max = 5)))]
    takes_left: u8,
}

impl<'a> Standing<'a> {
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
    Answer::ok(&Members {
        members: members.iter().map(|member| PublicMember::of(member)).collect(),
    })
}

/// The members.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Members<'a> {
    /// Their public views.
    members: Vec<PublicMember<'a>>,
}

/// The public view of a member (API.md, 6.9).
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Member"))]
#[serde(rename_all = "camelCase")]
pub(super) struct PublicMember<'a> {
    /// The id.
    id: &'a MemberId,
    /// The name.
    name: &'a Name,
    /// Its point of view; null of a member that was erased.
    lens: Option<&'a Lens>,
    /// Whether the member may file takes.
    status: MemberStatus,
    /// The key that verifies its signatures, if it has one.
    public_key: Option<&'a PublicKey>,
    /// When it was first activated.
    joined_at: Option<Timestamp>,
}

impl<'a> PublicMember<'a> {
    fn of(member: &'a Member) -> Self {
        Self {
            id: &member.id,
            name: &member.name,
            lens: (!member.is_erased()).then_some(&member.lens),
            status: match member.state.is_active() {
                true => MemberStatus::Active,
                false => MemberStatus::Inactive,
            },
            public_key: member.public_key.as_ref(),
            joined_at: member.joined_at,
        }
    }
}

/// Returns the response with the state of a member after an operator's review: `{ok, status, memberId, state}`.
pub fn reviewed(member_id: &MemberId, state: MemberState) -> Answer {
    Answer::done(200, &Reviewed { member_id, state })
}

/// The state of a member was changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Reviewed<'a> {
    /// The member.
    member_id: &'a MemberId,
    /// Its state now.
    state: MemberState,
}

/// Returns the response with a new token, which is shown once, and the registered key: `{ok, status, memberId, token,
/// publicKey}`.
pub fn rotated(member: &Member, token: &BearerToken) -> Answer {
    let public_key = member.public_key.as_ref();
    Answer::done(200, &KeyRotated { member_id: &member.id, token: token.reveal(), public_key })
}

/// The member has a new token, and maybe a new key.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyRotated<'a> {
    /// The member.
    member_id: &'a MemberId,
    /// The token, shown only once.
    token: &'a str,
    /// The key that it has now, if it has one.
    public_key: Option<&'a PublicKey>,
}

/// Returns the response with the key that a member has now: `{ok, status, memberId, publicKey}`.
pub fn key_replaced(member: &Member) -> Answer {
    let public_key = member.public_key.as_ref();
    Answer::done(200, &KeyReplaced { member_id: &member.id, public_key })
}

/// The member has a new key.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyReplaced<'a> {
    /// The member.
    member_id: &'a MemberId,
    /// The key that it has now.
    #[cfg_attr(feature = "schema", schemars(with = "PublicKey"))]
    public_key: Option<&'a PublicKey>,
}

/// Returns the response with a page of applications, for operators: `{applications, nextAfter?}`.
pub fn applications(page: &ApplicationPage) -> Answer {
    let applications = page.applications.iter().map(|member| full_application(member)).collect();
    Answer::ok(&Applications { applications, next_after: page.next_after.clone() })
}

fn full_application(member: &Member) -> FullApplication {
    FullApplication {
        id: member.id.clone(),
        state: member.state,
        name: member.name.clone(),
        contact: (!member.is_erased()).then(|| member.contact.clone()),
        lens: (!member.is_erased()).then(|| member.lens.clone()),
        public_key: member.public_key.clone(),
        applied_at: member.applied_at,
        reviewed_at: member.reviewed_at,
        claimed_at: member.claimed_at,
    }
}

/// Returns the response with a page of the outbox: `{messages, nextAfter?}`.
pub fn outbox(page: &OutboxPage) -> Answer {
    let messages = page.messages.iter().map(|message| shown(message)).collect();
    Answer::ok(&Outbox { messages, next_after: page.next_after })
}

/// Returns the response with a changed message: `{ok, status, message}`.
pub fn message_changed(message: &Message) -> Answer {
    Answer::done(200, &MessageChanged { message: shown(message) })
}

/// A message was changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct MessageChanged {
    /// The message.
    message: QueuedMessage,
}

fn shown(message: &Message) -> QueuedMessage {
    QueuedMessage {
        id: message.id,
        to: (!message.mail.to.is_erased()).then(|| message.mail.to.clone()),
        subject: message.mail.subject.clone(),
        body: message.mail.body.clone(),
        state: message.state,
        queued_at: message.queued_at,
        sent_at: message.sent_at,
        attempts: message.attempts,
        last_error: message.last_error.clone(),
    }
}
