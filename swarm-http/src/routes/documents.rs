//! Subjects and their snapshots, memos, briefs, and what briefs go by.

use serde::Serialize;
use swarm_core::domain::{
    Brief, Day, Memo, MemoDraft, MemoId, Prompt, Regime, Signal, Subject, SubjectId,
    SubjectSnapshot, SubjectSnapshotDraft,
};
use swarm_core::service::Written;
use swarm_core::{Refusal, SessionId};
use warp::http::StatusCode;

use crate::request::context::{Call, INVALID_QUERY, number};
use crate::response::{Fault, Reply, done, ok, page};

pub(crate) async fn subjects(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Subjects {
        subjects: Vec<Subject>,
    }
    ok(&Subjects { subjects: call.tenant().subjects().await? })
}

pub(crate) async fn subject(call: Call) -> Reply {
    ok(&call.tenant().subject(&call.subject_id()?).await?)
}

pub(crate) async fn put_subject(mut call: Call) -> Reply {
    #[derive(Serialize)]
    struct Kept {
        subject: Subject,
    }
    let subject = call.operator_fields(Subject::read)?;
    let status = match call.tenant().put_subject(&subject).await? {
        Written::Created => StatusCode::CREATED,
        Written::Replaced => StatusCode::OK,
    };
    done(status, &Kept { subject })
}

pub(crate) async fn snapshots(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Snapshots {
        snapshots: Vec<SubjectSnapshot>,
    }
    ok(&Snapshots { snapshots: call.tenant().snapshots(&call.subject_id()?).await? })
}

pub(crate) async fn add_snapshot(mut call: Call) -> Reply {
    #[derive(Serialize)]
    struct Added {
        snapshot: SubjectSnapshot,
    }
    let subject = call.subject_id()?;
    let draft = call.operator_fields(SubjectSnapshotDraft::read)?;
    let snapshot = call.tenant().add_snapshot(&subject, draft).await?;
    done(StatusCode::CREATED, &Added { snapshot })
}

pub(crate) async fn put_regime(mut call: Call) -> Reply {
    let regime = call.operator_fields(Regime::read)?;
    call.tenant().put_regime(&regime).await?;
    done(StatusCode::OK, &Nothing {})
}

pub(crate) async fn put_signal(mut call: Call) -> Reply {
    let signal = call.operator_fields(Signal::read)?;
    call.tenant().put_signal(&signal).await?;
    done(StatusCode::OK, &Nothing {})
}

#[derive(Serialize)]
struct Nothing {}

pub(crate) async fn publish_memo(mut call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Published {
        memo_id: MemoId,
        url: String,
    }
    let draft = MemoDraft::read(&mut call.fields()).map_err(Refusal::InvalidMemo)?;
    let memo = call.tenant().publish_memo(&call.bearer()?, draft).await?;
    let url = format!("/swarm/memos/{}", memo.id);
    done(StatusCode::CREATED, &Published { memo_id: memo.id, url })
}

pub(crate) async fn memo(call: Call) -> Reply {
    ok(&on_file(&call).await?)
}

/// The permalink: a page to read, or the record where the client would rather have JSON.
pub(crate) async fn memo_permalink(call: Call) -> Reply {
    let memo = on_file(&call).await;
    page::or_json(&call.headers, memo, async |memo: &Memo| {
        let author = call.tenant().application(&memo.member_id).await?;
        Ok(page::memo(memo, author.name.as_str()))
    })
    .await
}

async fn on_file(call: &Call) -> Result<Memo, Fault> {
    Ok(call.tenant().memo(call.memo_id()?).await?)
}

pub(crate) async fn retract_memo(call: Call) -> Reply {
    call.tenant().retract_memo(call.memo_id()?).await?;
    done(StatusCode::OK, &Nothing {})
}

pub(crate) async fn publish_brief(mut call: Call) -> Reply {
    #[derive(Serialize)]
    struct Published {
        brief: Brief,
    }
    let id = call.session_id()?;
    let prompt = call.operator_fields(Prompt::read)?;
    let brief = call.tenant().publish_brief(id, prompt).await?;
    done(StatusCode::CREATED, &Published { brief })
}

/// By session, or by date and subject; what names nothing finds nothing, and that is no error
/// (specification, section 4A).
pub(crate) async fn brief(call: Call) -> Reply {
    let mut query = call.query();
    let (session, date, subject) =
        (query.remove("session"), query.remove("date"), query.remove("subject"));
    let brief = match (session, date, subject) {
        (Some(session), _, _) => match number(&session) {
            Some(id) => call.tenant().brief(SessionId(id)).await?,
            None => None,
        },
        (None, Some(date), Some(subject)) => match (Day::parse(&date), SubjectId::parse(subject)) {
            (Ok(date), Ok(subject)) => call.tenant().brief_on(date, subject).await?,
            _ => None,
        },
        _ => return Err(INVALID_QUERY),
    };
    ok(&brief)
}
