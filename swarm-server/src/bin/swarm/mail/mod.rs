//! Mail delivery by SMTP.

mod replies;
mod server;

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0};
use lettre::transport::smtp;
use lettre::transport::smtp::response::Category;
use lettre::{Address, Message as Letter};
use sha2::{Digest, Sha256};
use swarm_core::domain::{Mail, Message};
use swarm_core::proof::hex;
use swarm_core::rules::{self, Attempt};
use swarm_core::{Mailer, TenantId};
use swarm_http::TenantConfig;

use crate::Failure;
use crate::failure::{AUTHORITIES, explained};

use server::{DeliveryError, MailServer};

/// The longest time for one delivery, far less than the lease of a message.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An SMTP server, and the sender for tenants without one.
#[derive(Clone)]
pub(crate) struct Smtp {
    server: MailServer,
    from: Option<Mailbox>,
    /// The longest time for one delivery.
    timeout: Duration,
}

impl Smtp {
    /// Parses the address of the server, and the sender as `checked_sender` returned it.
    pub(crate) fn new(smtp_url: &str, from: Option<&str>) -> Result<Self, Failure> {
        let server = MailServer::parse(smtp_url).map_err(|rule| format!("smtp_url: {rule}"))?;
        Ok(Self { server, from: from.and_then(sender), timeout: TIMEOUT })
    }

    /// The mailer of this tenant; `None` if there is no sender.
    pub(crate) fn mailer(&self, tenant: &TenantConfig) -> Option<Box<dyn Mailer>> {
        let own = tenant.mail_from.as_deref().and_then(sender);
        let from = own.or_else(|| self.from.clone())?;
        Some(Box::new(TenantSmtp { smtp: self.clone(), from, tenant: tenant.id.clone() }))
    }
}

/// Checks a sender, an address with or without a name, and returns it in its normal form. The error is the rule.
pub(crate) fn checked_sender(text: &str) -> Result<String, &'static str> {
    let sender = sender(text).ok_or("must be desk@example.org or Desk <desk@example.org>")?;
    Ok(sender.to_string())
}

fn sender(text: &str) -> Option<Mailbox> {
    let Mailbox { name, email } = text.parse().ok().or_else(|| unquoted(text))?;
    Some(Mailbox { name, email: ascii_address(email)? })
}

/// The sender of a text whose name has characters that belong between quotes, such as the comma of `Acme, Inc. <desk@acme.example>`.
fn unquoted(text: &str) -> Option<Mailbox> {
    let (name, address) = text.trim().strip_suffix('>')?.split_once('<')?;
    // An `@` before it is another address.
    let is_name = !name.contains(['@', '"', '\\']) && !name.contains(char::is_control);
    let email = address.trim().parse().ok().filter(|_| is_name)?;
    Some(Mailbox::new(Some(name.trim().to_owned()), email))
}

/// The address with the ASCII form of its domain: `zoe@bücher.example` is at `xn--bcher-kva.example`. Only such a domain
/// is understood by every mail server.
fn ascii_address(address: Address) -> Option<Address> {
    if address.domain().is_ascii() {
        return Some(address);
    }
    Address::new(address.user(), idna::domain_to_ascii(address.domain()).ok()?).ok()
}

/// An SMTP server, and the sender of a tenant.
struct TenantSmtp {
    smtp: Smtp,
    from: Mailbox,
    tenant: TenantId,
}

impl TenantSmtp {
    /// The letter; `None` if the contact is not a valid e-mail address.
    fn letter(&self, message: &Message) -> Option<Letter> {
        let mail = &message.mail;
        // The dot at the end of a complete domain name is no part of an address.
        let to = rules::address(&mail.to)?;
        let to = ascii_address(to.strip_suffix('.').unwrap_or(&to).parse().ok()?)?;
        let letter = Letter::builder()
            .message_id(Some(self.message_id(message)))
            .header(MIME_VERSION_1_0)
            .raw_header(automatic())
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject.as_str())
            .header(ContentType::TEXT_PLAIN)
            .body(mail.body.clone());
        letter.ok()
    }

    /// A Message-ID that is the same for each attempt at a message, so that mail clients recognise duplicates, and another one for each
    /// message: receivers drop one whose id they have seen.
    fn message_id(&self, message: &Message) -> String {
        let Message { id, queued_at, mail: Mail { to, subject, body }, .. } = message;
        let mut digest = Sha256::new();
        // A store that went back queues another message with the same id.
        let queued = format!("{} {id} {queued_at}", self.tenant);
        for part in [&*queued, to.as_str(), subject, body] {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
        format!("<{}@{}>", hex(&digest.finalize()), self.from.email.domain())
    }
}

/// Says that no person wrote the letter (RFC 3834), so that programs which answer letters do not answer it.
fn automatic() -> HeaderValue {
    let name = HeaderName::new_from_ascii_str("Auto-Submitted");
    HeaderValue::new(name, "auto-generated".to_owned())
}

#[async_trait]
impl Mailer for TenantSmtp {
    async fn send(&self, message: &Message) -> Attempt {
        let Some(letter) = self.letter(message) else {
            return Attempt::Undeliverable("contact is no e-mail address".to_owned());
        };
        let Smtp { server, timeout, .. } = &self.smtp;
        match server.send(&letter, self.from.email.domain(), *timeout).await {
            Ok(()) => Attempt::Sent,
            Err(DeliveryError::Letter(error)) if refuses_the_letter(&error) => {
                Attempt::Undeliverable(error.to_string())
            }
            Err(DeliveryError::Letter(error)) if error.is_client() && !is_ascii(&letter) => {
                let why = "the mail server takes no address with characters outside ASCII";
                Attempt::Undeliverable(why.to_owned())
            }
            Err(error) => Attempt::Failed(explained(server.explained(&error), AUTHORITIES)),
        }
    }
}

/// Whether all addresses of a message are in ASCII: others need a mail server with SMTPUTF8 (RFC 6531).
fn is_ascii(letter: &Letter) -> bool {
    letter.envelope().to().iter().all(|to| AsRef::<str>::as_ref(to).is_ascii())
}

/// Whether the mail server permanently refuses this message: 550 and other replies about mailboxes (RFC
/// 5321, section 4.2) that are about the recipient or the letter. Other 5xx replies, as to the sender or such as 535, may be due to our settings.
fn refuses_the_letter(error: &smtp::Error) -> bool {
    let status = error.status().filter(|_| error.is_permanent());
    status.is_some_and(|status| matches!(status.category, Category::MailSystem))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::thread;

    use swarm_core::Timestamp;
    use swarm_core::domain::{Contact, MessageId};

    use super::*;

    /// The mailer of this tenant through this mail server.
    fn mailer(smtp_url: &str, tenant: &str) -> TenantSmtp {
        let smtp = Smtp::new(smtp_url, Some("desk@test.example")).unwrap();
        let from = smtp.from.clone().unwrap();
        TenantSmtp { smtp, from, tenant: TenantId::parse(tenant).unwrap() }
    }

    fn message(id: u64) -> Message {
        let mail = Mail {
            to: Contact::parse("zoe@test.example").unwrap(),
            subject: "Approved".to_owned(),
            body: "Welcome.".to_owned(),
        };
        mail.queued(MessageId(id), Timestamp::EPOCH)
    }

    #[test]
    fn each_message_has_an_id_of_its_own_that_its_attempts_share() {
        let (acme, other) =
            (mailer("smtp://localhost", "acme"), mailer("smtp://localhost", "other"));
        let first = message(1);
        let again =
            Message { attempts: 2, due_at: Timestamp::EPOCH.plus_millis(1), ..first.clone() };
        let later = Message { queued_at: Timestamp::EPOCH.plus_millis(1), ..first.clone() };
        let id = acme.message_id(&first);
        assert_eq!(acme.message_id(&again), id);
        for different in
            [acme.message_id(&message(2)), acme.message_id(&later), other.message_id(&first)]
        {
            assert_ne!(different, id);
        }
    }

    /// The error of an attempt with this mail server.
    async fn fault(server: &TcpListener) -> String {
        let mut mailer = mailer(&format!("smtp://{}", server.local_addr().unwrap()), "acme");
        mailer.smtp.timeout = Duration::from_millis(500);
        match mailer.send(&message(1)).await {
            Attempt::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn slow_mail_server_fails_the_attempt_after_the_timeout() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        // It may wait for TLS.
        assert_eq!(
            fault(&server).await,
            "the mail server took too long; a port with TLS from the start, such as 465, needs smtps://"
        );
        // This one does not, and then says no more.
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let accepting = server.try_clone().unwrap();
        let greeting = thread::spawn(move || {
            let (mut stream, _) = accepting.accept().unwrap();
            stream.write_all(b"220 mail\r\n").unwrap();
            stream
        });
        assert_eq!(fault(&server).await, "the mail server took too long");
        drop(greeting.join().unwrap());
    }
}
