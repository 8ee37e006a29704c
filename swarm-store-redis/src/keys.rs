//! The names of the Redis keys.
//!
//! All keys of a tenant have its name as their hash tag, so that they share a cluster slot and one
//! script may use them together. A key contains no text of a user: such text is in fields, and in entries of indexes.

use swarm_core::TenantId;
use swarm_core::domain::hex;
use swarm_core::store::backend::{CommitId, Index, Table};

/// The layout of all tenants. This key and the next belong to no tenant.
pub(crate) const SERVER_LAYOUT: &str = "swarm:layout";

/// The tenants, in the order in which their latest changes were announced.
pub(crate) const CHANGES: &str = "swarm:changes";

/// The keys of one tenant.
#[derive(Clone)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn of(tenant: &TenantId) -> Self {
        Self { prefix: format!("swarm:{{{tenant}}}:") }
    }

    /// The keys of a copy of a tenant for one dump or one load. They have the same hash tag.
    pub(crate) fn apart(tenant: &TenantId, purpose: &str, id: &str) -> Self {
        Self { prefix: format!("swarm:{{{tenant}}}:{purpose}:{id}:") }
    }

    /// What all of them begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The records of a table by their keys.
    pub(crate) fn records(&self, table: &Table) -> String {
        self.key(table.name)
    }

    /// The keys of a table in their order.
    pub(crate) fn order(&self, table: &Table) -> String {
        [&self.prefix, table.name, ":keys"].concat()
    }

    /// The parts of a table that are not stored with their records, by key and number.
    pub(crate) fn parts(&self, table: &Table) -> String {
        [&self.prefix, table.name, ":parts"].concat()
    }

    /// A long part, in pieces.
    pub(crate) fn part(&self, table: &Table, name: &str) -> String {
        [&self.prefix, table.name, ":part:", name].concat()
    }

    /// The same, written before the commit of a transaction; expires unless the commit is made.
    pub(crate) fn staged(&self, table: &Table, name: &str, commit: CommitId) -> String {
        [&self.prefix, table.name, ":staged:", name, ":", &hex(&commit.0)].concat()
    }

    /// An index of a table.
    pub(crate) fn index(&self, index: &Index) -> String {
        self.key(index.name)
    }

    /// The outcome of a transaction; expires after ten minutes.
    pub(crate) fn attempt(&self, commit: CommitId) -> String {
        [&self.prefix, "attempt:", &hex(&commit.0)].concat()
    }

    fn key(&self, name: &str) -> String {
        [&self.prefix, name].concat()
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident: $key:literal;)*) => {
        impl Keys {$(
            $(#[$doc])*
            pub(crate) fn $name(&self) -> String {
                self.key($key)
            }
        )*}
    };
}

keys! {
    /// The layout of the tenant.
    layout: "layout";
    /// `head`, the end of the log: its number, its size, and the time and the commit of its last entry. `sequence ` and a name:
    /// the last number of a sequence, or its sum.
    head: "head";
    /// The entries of the log, in order.
    log: "log";
    /// The numbers of the entries about each topic.
    topics: "log:topics";
    /// Whether the copies of a dump, or what was loaded, are there.
    marker: "marker";
    /// Written after each commit that waits for replicas; its value has no meaning.
    fence: "fence";
}
