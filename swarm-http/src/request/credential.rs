//! Who asks: a bearer token, an operator's token (specification, section 5A), or an API key (5B).

use swarm_core::domain::{AdminTokenHash, TokenHash};
use swarm_core::proof::ApiKey;
use swarm_core::{CommitteeRefusal, Refusal};
use warp::http::header::AUTHORIZATION;
use warp::http::{HeaderMap, StatusCode};

use crate::response::ApiError;
use crate::tenants::OpenTenant;

/// What a route asks of whoever calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing.
    Public,
    /// A bearer token. Whose it is, is for the rules to say.
    Member,
    /// The tenant's admin token.
    Operator,
    /// Something that has the shape of a committee member's API key.
    CommitteeMember,
    /// The tenant's admin token, for the committee.
    CommitteeOperator,
}

/// Refuses who cannot be let in, before anything else of the request is read.
pub(crate) fn admit(
    access: Access,
    headers: &HeaderMap,
    served: &OpenTenant,
) -> Result<(), ApiError> {
    match access {
        Access::Public => Ok(()),
        Access::Member => bearer_bytes(headers).map(|_| ()),
        Access::Operator if is_operator(headers, served) => Ok(()),
        Access::Operator => Err(ApiError::AdminToken),
        Access::CommitteeMember => {
            let key = api_key(headers).and_then(ApiKey::parse);
            key.map(|_| ()).ok_or(CommitteeRefusal::MissingKey.into())
        }
        Access::CommitteeOperator if is_operator(headers, served) => Ok(()),
        Access::CommitteeOperator => {
            Err(ApiError::Request(StatusCode::UNAUTHORIZED, "admin token required"))
        }
    }
}

/// The hash of the bearer token.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<TokenHash, ApiError> {
    bearer_bytes(headers).map(TokenHash::of)
}

fn bearer_bytes(headers: &HeaderMap) -> Result<&[u8], ApiError> {
    let value = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
    let (scheme, token) = value.split_at_checked(7).unwrap_or_default();
    let token = token.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty() {
        return Ok(token);
    }
    Err(Refusal::MissingBearer.into())
}

/// The committee member's API key, as it came; two of them are none.
pub(crate) fn api_key(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all("x-ic-key").iter();
    let key = sent.next()?.to_str().ok()?;
    sent.next().is_none().then_some(key)
}

fn is_operator(headers: &HeaderMap, served: &OpenTenant) -> bool {
    let token = headers.get("x-admin-token").map(|value| AdminTokenHash::of(value.as_bytes()));
    token == Some(served.admin_token)
}
