//! Receives the body of a request, within the memory that its client may occupy.

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use swarm_core::wire::RequestError;

use crate::Site;
use crate::budget::{BodyReservation, BudgetExhausted, SMALL};
use crate::fairness::ClientShare;
use crate::response::ApiError;
use crate::tenants::ServedTenant;

use super::body::{self, BODY_DEADLINE, BodyError, BodyGate};
use super::credential::Credential;
use super::route::BodyRule;

/// Reserves memory for a whole body once more than [`SMALL`] bytes of it have arrived. Before that, a bearer token
/// must belong to a member.
pub(super) struct MemoryGate<'a> {
    site: &'a Site,
    served: &'a ServedTenant,
    credential: &'a Credential,
    held: Option<BodyReservation>,
}

impl<'a> MemoryGate<'a> {
    pub(super) fn new(
        site: &'a Site,
        served: &'a ServedTenant,
        credential: &'a Credential,
    ) -> Self {
        Self { site, served, credential, held: None }
    }

    async fn reservation(&mut self) -> Result<&mut BodyReservation, ApiError> {
        let is_known = match self.credential {
            _ if self.held.is_some() => false,
            Credential::Operator(_) => true,
            credential => match credential.caller() {
                Some(caller) => self.served.tenant().calling(caller).await.map(|_| true)?,
                None => false,
            },
        };
        let (client, budget) = (ClientShare::current(), &self.site.budget);
        Ok(self.held.get_or_insert_with(|| budget.body(client, is_known)))
    }
}

impl BodyGate<ApiError> for MemoryGate<'_> {
    async fn announced(&mut self, length: usize) -> Result<(), ApiError> {
        if length > SMALL {
            self.reservation().await?;
        }
        Ok(())
    }

    async fn arrived(&mut self, length: usize, whole: usize) -> Result<(), ApiError> {
        if length > SMALL {
            self.reservation().await?.reserve(whole).await?;
        }
        Ok(())
    }
}

/// Reads the body that a route takes, after a check of its content type.
pub(super) async fn read_body<S, B, E>(
    mut gate: MemoryGate<'_>,
    headers: &HeaderMap,
    stream: S,
    rule: BodyRule,
) -> Result<Bytes, ApiError>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if rule.is_form && !is_of_type(headers, "application/x-www-form-urlencoded") {
        return Err(RequestError::NotFormType.into());
    }
    if !rule.is_form && !rule.optional && !is_json(headers) {
        return Err(RequestError::NotJsonType.into());
    }
    let body = body::read_through(&mut gate, stream, length, rule.limit, BODY_DEADLINE).await?;
    let body = match gate.held {
        Some(reservation) => reservation.hold(body),
        None => body,
    };
    if rule.optional && body.is_empty() {
        return Ok(Bytes::from_static(b"{}"));
    }
    if !rule.is_form && !is_json(headers) {
        return Err(RequestError::NotJsonType.into());
    }
    let is_null = rule.nullable && body.trim_ascii() == b"null";
    Ok(if is_null { Bytes::from_static(b"{}") } else { body })
}

/// The content codings that bodies are sent in.
const CODINGS: [&str; 7] = ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"];

/// The hint for a body that is not JSON, if the request says that it has a content coding. What is none, as `utf-8`, changes no body.
pub(super) fn coding_hint(headers: &HeaderMap) -> Option<String> {
    let is_coding =
        |name: &str| CODINGS.iter().any(|coding| coding.eq_ignore_ascii_case(name.trim()));
    let named = headers.get_all(CONTENT_ENCODING).iter().filter_map(|names| names.to_str().ok());
    named.flat_map(|names| names.split(',')).any(is_coding).then(|| {
        "Content-Encoding: no content coding of a body is decoded, send the body without it"
            .to_owned()
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    is_of_type(headers, "application/json")
}

fn is_of_type(headers: &HeaderMap, wanted: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(wanted)
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        Self::Request(match error {
            BodyError::TooLarge => RequestError::BodyTooLarge,
            BodyError::TooSlow => RequestError::BodyTooSlow,
            BodyError::Broken => RequestError::BodyIncomplete,
        })
    }
}

impl From<BudgetExhausted> for ApiError {
    fn from(BudgetExhausted: BudgetExhausted) -> Self {
        RequestError::Busy.into()
    }
}
