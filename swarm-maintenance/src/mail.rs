//! Delivery of queued mail.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::domain::{Message, MessageId};
use swarm_core::rules::Attempt;
use swarm_core::service::Reminded;
use swarm_core::{Mailer, TenantId};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// How long an attempt may take. Its outcome is saved before the lease of the message expires
/// ([`LEASE_MILLIS`](swarm_core::rules::LEASE_MILLIS)).
const PATIENCE: Duration = Duration::from_secs(110);

/// Sends the queued messages through the mailer that the function returns for a tenant. If it returns none, they stay
/// queued.
///
/// An attempt in which the mailer panics, or that takes longer than 110 seconds, has failed, and is repeated later. A round makes one
/// attempt after another, and [`Maintenance::run_until`](crate::Maintenance::run_until) waits for its end, so let the mailer give up
/// sooner.
#[derive(Clone, Debug)]
pub struct DeliverMail<F>(pub F);

#[async_trait]
impl<T, F> Job<T> for DeliverMail<F>
where
    T: MaintainedTenant,
    F: Fn(&T) -> Option<Box<dyn Mailer>> + Send + 'static,
{
    async fn round(&mut self, tenant: &T) -> Next {
        match (self.0)(tenant) {
            Some(mailer) => {
                let mailer = Isolated { mailer: mailer.into(), tenant: tenant.id().clone() };
                report(tenant, "messages sent", tenant.tenant().deliver(&mailer).await)
            }
            None => Next::Changed,
        }
    }
}

/// A mailer whose attempts are tasks, so that one that panics or hangs stops neither the round nor other jobs.
struct Isolated {
    mailer: Arc<dyn Mailer>,
    tenant: TenantId,
}

#[async_trait]
impl Mailer for Isolated {
    async fn send(&self, message: &Message) -> Attempt {
        let (mailer, message) = (Arc::clone(&self.mailer), message.clone());
        // When it is dropped, so is the attempt.
        let mut attempts = JoinSet::new();
        attempts.spawn(async move { mailer.send(&message).await }.in_current_span());
        let fault = match timeout(PATIENCE, attempts.join_next()).await {
            Ok(Some(Ok(attempt))) => return attempt,
            Ok(_) => "the mailer panicked",
            Err(_) => "the mailer took too long",
        };
        tracing::error!(tenant = %self.tenant, error = fault, "message not sent");
        Attempt::Failed(fault.to_owned())
    }
}

/// When members are reminded, and what the mail links to.
#[derive(Clone, Debug)]
pub struct Reminding {
    /// How long before the deadline, in milliseconds.
    pub before_millis: i64,
    /// The origin that the mail links to.
    pub origin: String,
}

/// Reminds expected members that have not filed, as the function says for a tenant; none if it returns `None` (API.md, 7.5).
#[derive(Debug)]
pub struct RemindMembers<F> {
    reminding: F,
    known: Reminded,
}

impl<F> RemindMembers<F> {
    /// A job for what the function returns.
    pub fn new(reminding: F) -> Self {
        Self { reminding, known: Reminded::default() }
    }
}

#[async_trait]
impl<T, F> Job<T> for RemindMembers<F>
where
    T: MaintainedTenant,
    F: Fn(&T) -> Option<Reminding> + Send + 'static,
{
    async fn round(&mut self, served: &T) -> Next {
        let Some(reminding) = (self.reminding)(served) else { return Next::Changed };
        let Reminding { before_millis, origin } = &reminding;
        let reminded = served.tenant().remind(*before_millis, origin, &mut self.known).await;
        report(served, "reminders queued", reminded)
    }
}

/// Logs each queued message once, without its text: for servers that send no mail.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogQueuedMail {
    last: Option<MessageId>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for LogQueuedMail {
    async fn round(&mut self, served: &T) -> Next {
        let tenant = served.id();
        // Not logged here: the job that closes windows logs the same store failure.
        let Ok(queued) = served.tenant().queued(self.last).await else { return Next::Soon };
        for message in queued {
            let subject = &message.mail.subject;
            tracing::warn!(%tenant, message_id = %message.id, subject, "mail is not configured");
            self.last = Some(message.id);
        }
        Next::Changed
    }
}
