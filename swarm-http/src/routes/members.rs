//! Applications, members and their tokens.

use serde::Serialize;
use swarm_core::domain::{
    Application, Contact, Lens, MemberState, MessageId, Name, PublicKey, TokenClaim,
};
use swarm_core::{Instant, Invalid, Member, MemberId, Refusal};
use warp::http::StatusCode;

use crate::call::Call;
use crate::reply::{Answer, Reply, done, ok};

pub(crate) async fn apply(mut call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Applied {
        ok: bool,
        member_id: MemberId,
        status: MemberState,
    }
    let application = Application::read(&mut call.fields()).map_err(Refusal::InvalidApplication)?;
    let member_id = call.tenant().apply(application).await?;
    let applied = Applied { ok: true, member_id, status: MemberState::Applied };
    Ok(Answer::json(StatusCode::CREATED, &applied))
}

/// Never echoes name, contact or key (specification, section 2A).
pub(crate) async fn status(call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Status<'a> {
        id: &'a MemberId,
        state: MemberState,
        applied_at: Instant,
        reviewed_at: Option<Instant>,
        claimed_at: Option<Instant>,
    }
    let member = call.tenant().application(&call.member_id("application")?).await?;
    ok(&Status {
        id: &member.id,
        state: member.state,
        applied_at: member.applied_at,
        reviewed_at: member.reviewed_at,
        claimed_at: member.claimed_at,
    })
}

/// Alike for every member id (contract, section 5).
pub(crate) async fn challenge(mut call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Challenge<'a> {
        member_id: &'a MemberId,
        challenge: &'a str,
        expires_at: Instant,
    }
    let id = call.fields().text("memberId").and_then(MemberId::parse);
    let id = id.map_err(Refusal::InvalidChallengeRequest)?;
    let given = call.tenant().challenge(&id).await?;
    ok(&Challenge {
        member_id: &id,
        challenge: given.challenge.as_str(),
        expires_at: given.expires_at,
    })
}

pub(crate) async fn claim(mut call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Claimed<'a> {
        member_id: MemberId,
        token: &'a str,
    }
    let claim = TokenClaim::read(&mut call.fields()).map_err(Refusal::InvalidTokenClaim)?;
    let member_id = claim.payload.member_id.clone();
    let token = call.tenant().claim(claim).await?;
    done(StatusCode::CREATED, &Claimed { member_id, token: token.reveal() })
}

pub(crate) async fn verify_token(call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Bearer<'a> {
        member_id: &'a MemberId,
    }
    let member = call.tenant().bearer(&call.bearer()?).await?;
    ok(&Bearer { member_id: &member.id })
}

pub(crate) async fn list(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Members<'a> {
        members: Vec<PublicMember<'a>>,
    }
    let members = call.tenant().members().await?;
    ok(&Members { members: members.iter().map(|member| public(member)).collect() })
}

pub(crate) async fn one(call: Call) -> Reply {
    ok(&public(&*call.tenant().member(&call.member_id("member")?).await?))
}

/// A member as everyone may see it (contract, section 4).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicMember<'a> {
    id: &'a MemberId,
    name: &'a Name,
    lens: &'a Lens,
    status: &'static str,
    public_key: Option<&'a PublicKey>,
    joined_at: Option<Instant>,
}

fn public(member: &Member) -> PublicMember<'_> {
    PublicMember {
        id: &member.id,
        name: &member.name,
        lens: &member.lens,
        status: if member.state.is_active() { "active" } else { "inactive" },
        public_key: member.public_key.as_ref(),
        joined_at: member.joined_at,
    }
}

pub(crate) async fn activate(mut call: Call) -> Reply {
    let id = call.operator_fields(|fields| MemberId::parse(fields.text("memberId")?))?;
    let state = call.tenant().activate(&id).await?;
    reviewed(id, state)
}

pub(crate) async fn reject(mut call: Call) -> Reply {
    let id = call.operator_fields(|fields| MemberId::parse(fields.text("memberId")?))?;
    let state = call.tenant().reject(&id).await?;
    reviewed(id, state)
}

pub(crate) async fn deactivate(mut call: Call) -> Reply {
    let id = call.operator_fields(|fields| MemberId::parse(fields.text("memberId")?))?;
    let state = call.tenant().deactivate(&id).await?;
    reviewed(id, state)
}

fn reviewed(member_id: MemberId, state: MemberState) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reviewed {
        member_id: MemberId,
        state: MemberState,
    }
    done(StatusCode::OK, &Reviewed { member_id, state })
}

pub(crate) async fn applications(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Applications<'a> {
        applications: Vec<FullApplication<'a>>,
    }
    let state = call.query().get("state").map(|text| member_state(text)).transpose()?;
    let members = call.tenant().applications(state).await?;
    ok(&Applications { applications: members.iter().map(|member| full(member)).collect() })
}

fn member_state(text: &str) -> Result<MemberState, Refusal> {
    let invalid = || Invalid::new("state", "must be the name of a member state");
    MemberState::parse(text).ok_or_else(|| Refusal::InvalidRequest(invalid()))
}

/// An application as operators may see it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullApplication<'a> {
    id: &'a MemberId,
    state: MemberState,
    name: &'a Name,
    contact: &'a Contact,
    lens: &'a Lens,
    public_key: Option<&'a PublicKey>,
    applied_at: Instant,
    reviewed_at: Option<Instant>,
    claimed_at: Option<Instant>,
}

fn full(member: &Member) -> FullApplication<'_> {
    FullApplication {
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

/// The messages to members. Nothing delivers them yet: each is `queued`.
pub(crate) async fn outbox(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Outbox<'a> {
        messages: Vec<Message<'a>>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Message<'a> {
        id: MessageId,
        to: &'a Contact,
        subject: &'a str,
        body: &'a str,
        state: &'static str,
        queued_at: Instant,
    }
    let queued = call.tenant().outbox().await?;
    let messages = queued.iter().map(|queued| Message {
        id: queued.id,
        to: &queued.mail.to,
        subject: &queued.mail.subject,
        body: &queued.mail.body,
        state: "queued",
        queued_at: queued.queued_at,
    });
    ok(&Outbox { messages: messages.collect() })
}
