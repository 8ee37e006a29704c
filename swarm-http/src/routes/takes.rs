//! Routes of takes: help with signing, filing, reading.

use swarm_core::domain::{Actor, Attribution, Stance, SubjectId, TakeDraft, Withholding};
use swarm_core::json::{ErrorPosition, Json, JsonDocument, RawJson};
use swarm_core::proof::diagnose::SignedBody;
use swarm_core::wire::Problem::{
    AmendmentClosed, BadSignature, Busy, CapReached, Excused, InvalidDiagnosis, InvalidDraft,
    InvalidRequest, InvalidSubmission, LostRace, NoKey, NoSession, NonceUsed, NotFound,
    NotOnRoster, PolicyConflict, PolicyForbids, TakeState, TakesSealed, TokenMismatch,
    UndeclaredStance, UnknownToken, WindowClosed,
};
use swarm_core::wire::{self, RequestError};
use swarm_core::{Invalid, MemberId, Refusal, SessionId, Submission, TakeId};

use crate::budget::SMALL;
use crate::discovery::diagnosis;
use crate::metrics::Submitted;
use crate::request::RequestContext;
use crate::request::body::MAX_VALUES;
use crate::request::command::Command;
use crate::request::credential::Access::{Member, Operator, Public};
use crate::request::extract::{Fields, Order};
use crate::request::parameters::{FLAG, MAX_PAGE, PAGE_LIMIT, Page, SEARCH_TEXT, number};
use crate::request::route::{Parameter, Route, Section, Work, cached, post, read};
use crate::response::{Answer, ApiError, Reply, ok};
use crate::schema::HasSchema as _;
use crate::tenants::Role;

/// The query parameters of the list of takes.
pub(super) const TAKE_LIST: &[Parameter] = &[
    ("session", SessionId::SCHEMA),
    ("member", MemberId::SCHEMA),
    ("subject", SubjectId::SCHEMA),
    ("stance", Stance::SCHEMA),
    ("q", SEARCH_TEXT),
    ("superseded", FLAG),
    ("before", TakeId::SCHEMA),
    ("limit", PAGE_LIMIT),
];

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = Section::Takes.rows(vec![
        post(Public, "/api/swarm/signing-payload", signing_payload)
            .about("The canonical text of a take, for signing")
            .answers(200, &["Canonical"])
            .refuses(&[InvalidDraft]),
        post(Member, "/api/swarm/preflight", diagnosis::preflight)
            .about(
                "Everything that would refuse a take now, and its warnings; files nothing and \
                 uses no nonce",
            )
            .takes::<Submission>()
            .answers(200, &["Preflight"])
            .refuses(&[UnknownToken]),
        post(Member, "/api/swarm/submit", submit)
            .about("File a take, or amend one")
            .takes::<Submission>()
            .unread()
            .counted(Submitted::Take)
            .answers(201, &["Receipt"])
            .sends(&["Swarm-Entry", "Swarm-Seal"])
            .refuses(&[
                InvalidSubmission,
                UnknownToken,
                TokenMismatch,
                NoSession,
                WindowClosed,
                NotOnRoster,
                Excused,
                NoKey,
                CapReached,
                PolicyForbids,
                PolicyConflict,
                AmendmentClosed,
                UndeclaredStance,
                BadSignature,
                NonceUsed,
                LostRace,
            ]),
        post(Public, "/api/swarm/diagnose", diagnosis::diagnose)
            .about("What is wrong with a signature")
            .takes::<SignedBody>()
            .with(Work::Long)
            .answers(200, &["Diagnosis"])
            .refuses(&[InvalidDiagnosis, Busy]),
        cached("/api/swarm/takes", list)
            .about(
                "The takes by id, highest first: the latest revisions, found by text and filters",
            )
            .query(TAKE_LIST)
            .answers(200, &["Takes"]),
        read("/api/swarm/takes/{id}", record)
            .with(Work::CachedShort)
            .or_member()
            .about(
                "The record of a take; of a sealed one, to others than its author, that it was \
                 filed",
            )
            .part(TakeId::SCHEMA)
            .answers(200, &["PublicTake"])
            .refuses(&[NotFound]),
    ]);
    routes.extend(Section::Operating.rows(vec![
            post(Operator(Role::Operator), "/api/swarm/admin/takes/{id}/withhold", withhold)
                .about("Withhold the write-up and the memo address of a take from the public")
                .answers(200, &["TakeMarked"])
                .refuses(&[InvalidRequest, NotFound, TakesSealed, TakeState])
                .command(
                    Command::new(
                        "withhold",
                        "7 --note 'it names a client'",
                        "the texts of take {id} are withheld",
                    )
                    .below("take")
                    .form("Withhold the texts", "The texts are withheld")
                    .means(
                        "Write-up and memo address are shown to nobody; the page of the take and the log show the \
                         note. Stance, confidence and weights stay, and count. Restoring the texts undoes it.",
                    ),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/takes/{id}/restore", restore)
                .about("Show the write-up and the memo address of a take again")
                .optional_body()
                .answers(200, &["TakeMarked"])
                .refuses(&[InvalidRequest, NotFound, TakeState])
                .command(
                    Command::new("restore", "7", "the texts of take {id} are shown again")
                        .below("take").form("Restore the texts", "The texts are shown again"),
                ),
        ]));
    routes
}

pub(crate) async fn submit(request: RequestContext) -> Reply {
    let submission = match request.bytes.len() {
        ..=SMALL => read_submission(&request.bytes),
        _ => {
            let bytes = request.bytes.clone();
            let read = async move { read_submission(&bytes) };
            request.site.workers.run(request.served.jobs(), read).await
        }
    };
    let submission = submission.map_err(|(error, named)| {
        named.record();
        error
    })?;
    name_in_log(submission.draft());
    let filed = request.tenant().submit_warned(request.caller()?, &submission).await?;
    let answer = Answer::from(wire::takes::filed(&filed.take)).with_seal(filed.take.salt);
    let answer = match filed.entry {
        Some(entry) => answer.with_entry(Some(entry)),
        None => with_entry_found(&request, answer, filed.take.id).await,
    };
    Ok(answer.with_hint(wire::warning::hint(&filed.warnings)))
}

/// Adds the number of the log's entry of a take whose commit did not say it, as one that was sent twice. The take is on file,
/// so it is not refused where the log cannot be read.
async fn with_entry_found(request: &RequestContext, answer: Answer, take: TakeId) -> Answer {
    let Some(log) = request.signed_log() else { return answer };
    match log.entry_of_take(take).await {
        Ok(entry) => answer.with_entry(entry),
        Err(error) => {
            tracing::warn!(%error, "the entry of a take could not be found");
            answer
        }
    }
}

/// Parses a submission. The texts of a [`JsonDocument`] are borrowed, so that a take of any usual size is parsed on the
/// thread of the request.
fn read_submission(bytes: &[u8]) -> Result<Submission, (ApiError, Named)> {
    parse_submission(bytes).map_err(|error| (error, Named::by(bytes)))
}

fn parse_submission(bytes: &[u8]) -> Result<Submission, ApiError> {
    let document = JsonDocument::read_bounded(bytes, MAX_VALUES);
    let mut document = document.map_err(|fault| match fault.position {
        ErrorPosition::TooManyValues => {
            let rule = format!("must have at most {MAX_VALUES} JSON values");
            Refusal::InvalidSubmission(Invalid::new("submission", rule)).into()
        }
        _ => ApiError::from(fault),
    })?;
    Ok(Submission::read(&mut document.members()).map_err(Refusal::InvalidSubmission)?)
}

/// Adds the member and session of a submission to the log line of the request, as quoted text.
fn name_in_log(draft: &TakeDraft) {
    let span = tracing::Span::current();
    span.record("member", draft.member_id.as_str());
    span.record("session", [&draft.date.to_string(), "/", draft.subject_id.as_str()].concat());
}

/// The member and session that an invalid submission names.
#[derive(Default)]
struct Named {
    member: Option<String>,
    session: Option<String>,
}

impl Named {
    fn by(bytes: &[u8]) -> Self {
        const MAX: usize = 100;
        let Ok(sent) = RawJson::read_bounded(bytes, MAX_VALUES) else { return Self::default() };
        let text = |field| match sent.member(field)?.to_json() {
            Json::Text(text) => Some(text.chars().take(MAX).collect::<String>()),
            _ => None,
        };
        let session = text("date").zip(text("subjectId"));
        Self {
            member: text("memberId"),
            session: session.map(|(date, subject)| [&date, "/", &subject].concat()),
        }
    }

    /// Adds them to the log line of the request.
    fn record(self) {
        let span = tracing::Span::current();
        if let Some(member) = self.member {
            span.record("member", member);
        }
        if let Some(session) = self.session {
            span.record("session", session);
        }
    }
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(MAX_PAGE, "before", |id| number(id).map(TakeId))?;
    let page = request.take_list()?.page(request.tenant(), position, limit).await?;
    Ok(request.linked(wire::takes::list(&page), "before", page.next_before))
}

pub(crate) async fn signing_payload(_: RequestContext, Fields(draft): Fields<TakeDraft>) -> Reply {
    let draft = draft.map_err(RequestError::InvalidDraft)?;
    Ok(wire::takes::signing_payload(&draft).into())
}

/// A member reads its own takes whole, also while they are sealed.
pub(crate) async fn record(request: RequestContext) -> Reply {
    let (tenant, id) = (request.tenant(), request.take_id()?);
    match request.caller_if_any() {
        Some(caller) => Ok(ok(&tenant.take_for(caller, id).await?)?.private()),
        None => ok(&tenant.take(id).await?),
    }
}

pub(crate) async fn withhold(
    request: RequestContext,
    Order(Withholding { note }): Order<Withholding>,
    id: TakeId,
    by: Actor,
) -> Reply {
    let take = request.tenant().withhold_take(id, &note, &by).await?;
    Ok(wire::takes::marked(&take).into())
}

pub(crate) async fn restore(request: RequestContext, by: Attribution, id: TakeId) -> Reply {
    let take = request.tenant().restore_take(id, &by).await?;
    Ok(wire::takes::marked(&take).into())
}
