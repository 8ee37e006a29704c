//! Credentials: a bearer token (API.md, 4.4), an operator's token (7.1), or an API key of the committee (8.1).

use http::HeaderMap;
use http::header::AUTHORIZATION;
use swarm_core::domain::{Actor, AdminTokenHash, TokenHash};
use swarm_core::wire::{Problem, RequestError};
use swarm_core::{Caller, MemberId, Refusal, TenantId};
use tokio::time::Instant;

use super::head::RequestHead;
use super::scheme::{self, Scheme, bearer, surplus};
use crate::response::{Answer, ApiError};
use crate::tenants::{
    ADMIN_TOKEN, MemberRequest, Operator, OperatorRequest, Role, ServedTenant, SignOnUnavailable,
    single_header,
};
use crate::token_attempts::{Asker, Attempt, TokenAttempts};

/// The credential that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// No credential.
    Public,
    /// No credential; but the answer shows a member its own records, if its bearer token comes with the request.
    PublicOrMember,
    /// The bearer token of a member (API.md, 4.4), or one whom the program around has authenticated. The rules check which member it
    /// is.
    Member,
    /// The token of an operator of the tenant, or one whom the program around has authenticated, in this role or one that may
    /// do more (API.md, 7.1).
    Operator(Role),
    /// What the routes of the daily committee require.
    #[cfg(feature = "committee")]
    Committee(super::committee_access::CommitteeAccess),
    /// An operator who is signed into the console. The console checks it, and answers with a page.
    Console,
}

impl Access {
    /// The role that an operator needs, if the route is for operators.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Operator(role) => Some(role),
            #[cfg(feature = "committee")]
            Self::Committee(access) => access.role(),
            Self::Public | Self::PublicOrMember | Self::Member | Self::Console => None,
        }
    }

    /// How callers show who they are, where nobody may call without.
    pub(crate) fn scheme(self) -> Option<&'static Scheme> {
        match self {
            Self::Public | Self::PublicOrMember | Self::Console => None,
            Self::Member => Some(&scheme::BEARER),
            Self::Operator(_) => Some(&scheme::OPERATOR),
            #[cfg(feature = "committee")]
            Self::Committee(access) => Some(access.scheme()),
        }
    }
}

/// A member whom the program around has authenticated, among the extensions of its request.
#[derive(Clone)]
struct Admitted(MemberId);

/// Asks which member the program around has authenticated, at a route for members. What else the request has of a bearer token is
/// removed: it does not count, and may be a token of that program.
pub(crate) async fn admit_member(
    access: Access,
    head: &mut RequestHead,
    served: &ServedTenant,
) -> Result<(), SignOnUnavailable> {
    let Some(members) = &served.config().members else { return Ok(()) };
    if !matches!(access, Access::Member | Access::PublicOrMember) {
        return Ok(());
    }
    let admitted = members.admit(&MemberRequest::new(&head.headers, &head.extensions)).await;
    let admitted = match admitted {
        // An outage does not stop what anybody may read.
        Err(_) if access == Access::PublicOrMember => None,
        admitted => admitted?,
    };
    if let Some(id) = admitted {
        head.headers.remove(AUTHORIZATION);
        head.extensions.insert(Admitted(id));
    }
    Ok(())
}

/// Begins an attempt with the token of a request of operators, or refuses it because of earlier wrong ones. `None` without a token, and for
/// other routes.
pub(crate) fn attempt<'a>(
    attempts: &'a TokenAttempts,
    access: Access,
    headers: &HeaderMap,
    tenant: &TenantId,
) -> Result<Option<Attempt<'a>>, ApiError> {
    let token = access.role().and_then(|_| single_header(headers, ADMIN_TOKEN));
    let Some(token) = token else { return Ok(None) };
    // The console knows only the hash.
    let hash = AdminTokenHash::of(token.as_bytes());
    let attempt = attempts.begin(Asker::current(tenant), hash.as_bytes(), Instant::now());
    Ok(Some(attempt.map_err(RequestError::wait)?))
}

/// Ends an attempt by the answer to its request. An answer that was given before the token was checked says nothing about
/// the token.
pub(crate) fn end_attempt(attempt: Attempt<'_>, answer: &Answer) {
    match answer.problem {
        Some(Problem::AdminToken) => attempt.fail(Instant::now()),
        None => attempt.succeed(Instant::now()),
        // The rules check the token before they look for a record, and before they judge its state.
        Some(_) if matches!(answer.status.as_u16(), 403 | 404 | 409) => {
            attempt.succeed(Instant::now());
        }
        Some(_) => {}
    }
}

/// The credential that the route requires, as the caller sent it.
pub(crate) enum Credential {
    None,
    Bearer(TokenHash),
    /// A member whom the program around has authenticated.
    Member(MemberId),
    Operator(Actor),
    #[cfg(feature = "committee")]
    ApiKey(swarm_core::proof::ApiKey),
}

impl Credential {
    /// The member that calls, if this is the credential of one.
    pub(crate) fn caller(&self) -> Option<Caller<'_>> {
        match self {
            Self::Bearer(token) => Some(Caller::Bearer(token)),
            Self::Member(id) => Some(Caller::Authenticated(id)),
            _ => None,
        }
    }

    /// Returns whether the caller was authenticated by the program around the service, not by a token in a header of this API. That
    /// program may have read a cookie, which a browser sends with requests of any page.
    pub(crate) fn is_signed_on(&self, headers: &HeaderMap) -> bool {
        match self {
            Self::Member(_) => true,
            Self::Operator(_) => !headers.contains_key(ADMIN_TOKEN),
            _ => false,
        }
    }
}

/// Rejects a caller without the required credential or role, before the rest of the request is read.
pub(crate) async fn authorize(
    access: Access,
    request: OperatorRequest<'_>,
    served: &ServedTenant,
) -> Result<Credential, ApiError> {
    let headers = request.headers;
    let operator = async |needed| {
        let Some(Operator { name, role }) = recognised(request, served).await? else {
            return Ok(None);
        };
        tracing::Span::current().record("operator", name.as_str());
        Ok::<_, ApiError>(Some((role >= needed).then_some(Credential::Operator(name))))
    };
    let member = || match request.extensions.get() {
        Some(Admitted(id)) => Some(Credential::Member(id.clone())),
        None => bearer(headers).map(|token| Credential::Bearer(TokenHash::of(token))),
    };
    match access {
        Access::Public | Access::Console => Ok(Credential::None),
        Access::PublicOrMember => Ok(member().unwrap_or(Credential::None)),
        Access::Member => Ok(member().ok_or(Refusal::MissingBearer)?),
        Access::Operator(role) => {
            let known = operator(role).await?.ok_or(Refusal::MissingAdminToken)?;
            Ok(known.ok_or(Refusal::NotForRole)?)
        }
        #[cfg(feature = "committee")]
        Access::Committee(access) => {
            use swarm_core::CommitteeRefusal::{MissingAdminToken, MissingKey, NotForRole};
            match access.role() {
                Some(role) => {
                    let known = operator(role).await?.ok_or(MissingAdminToken)?;
                    Ok(known.ok_or(NotForRole)?)
                }
                None => {
                    let key = super::committee_access::api_key(headers);
                    Ok(Credential::ApiKey(key.ok_or(MissingKey)?))
                }
            }
        }
    }
}

/// The operator that a request comes from. A token that is sent counts alone.
async fn recognised(
    request: OperatorRequest<'_>,
    served: &ServedTenant,
) -> Result<Option<Operator>, SignOnUnavailable> {
    let operators = &served.config().operators;
    if !request.headers.contains_key(ADMIN_TOKEN) {
        return operators.admit(&request).await;
    }
    match single_header(request.headers, ADMIN_TOKEN) {
        Some(token) => operators.with_token(&AdminTokenHash::of(token.as_bytes())).await,
        None => Ok(None),
    }
}

/// The hint for a request without the credential that it needs.
pub(crate) fn hint(access: Access, headers: &HeaderMap) -> Option<String> {
    (access.scheme()?.hint)(headers)
}

/// The hint for the bearer token of a request, if it cannot be a token. Quotes nothing, like [`hint`].
pub(crate) fn token_hint(access: Access, headers: &HeaderMap) -> Option<String> {
    let token = if access == Access::Member { bearer(headers)? } else { return None };
    let fault = surplus(token, "has the word Bearer twice");
    fault.map(|fault| format!("Authorization: must be Bearer <token>, {fault}"))
}
