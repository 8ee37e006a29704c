//! Credentials: a bearer token (API.md, 4.4), an operator's token (7.1), or an API key of the committee (8.1).

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use swarm_core::domain::{Actor, AdminTokenHash, TokenHash};
use swarm_core::proof::ApiKey;
use swarm_core::wire::{Problem, RequestError};
use swarm_core::{Caller, CommitteeRefusal, MemberId, Refusal, TenantId};
use tokio::time::Instant;

use crate::response::{Answer, ApiError};
use crate::tenants::{
    ADMIN_TOKEN, MemberRequest, Operator, OperatorRequest, Role, ServedTenant, SignOnUnavailable,
    single_header,
};
use crate::token_attempts::{Asker, Attempt, Entrance, TokenAttempts};

use super::head::RequestHead;

/// The header with the API key of a committee member.
const API_KEY: &str = "x-ic-key";

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
    /// A well-formed API key of a committee member (API.md, 8.1). The rules check which member it belongs to.
    CommitteeMember,
    /// Like [`Operator`](Self::Operator), with the refusals of the committee.
    CommitteeOperator(Role),
    /// An operator who is signed into the console. The console checks it, and answers with a page.
    Console,
}

impl Access {
    /// The role that an operator needs, if the route is for operators.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Operator(role) | Self::CommitteeOperator(role) => Some(role),
            Self::Public | Self::PublicOrMember | Self::Member | Self::CommitteeMember => None,
            Self::Console => None,
        }
    }

    /// The token that a request with these headers sends here, and where it counts if it is wrong. `None` without one: the
    /// answer is the 401 for a missing one.
    fn token(self, headers: &HeaderMap) -> Option<(Entrance, &[u8])> {
        match self {
            Self::Public | Self::PublicOrMember | Self::Console => None,
            Self::Member => Some((Entrance::MemberApi, bearer(headers)?)),
            Self::CommitteeMember => {
                Some((Entrance::MemberApi, single_header(headers, API_KEY)?.as_bytes()))
            }
            Self::Operator(_) | Self::CommitteeOperator(_) => {
                Some((Entrance::OperatorApi, single_header(headers, ADMIN_TOKEN)?.as_bytes()))
            }
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

/// Begins an attempt with the token of a request, or refuses it because of earlier wrong ones. `None` without a token.
pub(crate) fn attempt<'a>(
    attempts: &'a TokenAttempts,
    access: Access,
    headers: &HeaderMap,
    tenant: &TenantId,
) -> Result<Option<Attempt<'a>>, ApiError> {
    let Some((entrance, token)) = access.token(headers) else { return Ok(None) };
    let asker = Asker::current(tenant);
    let attempt = match entrance {
        // The console knows only the hash.
        Entrance::OperatorApi => {
            let hash = AdminTokenHash::of(token);
            attempts.begin(asker, entrance, hash.as_bytes(), Instant::now())
        }
        _ => attempts.begin(asker, entrance, token, Instant::now()),
    };
    Ok(Some(attempt.map_err(RequestError::wait)?))
}

/// Ends an attempt by the answer to its request. An answer that was given before the token was checked says nothing about
/// the token.
pub(crate) fn end_attempt(attempt: Attempt<'_>, answer: &Answer) {
    match answer.problem {
        Some(Problem::UnknownToken | Problem::InvalidKey | Problem::AdminToken) => {
            attempt.fail(Instant::now());
        }
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
    ApiKey(ApiKey),
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
        Access::CommitteeMember => {
            let key = api_key(headers).and_then(ApiKey::parse);
            Ok(Credential::ApiKey(key.ok_or(CommitteeRefusal::MissingKey)?))
        }
        Access::CommitteeOperator(role) => {
            let known = operator(role).await?.ok_or(CommitteeRefusal::MissingAdminToken)?;
            Ok(known.ok_or(CommitteeRefusal::NotForRole)?)
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

/// The hint for a request without the credential that it needs. It quotes nothing, because a token in a wrong form is a secret
/// all the same.
pub(crate) fn hint(access: Access, headers: &HeaderMap) -> Option<String> {
    match access {
        Access::Member => Some(bearer_hint(headers)),
        Access::Operator(_) | Access::CommitteeOperator(_) => {
            let place = "X-Admin-Token: must be the token of an operator";
            let sent = single_header(headers, ADMIN_TOKEN).map(HeaderValue::as_bytes);
            let fault = absence(headers, ADMIN_TOKEN).or_else(|| surplus(sent?));
            fault.map(|fault| format!("{place}, {fault}"))
        }
        Access::CommitteeMember => {
            let place = "x-ic-key: must be <prefix>_<member_id>_<32 hex>";
            let fault = absence(headers, API_KEY).unwrap_or("has another form");
            Some(format!("{place}, {fault}"))
        }
        Access::Public | Access::PublicOrMember | Access::Console => None,
    }
}

/// The hint for the bearer token of a request, if it cannot be a token. Quotes nothing, like [`hint`].
pub(crate) fn token_hint(access: Access, headers: &HeaderMap) -> Option<String> {
    let token = if access == Access::Member { bearer(headers)? } else { return None };
    surplus(token).map(|fault| format!("Authorization: must be Bearer <token>, {fault}"))
}

/// What a token has besides itself, because of how it was copied or read from a file.
fn surplus(token: &[u8]) -> Option<&'static str> {
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\'' | b'<' | b'>' | b'`'));
    if token.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"bearer ")) {
        return Some("has the word Bearer twice");
    }
    if token.iter().any(|byte| !matches!(byte, b' '..=b'~')) {
        return Some(
            "has a character outside ASCII, perhaps an invisible one (a byte order mark, a no-break space)",
        );
    }
    if is_quote(token.first()) || is_quote(token.last()) {
        return Some("has quotes around the token");
    }
    token.contains(&b' ').then_some("has a space in the token")
}

/// Why a header that is sent once is not there.
fn absence(headers: &HeaderMap, name: &str) -> Option<&'static str> {
    match headers.get_all(name).iter().count() {
        0 if headers.contains_key(AUTHORIZATION) => {
            Some("is missing: Authorization is not read here")
        }
        0 => Some("is missing"),
        1 => None,
        _ => Some("is sent more than once"),
    }
}

fn bearer_hint(headers: &HeaderMap) -> String {
    let mut sent = headers.get_all(AUTHORIZATION).iter().map(HeaderValue::as_bytes);
    let fault = match (sent.next(), sent.next()) {
        (None, _) => "is missing",
        (Some(_), Some(_)) => "is sent more than once",
        (Some(value), None) if value.trim_ascii().is_empty() => "is empty",
        (Some(value), None) if value.trim_ascii().eq_ignore_ascii_case(b"bearer") => {
            "has no token after Bearer"
        }
        (Some(value), None) if value.trim_ascii().contains(&b' ') => {
            "has another scheme than Bearer"
        }
        (Some(_), None) => "does not begin with the word Bearer and a space",
    };
    format!("Authorization: must be Bearer <token>, {fault}")
}

/// The token of the one `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, token) = single_header(headers, AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

/// The committee member's API key, unparsed.
fn api_key(headers: &HeaderMap) -> Option<&str> {
    single_header(headers, API_KEY)?.to_str().ok()
}
