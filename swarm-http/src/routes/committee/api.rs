//! Routes of interface B (API.md, 8).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use http::header::{HeaderValue, LAST_MODIFIED};
use swarm_core::domain::committee::{
    CommitteeDraft, CommitteeMemberDraft, CommitteeMemberId, CommitteeMemberPatch, GenerationOrder,
    StatusOrder, SubjectOrder, SynthesisOrder, WithdrawalOrder,
};
use swarm_core::domain::{Actor, Day, Form};
use swarm_core::rules::CautionCode;
use swarm_core::wire::Problem::{
    BadConfidence, BadStance, BodyTooLong, BodyTooShort, InvalidKey, InvalidRequest,
    InvalidSubmission, MemberExists, MissingStanceLine, NoBrief, NoSubject, NotActive, NotFound,
    NotPersisted, QuotaReached, WindowClosed,
};
use swarm_core::{CommitteeRefusal, Resource, Timestamp, rules, wire};

use crate::committee::Failure;
use crate::metrics::Submitted;
use crate::request::RequestContext;
use crate::request::body::MAX_PARSED_INLINE;
use crate::request::command::{Command, FormPreview};
use crate::request::committee_access::CommitteeAccess;
use crate::request::credential::Access;
use crate::request::extract::orders;
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page};
use crate::request::route::{Extract, Parameter, Route, Section, Work, post, read, read_as};
use crate::response::{Answer, ApiError, Reply, ok};
use crate::schema::{HasSchema as _, SchemaRef, schema};
use crate::tenants::Role;

/// The number of days that are read to know whether the list has more: not every day has a session.
const DAYS_AHEAD: usize = 7;

/// The API key of a member.
const MEMBER: Access = Access::Committee(CommitteeAccess::Member);

/// The token of an operator in this role.
const fn operator(role: Role) -> Access {
    Access::Committee(CommitteeAccess::Operator(role))
}

/// The query parameters of the list of sessions.
pub(super) const COMMITTEE_LIST: &[Parameter] = &[("limit", PAGE_LIMIT), ("before", Day::SCHEMA)];

const BRIEF_FILE: SchemaRef = schema!("server", "BriefFile", {
    "type": "string", "description": "The id of the member, followed by .json."
});

/// The routes of interface B.
pub(super) fn routes() -> Vec<Route> {
    Section::Committee.rows(vec![
        read("/data/committee/briefs/today/{file}", brief)
            .with(Work::Long)
            .about("The brief of a member for today")
            .part(BRIEF_FILE)
            .answers(200, &["CommitteeBrief"])
            .refuses(&[NotFound]),
        post(MEMBER, "/api/ic/submit", submit)
            .about("Submit a take to the day's session; the newest counts")
            .takes::<CommitteeDraft>()
            .unread()
            .counted(Submitted::CommitteeTake)
            .answers(200, &["CommitteeReceipt"])
            .refuses(&[
                InvalidKey,
                NotActive,
                BadStance,
                BadConfidence,
                BodyTooShort,
                BodyTooLong,
                MissingStanceLine,
                InvalidSubmission,
                NoBrief,
                WindowClosed,
                QuotaReached,
                NotPersisted,
            ]),
        read("/api/ic/sessions", sessions)
            .about("Sessions of the committee, latest first")
            .query(COMMITTEE_LIST)
            .with(Work::Long)
            .answers(200, &["CommitteeSessions"]),
        read("/api/ic/sessions/{date}", session)
            .about("A session of the committee")
            .part(Day::SCHEMA)
            .with(Work::Long)
            .answers(200, &["CommitteeSession"])
            .refuses(&[NotFound]),
        read_as(operator(Role::Reader), "/api/ic/admin/members", members)
            .with(Work::Long)
            .about("All members of the committee, by id")
            .answers(200, &["CommitteeMembers"]),
        post(operator(Role::Admin), "/api/ic/admin/members", create_member)
            .about("Create a member; the API key is shown once")
            .answers(201, &["CommitteeKey"])
            .mints("api_key")
            .refuses(&[InvalidRequest, MemberExists])
            .command(
                of_member(
                    "add",
                    "chair --name Chair",
                    "added {id}; its API key is shown this once",
                )
                .flag("name", "name")
                .files(&["voice"])
                .form("Create the member", "Key"),
            ),
        post(operator(Role::Admin), "/api/ic/admin/members/{id}", update_member)
            .about("Change the name, the lens or the voice of a member")
            .answers(200, &["CommitteeMemberUpdated"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                of_member("update", "chair --lens 'Cash first'", "{id} is changed")
                    .files(&["voice"])
                    .form("Save the record", "The record is saved"),
            ),
        post(operator(Role::Admin), "/api/ic/admin/members/{id}/rotate-key", rotate_key)
            .about("Replace a member's API key; the old one stops working at once")
            .answers(200, &["CommitteeKey"])
            .mints("api_key")
            .refuses(&[InvalidRequest, NotFound])
            .command(
                of_member("rotate-key", "chair --yes", "{id}: the new API key is shown this once")
                    .irreversible()
                    .form("Replace the key", "New key")
                    .destructive(),
            ),
        post(operator(Role::Admin), "/api/ic/admin/members/{id}/status", set_status)
            .about("Allow a member to submit, or not")
            .answers(200, &["CommitteeWritten"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                of_member("status", "chair inactive", "{id} is {status}")
                    .form("Set the status", "The status is set")
                    .means(
                        "A member that is set inactive has no brief and cannot submit from then on. What it \
                         submitted stays. To set it active undoes that.",
                    ),
            ),
        read_as(operator(Role::Reader), "/api/ic/admin/days/{date}", filing)
            .with(Work::Long)
            .about("Who has filed on a day and who has not, before its deadline too")
            .part(Day::SCHEMA)
            .answers(200, &["CommitteeFiling"])
            .refuses(&[NotFound]),
        post(operator(Role::Operator), "/api/ic/admin/day", set_subject)
            .about("Set the subject of a day")
            .answers(200, &["CommitteeWritten"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                Command::new("day", "2026-11-21 aurora", "{date}: its subject is set")
                    .below("committee")
                    .form("Set the subject", "The subject of the day is set"),
            ),
        post(operator(Role::Operator), "/api/ic/admin/briefs", generate)
            .with(Work::Long)
            .about("Generate today's briefs now, replacing existing ones")
            .optional_body()
            .answers(201, &["CommitteeGenerated"])
            .refuses(&[InvalidRequest, NotFound, NoSubject, WindowClosed])
            .command(
                Command::new("briefs", "--deadline +40m", "today's briefs are generated")
                    .below("committee")
                    .about("today's briefs")
                    .flag("subject_id", "subject")
                    .flag("deadline_utc", "deadline")
                    .asks(CautionCode::EARLY)
                    .shown_first(FormPreview::Cautioned)
                    .form("Generate the briefs", "The briefs are generated"),
            ),
        post(operator(Role::Operator), "/api/ic/admin/day/withdraw", withdraw)
            .about("Withdraw a day that was generated by mistake; its submissions stay on record")
            .answers(200, &["CommitteeWritten"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                Command::new(
                    "withdraw",
                    "2026-11-21 --yes",
                    "{date} is withdrawn; its submissions stay on record",
                )
                .below("committee")
                .irreversible()
                .without_proof()
                .form("Withdraw the day", "The day is withdrawn")
                .destructive(),
            ),
        post(operator(Role::Operator), "/api/ic/admin/synthesis", set_synthesis)
            .about("Set the synthesis of a session")
            .answers(200, &["CommitteeWritten"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                Command::new(
                    "synthesis",
                    "2026-11-21 synthesis.md",
                    "{date}: its synthesis is set",
                )
                .below("committee")
                .files(&["synthesis"])
                .form("Set the synthesis", "The synthesis is set"),
            ),
    ])
}

/// A command about a member.
fn of_member(word: &'static str, example: &'static str, done: &'static str) -> Command {
    Command::new(word, example, done).below("committee member")
}

/// The brief file of a member for today, with links to the origin in use.
pub(crate) async fn brief(request: RequestContext) -> Reply {
    let absent = || CommitteeRefusal::NotFound(Resource::Brief);
    let file = request.path.first().map(String::as_str).unwrap_or_default();
    let member = file.strip_suffix(".json").map(CommitteeMemberId::parse);
    let member = member.and_then(Result::ok).ok_or_else(absent)?;
    let brief = request.committee()?.brief(&member).await?;
    let text = brief.text(&request.origin());
    let mut answer = Answer::new(StatusCode::OK, "application/json", text);
    let modified = HeaderValue::try_from(http_date(brief.generated_at));
    modified.map(|date| answer.headers.insert(LAST_MODIFIED, date)).ok();
    Ok(answer)
}

fn http_date(moment: Timestamp) -> String {
    let since_1970 = Duration::from_millis(u64::try_from(moment.millis()).unwrap_or_default());
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since_1970)
}

/// Passes the body unparsed: the rules check the key before the body. The worker pool parses a large one.
pub(crate) async fn submit(request: RequestContext) -> Reply {
    if request.bytes.len() <= MAX_PARSED_INLINE {
        return file(request).await;
    }
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    site.workers.run(served.jobs(), file(request)).await
}

async fn file(request: RequestContext) -> Reply {
    let filed = request.committee()?.submit(request.api_key()?, &request.bytes).await;
    Ok(wire::committee::filed(&filed.map_err(Failure::Submission)?).into())
}

pub(crate) async fn sessions(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(MAX_PAGE, "before", |day| Day::parse(day).ok())?;
    let committee = request.committee()?;
    let sessions = committee.sessions(position, limit).await?;
    let next = match sessions.last() {
        Some(last) if !committee.sessions(Some(last.date), DAYS_AHEAD).await?.is_empty() => {
            Some(last.date)
        }
        _ => None,
    };
    Ok(request.linked(wire::committee::sessions(&sessions), "before", next))
}

pub(crate) async fn session(request: RequestContext) -> Reply {
    let day = request.path.first().and_then(|text| Day::parse(text).ok());
    let day = day.ok_or(CommitteeRefusal::NotFound(Resource::Session))?;
    ok(&request.committee()?.session(day).await?)
}

/// All members, as their operator sees them.
pub(crate) async fn members(request: RequestContext) -> Reply {
    Ok(wire::committee::members(&request.committee()?.members().await?).into())
}

pub(crate) async fn create_member(
    request: RequestContext,
    CommitteeOrder(draft): CommitteeOrder<CommitteeMemberDraft>,
    by: Actor,
) -> Reply {
    let key = request.committee()?.create_member(&draft, &by).await?;
    Ok(wire::committee::member_created(&draft.id, &key).into())
}

pub(crate) async fn rotate_key(
    request: RequestContext,
    id: CommitteeMemberId,
    _: NoCommitteeFields,
    by: Actor,
) -> Reply {
    let key = request.committee()?.rotate_member_key(&id, &by).await?;
    let answer = Answer::from(wire::committee::key_rotated(&id, &key));
    Ok(answer.with_cautions(vec![rules::replaced_credential()]))
}

pub(crate) async fn update_member(
    request: RequestContext,
    id: CommitteeMemberId,
    CommitteeOrder(patch): CommitteeOrder<CommitteeMemberPatch>,
    by: Actor,
) -> Reply {
    let member = request.committee()?.update_member(&id, &patch, &by).await?;
    Ok(wire::committee::member_updated(&member).into())
}

pub(crate) async fn filing(request: RequestContext) -> Reply {
    let date = request.path.first().and_then(|date| Day::parse(date).ok());
    let date = date.ok_or(CommitteeRefusal::NotFound(Resource::Session))?;
    ok(&request.committee()?.day_filing(date).await?)
}

pub(crate) async fn set_status(
    request: RequestContext,
    id: CommitteeMemberId,
    CommitteeOrder(StatusOrder { status }): CommitteeOrder<StatusOrder>,
    by: Actor,
) -> Reply {
    request.committee()?.set_member_status(&id, status, &by).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn set_subject(
    request: RequestContext,
    CommitteeOrder(order): CommitteeOrder<SubjectOrder>,
    by: Actor,
) -> Reply {
    request.committee()?.set_subject(&order, &by).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn generate(
    request: RequestContext,
    CommitteeOrder(order): CommitteeOrder<GenerationOrder>,
    by: Actor,
) -> Reply {
    let committee = request.committee()?;
    let cautions = match &request.dry_run {
        Some(_) => committee.generation_cautions(&order).await?,
        None => Vec::new(),
    };
    let answer = wire::committee::generated(&committee.generate(&order, &by).await?);
    Ok(Answer::from(answer).with_cautions(cautions))
}

pub(crate) async fn set_synthesis(
    request: RequestContext,
    CommitteeOrder(order): CommitteeOrder<SynthesisOrder>,
    by: Actor,
) -> Reply {
    request.committee()?.set_synthesis(&order, &by).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn withdraw(
    request: RequestContext,
    CommitteeOrder(WithdrawalOrder { date }): CommitteeOrder<WithdrawalOrder>,
    by: Actor,
) -> Reply {
    request.committee()?.withdraw(date, &by).await?;
    let answer = Answer::from(wire::committee::written());
    Ok(answer.with_cautions(vec![rules::committee::withdrawn_day()]))
}

impl Extract for CommitteeMemberId {
    fn describe(route: Route) -> Route {
        route.part(Self::SCHEMA)
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        let id = request.path.first().and_then(|id| Self::parse(id.as_str()).ok());
        Ok(id.ok_or(CommitteeRefusal::NotFound(Resource::Member))?)
    }
}

orders!(
    CommitteeRefusal,
    /// The body of a request of the committee's operator.
    CommitteeOrder,
    /// The body of a request of the committee's operator that has no field.
    NoCommitteeFields
);
