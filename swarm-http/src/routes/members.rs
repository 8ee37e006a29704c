//! Applications, members and their tokens.

use swarm_core::domain::{
    Actor, Application, Contact, Erasure, KeyReplacementRequest, KeyRotation, MailAddress,
    MemberName, MemberState, MemberUpdate, MessageId, Signed, TokenClaim,
};
use swarm_core::wire::Problem::{
    self, AlreadyClaimed, BadSignature, ClaimRefused, InvalidApplication, InvalidChallengeRequest,
    InvalidRequest, InvalidTokenClaim, KeyRegistered, MessageState, NoKey, NotFound, QuotaReached,
    UnknownToken,
};
use swarm_core::{MemberId, Refusal, Resource, rules, wire};

use crate::fairness::ClientShare;
use crate::request::RequestContext;
use crate::request::command::Command;
use crate::request::credential::Access::{Member, Operator, Public};
use crate::request::extract::{Fields, MemberOrder, NoFields, Order};
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page, SEARCH_TEXT, number};
use crate::request::route::{Parameter, Route, Section, Work, cached, post, read, read_as};
use crate::response::{Answer, Reply};
use crate::schema::HasSchema as _;
use crate::tenants::Role;

/// Maximum bodies of an application, a request for a challenge and a token claim, in bytes. Every valid one fits, however
/// its JSON is escaped: a character takes 12 bytes at most.
const APPLICATION_LIMIT: usize = 64 << 10;
const CHALLENGE_LIMIT: usize = 2 << 10;
const CLAIM_LIMIT: usize = 32 << 10;

/// The query parameters of the list of members.
pub(super) const MEMBER_LIST: &[Parameter] = &[("q", SEARCH_TEXT)];

/// Joining, members, and what operators do with them.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Joining.rows(vec![
            post(Public, "/api/swarm/apply", apply)
                .about("Apply, signed with the key that is applied with")
                .up_to(APPLICATION_LIMIT)
                .answers(201, &["Applied"])
                .refuses(&[InvalidApplication, BadSignature, KeyRegistered, QuotaReached]),
            read("/api/swarm/apply/{id}", status)
                .about("How far an application has come")
                .part(MemberId::SCHEMA)
                .answers(200, &["ApplicationState"])
                .refuses(&[NotFound]),
            post(Public, "/api/swarm/token-claim/challenge", challenge)
                .about("A challenge to sign, good for 10 minutes")
                .up_to(CHALLENGE_LIMIT)
                .answers(200, &["Challenge"])
                .refuses(&[InvalidChallengeRequest]),
            post(Public, "/api/swarm/token-claim", claim)
                .about("Claim the bearer token with a signed challenge, once")
                .up_to(CLAIM_LIMIT)
                .answers(201, &["Token"])
                .refuses(&[InvalidTokenClaim, ClaimRefused, AlreadyClaimed]),
            post(Member, "/api/swarm/key", replace_key)
                .about("Replace your own key by one that the old key endorses; the token stays")
                .up_to(CLAIM_LIMIT)
                .answers(200, &["KeyReplaced"])
                .refuses(&[InvalidRequest, UnknownToken, BadSignature, NoKey, KeyRegistered]),
            read_as(Member, "/api/swarm/verify-token", verify_token)
                .about("Whose token this is")
                .answers(200, &["MemberName"])
                .refuses(&[UnknownToken]),
            read_as(Member, "/api/swarm/me", me)
                .with(Work::Long)
                .about("Whose token this is, and in which sessions its member may file now")
                .answers(200, &["Me"])
                .refuses(&[UnknownToken]),
        ]),
        Section::Records.rows(vec![
            cached("/api/swarm/members", list)
                .about("The active members, found by text")
                .query(MEMBER_LIST)
                .answers(200, &["Members"]),
            read("/api/swarm/members/{id}", one)
                .with(Work::CachedShort)
                .about("A member")
                .part(MemberId::SCHEMA)
                .answers(200, &["Member"])
                .refuses(&[NotFound]),
        ]),
        Section::Operating.rows(vec![
            read_as(Operator(Role::Reader), "/api/swarm/admin/applications", applications)
                .about("Applications by memberId, with name and contact")
                .query(&[
                    ("state", MemberState::SCHEMA),
                    ("limit", PAGE_LIMIT),
                    ("after", MemberId::SCHEMA),
                ])
                .with(Work::Long)
                .answers(200, &["Applications"])
                .refuses(&[InvalidRequest]),
            post(Operator(Role::Admin), "/api/swarm/admin/activate", activate)
                .about("Let an applicant in, or a member in again")
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState, KeyRegistered])
                .command(
                    review("activate", "Zoë")
                        .several(true)
                        .form("Activate", "The member is activated"),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/members/update", update)
                .about("Change the name, the contact or the lens of a member")
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState])
                .command(
                    Command::new(
                        "update",
                        "Zoë --contact zoe@acme.example",
                        "{memberId} is changed",
                    )
                    .form("Save the record", "The record is saved"),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/reject", reject)
                .about("Turn an applicant down")
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState])
                .command(
                    review("reject", "Mallory")
                        .several(false)
                        .form("Reject", "The application is rejected")
                        .means(
                            "Who applied is turned down, and can claim no token. The public log does not have it. \
                             Activating the applicant undoes it.",
                        ),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/deactivate", deactivate)
                .about("Shut a member out: its token resolves no more")
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState])
                .command(
                    review("deactivate", "Zoë")
                        .form("Deactivate", "The member is deactivated")
                        .means(
                            "Its token stops working at once, and the log and its page say that it is inactive. Takes \
                             on file stay, and count. Activating the member undoes it.",
                        ),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/reset-claim", reset_claim)
                .about("Let a member that lost its token claim a new one with its key")
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState])
                .command(
                    review("reset-claim", "Zoë")
                        .form(
                            "Reset the claim",
                            "The token is dead, and the member may claim another with its key",
                        )
                        .means(
                            "Its token stops working at once, for good, and the member claims another with its key. \
                             The log says so. Takes on file stay, and count.",
                        ),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/erase", erase)
                .with(Work::Long)
                .about(
                    "Erase name, contact, lens and memos of a member that is not active, for good; \
                     with texts, also the write-ups and memo addresses of its takes",
                )
                .answers(200, &["Reviewed"])
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState, Problem::TakesSealed])
                .command(
                    Command::new("erase", "Zoë --yes", "{memberId} is erased")
                        .row(REVIEWED)
                        .irreversible()
                        .form("Erase the member", "Erased")
                        .destructive(),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/rotate-key", rotate_key)
                .about("A new token for a member, and a new key where one is given")
                .answers(200, &["KeyRotated"])
                .mints("token")
                .refuses(&[InvalidRequest, NotFound, Problem::MemberState, KeyRegistered])
                .command(
                    Command::new(
                        "rotate-key",
                        "Zoë --yes",
                        "{memberId}: the new token is shown this once",
                    )
                    .irreversible()
                    .form("Replace the token", "New token")
                    .destructive(),
                ),
            read_as(Operator(Role::Reader), "/api/swarm/admin/outbox", outbox)
                .about("Messages to members, and what became of them")
                .query(&[("limit", PAGE_LIMIT), ("after", MessageId::SCHEMA)])
                .with(Work::Long)
                .answers(200, &["Outbox"]),
            post(Operator(Role::Admin), "/api/swarm/admin/outbox/{id}/retry", retry_message)
                .about("Queue a message again that is not sent")
                .answers(200, &["MessageChanged"])
                .refuses(&[InvalidRequest, NotFound, MessageState])
                .command(
                    Command::new("retry", "7", "message {id} is queued again")
                        .below("outbox")
                        .form("Queue again", "The message is queued again"),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/outbox/{id}/cancel", cancel_message)
                .about("Give up a message that is not sent")
                .answers(200, &["MessageChanged"])
                .refuses(&[InvalidRequest, NotFound, MessageState])
                .command(
                    Command::new("cancel", "7", "message {id} is cancelled")
                        .below("outbox")
                        .form("Give up", "The message is given up"),
                ),
            post(Operator(Role::Admin), "/api/swarm/admin/mail/test", test_mail)
                .about("Queue a message that tests the delivery to an address")
                .answers(200, &["MessageChanged"])
                .mints("message.id")
                .refuses(&[InvalidRequest])
                .command(
                    Command::new("test", "ada@acme.example", "the test is queued")
                        .below("mail")
                        .awaited("message")
                        .form("Send a test", "The test is queued"),
                ),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The members of an answer about a member.
const REVIEWED: &[&str] = &["memberId", "state"];

/// A command that changes the state of members.
fn review(words: &'static str, example: &'static str) -> Command {
    Command::new(words, example, "{memberId} is {state}").row(REVIEWED)
}

pub(crate) async fn apply(
    request: RequestContext,
    Fields(application): Fields<Signed<Application>>,
) -> Reply {
    let application = application.map_err(Refusal::InvalidApplication)?;
    let tenant = request.tenant();
    let day = tenant.now().await?.day();
    let (counts, most) = (&request.site.applications, tenant.quotas().applications_per_address);
    // Without client addresses there is nothing to count by.
    let counted = ClientShare::current().map(|it| counts.count(tenant.id(), it.key(), day, most));
    let member_id = match &counted {
        Some(None) => tenant.apply_over_quota(application).await?,
        _ => tenant.apply(application).await?,
    };
    if let Some(counted) = counted.flatten() {
        counted.keep();
    }
    Ok(wire::members::applied(&member_id).into())
}

pub(crate) async fn status(request: RequestContext) -> Reply {
    let member = request.tenant().application(&request.member_id(Resource::Application)?).await?;
    Ok(wire::members::application(&member).into())
}

/// Alike for every member id (API.md, 4.3).
pub(crate) async fn challenge(request: RequestContext, Fields(named): Fields<MemberName>) -> Reply {
    let MemberName { member_id: id } = named.map_err(Refusal::InvalidChallengeRequest)?;
    let given = request.tenant().challenge(&id, &request.public_origin()).await?;
    Ok(wire::members::challenge(&id, &given).into())
}

pub(crate) async fn claim(
    request: RequestContext,
    Fields(claim): Fields<Signed<TokenClaim>>,
) -> Reply {
    let claim = claim.map_err(Refusal::InvalidTokenClaim)?;
    let member_id = claim.payload.member_id.clone();
    let token = request.tenant().claim(claim, &request.public_origin()).await?;
    Ok(wire::members::claimed(&member_id, &token).into())
}

pub(crate) async fn verify_token(request: RequestContext) -> Reply {
    let member = request.tenant().calling(request.caller()?).await?;
    Ok(wire::members::bearer(&member).into())
}

pub(crate) async fn me(request: RequestContext) -> Reply {
    let standings = request.tenant().standings(request.caller()?).await?;
    Ok(wire::members::standings(&standings).into())
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    let mut members = request.tenant().members().await?;
    if let Some(needle) = request.needle() {
        members.retain(|member| needle.is_in_member(member));
    }
    Ok(wire::members::all(&members).into())
}

pub(crate) async fn one(request: RequestContext) -> Reply {
    let id = request.member_id(Resource::Member)?;
    Ok(wire::members::public(&*request.tenant().member(&id).await?).into())
}

pub(crate) async fn activate(
    request: RequestContext,
    Order(MemberName { member_id: id }): Order<MemberName>,
    by: Actor,
) -> Reply {
    let state = request.tenant().activate(&id, &request.public_origin(), &by).await?;
    Ok(wire::members::reviewed(&id, state).into())
}

pub(crate) async fn update(
    request: RequestContext,
    Order(MemberUpdate { member_id, patch }): Order<MemberUpdate>,
    by: Actor,
) -> Reply {
    let state = request.tenant().update_member(&member_id, &patch, &by).await?;
    Ok(wire::members::reviewed(&member_id, state).into())
}

pub(crate) async fn reject(
    request: RequestContext,
    Order(MemberName { member_id: id }): Order<MemberName>,
    by: Actor,
) -> Reply {
    let state = request.tenant().reject(&id, &by).await?;
    Ok(wire::members::reviewed(&id, state).into())
}

pub(crate) async fn deactivate(
    request: RequestContext,
    Order(MemberName { member_id: id }): Order<MemberName>,
    by: Actor,
) -> Reply {
    let state = request.tenant().deactivate(&id, &by).await?;
    Ok(wire::members::reviewed(&id, state).into())
}

pub(crate) async fn reset_claim(
    request: RequestContext,
    Order(MemberName { member_id: id }): Order<MemberName>,
    by: Actor,
) -> Reply {
    let state = request.tenant().reset_claim(&id, &by).await?;
    Ok(wire::members::reviewed(&id, state).into())
}

pub(crate) async fn erase(
    request: RequestContext,
    Order(Erasure { member_id, texts }): Order<Erasure>,
    by: Actor,
) -> Reply {
    let state = request.tenant().erase(&member_id, texts, &by).await?;
    let answer = Answer::from(wire::members::reviewed(&member_id, state));
    Ok(answer.with_cautions(vec![rules::erasure(texts)]))
}

pub(crate) async fn replace_key(
    request: RequestContext,
    MemberOrder(replacement): MemberOrder<KeyReplacementRequest>,
) -> Reply {
    let member = request.tenant().replace_own_key(request.caller()?, &replacement).await?;
    Ok(wire::members::key_replaced(&member).into())
}

/// A new token, which is shown once, and a new key if one is sent.
pub(crate) async fn rotate_key(
    request: RequestContext,
    Order(KeyRotation { member_id: id, public_key: key }): Order<KeyRotation>,
    by: Actor,
) -> Reply {
    let (member, token) = request.tenant().rotate_key(&id, key.as_ref(), &by).await?;
    let answer = Answer::from(wire::members::rotated(&member, &token));
    Ok(answer.with_cautions(vec![rules::replaced_credential()]))
}

pub(crate) async fn applications(request: RequestContext) -> Reply {
    let state = request.query().get("state").map(|text| member_state(text)).transpose()?;
    let Page { limit, position } =
        request.page(MAX_PAGE, "after", |id| MemberId::parse(id).ok())?;
    let page = request.tenant().applications(state, position, limit).await?;
    let next = page.next_after.as_ref();
    Ok(request.linked(wire::members::applications(&page), "after", next))
}

fn member_state(text: &str) -> Result<MemberState, Refusal> {
    text.parse().map_err(Refusal::InvalidRequest)
}

pub(crate) async fn retry_message(
    request: RequestContext,
    _: NoFields,
    id: MessageId,
    by: Actor,
) -> Reply {
    let message = request.tenant().retry_message(id, &by).await?;
    Ok(wire::members::message_changed(&message).into())
}

pub(crate) async fn cancel_message(
    request: RequestContext,
    _: NoFields,
    id: MessageId,
    by: Actor,
) -> Reply {
    let message = request.tenant().cancel_message(id, &by).await?;
    Ok(wire::members::message_changed(&message).into())
}

pub(crate) async fn test_mail(
    request: RequestContext,
    Order(MailAddress { address }): Order<MailAddress>,
    by: Actor,
) -> Reply {
    let to = Contact::parse(address).map_err(Refusal::InvalidRequest)?;
    let message = request.tenant().test_mail(&to, &request.public_origin(), &by).await?;
    Ok(wire::members::message_changed(&message).into())
}

/// The messages to members, with the state of their delivery.
pub(crate) async fn outbox(request: RequestContext) -> Reply {
    let Page { limit, position } =
        request.page(MAX_PAGE, "after", |id| number(id).map(MessageId))?;
    let page = request.tenant().outbox(position, limit).await?;
    Ok(request.linked(wire::members::outbox(&page), "after", page.next_after))
}
