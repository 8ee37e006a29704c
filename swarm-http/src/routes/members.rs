//! Applications, members and their tokens.

use serde::Serialize;
use swarm_core::domain::{
    Application, Contact, Lens, MailState, MemberState, MessageId, Name, PublicKey, TokenClaim,
};
use swarm_core::{Invalid, Member, MemberId, Refusal, Resource, Timestamp};
use warp::http::StatusCode;

use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply, done, ok};

pub(crate) async fn apply(mut request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Applied {
        ok: bool,
        member_id: MemberId,
        status: MemberState,
    }
    let application =
        Application::read(&mut request.fields()).map_err(Refusal::InvalidApplication)?;
    let member_id = request.tenant().apply(application).await?;
    let applied = Applied { ok: true, member_id, status: MemberState::Applied };
    Ok(Answer::json(StatusCode::CREATED, &applied))
}

/// Never echoes name, contact or key (specification, section 2A).
pub(crate) async fn status(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Status<'a> {
        id: &'a MemberId,
        state: MemberState,
        applied_at: Timestamp,
        reviewed_at: Option<Timestamp>,
        claimed_at: Option<Timestamp>,
    }
    let member = request.tenant().application(&request.member_id(Resource::Application)?).await?;
    ok(&Status {
        id: &member.id,
        state: member.state,
        applied_at: member.applied_at,
        reviewed_at: member.reviewed_at,
        claimed_at: member.claimed_at,
    })
}

/// Alike for every member id (contract, section 5).
pub(crate) async fn challenge(mut request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Challenge<'a> {
        member_id: &'a MemberId,
        challenge: &'a str,
        expires_at: Timestamp,
    }
    let id = request.fields().text("memberId").and_then(MemberId::parse);
    let id = id.map_err(Refusal::InvalidChallengeRequest)?;
    let given = request.tenant().challenge(&id).await?;
    ok(&Challenge {
        member_id: &id,
        challenge: given.challenge.as_str(),
        expires_at: given.expires_at,
    })
}

pub(crate) async fn claim(mut request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Claimed<'a> {
        member_id: MemberId,
        token: &'a str,
    }
    let claim = TokenClaim::read(&mut request.fields()).map_err(Refusal::InvalidTokenClaim)?;
    let member_id = claim.payload.member_id.clone();
    let token = request.tenant().claim(claim).await?;
    done(StatusCode::CREATED, &Claimed { member_id, token: token.reveal() })
}

pub(crate) async fn verify_token(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Bearer<'a> {
        member_id: &'a MemberId,
    }
    let member = request.tenant().bearer(&request.bearer()?).await?;
    ok(&Bearer { member_id: &member.id })
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    struct Members<'a> {
        members: Vec<PublicMember<'a>>,
    }
    let members = request.tenant().members().await?;
    ok(&Members { members: members.iter().map(|member| public(member)).collect() })
}

pub(crate) async fn one(request: RequestContext) -> Reply {
    ok(&public(&*request.tenant().member(&request.member_id(Resource::Member)?).await?))
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
    joined_at: Option<Timestamp>,
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

pub(crate) async fn activate(mut request: RequestContext) -> Reply {
    let id = named(&mut request)?;
    let state = request.tenant().activate(&id, &request.origin()).await?;
    reviewed(id, state)
}

pub(crate) async fn reject(mut request: RequestContext) -> Reply {
    let id = named(&mut request)?;
    let state = request.tenant().reject(&id).await?;
    reviewed(id, state)
}

pub(crate) async fn deactivate(mut request: RequestContext) -> Reply {
    let id = named(&mut request)?;
    let state = request.tenant().deactivate(&id).await?;
    reviewed(id, state)
}

/// The member that an operator's request names.
fn named(request: &mut RequestContext) -> Result<MemberId, ApiError> {
    request.operator_fields(|fields| MemberId::parse(fields.text("memberId")?))
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

/// A new token, shown this once, and a new key where one is sent.
pub(crate) async fn rotate_key(mut request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Rotated<'a> {
        member_id: &'a MemberId,
        token: &'a str,
        public_key: Option<&'a PublicKey>,
    }
    let (id, key) = request.operator_fields(|fields| {
        let key = fields.text_if_any("publicKey")?;
        let key = key.map(|key| PublicKey::parse(&key)).transpose()?;
        Ok((MemberId::parse(fields.text("memberId")?)?, key))
    })?;
    let (member, token) = request.tenant().rotate_key(&id, key.as_ref()).await?;
    let public_key = member.public_key.as_ref();
    let rotated = Rotated { member_id: &member.id, token: token.reveal(), public_key };
    done(StatusCode::OK, &rotated)
}

pub(crate) async fn applications(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    struct Applications<'a> {
        applications: Vec<FullApplication<'a>>,
    }
    let state = request.query().get("state").map(|text| member_state(text)).transpose()?;
    let members = request.tenant().applications(state).await?;
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
    applied_at: Timestamp,
    reviewed_at: Option<Timestamp>,
    claimed_at: Option<Timestamp>,
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

/// The messages to members, and what became of them.
pub(crate) async fn outbox(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    struct Outbox<'a> {
        messages: Vec<Shown<'a>>,
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
    let messages = request.tenant().outbox().await?;
    let shown = messages.iter().map(|message| Shown {
        id: message.id,
        to: &message.mail.to,
        subject: &message.mail.subject,
        body: &message.mail.body,
        state: message.state,
        queued_at: message.queued_at,
        sent_at: message.sent_at,
        attempts: message.attempts,
        last_error: message.last_error.as_deref(),
    });
    ok(&Outbox { messages: shown.collect() })
}
