//! The names of the Redis keys.
//!
//! All keys of a tenant have its name as their hash tag, so that they share a cluster slot and one
//! script may use them together. A key contains no text of a user: such text is in fields, and in entries of indexes.

use swarm_core::TenantId;
use swarm_core::domain::hex;
use swarm_core::store::backend::{CommitId, Table};

use crate::script::DECLARED;

/// The layout of all tenants. This key and the next belong to no tenant.
pub(crate) const SERVER_LAYOUT: &str = "swarm:layout";

/// A stream of the tenants, in the order in which their changes were announced.
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

    /// The keys that scripts declare: the records, their order and their parts, the log, and the transient records, their
    /// order and their parts. The log comes from `log`.
    pub(crate) fn declared(&self, log: &Self, with_transient: bool) -> Vec<String> {
        let mut names = Vec::with_capacity(DECLARED + 2);
        names.extend(self.lasting());
        names.push(log.log());
        if with_transient {
            let transient = ["transient", "transient:order", "transient:parts"];
            names.extend(transient.map(|name| self.key(name)));
        }
        names
    }

    /// The keys of the records, of their order and of their parts.
    pub(crate) fn lasting(&self) -> [String; 3] {
        [self.records(), self.key("order"), self.key("parts")]
    }

    /// The records other than transient ones, and the end of the log: it is there if the tenant has any of these.
    pub(crate) fn records(&self) -> String {
        self.key("records")
    }

    /// A long part, in pieces.
    pub(crate) fn part(&self, table: &Table, name: &str) -> String {
        let parts = if table.is_transient { "transient:parts:" } else { "parts:" };
        [&self.prefix, parts, name].concat()
    }

    /// The same, written before the commit of a transaction; expires unless the commit is made.
    pub(crate) fn staged(&self, table: &Table, name: &str, commit: CommitId) -> String {
        [&self.part(table, name), ":staged:", &hex(&commit.0)].concat()
    }

    /// The outcome of a transaction; expires after ten minutes.
    pub(crate) fn attempt(&self, commit: CommitId) -> String {
        [&self.prefix, "attempt:", &hex(&commit.0)].concat()
    }

    /// The layout of the tenant.
    pub(crate) fn layout(&self) -> String {
        self.key("layout")
    }

    /// The entries of the log, in order.
    pub(crate) fn log(&self) -> String {
        self.key("log")
    }

    /// Whether the copies of a dump, or what was loaded, are there.
    pub(crate) fn marker(&self) -> String {
        self.key("marker")
    }

    /// Written after each commit that waits for replicas; its value has no meaning.
    pub(crate) fn fence(&self) -> String {
        self.key("fence")
    }

    fn key(&self, name: &str) -> String {
        [&self.prefix, name].concat()
    }
}
