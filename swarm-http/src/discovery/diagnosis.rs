//! Diagnosis of signatures, and preflight of takes.

use swarm_core::domain::PublicKey;
use swarm_core::json::Json;
use swarm_core::proof::diagnose::SignedBody;
use swarm_core::rules::Draft;
use swarm_core::wire::{self, RequestError};
use swarm_core::{Error, Refusal, proof};

use crate::request::RequestContext;
use crate::response::{ApiError, Reply, ok};

/// Runs on the worker pool: it verifies many candidates.
pub(crate) async fn diagnose(request: RequestContext) -> Reply {
    let _permit = request.site.diagnoses.try_acquire().map_err(|_| RequestError::Busy)?;
    if let Some(diagnosis) = proof::diagnose::diagnose_incomplete_take(&request.bytes) {
        return ok(&diagnosis);
    }
    let body = SignedBody::read(&request.bytes).map_err(RequestError::InvalidDiagnosis)?;
    let registered = registered(&request, &body).await?;
    ok(&proof::diagnose(&body, registered.as_ref()).map_err(RequestError::InvalidDiagnosis)?)
}

/// The key on file of the member that the body names.
async fn registered(
    request: &RequestContext,
    body: &SignedBody,
) -> Result<Option<PublicKey>, ApiError> {
    let Some(id) = body.member_id() else { return Ok(None) };
    let member = Error::if_any(request.tenant().application(id).await)?;
    Ok(member.and_then(|member| member.public_key.clone()))
}

pub(crate) async fn preflight(mut request: RequestContext) -> Reply {
    let body = std::mem::replace(&mut request.body, Json::Null);
    let draft = Draft::of_body(body).map_err(Refusal::InvalidSubmission)?;
    let preflight = request.tenant().preflight(request.caller()?, &draft).await?;
    Ok(wire::takes::preflight(&preflight).into())
}
