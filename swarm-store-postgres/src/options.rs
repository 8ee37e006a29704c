//! How a store uses its database: what an address says beside servers, and what a program says that opens its own connections.

use std::time::Duration;

use swarm_core::store::Result;

use crate::failure::{Failure, Outcome};
use crate::schema::Schema;

/// How a store uses its database.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) schema: Schema,
    pub(crate) pool_size: usize,
    pub(crate) statement_timeout: Duration,
    /// Whether to refuse a server that may lose what it has acknowledged.
    pub(crate) strict: bool,
    /// Whether the store writes nothing. Then it may connect to a server that refuses writes.
    pub(crate) is_read_only: bool,
}

impl Default for Options {
    /// The schema `swarm`, 10 connections, 5 seconds for each call, not strict, for reads and writes.
    fn default() -> Self {
        Self {
            schema: Schema::named(Schema::DEFAULT),
            // More connections hardly help on one database.
            pool_size: 10,
            statement_timeout: Duration::from_secs(5),
            strict: false,
            is_read_only: false,
        }
    }
}

impl Options {
    /// Keeps the tables in this schema.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) unless the name has 1 to 63 bytes, without `$$` and control characters.
    pub fn schema(self, name: &str) -> Result<Self> {
        self.with_schema(name).map_err(|failure| failure.of("options"))
    }

    pub(crate) fn with_schema(self, name: &str) -> Outcome<Self> {
        // Statements quote the name; some are within the body of a function, or have a comment before them.
        let fits = (1..=63).contains(&name.len())
            && !name.contains("$$")
            && !name.chars().any(char::is_control);
        let rule = "1 to 63 bytes, without $$ and control characters";
        let schema = fits.then(|| Schema::named(name));
        Ok(Self { schema: schema.ok_or_else(|| Failure::invalid("schema", rule))?, ..self })
    }

    /// Opens at most this many connections, 1 to 1,000. A quarter of them is kept for commits: reads and dumps
    /// leave it to them.
    #[must_use]
    pub fn pool_size(self, connections: usize) -> Self {
        Self { pool_size: connections.clamp(1, 1_000), ..self }
    }

    /// Bounds every call by this time, 1 to 60 seconds.
    #[must_use]
    pub fn statement_timeout(self, time: Duration) -> Self {
        let time = time.clamp(Duration::from_secs(1), Duration::from_mins(1));
        Self { statement_timeout: time, ..self }
    }

    /// Refuses a server that may lose acknowledged records, instead of warning of it.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self {
        Self { strict, ..self }
    }

    /// Writes nothing. Then the store may connect to a server that refuses writes.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }
}
