//! Who may operate a tenant.

use async_trait::async_trait;
use http::header::AsHeaderName;
use http::{HeaderMap, HeaderValue};
use swarm_core::domain::{Actor, AdminTokenHash};

/// Decides who may operate a tenant, and under which name their acts stand in the log.
///
/// [`AdminTokens`] is the plain implementation. Others may look for another credential, or ask
/// somebody else: a request of an operator waits for the answer.
#[async_trait]
pub trait Operators: Send + Sync + 'static {
    /// The operator that a request with these headers comes from; none is a 401.
    async fn admit(&self, headers: &HeaderMap) -> Option<Actor>;
}

/// Operators by the token in `X-Admin-Token`, sent once (API.md, 7.1). Only its hash is known.
#[derive(Clone, Debug, Default)]
pub struct AdminTokens(Vec<(Actor, AdminTokenHash)>);

/// This operator, or its token, stands twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operator {0:?}: the name or the token stands twice")]
pub struct DuplicateOperator(pub String);

impl AdminTokens {
    /// The one operator, called `operator`, with this token.
    pub fn single(token: AdminTokenHash) -> Self {
        Self(vec![(Actor::OPERATOR, token)])
    }

    /// No operators yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one operator more.
    ///
    /// # Errors
    /// [`DuplicateOperator`] when the name or the token is another's: the log could not tell them
    /// apart.
    pub fn with(mut self, name: Actor, token: AdminTokenHash) -> Result<Self, DuplicateOperator> {
        if self.0.iter().any(|(known, hash)| *known == name || *hash == token) {
            return Err(DuplicateOperator(name.as_str().to_owned()));
        }
        self.0.push((name, token));
        Ok(self)
    }

    /// The operators' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

#[async_trait]
impl Operators for AdminTokens {
    async fn admit(&self, headers: &HeaderMap) -> Option<Actor> {
        let sent = AdminTokenHash::of(only(headers, "x-admin-token")?.as_bytes());
        let admitted = self.0.iter().find(|(_, hash)| *hash == sent);
        admitted.map(|(name, _)| name.clone())
    }
}

/// The value of a header that was sent once. Of several, a proxy in front may have checked another than
/// the one that counts here, so a credential that is sent twice is none.
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&HeaderValue> {
    let mut sent = headers.get_all(name).iter();
    let value = sent.next()?;
    sent.next().is_none().then_some(value)
}
