//! Authentication of a tenant's operators.

use async_trait::async_trait;
use http::header::AsHeaderName;
use http::{HeaderMap, HeaderValue};
use swarm_core::domain::{Actor, AdminTokenHash};

/// Decides who may operate a tenant, and the name under which the log records their acts.
///
/// [`AdminTokens`] is the implementation by token. Others may use another credential or call another
/// service; an operator's request waits for the answer.
#[async_trait]
pub trait Operators: Send + Sync + 'static {
    /// The operator that a request with these headers comes from; `None` is answered with 401.
    async fn admit(&self, headers: &HeaderMap) -> Option<Actor>;
}

/// Operators by the token in `X-Admin-Token`, sent once (API.md, 7.1). Only hashes of tokens are kept.
#[derive(Clone, Debug, Default)]
pub struct AdminTokens(Vec<(Actor, AdminTokenHash)>);

/// Two operators have the same name or token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operator {0:?}: duplicate name or token")]
pub struct DuplicateOperator(pub String);

impl AdminTokens {
    /// A single operator, named `operator`, with this token.
    pub fn single(token: AdminTokenHash) -> Self {
        Self(vec![(Actor::OPERATOR, token)])
    }

    /// No operators.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operator.
    ///
    /// # Errors
    /// [`DuplicateOperator`] if another operator has the name or the token, because the log could not
    /// distinguish them.
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

/// The value of a header that was sent exactly once. With several values, a proxy may have checked a
/// different one than we would use, so they count as none.
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&HeaderValue> {
    let mut sent = headers.get_all(name).iter();
    let value = sent.next()?;
    sent.next().is_none().then_some(value)
}
