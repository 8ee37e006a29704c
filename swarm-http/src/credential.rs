//! Who asks: a bearer token, or an operator's token (specification, section 5A).

use swarm_core::Refusal;
use swarm_core::domain::SecretHash;
use warp::http::HeaderMap;
use warp::http::header::AUTHORIZATION;

use crate::reply::Fault;
use crate::tenants::Served;

/// What a route asks of whoever calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing.
    Public,
    /// A bearer token. Whose it is, is for the rules to say.
    Member,
    /// The tenant's admin token.
    Operator,
}

/// Refuses who cannot be let in, before anything else of the request is read.
pub(crate) fn admit(access: Access, headers: &HeaderMap, served: &Served) -> Result<(), Fault> {
    match access {
        Access::Public => Ok(()),
        Access::Member => bearer_bytes(headers).map(|_| ()),
        Access::Operator => operator(headers, served),
    }
}

/// The hash of the bearer token.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<SecretHash, Fault> {
    bearer_bytes(headers).map(SecretHash::of)
}

fn bearer_bytes(headers: &HeaderMap) -> Result<&[u8], Fault> {
    let value = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
    let (scheme, token) = value.split_at_checked(7).unwrap_or_default();
    let token = token.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty() {
        return Ok(token);
    }
    Err(Refusal::MissingBearer.into())
}

fn operator(headers: &HeaderMap, served: &Served) -> Result<(), Fault> {
    let token = headers.get("x-admin-token").map(|value| SecretHash::of(value.as_bytes()));
    if token == Some(served.admin_token) {
        return Ok(());
    }
    Err(Fault::AdminToken)
}
