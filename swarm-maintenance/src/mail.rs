//! Delivery of queued mail.

use async_trait::async_trait;
use swarm_core::Mailer;
use swarm_core::domain::MessageId;
use swarm_core::service::Reminded;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// Sends the queued messages through the mailer that the function returns for a tenant. If it returns none, they stay
/// queued.
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
                report(tenant, "messages sent", tenant.tenant().deliver(&*mailer).await)
            }
            None => Next::Changed,
        }
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
