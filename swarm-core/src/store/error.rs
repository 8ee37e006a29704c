//! The error type of stores.

use crate::domain::TenantId;

/// The store gave no answer, or an invalid one. The [`kind`](Self::kind) determines how to react.
/// `Display` names only the operation; the source has the details, for logs.
#[derive(Debug, thiserror::Error)]
#[error("store {kind}: {op}")]
pub struct StoreError {
    kind: StoreErrorKind,
    op: &'static str,
    source: Source,
}

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The kinds of store errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store could not be reached, or did not answer in time. It is unknown whether something
    /// was committed. A retry may succeed.
    Unavailable,
    /// The facts kept changing between load and commit, or a lock could not be acquired. Nothing
    /// was committed. A retry may succeed. The service loads and judges again; a store repeats only
    /// what its database undid because of other transactions.
    Contended,
    /// A stored record or a response is invalid. An operator has to investigate.
    Corrupt,
    /// The settings of the store make it unsafe. An operator has to correct them.
    Misconfigured,
    /// The clock is too far behind the log. Nothing is committed until it has caught up or an
    /// operator accepts it (API.md, 11.3).
    ClockBehind,
    /// The log does not continue the one seen before: it is shorter, or has other rows. Nothing is
    /// committed until an operator accepts the store as it is (API.md, 11.4).
    WentBack,
    /// It was opened read-only ([`ReadOnly`](crate::store::ReadOnly)). Nothing was committed.
    ReadOnly,
}

impl std::fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "unavailable",
            Self::Contended => "contended",
            Self::Corrupt => "corrupt",
            Self::Misconfigured => "misconfigured",
            Self::ClockBehind => "behind",
            Self::WentBack => "went back",
            Self::ReadOnly => "is read-only",
        })
    }
}

impl StoreError {
    /// The operation named `op` got no answer: [`StoreErrorKind::Unavailable`].
    pub fn unavailable(op: &'static str, source: impl Into<Source>) -> Self {
        Self::new(StoreErrorKind::Unavailable, op, source)
    }

    /// The operation named `op` failed because of concurrent changes:
    /// [`StoreErrorKind::Contended`].
    pub fn contended(op: &'static str, source: impl Into<Source>) -> Self {
        Self::new(StoreErrorKind::Contended, op, source)
    }

    /// The operation named `op` read an invalid record: [`StoreErrorKind::Corrupt`].
    pub fn corrupt(op: &'static str, source: impl Into<Source>) -> Self {
        Self::new(StoreErrorKind::Corrupt, op, source)
    }

    /// The operation named `op` found unsafe settings: [`StoreErrorKind::Misconfigured`].
    pub fn misconfigured(op: &'static str, source: impl Into<Source>) -> Self {
        Self::new(StoreErrorKind::Misconfigured, op, source)
    }

    /// The operation named `op` found a clock that is too far behind the log:
    /// [`StoreErrorKind::ClockBehind`].
    pub fn clock_behind(op: &'static str) -> Self {
        let text = "the clock is more than an hour behind the log; to go on with the time that it shows now: \
                    swarm admin accept clock";
        Self::new(StoreErrorKind::ClockBehind, op, text)
    }

    /// The operation named `op` found a log that does not continue the one seen before:
    /// [`StoreErrorKind::WentBack`].
    pub fn went_back(op: &'static str) -> Self {
        let text = "the log is not the one that was seen before: the store was wiped, restored or failed over; \
                    to go on with what it has now: swarm admin accept store";
        Self::new(StoreErrorKind::WentBack, op, text)
    }

    /// An error of the operation named `op`.
    pub fn new(kind: StoreErrorKind, op: &'static str, source: impl Into<Source>) -> Self {
        Self { kind, op, source: source.into() }
    }

    /// Returns the same error, whose text names the tenant that it is about.
    #[must_use]
    pub fn of_tenant(self, tenant: &TenantId) -> Self {
        let source = format!("{tenant}: {}", self.source).into();
        Self { source, ..self }
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Returns the operation that failed.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// Returns why the store is not to be used, if that can reveal neither a host nor a secret: it is about settings, the disk,
    /// the clock or the log.
    pub fn public_cause(&self) -> Option<String> {
        let is_public = matches!(
            self.kind,
            StoreErrorKind::ClockBehind | StoreErrorKind::Misconfigured | StoreErrorKind::WentBack
        );
        is_public.then(|| self.source.to_string())
    }

    /// Returns whether the operation failed because of concurrent changes, with nothing committed.
    /// The caller may retry without checking the outcome of the first attempt.
    pub fn is_contended(&self) -> bool {
        self.kind == StoreErrorKind::Contended
    }

    /// Returns whether a retry may succeed without an operator's intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::Contended)
    }
}
