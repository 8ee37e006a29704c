//! Webhooks: their settings, how far each has got, and the deliveries to them (API.md, 15).

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

use super::form::form;
use super::{DeliveryId, Invalid, LogEntry, NoticeId, Seq, SessionId, Timestamp};

/// The longest URL of a webhook, in bytes.
pub const MAX_WEBHOOK_URL: usize = 500;

/// The fewest bytes of a secret.
const MIN_SECRET: usize = 16;

/// What the text of a secret begins with.
const PREFIX: &str = "whsec_";

/// The events that are no entries of the log.
const UNLOGGED: [&str; 6] = [
    "session.closing",
    "application.received",
    "mail.undelivered",
    "schedule.skipped",
    "store.refused",
    "store.ready",
];

form! {
    /// The request of an operator to test a webhook.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct WebhookName "WebhookName" in "members" {
        pub url: String = "url": "The URL of a webhook, as it is configured.",
    }
    example r#"{"url": "https://hooks.test.example/swarm"}"#;
}

/// The secret that the deliveries to a webhook are signed with. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Arc<[u8]>);

impl WebhookSecret {
    /// Parses the text of a secret: `whsec_` and at least 16 bytes in base64.
    ///
    /// # Errors
    /// [`Invalid`] for anything else. The error does not quote it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let rule = "must be whsec_ and at least 16 bytes in base64";
        let bytes = text.strip_prefix(PREFIX).and_then(|text| {
            let config = GeneralPurposeConfig::new()
                .with_decode_padding_mode(DecodePaddingMode::Indifferent);
            GeneralPurpose::new(&STANDARD, config).decode(text).ok()
        });
        let bytes = bytes.filter(|bytes| bytes.len() >= MIN_SECRET);
        bytes.map(|bytes| Self(bytes.into())).ok_or_else(|| Invalid::new("secret", rule))
    }

    /// Returns the bytes, for signing.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

/// A selection of events: `session.state`, `session.*`, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern(String);

impl EventPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`Invalid`] unless it is the name of an event, or the kind of one and `.*`, or `*`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let kinds = || {
            let unlogged = UNLOGGED.iter().filter_map(|event| Some(event.split_once('.')?.0));
            let mut kinds: Vec<_> = LogEntry::KINDS.into_iter().chain(unlogged).collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let is_known = match text.strip_suffix(".*") {
            Some(kind) => kinds().contains(&kind),
            None => text == "*" || UNLOGGED.contains(&text) || LogEntry::is_event(text),
        };
        if is_known {
            return Ok(Self(text.to_owned()));
        }
        let known = kinds().join(", ");
        let rule = format!("{text:?} must be an event, as session.state or session.*, of {known}");
        Err(Invalid::new("events", rule))
    }

    /// Returns whether the pattern selects this event.
    pub fn fits(&self, event: &str) -> bool {
        match self.0.strip_suffix('*') {
            // Some kinds have no acts.
            Some(kind) => event.starts_with(kind) || kind.strip_suffix('.') == Some(event),
            None => self.0 == event,
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The settings of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSettings {
    /// The address that events are posted to, which also identifies the webhook.
    pub url: String,
    /// The secret that signs deliveries.
    pub secret: WebhookSecret,
    /// The events that it is told; all if there are none.
    pub events: Vec<EventPattern>,
    /// How long before a deadline it is told that a session closes, in milliseconds.
    pub closing: Option<i64>,
}

impl WebhookSettings {
    /// Returns whether the webhook is told this event.
    pub fn wants(&self, event: &str) -> bool {
        self.events.is_empty() || self.events.iter().any(|pattern| pattern.fits(event))
    }
}

/// Returns a URL for logs and people: without its user and its query, which may have secrets in them. Of one whose password is not
/// percent-encoded, so that its end is unclear, only the scheme.
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let is_clear = user.is_none() && may_be_host(host);
    if after.contains('@') && !is_clear {
        return format!("{scheme}://…");
    }
    let (path, query) = after.split_once('?').map_or((after, ""), |(path, _)| (path, "?…"));
    let user = if user.is_some() { "…@" } else { "" };
    match url.contains("://") {
        true => format!("{scheme}://{user}{host}{path}{query}"),
        false => format!("{user}{host}{path}{query}"),
    }
}

/// Returns whether a part of a URL may be a host, perhaps with a port, and not a user with a password: after its last colon are
/// digits, or the end of an IPv6 address.
pub fn may_be_host(text: &str) -> bool {
    let is_port = |port: &str| port.ends_with(']') || port.bytes().all(|it| it.is_ascii_digit());
    text.rsplit_once(':').is_none_or(|(_, port)| is_port(port))
}

/// How far a webhook has got: up to which entry of the log, and up to which notice, deliveries are queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its URL.
    pub url: String,
    /// The number of the log.
    pub log: u64,
    /// The number of the last entry.
    pub seq: Seq,
    /// The last notice.
    pub notice: NoticeId,
    /// The sessions for which `session.closing` was queued, until their deadlines have passed.
    #[serde(default)]
    pub closing: Vec<ToldClosing>,
}

/// A session for which the event `session.closing` was queued for a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldClosing {
    /// The session.
    pub session: SessionId,
    /// Its deadline at that time.
    pub deadline: Timestamp,
}

/// An event that is no entry of the log, to be kept by the commit that causes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeDraft {
    /// The name of the event.
    pub event: &'static str,
    /// What makes it unique: of notices with the same name, the first is kept.
    pub name: String,
    /// The data, as JSON.
    pub data: String,
}

/// An event that is no entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub id: NoticeId,
    /// The time of its commit.
    pub at: Timestamp,
    /// The name of the event.
    pub event: String,
    /// What makes it unique.
    pub name: String,
    /// The data, as JSON.
    pub data: String,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DeliveryState {
    /// It waits for its next attempt, or an attempt is in progress.
    Queued,
    /// The receiver accepted it.
    Delivered,
    /// The last permitted attempt failed.
    Failed,
}

impl DeliveryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Queued, Self::Delivered, Self::Failed];

    /// Returns the state with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Returns the name of the state on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// A delivery, before a commit gives it a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryDraft {
    /// The URL of the webhook.
    pub url: String,
    /// What identifies the event to the receiver, the same at each attempt.
    pub event_id: String,
    /// The name of the event.
    pub event: String,
    /// The body: `{type, timestamp, data}`.
    pub body: String,
}

/// A delivery of an event to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The number.
    pub id: DeliveryId,
    /// What is delivered.
    pub draft: DeliveryDraft,
    /// The state.
    pub state: DeliveryState,
    /// The time of the commit that queued it.
    pub queued_at: Timestamp,
    /// When the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// The time of the next attempt. During an attempt, this is when the lease of the sending server ends and another one may
    /// try.
    pub due_at: Timestamp,
}

impl DeliveryDraft {
    /// Returns the queued delivery, with the number and the time that the commit assigned.
    pub fn queued(&self, id: DeliveryId, queued_at: Timestamp) -> Delivery {
        Delivery {
            id,
            draft: self.clone(),
            state: DeliveryState::Queued,
            queued_at,
            delivered_at: None,
            attempts: 0,
            last_error: None,
            due_at: queued_at,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_at_least_16_bytes() {
        let of = |length: usize| {
            let text = base64::engine::general_purpose::STANDARD.encode(vec![7; length]);
            WebhookSecret::parse(&format!("whsec_{text}"))
        };
        assert!(of(15).is_err());
        assert_eq!(of(16).unwrap().reveal(), [7; 16]);
        assert!(WebhookSecret::parse("whsec_BwcHBwcHBwcHBwcHBwcHBw").is_ok(), "without padding");
        for bad in ["", "whsec_", "BwcHBwcHBwcHBwcHBwcHBw==", "whsec_BwcHBwcHBwcHBwcHBwcHB!=="] {
            assert!(WebhookSecret::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(format!("{:?}", of(16).unwrap()), "WebhookSecret(..)");
    }

    #[test]
    fn patterns_select_events_by_name_and_kind() {
        let fits = |pattern: &str, event: &str| EventPattern::parse(pattern).unwrap().fits(event);
        assert!(fits("session.*", "session.closing") && fits("session.state", "session.state"));
        assert!(fits("*", "mail.undelivered") && fits("opening", "opening"));
        assert!(fits("subject.*", "subject") && fits("subject", "subject"));
        assert!(fits("committee-day.*", "committee-day.generated"));
        assert!(!fits("session.*", "subject") && !fits("session.state", "session.closing"));
        assert!(
            !fits("subject.*", "subject-snapshot") && !fits("take.filed", "committee-take.filed")
        );
        for event in UNLOGGED.into_iter().chain([
            "take.filed",
            "take-mark.restored",
            "opening",
            "session.void",
            "member.claim-reset",
            "memo.retracted",
            "subject-snapshot",
            "regime",
            "signal",
            "operation.key-accepted",
            "committee-day.withdrawn",
            "committee-take.filed",
        ]) {
            assert!(fits(event, event), "{event}");
        }
        // What no event has would never be told.
        for bad in [
            "",
            "sessions.*",
            "session.",
            "session.*.x",
            "*.state",
            "session.St",
            "s*",
            "session",
            "session.nothing",
            "subject.filed",
            "take.withheld",
            "mail.sent",
        ] {
            assert!(EventPattern::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("https://a.example/b", "https://a.example/b"),
            ("https://a.example/b?key=c", "https://a.example/b?…"),
            ("https://a.example?key=c@d", "https://a.example?…"),
            ("https://[::1]:8080/@desk/in", "https://[::1]:8080/@desk/in"),
            ("https://u:p@a.example/b", "https://…@a.example/b"),
            ("https://u:p@ss@a.example/b?c", "https://…@a.example/b?…"),
            ("https://u:p?ss@a.example/b", "https://…"),
            ("https://u:p/ss@a.example/b", "https://…"),
            ("https://u@p/ss@a.example/b", "https://…"),
            ("a.example/b?c", "a.example/b?…"),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }
}
