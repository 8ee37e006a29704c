//! Commits that wait for replicas.
//!
//! `WAIT` blocks its connection, and every command sent over it later. So commits have connections
//! of their own, each used by one commit at a time: reads never wait, and up to 32 commits wait in
//! parallel.

use std::sync::{Mutex, PoisonError};

use redis::{FromRedisValue, RedisResult};
use tokio::sync::Semaphore;

use super::command::{Command, ReplicatedScript};
use super::{Address, Connection};
use crate::script_call::ScriptCall;

/// Maximum number of commits that wait at the same time, each on its own connection.
const MAX_CONNECTIONS: usize = 32;

/// The connections of commits that wait, one commit at a time on each.
pub(super) struct ReplicatedCommits {
    address: Address,
    replicas: u8,
    permits: Semaphore,
    /// The connections that no commit is using.
    idle: Mutex<Vec<Connection>>,
}

impl ReplicatedCommits {
    pub(super) fn new(address: Address, replicas: u8) -> Self {
        Self { address, replicas, permits: Semaphore::new(MAX_CONNECTIONS), idle: Mutex::default() }
    }

    pub(super) fn replicas(&self) -> u8 {
        self.replicas
    }

    /// Runs a script, and waits until enough replicas have everything written so far. A cancelled
    /// commit drops its connection, which may still be blocked.
    pub(super) async fn commit<T: FromRedisValue>(
        &self,
        script: &ScriptCall<'_>,
        fence: &str,
    ) -> RedisResult<T> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => Connection::open(self.address.clone()).await?,
        };
        let commit = ReplicatedScript { script, fence, replicas: self.replicas };
        let answer = connection.send(Command::Replicated(&commit)).await;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        answer
    }
}
