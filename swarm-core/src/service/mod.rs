//! The service, the API for embedders: it loads facts, applies the rules, and commits the result.
//!
//! # Dropping a future
//!
//! The future of a call may be dropped at any time, as when a client hangs up. A read then has no effect. A change is made completely or
//! not at all, and the caller does not know which. To find out, read the record, or send the same take again: a nonce is accepted once,
//! and the refusal names the take on file. With an [`Observer`], a commit that was begun and its report run to their end together. Background work that
//! makes several commits may have made some of them; its next call makes the others.

mod agenda;
mod basis_cache;
mod bundles;
mod cautions;
#[cfg(feature = "committee")]
mod committee;
mod desk_status;
mod documents;
pub mod dump;
mod error;
mod follow;
mod following;
mod log;
mod log_cursor;
mod log_rows;
mod members;
mod numbered;
mod observer;
mod operator_acts;
mod outbox;
mod overview;
mod policy;
mod retries;
mod round;
mod schedule;
mod schedule_status;
mod scores;
mod sessions;
pub mod signed_log;
mod standings;
mod stored_document;
mod take_list;
mod takes;
mod webhooks;

use std::fmt;
use std::sync::Arc;

use self::basis_cache::{BasisCache, SharedFacts};
use self::observer::{Observation, TenantObserver};
use crate::domain::{Quotas, TenantId, Timestamp, WebhookSettings};
use crate::proof::{Entropy, NoEntropy, Zeros};
use crate::rules::{MailText, StandardMailText};
use crate::store::{Countable, Readiness, Records, Store};

#[cfg(feature = "committee")]
pub use committee::{CommitteeError, CommitteeTenant, Committees};
pub use desk_status::ServerStatus;
pub use documents::{MemoPage, SubjectPage, WriteOutcome};
pub use error::{Error, SubmitError, with_causes};
pub use follow::{Cursor, Follow, FollowPage, FollowedEntry, FollowedRecord};
pub use following::{Followed, LogFilter};
pub use log::{LogEnd, LogPage, LogQuery, PageEntry};
pub use members::{ApplicationPage, IssuedChallenge};
pub use observer::{Commit, CommitTask, CommittedRecord, Observer};
pub use outbox::{Mailer, OutboxPage, Reminded};
pub use overview::{
    Board, ComparedMember, MAX_BOARD, MAX_COMPARED, MAX_ENTRIES, MAX_RESULTS, MAX_UNFINISHED,
    MemberComparison, News, OutcomeNews, Overview, ResultPoint, SubjectNews, SubjectTrend,
    Unfinished,
};
pub use policy::{Policy, PolicyQuestion};
pub use round::Round;
pub use schedule::{ConvenedWindows, ScheduleRound, ScheduleStep};
pub use schedule_status::NEXT_RUNS;
pub use scores::{NamedRanking, Scores};
pub use sessions::{BlindSessions, MAX_ACCEPTING, SessionPage, SummaryPage, TakePage};
pub use standings::{MemberStandings, StandingInSession};
pub use take_list::TakeListPage;
pub use takes::{FiledTake, MemberTakePage, TakeInSession, TakeScan};
pub use webhooks::{DeliveryPage, StoreCondition, WebhookRequest, WebhookRound, WebhookSender};

/// All tenants, served by one store.
#[derive(Clone)]
pub struct Swarm {
    store: Store,
    entropy: Arc<dyn Entropy>,
    mail_text: Arc<dyn MailText>,
    observer: Option<Observation>,
    facts: Option<SharedFacts>,
}

impl Swarm {
    /// A service on this store, with this source of randomness.
    pub fn new(store: impl Into<Store>, entropy: impl Entropy + 'static) -> Self {
        Self {
            store: store.into(),
            entropy: Arc::new(entropy),
            mail_text: Arc::new(StandardMailText),
            observer: None,
            facts: None,
        }
    }

    /// Adds an observer, which is called after each commit. `spawn` runs a task on the runtime of the host, such as
    /// `|task| drop(tokio::spawn(task))`. A commit and its report run in one task, so that dropping the future of a call
    /// stops neither.
    #[must_use]
    pub fn observed_by(
        self,
        observer: impl Observer + 'static,
        spawn: impl Fn(CommitTask) + Send + Sync + 'static,
    ) -> Self {
        Self { observer: Some(Observation::new(observer, spawn)), ..self }
    }

    /// Caches the facts that takes are judged on. Most takes then cost one call of the store instead
    /// of two, which pays off if calls are expensive (over a network, or to a thread that reads a
    /// file). The commit checks all cached facts, and no take is refused because of them. The cache
    /// holds at most 64 MiB for all tenants together.
    #[must_use]
    pub fn with_basis_cache(self) -> Self {
        Self { facts: Some(SharedFacts::default()), ..self }
    }

    /// Replaces the texts of mails to members.
    #[must_use]
    pub fn with_mail_text(self, mail_text: impl MailText + 'static) -> Self {
        Self { mail_text: Arc::new(mail_text), ..self }
    }

    /// Returns one tenant, with the defaults of a service: no policy, no webhooks, the usual quotas. It is cheap and does no I/O. A program
    /// that serves the tenant takes the handle of its site instead, which has what its configuration says.
    pub fn tenant(&self, id: &TenantId) -> Tenant {
        Tenant {
            store: self.store.open(id),
            is_dry_run: false,
            entropy: Arc::clone(&self.entropy),
            mail_text: Arc::clone(&self.mail_text),
            quotas: Quotas::default(),
            retention_days: None,
            public_url: None,
            webhooks: Arc::default(),
            policy: None,
            observer: TenantObserver::new(id, self.observer.as_ref()),
            cache: BasisCache::new(id, self.facts.as_ref()),
        }
    }

    /// Returns what the store warns of, if it answers and can be trusted.
    ///
    /// # Errors
    /// [`Error::Store`] when it does not answer, or must not be used.
    pub async fn ready(&self) -> Result<Readiness, Error> {
        Ok(self.store.ready().await?)
    }
}

impl fmt::Debug for Swarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swarm").field("observed", &self.observer.is_some()).finish_non_exhaustive()
    }
}

/// One tenant: its members, sessions, takes and documents.
#[derive(Clone)]
pub struct Tenant {
    store: Records,
    is_dry_run: bool,
    entropy: Arc<dyn Entropy>,
    mail_text: Arc<dyn MailText>,
    quotas: Quotas,
    retention_days: Option<u32>,
    public_url: Option<Arc<str>>,
    webhooks: Arc<[WebhookSettings]>,
    policy: Option<Arc<dyn Policy>>,
    observer: TenantObserver,
    cache: BasisCache,
}

impl Tenant {
    /// Sets the quotas.
    #[must_use]
    pub fn with_quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    /// Sets the number of days after which name, contact and lens of applications that were not successful are
    /// erased; `None`: never. See [`erase_old_applications`](Self::erase_old_applications).
    #[must_use]
    pub fn with_application_retention(self, retention_days: Option<u32>) -> Self {
        Self { retention_days, ..self }
    }

    /// Sets the address of the service, without a slash at its end. Takes that name a memo below it which does not exist are
    /// [warned](crate::rules::Warning::UnknownMemo) of, as those with its path are.
    #[must_use]
    pub fn with_public_url(self, public_url: Option<String>) -> Self {
        Self { public_url: public_url.map(Into::into), ..self }
    }

    /// Sets the webhooks. Only with one that wants them are events kept that are no entries of the log.
    #[must_use]
    pub fn with_webhooks(self, webhooks: Arc<[WebhookSettings]>) -> Self {
        Self { webhooks, ..self }
    }

    /// Sets the policy, which may refuse takes that the rules accept.
    #[must_use]
    pub fn with_policy(self, policy: Option<Arc<dyn Policy>>) -> Self {
        Self { policy, ..self }
    }

    /// Returns the time by the store's clock.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.store.now().await?)
    }

    /// Returns the number of records of one kind in one state, for monitoring. It may be slightly out of date.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn count(&self, what: Countable) -> Result<u64, Error> {
        Ok(self.store.count(what).await?)
    }

    /// 32 random bytes, for secrets of a front end.
    ///
    /// # Errors
    /// [`NoEntropy`].
    pub fn random_bytes(&self) -> Result<[u8; 32], NoEntropy> {
        self.entropy.bytes()
    }

    /// Returns the number of days after which applications that were not successful are erased;
    /// `None`: never.
    pub fn application_retention(&self) -> Option<u32> {
        self.retention_days
    }

    /// A handle for dry runs of operators' changes: it judges and answers them as this one does, and
    /// commits nothing. Ids and secrets in its results have no meaning. Use it for one change.
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            store: self.store.dry_run(),
            is_dry_run: true,
            entropy: Arc::new(Zeros),
            observer: self.observer.silent(),
            cache: BasisCache::new(self.id(), None),
            ..self.clone()
        }
    }

    /// Returns the quotas.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// Returns the id of the tenant.
    pub fn id(&self) -> &TenantId {
        self.observer.tenant()
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenant").field("id", self.id()).finish_non_exhaustive()
    }
}
