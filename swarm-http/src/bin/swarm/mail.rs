//! Mail by SMTP.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use swarm_core::Mailer;
use swarm_core::domain::Mail;
use swarm_core::rules::Attempt;
use tokio::time::timeout;

use crate::Failure;
use crate::config::MailConfig;

/// How long one conversation with the SMTP server may take: far less than the lease of a message.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An SMTP server, and whom mail is from.
pub(crate) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Smtp {
    pub(crate) fn new(config: &MailConfig) -> Result<Self, Failure> {
        let from = config.from.parse().map_err(|error| format!("mail_from: {error}"))?;
        // The address of the server may hold a password: it is not repeated.
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(&config.smtp_url)
            .map_err(|_| "smtp_url: must be smtp://host:port or smtps://host:port")?;
        Ok(Self { transport: transport.build(), from })
    }

    async fn hand_over(&self, to: Address, mail: &Mail) -> Result<(), Failure> {
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject.as_str())
            .header(ContentType::TEXT_PLAIN)
            .body(mail.body.clone())?;
        self.transport.send(message).await?;
        Ok(())
    }
}

#[async_trait]
impl Mailer for Smtp {
    async fn send(&self, mail: &Mail) -> Attempt {
        let to: Address = match mail.to.as_str().trim().parse() {
            Ok(to) => to,
            Err(_) => return Attempt::Undeliverable("contact is no e-mail address".to_owned()),
        };
        match timeout(TIMEOUT, self.hand_over(to, mail)).await {
            Ok(Ok(())) => Attempt::Sent,
            Ok(Err(error)) => Attempt::Failed(error.to_string()),
            Err(_elapsed) => Attempt::Failed("the mail server took too long".to_owned()),
        }
    }
}
