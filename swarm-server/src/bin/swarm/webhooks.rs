//! The `[[tenants.webhooks]]` tables of the configuration file, and posts to webhooks (API.md, 15).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::Deserialize;
use swarm_client::{WebhookAnswer, WebhookClient, is_loopback};
use swarm_core::domain::{
    EventPattern, MAX_WEBHOOK_URL, WebhookSecret, WebhookSettings, shown_url,
};
use swarm_core::rules::{CLOSING_EVENT, DeliveryFault};
use swarm_core::service::{WebhookRequest, WebhookSender};

use crate::outgoing::Outgoing;
use crate::schedule::millis;
use crate::secrets::read_secret;
use crate::text_file::trimmed;

/// The most webhooks of a tenant.
const MAX_WEBHOOKS: usize = 16;

/// The longest time between `session.closing` and the deadline: as long as deliveries are kept.
const MAX_CLOSING_MILLIS: i64 = swarm_core::rules::WEBHOOK_RETENTION_MILLIS;

/// The requests to webhooks.
static REQUESTS: Outgoing = Outgoing::new("webhook");

/// A `[[tenants.webhooks]]` table, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookTable {
    url: String,
    secret: Option<String>,
    secret_file: Option<PathBuf>,
    #[serde(default)]
    events: Vec<String>,
    closing: Option<String>,
    #[serde(default)]
    insecure: bool,
}

/// Checks the webhooks of a tenant. The error is the reason.
pub(crate) fn configured(tables: &[WebhookTable]) -> Result<Arc<[WebhookSettings]>, String> {
    if tables.len() > MAX_WEBHOOKS {
        return Err(format!("must be at most {MAX_WEBHOOKS}"));
    }
    let mut webhooks: Vec<WebhookSettings> = Vec::new();
    for table in tables {
        let bad = |fault: &str| format!("{:?}: {fault}", shown_url(&table.url));
        let settings = settings(table).map_err(|fault| bad(&fault))?;
        if webhooks.iter().any(|other| other.url == settings.url) {
            return Err(bad("is given twice"));
        }
        webhooks.push(settings);
    }
    Ok(webhooks.into())
}

fn settings(table: &WebhookTable) -> Result<WebhookSettings, String> {
    let WebhookTable { url, secret, secret_file, events, closing, insecure } = table;
    if url.len() > MAX_WEBHOOK_URL || url.chars().any(char::is_control) {
        return Err(format!("url: must be a line of at most {MAX_WEBHOOK_URL} bytes"));
    }
    WebhookClient::new(url).map_err(|_| "url: must be https://, without user and fragment, with a port from 1 to 65535 if any; an international domain is written xn--…")?;
    let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    if !is_https && !insecure && !is_loopback(url) {
        let rule = "url: must be https:// but on this machine; insecure = true where everybody on the way is trusted";
        return Err(rule.to_owned());
    }
    let secret = match (secret, secret_file) {
        (Some(_), Some(_)) => return Err("secret: must not be given with secret_file".to_owned()),
        (None, None) => return Err("secret: is missing, and there is no secret_file".to_owned()),
        (Some(secret), None) => trimmed(secret).to_owned(),
        (None, Some(file)) => read_secret(file).map_err(|error| format!("secret_file: {error}"))?,
    };
    let secret = WebhookSecret::parse(&secret).map_err(|invalid| invalid.to_string())?;
    let events = events.iter().map(|event| EventPattern::parse(event)).collect::<Result<_, _>>();
    let events: Vec<_> = events.map_err(|invalid| format!("events: {}", invalid.rule))?;
    let closing = closing.as_deref().map(|text| {
        let lead = millis(text).filter(|lead| (1_000..=MAX_CLOSING_MILLIS).contains(lead));
        lead.ok_or_else(|| "closing: must be from 1s to 7d, as in 30m".to_owned())
    });
    let closing = closing.transpose()?;
    let settings = WebhookSettings { url: url.clone(), secret, events, closing };
    let names_closing = settings.events.iter().any(|event| event.as_str() == CLOSING_EVENT);
    match closing {
        Some(_) if !settings.wants(CLOSING_EVENT) => {
            Err(format!("closing: needs {CLOSING_EVENT} among the events"))
        }
        None if names_closing => Err(format!("events: {CLOSING_EVENT} needs closing")),
        _ => Ok(settings),
    }
}

/// Posts to webhooks over HTTP.
#[derive(Default)]
pub(crate) struct HttpSender {
    /// By URL: a client reads the authorities of the system once.
    clients: Mutex<HashMap<String, WebhookClient>>,
}

impl HttpSender {
    fn client(&self, url: &str) -> Result<WebhookClient, DeliveryFault> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(url) {
            return Ok(client.clone());
        }
        let client =
            WebhookClient::new(url).map_err(|error| DeliveryFault::Failed(error.to_string()))?;
        clients.insert(url.to_owned(), client.clone());
        Ok(client)
    }

    async fn post(&self, request: WebhookRequest) -> Result<WebhookAnswer, DeliveryFault> {
        let client = self.client(&request.url)?;
        let post = move || {
            let WebhookRequest { id, timestamp, signature, body, .. } = request;
            let headers = [
                ("webhook-id", &*id),
                ("webhook-timestamp", &*timestamp.to_string()),
                ("webhook-signature", &*signature),
                ("user-agent", concat!("swarm/", env!("CARGO_PKG_VERSION"))),
            ];
            client.post(&headers, &body)
        };
        REQUESTS.send(post).await.map_err(DeliveryFault::Failed)
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    async fn send(&self, request: WebhookRequest) -> Result<(), DeliveryFault> {
        let WebhookAnswer { status, retry_after, .. } = self.post(request).await?;
        let why = format!("answered {status}");
        match (status, retry_after) {
            (200..=299, _) => Ok(()),
            (410, _) => Err(DeliveryFault::Refused(why)),
            (429 | 503, Some(seconds)) => {
                let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
                Err(DeliveryFault::Busy(why, seconds.saturating_mul(1_000)))
            }
            _ => Err(DeliveryFault::Failed(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'\n";

    fn read(text: &str) -> Result<Arc<[WebhookSettings]>, String> {
        #[derive(Deserialize)]
        struct File {
            webhooks: Vec<WebhookTable>,
        }
        configured(&toml::from_str::<File>(text).unwrap().webhooks)
    }

    #[test]
    fn complete_webhook_is_read() {
        let more = "events = ['session.*', 'mail.undelivered']\nclosing = '30m'";
        let text = format!("[[webhooks]]\nurl = 'https://a.example/b?c=d'\n{SECRET}{more}");
        let webhooks = read(&text).unwrap();
        let [webhook] = &*webhooks else { panic!("{webhooks:?}") };
        assert_eq!(webhook.url, "https://a.example/b?c=d");
        assert_eq!((webhook.closing, webhook.secret.reveal().len()), (Some(1_800_000), 24));
        assert!(webhook.wants("session.closing") && !webhook.wants("take.filed"));
        assert!(!format!("{webhooks:?}").contains("MfKQ"));
    }

    #[test]
    fn faults_name_their_key_and_no_secret() {
        let https = "url = 'https://a.example'\n";
        for (lines, key) in [
            (https.to_owned(), "secret: is missing"),
            (format!("{https}{SECRET}secret_file = 'a'"), "secret: must not"),
            (format!("{https}secret = 'whsec_c2hvcnQ='"), "secret must be"),
            (format!("{https}secret_file = '/nowhere/at all'"), "secret_file: "),
            (format!("{https}{SECRET}events = ['sesion.*']"), "events: "),
            (format!("{https}{SECRET}events = ['session.nothing']"), "events: "),
            (format!("{https}{SECRET}events = ['take.filed']\nclosing = '1h'"), "closing: needs"),
            (format!("{https}{SECRET}events = ['session.closing']"), "events: session.closing"),
            (format!("{https}{SECRET}closing = '8d'"), "closing: "),
            (format!("{https}{SECRET}closing = 'soon'"), "closing: "),
            (format!("url = 'http://a.example?key=hush'\n{SECRET}"), "url: must be https"),
            (format!("url = 'https://me:hush@a.example'\n{SECRET}"), "url: must be https"),
            (format!("url = 'a.example'\n{SECRET}"), "url: must be https"),
        ] {
            let fault = read(&format!("[[webhooks]]\n{lines}")).unwrap_err();
            assert!(fault.contains(key) && !fault.contains("whsec_c2"), "{fault}");
            assert!(!fault.contains("key=hush"), "{fault}");
        }
        let one = format!("[[webhooks]]\n{https}{SECRET}");
        assert!(read(&format!("{one}{one}")).unwrap_err().contains("given twice"));
        for local in
            ["url = 'http://127.0.0.1:9/'\n", "url = 'http://a.example'\ninsecure = true\n"]
        {
            assert!(read(&format!("[[webhooks]]\n{local}{SECRET}")).is_ok(), "{local}");
        }
    }
}
