//! The store of one tenant: runs its scripts, and checks layout and log position on the way.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use redis::{Cmd, FromRedisValue, Pipeline, Script};
use swarm_core::domain::AttemptId;
use swarm_core::store::{Clock, GroupCommit, Log as _, LogPosition, Result, SeenLog};
use swarm_core::{Entropy, StoreError, SystemEntropy, TenantId, Timestamp};

use crate::changes;
use crate::codec::{self, Context};
use crate::connection::client::Client;
use crate::keys::Keys;
use crate::layout::TenantLayout;
use crate::script_call::ScriptCall;
use crate::scripts;

/// A call of a script that reads the log or appends to it. The keys of the log follow its own keys.
/// [`at`](Self::at) adds the last position seen, which most such scripts compare.
pub(crate) struct LogCall<'a>(ScriptCall<'a>);

impl<'a> LogCall<'a> {
    /// Adds the last position seen of the log as the last three arguments.
    fn at(self, seen: &LogPosition) -> ScriptCall<'a> {
        let Self(mut script) = self;
        script.arg(seen.log).arg(seen.size.0).arg(&*seen.last);
        script
    }
}

impl<'a> Deref for LogCall<'a> {
    type Target = ScriptCall<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for LogCall<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The shared state of each tenant opened so far.
#[derive(Default)]
pub(crate) struct SharedByTenant(Mutex<HashMap<TenantId, Arc<Shared>>>);

/// The state shared by all handles of one tenant.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) layout: TenantLayout,
    pub(crate) group_commit: Arc<GroupCommit<TenantStore>>,
}

impl SharedByTenant {
    pub(crate) fn of(&self, tenant: &TenantId) -> Arc<Shared> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(tenant.clone()).or_default())
    }
}

/// One tenant's part of the store.
#[derive(Clone)]
pub(crate) struct TenantStore {
    pub(crate) id: TenantId,
    pub(crate) client: Arc<Client>,
    pub(crate) seen: Arc<SeenLog>,
    pub(crate) keys: Keys,
    pub(crate) shared: Arc<Shared>,
}

impl TenantStore {
    /// Runs a script that writes, and recognizes a repeated attempt; returns its outcome. The change is
    /// announced with it, so that other processes learn of it even if this one is killed: the announcement
    /// is sent first, and neither waits for the other's answer.
    pub(crate) async fn commit(&self, op: &'static str, script: LogCall<'_>) -> Result<String> {
        self.mark(op).await?;
        let announced = changes::announce(&self.client, &self.id);
        let committed = self.commit_at(op, script, self.seen.position());
        // If the announcement fails, the next call of `changes` makes it.
        let (_announced, committed) = tokio::join!(biased; announced, committed);
        committed
    }

    /// The same without an announcement, for a change that was judged at this log position.
    pub(crate) async fn commit_at(
        &self,
        op: &'static str,
        script: LogCall<'_>,
        seen: LogPosition,
    ) -> Result<String> {
        let _changing = self.seen.changing();
        self.mark(op).await?;
        let script = script.at(&seen);
        let committed = self.client.commit(op, &script, &self.keys).await;
        self.committed(op, committed).await
    }

    /// Runs a script that writes and is idempotent. It does not wait for replicas.
    pub(crate) async fn write(&self, op: &'static str, script: LogCall<'_>) -> Result<String> {
        let _changing = self.seen.changing();
        self.mark(op).await?;
        let script = self.with_position(script);
        let committed = self.client.run(op, &script).await;
        self.committed(op, committed).await
    }

    /// Runs a script that reads facts to be judged by.
    pub(crate) async fn facts<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: LogCall<'_>,
    ) -> Result<T> {
        let script = self.with_position(script);
        self.seen.note(self.read(op, &script).await)
    }

    /// A call of a script that reads the log or appends to it; `keys` precede those of the log.
    pub(crate) fn call<'a>(&self, script: &'a Script, keys: impl AsRef<[String]>) -> LogCall<'a> {
        LogCall(ScriptCall::with(script, keys.as_ref(), &[self.keys.log(), self.keys.takes()]))
    }

    /// Adds the last position seen of the log to a call.
    pub(crate) fn with_position<'a>(&self, script: LogCall<'a>) -> ScriptCall<'a> {
        script.at(&self.seen.position())
    }

    /// Records the log position that a commit returned, and returns its outcome.
    async fn committed(&self, op: &'static str, committed: Result<String>) -> Result<String> {
        match self.seen.note(committed) {
            Ok(mut committed) => {
                let (position, outcome) = codec::decode_committed(&committed).context(op)?;
                self.seen.advance(position);
                let outcome = committed.len() - outcome.len();
                Ok(committed.split_off(outcome))
            }
            Err(error) => {
                if error.is_contended() {
                    // Another log may have begun.
                    self.log_position().await?;
                }
                Err(error)
            }
        }
    }

    /// Runs a script that only reads.
    pub(crate) async fn read<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptCall<'_>,
    ) -> Result<T> {
        self.check(op).await?;
        self.client.run(op, script).await
    }

    /// Runs a script with a large answer. Commits do not wait behind it.
    pub(crate) async fn read_bulk<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptCall<'_>,
    ) -> Result<T> {
        self.check(op).await?;
        self.client.run_bulk(op, script).await
    }

    /// Sends commands that only read, with a large answer.
    pub(crate) async fn query_bulk<T: FromRedisValue>(
        &self,
        op: &'static str,
        commands: &Pipeline,
    ) -> Result<T> {
        self.check(op).await?;
        self.client.query_bulk(op, commands).await
    }

    /// Sends a command that only reads.
    pub(crate) async fn query<T: FromRedisValue>(&self, op: &'static str, cmd: &Cmd) -> Result<T> {
        self.check(op).await?;
        self.client.query(op, cmd).await
    }

    /// Before the tenant's first read: checks that its layout is the one of this release.
    async fn check(&self, op: &'static str) -> Result<()> {
        if self.shared.layout.is_checked() {
            return Ok(());
        }
        Box::pin(self.shared.layout.check(op, &self.client, &self.keys)).await
    }

    /// Before the tenant's first write: marks it with the layout of this release.
    pub(crate) async fn mark(&self, op: &'static str) -> Result<()> {
        if self.shared.layout.is_marked() {
            return Ok(());
        }
        Box::pin(self.shared.layout.mark(op, &self.client, &self.keys)).await
    }

    /// Checks that commits are not blocked by the log or the clock.
    pub(crate) async fn may_commit(&self) -> Result<()> {
        let script = self.call(&scripts::TIME_OF_COMMIT, []);
        self.facts::<String>("ready", script).await.map(drop)
    }

    /// The key under which the outcome of a new attempt is kept.
    pub(crate) fn attempt(&self, op: &'static str) -> Result<String> {
        Ok(self.keys.attempt(new_attempt(op)?))
    }
}

/// The id of a new attempt.
pub(crate) fn new_attempt(op: &'static str) -> Result<AttemptId> {
    let mut attempt = [0; 16];
    SystemEntropy.fill(&mut attempt).map_err(|error| StoreError::unavailable(op, error))?;
    Ok(AttemptId(attempt))
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        let script = self.call(&scripts::NOW, []);
        let now: String = self.read("now", &script).await?;
        codec::decode_timestamp(&now).context("now")
    }
}
