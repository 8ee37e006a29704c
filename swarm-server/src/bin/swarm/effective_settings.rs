//! The effective settings of a configuration, as lines of `swarm check`; and the settings that need a restart.

use std::path::Path;

use swarm_core::Timestamp;
use swarm_core::domain::{
    Closes, Declaration, EventPattern, ScheduleEntry, ScheduledRoster, shown_url,
};
use swarm_core::json::write;
use swarm_core::rules;
use swarm_core::service::NEXT_RUNS;
use swarm_http::TenantConfig;

use crate::command::in_both_times;
use crate::config::{Config, MailConfig, TenantTable};
use crate::{signing_key, store};

/// The settings of the server that take effect only after a restart, by their keys in the file.
#[derive(Clone, PartialEq)]
pub(crate) struct ServerSettings(Vec<(&'static str, String)>);

impl ServerSettings {
    pub(crate) fn of(config: &Config) -> Self {
        let path = |path: &Path| path.display().to_string();
        let (cert, key) = config.tls.as_ref().map(|(cert, key)| (path(cert), path(key))).unzip();
        let mail = config.mail.as_ref();
        Self(vec![
            ("listen", config.listen.clone()),
            ("store", config.store.clone()),
            ("signing_key", config.signing_key.as_deref().map(path).unwrap_or_default()),
            ("tls_cert", cert.unwrap_or_default()),
            ("tls_key", key.unwrap_or_default()),
            ("metrics_listen", config.metrics_listen.clone().unwrap_or_default()),
            ("read_only", config.read_only.to_string()),
            ("trust_forwarded", config.trust_forwarded.to_string()),
            ("log_format", format!("{:?}", config.log_format)),
            ("smtp_url", mail.map(|mail| mail.smtp_url.clone()).unwrap_or_default()),
            ("mail_from", mail.and_then(|it| it.from.clone()).unwrap_or_default()),
        ])
    }

    /// The keys whose values differ.
    pub(crate) fn changed(&self, later: &Self) -> Vec<&'static str> {
        let pairs = self.0.iter().zip(&later.0);
        pairs.filter(|(now, later)| now != later).map(|((key, _), _)| *key).collect()
    }
}

/// The settings of the server, a line each. Without secrets.
pub(crate) fn server_lines(config: &Config) -> Vec<String> {
    let (shown, settings) = (store::shown(&config.store), store::settings(&config.store));
    let tls = if config.tls.is_some() { ", with TLS" } else { "" };
    let mut lines =
        vec![format!("listen: {}{tls}", config.listen), format!("store: {shown}{settings}")];
    lines.push(signing_key::described(
        config.signing_key.as_deref(),
        store::is_memory(&config.store),
    ));
    lines.push(match &config.metrics_listen {
        Some(address) => format!("metrics: on {address} alone"),
        None => "metrics: on the public address".to_owned(),
    });
    lines.push(match config.trust_forwarded {
        true => "forwarded headers: trusted".to_owned(),
        false => "forwarded headers: ignored".to_owned(),
    });
    lines.push(match &config.mail {
        Some(MailConfig { smtp_url, from }) => {
            let from = from.as_ref().map(|from| format!(", from {from}")).unwrap_or_default();
            format!("mail: {}{from}", store::shown(smtp_url))
        }
        None => "mail: none, messages stay in the outbox".to_owned(),
    });
    if config.read_only {
        lines.push("read only: no commits, no background work".to_owned());
    }
    lines
}

/// The settings of a tenant, a line each, but its name, hosts and operators. `now` is when its schedule is looked at.
pub(crate) fn tenant_lines(
    tenant: &TenantConfig,
    table: &TenantTable,
    now: Timestamp,
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.push(match &tenant.public_origin {
        Some(origin) => format!("origin: {origin}"),
        None => "origin: the one in use; mail links to it".to_owned(),
    });
    if let Some(from) = &tenant.mail_from {
        lines.push(format!("mail from: {from}"));
    }
    for witness in &tenant.witnesses {
        lines.push(format!("witness: {} at {}", witness.key.name(), witness.url));
    }
    if let Some(url) = &tenant.timestamp_url {
        lines.push(format!("timestamps: by {}", shown_url(url)));
    }
    lines.extend(tenant.webhooks.iter().map(|webhook| {
        let events: Vec<_> = webhook.events.iter().map(EventPattern::as_str).collect();
        let events = if events.is_empty() { "all events".to_owned() } else { events.join(", ") };
        let closing = webhook.closing.map(|lead| format!("; closing {} ahead", span(lead)));
        let url = shown_url(&webhook.url);
        format!("webhook: {url}: {events}{}", closing.unwrap_or_default())
    }));
    if let Some(before) = tenant.remind_millis {
        lines.push(format!("reminders: {} before a deadline", span(before)));
    }
    // Written by `Debug`, so that no quota can be forgotten.
    let quotas = format!("{:?}", tenant.quotas);
    let quotas = quotas.trim_start_matches("Quotas").trim_matches([' ', '{', '}']);
    lines.push(format!("quotas: {quotas}"));
    if let Some(days) = tenant.retention_days {
        lines.push(format!("retention: applications that came to nothing, {days} days"));
    }
    if tenant.noindex {
        lines.push("noindex: search engines are kept out".to_owned());
    }
    for link in &tenant.footer {
        lines.push(format!("footer: {:?} to {}", link.text(), link.url()));
    }
    lines.extend(tenant.schedule.entries().iter().flat_map(|entry| entry_lines(entry, now)));
    if let Some(folder) = &table.committee.export_to {
        lines.push(format!("export: briefs to {}", folder.display()));
    }
    lines.iter().map(|line| format!("{}: {line}", tenant.id)).collect()
}

/// An entry of the schedule, and its next windows.
fn entry_lines(entry: &ScheduleEntry, now: Timestamp) -> Vec<String> {
    let zone = entry.timezone;
    let next = rules::next_windows(entry, now).take(NEXT_RUNS).map(|window| {
        let time = in_both_times(window.opens, &zone.local(window.opens), zone.name());
        format!("schedule: next: {time} {:?}", window.subject_id.as_str())
    });
    std::iter::once(format!("schedule: {}", of_entry(entry))).chain(next).collect()
}

fn of_entry(entry: &ScheduleEntry) -> String {
    let ScheduleEntry { subjects, days, timezone, skip, opens, closes, .. } = entry;
    let ScheduleEntry { roster, quorum, buckets, .. } = entry;
    let subjects: Vec<_> = subjects.iter().map(|id| format!("{:?}", id.as_str())).collect();
    let closes = match closes {
        Closes::After(millis) => format!("for {}", span(*millis)),
        Closes::At(time) => format!("until {time}"),
    };
    let subjects = subjects.join(" and in turn ");
    let mut text = format!("{subjects}, {days}, {opens} {} {closes}", timezone.name());
    if !skip.is_empty() {
        let days: Vec<_> = skip.iter().map(ToString::to_string).collect();
        text += &format!("; not on {}", days.join(", "));
    }
    match roster {
        Some(ScheduledRoster::Active) => text += "; roster: active members",
        Some(ScheduledRoster::Members(ids)) => {
            let ids: Vec<_> = ids.iter().map(|id| format!("{:?}", id.as_str())).collect();
            text += &format!("; roster: {}", ids.join(", "));
        }
        None => {}
    }
    if let Some(quorum) = quorum {
        text += &format!("; quorum {quorum}");
    }
    if let Some(buckets) = buckets {
        let names: Vec<_> = buckets.iter().map(|bucket| format!("{:?}", bucket.as_str())).collect();
        text += &format!("; buckets {}", names.join(", "));
    }
    let steps =
        [(entry.brief, "brief"), (entry.aggregate, "aggregate"), (entry.publish, "publish")];
    let steps: Vec<_> = steps.into_iter().filter(|(is, _)| *is).map(|(_, step)| step).collect();
    if !steps.is_empty() {
        text += &format!("; {}", steps.join(", "));
    }
    if entry.blind {
        text += "; blind";
    }
    if entry.practice {
        text += "; practice";
    }
    if let Some(question) = &entry.question {
        text += &format!("; question {:?}", question.as_str());
    }
    if let Some(millis) = entry.resolves_after {
        text += &format!("; resolves {} after the deadline", span(millis));
    }
    text + &of_declaration(&entry.declaration)
}

fn of_declaration(declaration: &Declaration) -> String {
    let mut text = String::new();
    if let Some(scale) = &declaration.stances {
        let stances = scale.stances().iter();
        let stances = stances.map(|it| format!("{:?} {}", it.name.as_str(), write(&it.rank)));
        text += &format!("; stances {}", stances.collect::<Vec<_>>().join(", "));
    }
    if let Some(most) = declaration.max_revisions {
        text += &format!("; max_revisions {}", most.get());
    }
    if let Some(method) = declaration.method {
        text += &format!("; method {method}");
    }
    text
}

/// A duration in its longest unit without a fraction.
fn span(millis: i64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)];
    let whole = units.into_iter().find(|(_, unit)| millis % unit == 0);
    let (name, unit) = whole.unwrap_or(("s", 1_000));
    format!("{}{name}", millis / unit)
}
