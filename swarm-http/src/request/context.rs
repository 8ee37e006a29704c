//! A request as handlers get it: with its tenant, its checked credential and its body.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
#[cfg(feature = "pages")]
use http::Extensions;
use http::HeaderMap;
use swarm_core::domain::{
    Actor, DeliveryId, Invalid, MemberId, MemoId, MessageId, SessionId, SubjectId, TakeId,
};
use swarm_core::json::Json;
use swarm_core::service::signed_log::SignedLog;
use swarm_core::wire::RequestError;
use swarm_core::{Caller, Refusal, Resource, Tenant};

use crate::Site;
use crate::cache::CacheKey;
use crate::committee::TenantCommittee;
use crate::response::{Answer, ApiError};
use crate::schema::SchemaRef;
use crate::tenants::{BasePath, ServedTenant};

use super::credential::Credential;
use super::dry_run::DryRun;
use super::origin::Origin;
#[cfg(feature = "pages")]
use super::portion::Portion;

/// A query parameter: name and schema.
pub(crate) type Parameter = (&'static str, SchemaRef);

pub(crate) struct RequestContext {
    pub(crate) site: Arc<Site>,
    pub(crate) served: Arc<ServedTenant>,
    /// The services of a dry run, which replace those of the tenant, if the request is one.
    pub(crate) dry_run: Option<Box<DryRun>>,
    pub(crate) origin: Origin,
    pub(crate) credential: Credential,
    /// Whether only the head of the answer is sent.
    #[cfg(feature = "pages")]
    pub(crate) is_head: bool,
    /// How much of its lists a page has.
    #[cfg(feature = "pages")]
    pub(crate) portion: Portion,
    pub(crate) headers: HeaderMap,
    /// What the program around the service says of the request.
    #[cfg(feature = "pages")]
    pub(crate) extensions: Extensions,
    /// The path below the base path, not decoded.
    pub(crate) target: String,
    /// The path parameters, percent-decoded.
    pub(crate) path: Vec<String>,
    pub(crate) query: String,
    /// The query parameters of the route.
    pub(crate) parameters: &'static [Parameter],
    /// The body, if the route has one.
    pub(crate) bytes: Bytes,
    /// The parsed body; null if the rules parse the bytes themselves.
    pub(crate) body: Json,
}

impl RequestContext {
    /// The same public read once more: it has no credential but that of a member.
    #[cfg(feature = "pages")]
    pub(crate) fn clone_read(&self) -> Self {
        Self {
            site: Arc::clone(&self.site),
            served: Arc::clone(&self.served),
            dry_run: None,
            origin: self.origin.clone(),
            credential: match &self.credential {
                Credential::Bearer(token) => Credential::Bearer(*token),
                Credential::Member(id) => Credential::Member(id.clone()),
                _ => Credential::None,
            },
            is_head: self.is_head,
            portion: self.portion,
            headers: self.headers.clone(),
            extensions: self.extensions.clone(),
            target: self.target.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            parameters: self.parameters,
            bytes: Bytes::new(),
            body: Json::Null,
        }
    }

    pub(crate) fn tenant(&self) -> &Tenant {
        self.dry_run.as_deref().map_or_else(|| self.served.tenant(), |dry_run| &dry_run.tenant)
    }

    /// The tenant's log, if the site signs logs.
    pub(crate) fn signed_log(&self) -> Option<&SignedLog> {
        match &self.dry_run {
            Some(dry_run) => dry_run.signed_log.as_ref(),
            None => self.served.signed_log(),
        }
    }

    /// The tenant's committee, if the site has committees.
    pub(crate) fn tenant_committee(&self) -> &TenantCommittee {
        self.dry_run.as_deref().map_or(&self.served.committee, |dry_run| &dry_run.committee)
    }

    /// The member that calls.
    pub(crate) fn caller(&self) -> Result<Caller<'_>, ApiError> {
        self.caller_if_any().ok_or_else(|| Refusal::MissingBearer.into())
    }

    /// The member that a public read comes from, if that is known.
    pub(crate) fn caller_if_any(&self) -> Option<Caller<'_>> {
        self.credential.caller()
    }

    /// The path below which the tenant is served.
    pub(crate) fn base_path(&self) -> &BasePath {
        self.served.config().base_path()
    }

    /// The origin that the request was sent to, with the base path, for links in the answer.
    pub(crate) fn origin(&self) -> String {
        let mut address = self.origin.url();
        address.push_str(self.base_path().as_str());
        address
    }

    /// The address for links that outlive the request, as in mail: with the tenant's configured origin, if any.
    pub(crate) fn public_origin(&self) -> String {
        self.served.config().public_url().unwrap_or_else(|| self.origin())
    }

    /// The calling operator.
    pub(crate) fn by(&self) -> Result<&Actor, ApiError> {
        match &self.credential {
            Credential::Operator(name) => Ok(name),
            _ => Err(Refusal::MissingAdminToken.into()),
        }
    }

    /// A path parameter, parsed. A text that is not a valid id counts as an unknown one.
    fn part<T>(
        &self,
        at: usize,
        thing: Resource,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ApiError> {
        let part = self.path.get(at).and_then(|part| parse(part));
        Ok(part.ok_or(Refusal::NotFound(thing))?)
    }

    pub(crate) fn take_id(&self) -> Result<TakeId, ApiError> {
        self.part(0, Resource::Take, |text| number(text).map(TakeId))
    }

    pub(crate) fn session_id(&self) -> Result<SessionId, ApiError> {
        self.part(0, Resource::Session, |text| number(text).map(SessionId))
    }

    pub(crate) fn memo_id(&self) -> Result<MemoId, ApiError> {
        self.part(0, Resource::Memo, |text| number(text).map(MemoId))
    }

    pub(crate) fn message_id(&self) -> Result<MessageId, ApiError> {
        self.part(0, Resource::Message, |text| number(text).map(MessageId))
    }

    pub(crate) fn delivery_id(&self) -> Result<DeliveryId, ApiError> {
        self.part(0, Resource::Delivery, |text| number(text).map(DeliveryId))
    }

    pub(crate) fn member_id(&self, thing: Resource) -> Result<MemberId, ApiError> {
        self.part(0, thing, |text| MemberId::parse(text).ok())
    }

    pub(crate) fn subject_id(&self) -> Result<SubjectId, ApiError> {
        self.part(0, Resource::Subject, |text| SubjectId::parse(text).ok())
    }

    /// The key of the answer in the cache.
    pub(crate) fn cache_key(&self, route: &str) -> CacheKey {
        let (tenant, base) = (&self.served.config().id, self.base_path());
        CacheKey::new((tenant, base), route, &self.path, (self.parameters, &self.query))
    }

    /// The query parameters; of several with one name, the last.
    pub(crate) fn query(&self) -> HashMap<String, String> {
        form_urlencoded::parse(self.query.as_bytes()).into_owned().collect()
    }

    /// A page of a list, with a link to the next one if it begins at a position, the parameter `name`. The link has the
    /// parameters of the route alone, so that the answer may be cached.
    pub(crate) fn linked(
        &self,
        page: impl Into<Answer>,
        name: &str,
        next: Option<impl ToString>,
    ) -> Answer {
        let page = page.into();
        let Some(next) = next else { return page };
        let mut sent = self.query();
        let mut query = form_urlencoded::Serializer::new(String::new());
        let declared = self.parameters.iter().map(|(other, _)| *other);
        for other in declared.filter(|other| *other != name).chain(["limit"]) {
            if let Some(value) = sent.remove(other) {
                query.append_pair(other, &value);
            }
        }
        query.append_pair(name, &next.to_string());
        page.with_next(&format!("{}?{}", self.target, query.finish()))
    }
}

/// The error for a query parameter that breaks a rule.
pub(crate) fn invalid_query(name: &'static str, rule: impl Into<String>) -> ApiError {
    RequestError::InvalidQuery(Invalid::new(name, rule)).into()
}

/// Parses a number in its canonical form: digits only, without leading zeros.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}
