//! What the server is asked of itself.

use redis::{Cmd, RedisError};
use std::collections::HashMap;
use std::error::Error as _;
use swarm_core::StoreError;
use swarm_core::store::Result;

use crate::link::Link;

/// Asks for a sign of life, and sees that no server makes room by forgetting.
pub(crate) async fn ready(link: &Link) -> Result<()> {
    link.ask_all::<String>("ready", &redis::cmd("PING")).await?;
    for policy in settings(link, "maxmemory-policy").await? {
        if policy != "noeviction" {
            let wrong = format!("maxmemory-policy is {policy}, and must be noeviction");
            return Err(StoreError::new("ready", wrong));
        }
    }
    Ok(())
}

/// Warns unless every write is on disk before it is acknowledged.
pub(crate) async fn warn_of_losses(link: &Link) {
    for (setting, safe) in [("appendonly", "yes"), ("appendfsync", "always")] {
        let found = settings(link, setting).await.unwrap_or_default();
        if let Some(other) = found.iter().find(|value| *value != safe) {
            tracing::warn!(
                "redis may lose acknowledged writes when it goes down: {setting} is {other}, not {safe}"
            );
        }
    }
}

/// The values of a setting at all servers, as far as they tell.
async fn settings(link: &Link, setting: &str) -> Result<Vec<String>> {
    let ask: Cmd = redis::cmd("CONFIG").arg("GET").arg(setting).to_owned();
    match link.ask_all::<HashMap<String, String>>("ready", &ask).await {
        Ok(answers) => Ok(answers.into_iter().flat_map(HashMap::into_values).collect()),
        Err(error) if is_refused(&error) => {
            tracing::debug!("redis does not tell its {setting}");
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Whether the server is there, but will not say.
fn is_refused(error: &StoreError) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<RedisError>());
    cause.is_some_and(|cause| {
        matches!(cause.kind(), redis::ErrorKind::Server(_)) || cause.code().is_some()
    })
}
