//! Filing takes, and reading them back.

use swarm_core::domain::{TakeDraft, TakeOnFile};
use swarm_core::{Refusal, Submission, wire};

use crate::request::RequestContext;
use crate::response::{ApiError, Reply, ok, page};

pub(crate) async fn submit(mut request: RequestContext) -> Reply {
    let read = Submission::read(&mut request.fields());
    let submission = read.map_err(Refusal::InvalidSubmission)?;
    let take = request.tenant().submit(request.bearer()?, &submission).await?;
    Ok(wire::takes::filed(&take).into())
}

pub(crate) async fn signing_payload(mut request: RequestContext) -> Reply {
    let draft = TakeDraft::read(&mut request.fields())
        .map_err(|invalid| ApiError::Unread("invalid signing draft", invalid))?;
    Ok(wire::takes::signing_payload(&draft).into())
}

pub(crate) async fn record(request: RequestContext) -> Reply {
    ok(&on_file(&request).await?)
}

/// The permalink: a page to read, or the record where the client would rather have JSON.
pub(crate) async fn permalink(request: RequestContext) -> Reply {
    let take = on_file(&request).await;
    page::or_json(&request.headers, take, async |take: &TakeOnFile| {
        let author = request.tenant().application(&take.take.draft().member_id).await?;
        Ok(page::take(take, author.name.as_str()))
    })
    .await
}

async fn on_file(request: &RequestContext) -> Result<TakeOnFile, ApiError> {
    Ok(request.tenant().take(request.take_id()?).await?)
}

pub(crate) async fn style(_: RequestContext) -> Reply {
    Ok(page::style())
}
