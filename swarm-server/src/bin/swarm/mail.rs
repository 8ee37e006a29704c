//! Mail by SMTP.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, MIME_VERSION_1_0};
use lettre::transport::smtp::response::Category;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use sha2::{Digest, Sha256};
use swarm_core::Mailer;
use swarm_core::domain::Mail;
use swarm_core::proof::hex;
use swarm_core::rules::Attempt;
use swarm_http::TenantConfig;
use tokio::time::timeout;

use crate::Failure;
use crate::config::{MailConfig, sender};

/// How long one conversation with the SMTP server may take: far less than the lease of a message.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An SMTP server, and whom mail is from where a tenant does not say so.
#[derive(Clone)]
pub(crate) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Option<Mailbox>,
}

impl Smtp {
    pub(crate) fn new(config: &MailConfig) -> Result<Self, Failure> {
        // The address of the server may hold a password: it is not repeated. The deadline is ours,
        // of a conversation as a whole.
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(&config.smtp_url)
            .map_err(|_| "smtp_url: must be smtp://host:port or smtps://host:port")?;
        Ok(Self { transport: transport.timeout(None).build(), from: config.from.clone() })
    }

    /// What hands over the mail of this tenant.
    pub(crate) fn mailer(&self, tenant: &TenantConfig) -> Option<Box<dyn Mailer>> {
        let own = tenant.mail_from.as_deref().and_then(|from| sender(from).ok());
        let from = own.or_else(|| self.from.clone())?;
        Some(Box::new(TenantSmtp { transport: self.transport.clone(), from }))
    }
}

/// An SMTP server, and whom mail is from.
struct TenantSmtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl TenantSmtp {
    /// None where the contact is no address, or one that mail cannot name.
    fn letter(&self, mail: &Mail) -> Option<Message> {
        let to: Address = mail.to.as_str().trim().parse().ok()?;
        let letter = Message::builder()
            .message_id(Some(message_id(self.from.email.domain(), mail)))
            .header(MIME_VERSION_1_0)
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject.as_str())
            .header(ContentType::TEXT_PLAIN)
            .body(mail.body.clone());
        letter.ok()
    }
}

#[async_trait]
impl Mailer for TenantSmtp {
    async fn send(&self, mail: &Mail) -> Attempt {
        let Some(letter) = self.letter(mail) else {
            return Attempt::Undeliverable("contact is no e-mail address".to_owned());
        };
        match timeout(TIMEOUT, self.transport.send(letter)).await {
            Ok(Ok(_)) => Attempt::Sent,
            Ok(Err(error)) if refuses_the_letter(&error) => {
                Attempt::Undeliverable(error.to_string())
            }
            Ok(Err(error)) => Attempt::Failed(error.to_string()),
            Err(_elapsed) => Attempt::Failed("the mail server took too long".to_owned()),
        }
    }
}

/// Whether the mail server refuses this letter for good: 550 and what else it answers of mailboxes
/// (RFC 5321, section 4.2). Another 5xx, such as 535, may be of this program's settings.
fn refuses_the_letter(error: &lettre::transport::smtp::Error) -> bool {
    let status = error.status().filter(|_| error.is_permanent());
    status.is_some_and(|status| matches!(status.category, Category::MailSystem))
}

/// The same for each attempt at the same message, so that a copy of it is known for one.
fn message_id(domain: &str, mail: &Mail) -> String {
    let mut digest = Sha256::new();
    for part in [mail.to.as_str(), &mail.subject, &mail.body] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    format!("<{}@{domain}>", hex(&digest.finalize()))
}
