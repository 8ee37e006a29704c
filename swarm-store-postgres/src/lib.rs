//! A store of `swarm-core` on PostgreSQL 13 or later.
//!
//! ```no_run
//! use swarm_core::{Committees, Swarm, SystemEntropy};
//! use swarm_store_postgres::PostgresStore;
//!
//! # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
//! let store = PostgresStore::create("postgres://swarm@localhost/swarm?strict=true").await?;
//! let swarm = Swarm::new(store.clone(), SystemEntropy);
//! let committees = Committees::new(store, SystemEntropy);
//! # Ok(())
//! # }
//! ```
//!
//! Each shape of a read is compiled to a prepared statement, and each shape of a transaction to a temporary function. A commit locks
//! its tenant's row, in a statement of its own, and reads everything else after that, under READ COMMITTED. The time is
//! that of the server's clock, read after the lock. Transactions that arrive together are committed in one call.
//!
//! Any number of processes may use one database. `README.md` says what may be lost, and what the role needs.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backend;
mod changes;
mod commits;
mod compiled;
mod connect;
mod connector;
mod database;
mod failure;
mod health;
mod options;
mod pool;
mod reads;
mod schema;
mod script;
mod settings;
mod sql;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_stream;
mod transaction;
mod transfer;
mod values;

use swarm_core::store::{Result, Store, TABLES};

pub use backend::PostgresBackend;
pub use connect::{ConfigConnect, Connect, ConnectError, Opened};
pub use options::Options;
pub use tokio_postgres;

use settings::Settings;

/// All tenants, in one schema of a database. Cloning shares the connections.
///
/// [`ready`](Store::ready) checks that the server answers, takes writes unless it is only read, and has no other layout. It warns when the
/// server may lose acknowledged records; in strict mode that is an error. [`changes`](Store::changes) names the tenants with commits that
/// became visible since the last call, by any process.
#[derive(Clone)]
pub struct PostgresStore(Store);

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects to the database at this address, as libpq writes it:
    /// `postgres://[user[:password]@][host[:port],…][/database][?parameters]`. Of several hosts, the first that
    /// takes writes is used. A host that begins with `/`, percent-encoded or as the parameter `host`, is the folder
    /// of a Unix socket. What the address leaves out is taken from the service that `service` or `PGSERVICE` names in the file of
    /// `PGSERVICEFILE`, in `~/.pg_service.conf` or in the folder of `PGSYSCONFDIR`, and then from `PGHOST`, `PGHOSTADDR`, `PGPORT`,
    /// `PGDATABASE`, `PGUSER`, `PGPASSWORD`, `PGPASSFILE`, `PGAPPNAME`, `PGOPTIONS`, `PGSSLMODE`, `PGSSLROOTCERT`
    /// and `PGCONNECT_TIMEOUT`; the password also from `~/.pgpass`.
    ///
    /// Besides the parameters of libpq (`sslmode` up to `verify-full`, `sslrootcert`, `passfile`,
    /// `connect_timeout`, `application_name`, `options`, `service`, …) there are:
    ///
    /// - `strict=true` refuses a server that may lose acknowledged records (default `false`: logs a warning);
    /// - `schema=NAME` keeps the tables there (default `swarm`);
    /// - `pool=N` opens at most N connections (1 to 1,000, default 10);
    /// - `statement_timeout=N` bounds every call, in seconds (1 to 60, default 5).
    ///
    /// Creates nothing: [`create`](Self::create) does, or the statements of [`schema_statements`](Self::schema_statements).
    /// What it prepares in a session has a name that follows from its text, and nothing is set for more than a transaction, so a
    /// pooler may stand in between, in transaction mode too.
    ///
    /// A connection lives on the runtime of the call that opened it.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the address is invalid, no server that takes writes answers
    /// there, the schema is missing or has another layout, the role lacks rights, or the server is not strict enough. Its
    /// source says which, without the password.
    pub async fn connect(url: &str) -> Result<Self> {
        Ok(Self(Store::new(PostgresBackend::at(backend::parse(url)?, TABLES)?.checked().await?)))
    }

    /// Creates the schema where it is missing, and connects as [`connect`](Self::connect) does. Several processes may do
    /// this at once.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); and when the schema is missing, and the role may not create it.
    pub async fn create(url: &str) -> Result<Self> {
        Ok(Self(Store::new(PostgresBackend::create(url, TABLES).await?)))
    }

    /// Uses connections that the program opens: with its own servers, TLS and passwords. Otherwise as
    /// [`connect`](Self::connect).
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn over(connect: impl Connect + 'static, options: Options) -> Result<Self> {
        Ok(Self(Store::new(PostgresBackend::over(connect, options, TABLES).await?)))
    }

    /// Creates the schema of these options where it is missing, over a connection that the program opens.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the schema has another layout, or the role may not create it.
    pub async fn create_schema(connect: impl Connect + 'static, options: Options) -> Result<()> {
        let backend = PostgresBackend::unchecked(Box::new(connect), options, TABLES);
        backend.create_if_missing().await.map_err(|failure| failure.of("create schema"))
    }

    /// Returns the statements that create the schema of these options, for another tool that makes schemas: to be run once, in
    /// one transaction.
    pub fn schema_statements(options: &Options) -> String {
        options.schema.statements()
    }

    /// Connects as [`connect`](Self::connect) does, to a database that is only read: where no server takes writes, to the
    /// first that answers, as a standby does. `ready` warns of such a server. Creates nothing, also where the role and the
    /// server would allow it. The role needs the rights to read alone.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), but a server that takes no writes is none.
    pub async fn connect_read_only(url: &str) -> Result<Self> {
        let settings = backend::parse(url)?;
        let settings = Settings { options: settings.options.read_only(), ..settings };
        Ok(Self(Store::new(PostgresBackend::at(settings, TABLES)?.checked().await?)))
    }

    /// Returns whether the schema at this address is created. Creates nothing, and closes its connection.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), where no server answers, or the schema has the layout of another version.
    pub async fn is_created(url: &str) -> Result<bool> {
        PostgresBackend::at(backend::parse(url)?, TABLES)?.is_created().await
    }

    /// Checks that this is an address [`connect`](Self::connect) can connect to, without connecting.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when it is not. Its source says why, without the address.
    pub fn check_address(url: &str) -> Result<()> {
        backend::parse(url).map(drop)
    }
}

impl std::ops::Deref for PostgresStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl From<PostgresStore> for Store {
    fn from(store: PostgresStore) -> Self {
        store.0
    }
}
