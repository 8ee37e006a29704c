//! Filing takes, and reading them back.

use swarm_core::domain::TakeDraft;
use swarm_core::wire::{self, RequestError};
use swarm_core::{Refusal, Submission};

use crate::request::RequestContext;
use crate::response::{Reply, ok};

pub(crate) async fn submit(request: RequestContext) -> Reply {
    let read = Submission::read(&mut request.document()?.members());
    let submission = read.map_err(Refusal::InvalidSubmission)?;
    name_in_log(submission.draft());
    let take = request.tenant().submit(request.bearer()?, &submission).await?;
    Ok(wire::takes::filed(&take).into())
}

/// Whose take it would be, and of what: the log says it with the outcome, in quotes.
fn name_in_log(draft: &TakeDraft) {
    let span = tracing::Span::current();
    span.record("member", draft.member_id.as_str());
    span.record("session", [&draft.date.to_string(), "/", draft.subject_id.as_str()].concat());
}

pub(crate) async fn signing_payload(mut request: RequestContext) -> Reply {
    let draft = TakeDraft::read(&mut request.fields()).map_err(RequestError::InvalidDraft)?;
    Ok(wire::takes::signing_payload(&draft).into())
}

pub(crate) async fn record(request: RequestContext) -> Reply {
    ok(&request.tenant().take(request.take_id()?).await?)
}
