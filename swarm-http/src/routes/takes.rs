//! Filing takes, and reading them back.

use serde::Serialize;
use swarm_core::domain::{TakeDraft, TakeOnFile};
use swarm_core::proof::canonical;
use swarm_core::{Refusal, Submission, TakeId};
use warp::http::StatusCode;

use crate::request::Call;
use crate::response::{Fault, Reply, done, ok, page};

pub(crate) async fn submit(mut call: Call) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Receipt {
        recommendation_id: TakeId,
        verified: bool,
    }
    let read = Submission::read(&mut call.fields());
    let submission = read.map_err(Refusal::InvalidSubmission)?;
    let take = call.tenant().submit(&call.bearer()?, &submission).await?;
    done(StatusCode::CREATED, &Receipt { recommendation_id: take.id, verified: true })
}

pub(crate) async fn signing_payload(mut call: Call) -> Reply {
    #[derive(Serialize)]
    struct Payload {
        canonical: String,
    }
    let draft = TakeDraft::read(&mut call.fields())
        .map_err(|_| Fault::Request(StatusCode::BAD_REQUEST, "invalid signing draft"))?;
    ok(&Payload { canonical: canonical(&draft) })
}

pub(crate) async fn record(call: Call) -> Reply {
    ok(&on_file(&call).await?)
}

/// The permalink: a page to read, or the record where the client would rather have JSON.
pub(crate) async fn permalink(call: Call) -> Reply {
    let take = on_file(&call).await;
    page::or_json(&call.headers, take, async |take: &TakeOnFile| {
        let author = call.tenant().application(&take.take.draft().member_id).await?;
        Ok(page::take(take, author.name.as_str()))
    })
    .await
}

async fn on_file(call: &Call) -> Result<TakeOnFile, Fault> {
    Ok(call.tenant().take(call.take_id()?).await?)
}

pub(crate) async fn style(_: Call) -> Reply {
    Ok(page::style())
}
