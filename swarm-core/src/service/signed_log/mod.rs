//! The log of a tenant as a signed tree: it proves that none of its entries is missing or changed
//! (API.md, 11.6).
//!
//! No commit touches the tree. [`SignedLog::sign`] reads the entries since the last signature, stores the tiles
//! that they complete, and signs a checkpoint if it continues all that was signed before. Any server may do it:
//! the version of the stored tree is a guard, so that only one of them saves.

mod checkpoints;
mod edge;
mod entry_check;
mod reading;
mod signing;
mod succession;
mod tiles;
mod timestamps;
mod witnesses;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use checkpoints::{CheckpointMemory, LastSigned, SignedCheckpoint};
pub use entry_check::{Damage, EntryCheck};
pub use signing::Signing;
pub use succession::EndedLog;
pub use timestamps::{StampOutcome, StoredTimestamp, TimestampAuthority};
pub use witnesses::{OfferOutcome, Witness, WitnessAnswer};

use super::Tenant;
use crate::domain::{Invalid, Seq};
use crate::proof::log_key::ServerSecret;
use crate::proof::note::NoteSigner;
use crate::store::Records;

/// What a server signs logs with.
#[derive(Clone)]
pub struct LogSigner {
    secret: ServerSecret,
    memory: Arc<dyn CheckpointMemory>,
}

impl LogSigner {
    /// A signer with this secret, which remembers the last checkpoint of each log in `memory`.
    pub fn new(secret: ServerSecret, memory: impl CheckpointMemory) -> Self {
        Self { secret, memory: Arc::new(memory) }
    }

    /// A signer with this secret that remembers nothing outside of the store.
    pub fn without_memory(secret: ServerSecret) -> Self {
        Self::new(secret, ())
    }
}

impl std::fmt::Debug for LogSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogSigner(..)")
    }
}

/// The log of a tenant, signed under a name.
#[derive(Clone)]
pub struct SignedLog {
    store: Records,
    signer: LogSigner,
    /// The origin of the tenant's first log.
    origin: Arc<str>,
    state: Arc<Mutex<State>>,
}

/// What is known of the log in this process.
#[derive(Default)]
struct State {
    /// The keys of the logs signed last, by their numbers.
    keys: Vec<(u64, Arc<NoteSigner>)>,
    /// The key of the last checkpoint, if this server's key signed it when the log was last looked at.
    answer_key: Option<Arc<NoteSigner>>,
    /// The extent to which a log was searched for an acceptance of this server's key: the number of the log, the last entry
    /// searched, and whether one was found.
    searched: Option<(u64, u64, bool)>,
    /// Whether the last checkpoint was signed by another key.
    is_foreign: bool,
    /// The last entry read that closed a session.
    closing: Option<Seq>,
    /// The last entry read that changed what is published.
    published: Option<Seq>,
    /// What witnesses have against the log, by their names.
    disputes: Vec<(String, String)>,
    /// The warning that the authority gave no timestamp of the last checkpoint that should have one.
    missed_timestamp: Option<String>,
    /// The damage found in the entries.
    damage: Option<Damage>,
}

impl Tenant {
    /// Returns the log of this tenant, signed under the name `<host>/swarm/log/<tenant>`.
    ///
    /// # Errors
    /// [`Invalid`] when the host is not that of a URL.
    pub fn signed_log(&self, host: &str, signer: &LogSigner) -> Result<SignedLog, Invalid> {
        let origin = format!("{host}/swarm/log/{}", self.id());
        // A host that cannot be part of the name of a key is refused here, so that signing cannot fail later.
        signer.secret.log_key(&origin)?;
        Ok(SignedLog {
            store: self.store.clone(),
            signer: signer.clone(),
            origin: origin.into(),
            state: Arc::default(),
        })
    }
}

impl SignedLog {
    /// Returns the log for a dry run of what operators accept, with the [handle](Tenant::dry_run) of its tenant for that.
    #[must_use]
    pub fn dry_run(&self, tenant: &Tenant) -> Self {
        Self { store: tenant.store.clone(), ..self.clone() }
    }

    /// Returns the origin of the tenant's log with this number.
    pub fn origin(&self, log: u64) -> String {
        if log <= 1 { self.origin.to_string() } else { format!("{}/{log}", self.origin) }
    }

    /// Forgets the checkpoint that is remembered outside of the store, of a tenant that was
    /// [removed](crate::store::Store::remove). Otherwise a log of the same name went back, until an operator
    /// [accepts the store](Self::accept_store). Do it only where nobody relies on the old log: the new one is signed under the same name
    /// with the same key, so that to witnesses and readers it contradicts what they have seen.
    ///
    /// # Errors
    /// An I/O error when the memory keeps the checkpoint, or cannot forget.
    pub fn forget_checkpoint(&self) -> std::io::Result<()> {
        self.signer.memory.forget(&self.origin)
    }

    /// Returns whether the last checkpoint was signed by another key than this server's, when it was last
    /// looked at.
    pub fn is_foreign(&self) -> bool {
        self.lock().is_foreign
    }

    /// Returns the number in the origin of a log of this tenant; `None` for another origin.
    pub fn number_of(&self, origin: &str) -> Option<u64> {
        let number = match origin.strip_prefix(&*self.origin)? {
            "" => 1,
            rest => rest.strip_prefix('/')?.parse().ok()?,
        };
        // There is one way to write each.
        (self.origin(number) == origin).then_some(number)
    }

    /// This server's key of the log with this number.
    ///
    /// # Errors
    /// [`Invalid`], but not in practice: the name was checked when the log was opened.
    pub fn key(&self, log: u64) -> Result<Arc<NoteSigner>, Invalid> {
        if let Some((_, key)) = self.lock().keys.iter().find(|(known, _)| *known == log) {
            return Ok(Arc::clone(key));
        }
        let key = Arc::new(self.signer.secret.log_key(&self.origin(log))?);
        let keys = &mut self.lock().keys;
        keys.truncate(1);
        keys.push((log, Arc::clone(&key)));
        Ok(key)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SignedLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedLog").field("origin", &self.origin).finish_non_exhaustive()
    }
}
