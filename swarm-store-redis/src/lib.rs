//! A store of `swarm-core` on Redis 6.2 or later, or Valkey: one server, Sentinel or Cluster.
//!
//! ```no_run
//! use swarm_core::{Committees, Swarm, SystemEntropy};
//! use swarm_store_redis::RedisStore;
//!
//! # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
//! let store = RedisStore::connect("redis://127.0.0.1/?strict=true&wait=1").await?;
//! let swarm = Swarm::new(store.clone(), SystemEntropy);
//! let committees = Committees::new(store, SystemEntropy);
//! # Ok(())
//! # }
//! ```
//!
//! Addresses begin with `redis://`, `rediss://`, `redis-cluster://` or `redis-sentinel://`. `strict=true` refuses servers
//! whose settings may lose acknowledged records. With `wait=N` a commit is acknowledged once N replicas have it.
//!
//! All keys of a tenant are in one slot of a cluster. Each write is one script, which checks all guards by the
//! server's own clock before it writes anything. Scripts are idempotent: one that is sent twice returns the outcome
//! of its first run. Takes that arrive together are committed in batches.
//!
//! Which acknowledged writes a crashed server loses depends on its configuration: see `README.md`.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backend;
mod changes;
mod connection;
mod decode;
mod encode;
mod health;
mod keys;
mod layout;
mod loading;
mod schema;
mod script;
mod script_call;
mod scripts;
mod snapshot;
mod tenant;
#[cfg(feature = "ring")]
mod tls;
mod value;

use swarm_core::store::{Result, Store, TABLES};

pub use backend::RedisBackend;

/// All tenants, in Redis. Cloning shares the connections.
///
/// [`ready`](Store::ready) checks that the server answers, is not a replica, rejects writes rather than evicting records, and has no records
/// of another layout. It warns when the server may lose acknowledged records; in strict mode that is an error.
/// [`changes`](Store::changes): commits of this process are announced before they are made, and again by the next call of this; takes only by
/// the latter. A tenant that another process announces is returned twice, the second time when its commit must have ended.
#[derive(Clone)]
pub struct RedisStore(Store);

impl std::fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisStore").finish_non_exhaustive()
    }
}

impl RedisStore {
    /// Connects to the server, or the cluster, at this address:
    ///
    /// - `redis://[user:password@]host[:port][/database]`, a server;
    /// - `rediss://…`, a server over TLS (feature `ring`, or `tls` with a cryptography provider that the program
    ///   has installed in rustls); its certificate must be trusted by the operating system, or by the authorities in the file
    ///   that `SSL_CERT_FILE` names. With `ring`, and only for such an address, this installs ring in rustls, unless the
    ///   program has installed a provider;
    /// - `redis-cluster://[user:password@]host:port,host:port,…`, a cluster, found through any of
    ///   these nodes (feature `cluster`), and `rediss-cluster://…`, over TLS;
    /// - `redis-sentinel://[user:password@]host:port,host:port,…/name`, the primary of that name,
    ///   looked up through these sentinels whenever a connection is opened, and
    ///   `rediss-sentinel://…`, over TLS. The credentials are for the servers; sentinels are queried
    ///   without any.
    ///
    /// Options may follow, `?strict=true&wait=1`:
    ///
    /// - `strict=true` refuses servers that may lose acknowledged records: those that are not set to
    ///   `appendonly yes`, `appendfsync always`, `no-appendfsync-on-rewrite no` and `aof-load-truncated no`, and those that do
    ///   not report these settings (default `false`: logs a warning). It also refuses replicas that no commit waits for;
    /// - `wait=N` acknowledges a commit once N replicas have it (0 to 255, default 0). When they do not
    ///   within two seconds (four for a take that was sent in a batch), the outcome is unknown.
    ///
    /// A lost connection is reopened automatically; no call of Redis takes longer than five seconds. A
    /// connection lives on the runtime of the call that opened it, a batch of takes on the runtime of
    /// its first take.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the address is invalid, no server answers there,
    /// or the server is a replica, evicts records when memory runs out, has records of another
    /// layout, or is not strict enough. Its source says which, without the address.
    pub async fn connect(url: &str) -> Result<Self> {
        RedisBackend::connect(url, TABLES).await.map(|backend| Self(Store::new(backend)))
    }

    /// Checks that this is an address [`connect`](Self::connect) can connect to, without connecting.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when it is not. Its source says why, without the address.
    pub fn check_address(url: &str) -> Result<()> {
        backend::parse(url).map(drop)
    }
}

impl std::ops::Deref for RedisStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl From<RedisStore> for Store {
    fn from(store: RedisStore) -> Self {
        store.0
    }
}
