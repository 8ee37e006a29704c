//! Routes of subjects and their snapshots, memos and briefs, and of the regime and signals in briefs.

use http::HeaderValue;
use http::header::LOCATION;
use swarm_core::domain::{
    Actor, BriefOrder, Day, MemoDraft, MemoId, Regime, SessionState, Signal, Subject, SubjectId,
    SubjectSnapshotDraft,
};
use swarm_core::wire::Problem::{
    InvalidMemo, InvalidRequest, NotFound, QuotaReached, TakesSealed, UnknownToken,
};
use swarm_core::{Error, MemberId, Refusal, SessionId, TakeId, wire};

use crate::request::command::{Command, FormPreview};
use crate::request::context::{RequestContext, invalid_query};
use crate::request::credential::Access::{Member, Operator};
use crate::request::extract::{Attributed, Fields, NoFields, Order};
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page, SEARCH_TEXT, number};
use crate::request::route::{Parameter, Route, Section, cached, post};
use crate::response::{Answer, ApiError, Reply, ok};
use crate::schema::{HasSchema as _, SchemaRef, schema};
use crate::tenants::Role;

/// Maximum body of a memo, in bytes. Every valid memo fits, however its JSON is escaped (API.md, 1.1).
const MEMO_LIMIT: usize = 2 << 20;

/// The number of subjects in a page unless the query gives one.
const SUBJECTS: u64 = 500;

const SUBJECT_LIMIT: SchemaRef = schema!("server", "SubjectLimit", {
    "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": SUBJECTS
});

/// The query parameters of the list of subjects.
pub(super) const SUBJECT_PAGE: &[Parameter] =
    &[("limit", SUBJECT_LIMIT), ("after", SubjectId::SCHEMA), ("q", SEARCH_TEXT)];

/// The query parameters of the list of memos.
pub(super) const MEMO_LIST: &[Parameter] = &[
    ("member", MemberId::SCHEMA),
    ("subject", SubjectId::SCHEMA),
    ("q", SEARCH_TEXT),
    ("before", MemoId::SCHEMA),
    ("limit", PAGE_LIMIT),
];

/// The routes, except those of briefs, which belong to sessions.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Records.rows(vec![
            cached("/api/swarm/subjects", subjects)
                .about("Subjects, by id")
                .query(SUBJECT_PAGE)
                .answers(200, &["Subjects"]),
            cached("/api/swarm/subjects/{id}", subject)
                .about("A subject")
                .part(SubjectId::SCHEMA)
                .answers(200, &["Subject"])
                .refuses(&[NotFound]),
            cached("/api/swarm/subjects/{id}/snapshots", snapshots)
                .about("Snapshots of a subject, by date, then id")
                .part(SubjectId::SCHEMA)
                .answers(200, &["SubjectSnapshots"])
                .refuses(&[NotFound]),
            post(Member, "/api/swarm/memos", publish_memo)
                .about("Publish a memo")
                .up_to(MEMO_LIMIT)
                .answers(201, &["MemoReceipt"])
                .refuses(&[InvalidMemo, UnknownToken, NotFound, QuotaReached]),
            cached("/api/swarm/memos", memos)
                .about(
                    "The published memos by id, highest first, found by text, subject and member",
                )
                .query(MEMO_LIST)
                .answers(200, &["Memos"]),
            cached("/api/swarm/memos/{id}", memo)
                .or_member()
                .about("A memo; of a sealed session, to its author alone")
                .part(MemoId::SCHEMA)
                .answers(200, &["Memo"])
                .refuses(&[NotFound]),
        ]),
        Section::Operating.rows(vec![
            post(Operator(Role::Operator), "/api/swarm/admin/subjects", put_subject)
                .about("Create or replace a subject")
                .answers(200, &["SubjectWritten"])
                .answers(201, &["SubjectWritten"])
                .refuses(&[InvalidRequest, QuotaReached])
                .command(
                    Command::new("put", "aurora.json", "subject {id} is stored")
                        .below("subject")
                        .of_file()
                        .form("Save the record", "The record is saved")
                        .next("session convene --subject {id}"),
                ),
            post(
                Operator(Role::Operator),
                "/api/swarm/admin/subjects/{id}/snapshots",
                add_snapshot,
            )
            .about("Add a snapshot of a subject")
            .answers(201, &["SnapshotAdded"])
            .mints("snapshot.id")
            .refuses(&[InvalidRequest, NotFound, QuotaReached])
            .command(
                Command::new("snapshot", "aurora snapshot.json", "the snapshot is stored")
                    .below("subject")
                    .of_file()
                    .form("Add the snapshot", "The snapshot is added"),
            ),
            post(Operator(Role::Operator), "/api/swarm/admin/regime", put_regime)
                .about("Create or replace the regime of a day")
                .answers(200, &["Written"])
                .refuses(&[InvalidRequest])
                .command(
                    Command::new("regime", "regime.json", "the regime row is stored")
                        .of_file()
                        .form("Save the regime", "The regime is saved"),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/signals", put_signal)
                .about("Create or replace a signal of a day")
                .answers(200, &["Written"])
                .refuses(&[InvalidRequest, QuotaReached])
                .command(
                    Command::new("signal", "- < signal.json", "the signal is stored")
                        .of_file()
                        .form("Save the signal", "The signal is saved"),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/memos/{id}/retract", retract_memo)
                .about("Retract a memo")
                .answers(200, &["Written"])
                .refuses(&[InvalidRequest, NotFound, TakesSealed])
                .command(
                    Command::new("retract", "7", "memo {id} is retracted")
                        .below("memo")
                        .form("Retract", "The memo is retracted")
                        .destructive()
                        .shown_first(FormPreview::Always),
                ),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) async fn subjects(request: RequestContext) -> Reply {
    let Page { limit, position } = request
        .page_of((SUBJECTS, MAX_PAGE), "after", |id| SubjectId::parse(id.to_owned()).ok())?;
    let tenant = request.tenant();
    let page = match request.needle() {
        None => tenant.subjects(position.as_ref(), limit).await?,
        Some(needle) => {
            let keeps = |subject: &Subject| needle.is_in_subject(subject);
            tenant.subjects_where(position.as_ref(), limit, keeps).await?
        }
    };
    Ok(request.linked(wire::documents::subjects(&page), "after", page.next_after.as_ref()))
}

pub(crate) async fn subject(request: RequestContext) -> Reply {
    ok(&request.tenant().subject(&request.subject_id()?).await?)
}

pub(crate) async fn put_subject(
    request: RequestContext,
    Order(subject): Order<Subject>,
    by: Actor,
) -> Reply {
    let written = request.tenant().put_subject(&subject, &by).await?;
    Ok(wire::documents::subject_put(&subject, written).into())
}

pub(crate) async fn snapshots(request: RequestContext) -> Reply {
    let snapshots = request.tenant().snapshots(&request.subject_id()?).await?;
    Ok(wire::documents::snapshots(&snapshots).into())
}

pub(crate) async fn add_snapshot(
    request: RequestContext,
    subject: SubjectId,
    Order(draft): Order<SubjectSnapshotDraft>,
    by: Actor,
) -> Reply {
    let snapshot = request.tenant().add_snapshot(&subject, draft, &by).await?;
    Ok(wire::documents::snapshot_added(&snapshot).into())
}

pub(crate) async fn put_regime(
    request: RequestContext,
    Order(regime): Order<Regime>,
    by: Actor,
) -> Reply {
    request.tenant().put_regime(&regime, &by).await?;
    Ok(wire::documents::written().into())
}

pub(crate) async fn put_signal(
    request: RequestContext,
    Order(signal): Order<Signal>,
    by: Actor,
) -> Reply {
    request.tenant().put_signal(&signal, &by).await?;
    Ok(wire::documents::written().into())
}

pub(crate) async fn publish_memo(
    request: RequestContext,
    Fields(draft): Fields<MemoDraft>,
) -> Reply {
    let draft = draft.map_err(Refusal::InvalidMemo)?;
    let memo = request.tenant().publish_memo(request.caller()?, draft).await?;
    let path = format!("/swarm/memos/{}", memo.id);
    let url = format!("{}{path}", request.base_path());
    let mut answer = Answer::from(wire::documents::memo_published(&memo, &url));
    if let Ok(path) = HeaderValue::try_from(path) {
        answer.headers.insert(LOCATION, path);
    }
    Ok(answer)
}

pub(crate) async fn memos(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(MAX_PAGE, "before", |id| number(id).map(MemoId))?;
    let page = request.tenant().memo_page(&request.memo_filter()?, position, limit).await?;
    Ok(request.linked(wire::documents::memos(&page), "before", page.next_before))
}

pub(crate) async fn memo(request: RequestContext) -> Reply {
    let (tenant, id) = (request.tenant(), request.memo_id()?);
    match request.caller_if_any() {
        Some(caller) => Ok(ok(&tenant.memo_for(caller, id).await?)?.private()),
        None => ok(&tenant.memo(id).await?),
    }
}

pub(crate) async fn retract_memo(
    request: RequestContext,
    _: NoFields,
    id: MemoId,
    by: Actor,
) -> Reply {
    request.tenant().retract_memo(id, &by).await?;
    Ok(wire::documents::written().into())
}

pub(crate) async fn publish_brief(
    request: RequestContext,
    id: SessionId,
    Attributed(BriefOrder { prompt, replaces }, by): Attributed<BriefOrder>,
) -> Reply {
    let tenant = request.tenant();
    let brief = match replaces {
        true => tenant.replace_brief(id, prompt, &by).await?,
        false => tenant.publish_brief(id, prompt, &by).await?,
    };
    Ok(wire::documents::brief_published(&brief).into())
}

/// By session, or by date and subject. Null if there is none; an id that cannot exist is no error (API.md,
/// 6.2).
pub(crate) async fn brief(request: RequestContext) -> Reply {
    let mut query = request.query();
    let (session, date, subject) =
        (query.remove("session"), query.remove("date"), query.remove("subject"));
    // Forms send it empty beside the others.
    let session = session.filter(|id| !id.is_empty() || date.is_none());
    let named = session.as_deref().map(|id| SessionId(number(id).unwrap_or_default()));
    let brief = match (session, date, subject) {
        (Some(_), _, _) => match named {
            Some(id) => request.tenant().brief(id).await?,
            None => None,
        },
        (None, Some(date), Some(subject)) => match (Day::parse(&date), SubjectId::parse(subject)) {
            (Ok(date), Ok(subject)) => request.tenant().brief_on(date, subject).await?,
            _ => None,
        },
        (None, None, None) => {
            return Err(invalid_query("session", "is missing, and so are date and subject"));
        }
        (None, None, _) => return Err(invalid_query("date", "is missing")),
        (None, _, None) => return Err(invalid_query("subject", "is missing")),
    };
    let hint = match (&brief, named) {
        (Some(_), _) => None,
        (None, Some(id)) => Some(no_brief_hint(&request, id).await?),
        (None, None) => Some("brief: none is published for this date and subject".to_owned()),
    };
    Ok(ok(&brief)?.with_hint(hint))
}

/// Why a session has no brief.
async fn no_brief_hint(request: &RequestContext, id: SessionId) -> Result<String, ApiError> {
    match request.tenant().session_page(id, TakeId(0), 0).await {
        Ok(page) if page.session.state >= SessionState::Aggregated => {
            Ok("brief: this session was aggregated without one".to_owned())
        }
        Ok(_) => Ok("brief: not published yet, ask again in some minutes".to_owned()),
        Err(Error::Refused(_)) => Ok("session: there is none with this id".to_owned()),
        Err(error) => Err(error.into()),
    }
}
