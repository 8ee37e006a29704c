//! Authentication of a tenant's operators.

use std::error::Error;

use async_trait::async_trait;
use http::header::AsHeaderName;
use http::{Extensions, HeaderMap, HeaderValue};
use swarm_core::domain::{Actor, AdminTokenHash};

/// The header with an operator's token.
pub(crate) const ADMIN_TOKEN: &str = "x-admin-token";

/// Decides who may operate a tenant, in which role, and under which name the log records their acts.
///
/// A request with `X-Admin-Token` is judged by [`with_token`](Self::with_token) alone, any other by
/// [`admit`](Self::admit). Both are asked again with every request, of the API and of the console (MANUAL.md, 14), which waits
/// for the answer. [`AdminTokens`] is the implementation by token alone.
#[async_trait]
pub trait Operators: Send + Sync + 'static {
    /// The operator whom the program around the [`service`](crate::service) has authenticated, if there is one: by a header
    /// that a gateway sets, or by an extension. This operator is signed into the console too, without a token. Do not rely
    /// on anything that a client can send by itself: a gateway that sets a header must first remove it from the request. A
    /// cookie is allowed: a change that a browser sends for a page of another origin is answered with 403.
    ///
    /// # Errors
    /// [`SignOnUnavailable`] if it cannot be determined now, which is answered with 503.
    async fn admit(
        &self,
        request: &OperatorRequest<'_>,
    ) -> Result<Option<Operator>, SignOnUnavailable>;

    /// The operator whose token has this hash, if there is one: a token in `X-Admin-Token`, or given at the sign-in of the
    /// console. `Ok(None)` where operators have no tokens.
    ///
    /// # Errors
    /// [`SignOnUnavailable`] if it cannot be determined now, which is answered with 503.
    async fn with_token(
        &self,
        token: &AdminTokenHash,
    ) -> Result<Option<Operator>, SignOnUnavailable>;
}

/// The parts of a request by which an operator is recognised.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OperatorRequest<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions, in which a program around the [`service`](crate::service) passes on whom it has authenticated. A
    /// client cannot send any. A warp filter has none.
    pub extensions: &'a Extensions,
}

impl<'a> OperatorRequest<'a> {
    pub(crate) fn new(headers: &'a HeaderMap, extensions: &'a Extensions) -> Self {
        Self { headers, extensions }
    }
}

/// Who an operator is cannot be determined now, for example because the sign-on of the organisation does not answer.
#[derive(Debug, thiserror::Error)]
#[error("who the operator is cannot be determined")]
pub struct SignOnUnavailable(#[source] Box<dyn Error + Send + Sync>);

impl SignOnUnavailable {
    /// The error with this cause, which is logged.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// An operator of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operator {
    /// The name in the log.
    pub name: Actor,
    /// The role, which decides what the operator may do.
    pub role: Role,
}

impl Operator {
    /// An operator with this name and role.
    pub fn new(name: Actor, role: Role) -> Self {
        Self { name, role }
    }
}

impl From<Actor> for Operator {
    /// An operator that may do everything.
    fn from(name: Actor) -> Self {
        Self::new(name, Role::Admin)
    }
}

/// What an operator may do (MANUAL.md, 13.2). Each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Operators' reads.
    Reader,
    /// Everything about subjects, sessions, briefs, memos, regimes, signals and the committee's days.
    Operator,
    /// Everything: members of both interfaces, mail, and accepting a store too.
    #[default]
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Operator, Self::Admin];

    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// The name in the configuration and the reference.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Operators by the token in `X-Admin-Token`, sent once (API.md, 7.1). Only hashes of tokens are kept.
#[derive(Clone, Debug, Default)]
pub struct AdminTokens(Vec<(Operator, AdminTokenHash)>);

/// An operator has more than two tokens, two roles, or the token of another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operator {0:?}: a name has one role and at most two tokens, which no other name has")]
pub struct DuplicateOperator(pub String);

impl AdminTokens {
    /// A single operator, named `operator`, with this token.
    pub fn single(token: AdminTokenHash) -> Self {
        Self(vec![(Actor::OPERATOR.into(), token)])
    }

    /// No operators.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operator, or the second token of one while the first is being changed.
    ///
    /// # Errors
    /// [`DuplicateOperator`] if the token is known, because the log could not distinguish its bearers; if
    /// the name has two tokens already, or another role.
    pub fn with(
        mut self,
        operator: impl Into<Operator>,
        token: AdminTokenHash,
    ) -> Result<Self, DuplicateOperator> {
        const MAX_TOKENS: usize = 2;
        let operator = operator.into();
        let same: Vec<_> = self.0.iter().filter(|(it, _)| it.name == operator.name).collect();
        if self.0.iter().any(|(_, hash)| *hash == token)
            || same.len() >= MAX_TOKENS
            || same.iter().any(|(it, _)| it.role != operator.role)
        {
            return Err(DuplicateOperator(operator.name.as_str().to_owned()));
        }
        self.0.push((operator, token));
        Ok(self)
    }

    /// The operators, each once.
    pub fn operators(&self) -> impl Iterator<Item = &Operator> {
        let is_first = |at: usize, it: &Operator| {
            self.0.iter().position(|(other, _)| other.name == it.name) == Some(at)
        };
        let each = self.0.iter().enumerate();
        each.filter(move |(at, (it, _))| is_first(*at, it)).map(|(_, (it, _))| it)
    }
}

#[async_trait]
impl Operators for AdminTokens {
    /// Nobody: operators have tokens.
    async fn admit(&self, _: &OperatorRequest<'_>) -> Result<Option<Operator>, SignOnUnavailable> {
        Ok(None)
    }

    async fn with_token(
        &self,
        token: &AdminTokenHash,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        let admitted = self.0.iter().find(|(_, hash)| hash == token);
        Ok(admitted.map(|(operator, _)| operator.clone()))
    }
}

/// The value of a header that was sent exactly once. With several values, a proxy may have checked a
/// different one than we would use, so several values count as no value.
pub(crate) fn single_header(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&HeaderValue> {
    let mut sent = headers.get_all(name).iter();
    let value = sent.next()?;
    sent.next().is_none().then_some(value)
}
