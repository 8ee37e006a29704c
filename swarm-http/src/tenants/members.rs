//! Members whom the program around the service has authenticated.

use async_trait::async_trait;
use http::{Extensions, HeaderMap};
use swarm_core::MemberId;

use super::SignOnUnavailable;

/// Says which member of a tenant a request comes from, where the program around the [`service`](crate::service) has a sign-on of its
/// own: [`TenantConfig::members`](crate::TenantConfig::members). Such a member needs no bearer token of Swarm. All other checks stay:
/// it is a member of the tenant ([`Tenant::enrol`](swarm_core::Tenant::enrol)), it is active, and what it files is signed with its key.
///
/// It is asked about each request for a route that takes the bearer token of a member, which waits for the answer.
#[async_trait]
pub trait MemberSignOn: Send + Sync + 'static {
    /// The member of this tenant whom the program around has authenticated: by an extension, or by a header that a gateway sets.
    /// Do not rely on anything that a client can send by itself. A cookie is allowed: a change that a browser sends for a page of
    /// another origin is answered with 403. For `Ok(Some(_))` the bearer token of the request is ignored; for `Ok(None)` it counts,
    /// as without this hook.
    ///
    /// # Errors
    /// [`SignOnUnavailable`] if it cannot be determined now, which is answered with 503. Reads that need no credential are answered as to
    /// anybody then.
    async fn admit(
        &self,
        request: &MemberRequest<'_>,
    ) -> Result<Option<MemberId>, SignOnUnavailable>;
}

/// The parts of a request by which a member is recognised.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemberRequest<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions, in which a program around the [`service`](crate::service) passes on whom it has authenticated. A
    /// client cannot send any. A warp filter has none.
    pub extensions: &'a Extensions,
}

impl<'a> MemberRequest<'a> {
    pub(crate) fn new(headers: &'a HeaderMap, extensions: &'a Extensions) -> Self {
        Self { headers, extensions }
    }
}
