//! What the servers say about their role and their settings.

use std::collections::HashMap;
use std::error::Error as _;

use redis::{Cmd, FromRedisValue, RedisError};
use swarm_core::StoreError;
use swarm_core::store::{Readiness, Result};

use crate::connection::client::Client;
use crate::connection::failure::is_refused;

/// The settings that put every write on the disk before it is acknowledged.
const DURABLE: [(&str, &str); 3] =
    [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];

/// Checks that the servers answer, that none is a replica and that none evicts records, and warns of
/// settings by which acknowledged writes may get lost. In strict mode such a setting is an error,
/// and so is one that cannot be read.
pub(crate) async fn check(client: &Client, op: &'static str, strict: bool) -> Result<Readiness> {
    client.ask_all::<String>(op, &redis::cmd("PING")).await?;
    client.check_role(op).await?;
    let policies = settings(client, op, "maxmemory-policy").await?.unwrap_or_default();
    if let Some(policy) = policies.iter().find(|policy| *policy != "noeviction") {
        let wrong = format!("maxmemory-policy is {policy}, and must be noeviction");
        return Err(StoreError::misconfigured(op, wrong));
    }
    let mut warnings = losses(client, op, strict).await?;
    if strict && !warnings.is_empty() {
        return Err(StoreError::misconfigured(op, format!("strict: {}", warnings.join("; "))));
    }
    warnings.extend(missing_replicas(client, op).await?);
    Ok(Readiness { warnings })
}

/// Warns of each setting by which a server acknowledges what is not on its disk.
async fn losses(client: &Client, op: &'static str, strict: bool) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for (setting, safe) in DURABLE {
        let Some(values) = settings(client, op, setting).await? else {
            if strict {
                let unknown = format!("strict: {setting} cannot be seen by CONFIG GET");
                return Err(StoreError::misconfigured(op, unknown));
            }
            tracing::debug!("redis does not say its {setting}");
            continue;
        };
        if let Some(other) = values.iter().find(|value| *value != safe) {
            warnings.push(format!(
                "redis may lose acknowledged writes when it goes down: {setting} is {other}, not {safe}"
            ));
        }
    }
    Ok(warnings)
}

/// The values of a setting at all servers; `None` where one does not say.
async fn settings(client: &Client, op: &'static str, setting: &str) -> Result<Option<Vec<String>>> {
    let command: Cmd = redis::cmd("CONFIG").arg("GET").arg(setting).to_owned();
    let answers: Option<Vec<HashMap<String, String>>> = ask(client, op, &command).await?;
    let values = |answers: Vec<HashMap<_, _>>| {
        answers.into_iter().map(|mut answer| answer.remove(setting)).collect()
    };
    Ok(answers.and_then(values))
}

/// Warns where commits wait for more replicas than there are.
async fn missing_replicas(client: &Client, op: &'static str) -> Result<Option<String>> {
    let wanted = client.replicas();
    if wanted == 0 {
        return Ok(None);
    }
    let command: Cmd = redis::cmd("INFO").arg("replication").to_owned();
    let answers: Vec<String> = ask(client, op, &command).await?.unwrap_or_default();
    let connected = |answer: &String| {
        let count = answer.lines().find_map(|line| line.strip_prefix("connected_slaves:"))?;
        count.trim().parse::<u64>().ok()
    };
    let fewest = answers.iter().filter_map(connected).min().filter(|count| *count < wanted.into());
    Ok(fewest.map(|count| {
        format!("no write is acknowledged: each waits for {wanted} replicas, and there are {count}")
    }))
}

/// The answers of all servers; `None` where they refuse.
async fn ask<T: FromRedisValue>(
    client: &Client,
    op: &'static str,
    command: &Cmd,
) -> Result<Option<Vec<T>>> {
    match client.ask_all(op, command).await {
        Ok(answers) => Ok(Some(answers)),
        Err(error) if cause(&error).is_some_and(is_refused) => Ok(None),
        Err(error) => Err(error),
    }
}

fn cause(error: &StoreError) -> Option<&RedisError> {
    error.source()?.downcast_ref()
}
