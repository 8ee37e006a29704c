//! Checks the role, settings and memory of the servers, for `connect` and `ready`.

use std::collections::HashMap;
use std::error::Error as _;

use redis::{Cmd, FromRedisValue, RedisError};
use swarm_core::StoreError;
use swarm_core::store::{Readiness, Result};

use crate::connection::client::Client;
use crate::connection::failure::is_refused;

/// The settings under which every write is on the disk before it is acknowledged, and a truncated
/// file is not loaded in part.
const DURABLE: [(&str, &str); 4] = [
    ("appendonly", "yes"),
    ("appendfsync", "always"),
    ("no-appendfsync-on-rewrite", "no"),
    ("aof-load-truncated", "no"),
];

/// The share of memory in use, in per cent, from which the store warns (MANUAL.md, 13.4).
const MEMORY_WARNING: u64 = 80;

/// The share of memory in use, in per cent, from which the store is not ready (MANUAL.md, 13.4).
const MEMORY_FULL: u64 = 95;

/// Checks what [`settings_and_memory`] checks, and that no server is full.
pub(crate) async fn check(client: &Client, op: &'static str, strict: bool) -> Result<Readiness> {
    let (readiness, used) = settings_and_memory(client, op, strict).await?;
    if used >= MEMORY_FULL {
        let full = format!("redis has less than {} % of its maxmemory left", 100 - MEMORY_FULL);
        return Err(StoreError::misconfigured(op, full));
    }
    Ok(readiness)
}

/// Checks that the servers answer, that none is a replica and none evicts records. Warns of settings
/// by which acknowledged writes may get lost; in strict mode such a setting is an error, as are a
/// setting that cannot be read and a replica that no commit waits for. Returns the memory use of the
/// fullest server, in per cent, too, and warns when it is high.
pub(crate) async fn settings_and_memory(
    client: &Client,
    op: &'static str,
    strict: bool,
) -> Result<(Readiness, u64)> {
    client.ask_all::<String>(op, &redis::cmd("PING")).await?;
    client.check_role(op).await?;
    let policies = settings(client, op, "maxmemory-policy").await?.unwrap_or_default();
    if let Some(policy) = policies.iter().find(|policy| *policy != "noeviction") {
        let wrong = format!("maxmemory-policy is {policy}, and must be noeviction");
        return Err(StoreError::misconfigured(op, wrong));
    }
    let mut warnings = durability_warnings(client, op, strict).await?;
    if strict && !warnings.is_empty() {
        return Err(StoreError::misconfigured(op, format!("strict: {}", warnings.join("; "))));
    }
    warnings.extend(replicas(client, op, strict).await?);
    let used = memory_used(client, op).await?;
    if used >= MEMORY_WARNING {
        warnings.push(format!(
            "redis has used {used} % of its maxmemory: from {MEMORY_FULL} % on it is not ready"
        ));
    }
    Ok((Readiness { warnings }, used))
}

/// Warns of each setting under which a server acknowledges writes that are not on its disk.
async fn durability_warnings(
    client: &Client,
    op: &'static str,
    strict: bool,
) -> Result<Vec<String>> {
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

/// The values of a setting on all servers; `None` for a server that does not report it.
async fn settings(client: &Client, op: &'static str, setting: &str) -> Result<Option<Vec<String>>> {
    let command: Cmd = redis::cmd("CONFIG").arg("GET").arg(setting).to_owned();
    let answers: Option<Vec<HashMap<String, String>>> = ask(client, op, &command).await?;
    let values = |answers: Vec<HashMap<_, _>>| {
        answers.into_iter().map(|mut answer| answer.remove(setting)).collect()
    };
    Ok(answers.and_then(values))
}

/// Warns when commits wait for more replicas than are connected. In strict mode, replicas that no
/// commit waits for are an error: a failover would lose what they have not received.
async fn replicas(client: &Client, op: &'static str, strict: bool) -> Result<Option<String>> {
    let wanted = u64::from(client.replicas());
    if wanted == 0 && !strict {
        return Ok(None);
    }
    let servers = info(client, op, "replication").await?;
    let counts = servers.iter().filter_map(|server| number(server, "connected_slaves"));
    if wanted == 0 && counts.clone().any(|count| count > 0) {
        let wrong = "strict: there are replicas, and no commit waits for them: wait is 0";
        return Err(StoreError::misconfigured(op, wrong));
    }
    let fewest = counts.min().filter(|count| *count < wanted);
    Ok(fewest.map(|count| {
        format!("no write is acknowledged: each waits for {wanted} replicas, and there are {count}")
    }))
}

/// The memory use of the fullest server, in per cent of its limit; 0 without a limit.
async fn memory_used(client: &Client, op: &'static str) -> Result<u64> {
    let share = |memory: &String| {
        let limit = number(memory, "maxmemory").filter(|limit| *limit > 0)?;
        Some(number(memory, "used_memory")?.saturating_mul(100) / limit)
    };
    Ok(info(client, op, "memory").await?.iter().filter_map(share).max().unwrap_or(0))
}

/// A section of `INFO` of each server; none if one refuses the command.
async fn info(client: &Client, op: &'static str, section: &str) -> Result<Vec<String>> {
    let command: Cmd = redis::cmd("INFO").arg(section).to_owned();
    Ok(ask(client, op, &command).await?.unwrap_or_default())
}

/// The number in this line of a section of `INFO`.
fn number(section: &str, name: &str) -> Option<u64> {
    let number = section.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    number.trim().parse().ok()
}

/// The answers of all servers; `None` if one refuses the command.
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
