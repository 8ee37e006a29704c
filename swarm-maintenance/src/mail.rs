//! Delivery of queued mail.

use async_trait::async_trait;
use swarm_core::Mailer;
use swarm_core::domain::MessageId;

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
