//! Layout numbers and migrations. A layout is the set of keys and the format of their values.
//!
//! Each tenant is marked with its layout before its first write. The server is marked with the newest
//! layout of any tenant, under [`NEWEST_LAYOUT`]. A release refuses to read or write a newer layout
//! than its own, and migrates an older one step by step.

mod entries;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use redis::Script;
use swarm_core::StoreError;
use swarm_core::store::{Collection, Result};

use crate::connection::client::Client;
use crate::keys::{Keys, NEWEST_LAYOUT, collection_name};
use crate::script_call::ScriptCall;
use crate::scripts;

/// The layout that this release reads and writes.
pub(crate) const LAYOUT: usize = MIGRATIONS.len() + 1 + LATER.len();

/// The migration from each layout to the next, up to layout 3; the first is for tenants without a
/// mark. That to layout 4 reads records: see [`entries`]. [`LATER`] are those after it.
const MIGRATIONS: [&LazyLock<Script>; 3] =
    [&scripts::LAYOUT_1, &scripts::LAYOUT_2, &scripts::LAYOUT_3];
const LATER: [&LazyLock<Script>; 4] =
    [&scripts::LAYOUT_5, &scripts::LAYOUT_6, &scripts::LAYOUT_7, &scripts::LAYOUT_8];

/// How far the layout of one tenant was verified by this process.
#[derive(Default)]
pub(crate) struct TenantLayout(AtomicU8);

impl TenantLayout {
    const CHECKED: u8 = 1;
    const MARKED: u8 = 2;

    /// Whether the tenant may be read.
    pub(crate) fn is_checked(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= Self::CHECKED
    }

    /// Whether the tenant may be written.
    pub(crate) fn is_marked(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= Self::MARKED
    }

    /// Before the first read of a tenant: migrates it if needed. A tenant without records is not marked.
    pub(crate) async fn check(&self, op: &'static str, client: &Client, keys: &Keys) -> Result<()> {
        let sessions = redis::cmd("HLEN").arg(keys.sessions()).to_owned();
        let is_new = found(op, client, &keys.layout()).await? == 0
            && client.query::<u64>(op, &sessions).await? == 0;
        if !is_new {
            return self.mark(op, client, keys).await;
        }
        self.0.fetch_max(Self::CHECKED, Ordering::Relaxed);
        Ok(())
    }

    /// Before the first write to a tenant: migrates it to the layout of this release, and marks it.
    pub(crate) async fn mark(&self, op: &'static str, client: &Client, keys: &Keys) -> Result<()> {
        let layout = found(op, client, &keys.layout()).await?;
        if layout < LAYOUT {
            raise_newest(op, client).await?;
        }
        for (from, migration) in MIGRATIONS.iter().enumerate().skip(layout) {
            migrate(op, client, keys, from, migration).await?;
        }
        if layout <= MIGRATIONS.len() {
            entries::complete(op, client, keys, MIGRATIONS.len()).await?;
        }
        let later = (MIGRATIONS.len() + 1..).zip(LATER).filter(|(from, _)| *from >= layout);
        for (from, migration) in later {
            migrate(op, client, keys, from, migration).await?;
        }
        self.0.store(Self::MARKED, Ordering::Relaxed);
        Ok(())
    }
}

/// Migrates from this layout to the next, in short steps so that the server is not blocked for long.
/// Several processes may run it at the same time.
async fn migrate(
    op: &'static str,
    client: &Client,
    keys: &Keys,
    from: usize,
    migration: &Script,
) -> Result<()> {
    let mut cursor = String::new();
    loop {
        let mut names = vec![
            keys.layout(),
            keys.log(),
            keys.takes(),
            keys.committee_takes(),
            keys.counters(),
            keys.nonces(),
            keys.revisions(),
            keys.superseded(),
            keys.members(),
            keys.sessions(),
            keys.sessions_index(),
            keys.takes_index(),
        ];
        let mut limited = String::new();
        for collection in Collection::ALL {
            names.extend(keys.collection(collection_name(collection)?));
            limited.push(if collection.has_limited_size() { '1' } else { '0' });
        }
        let mut step = ScriptCall::with(migration, &names, &[]);
        step.arg(from).arg(cursor).arg(limited);
        cursor = client.run(op, &step).await?;
        if cursor.is_empty() {
            return Ok(());
        }
    }
}

/// Returns an error for a server that a newer release has written to.
pub(crate) async fn refuse_newer(op: &'static str, client: &Client) -> Result<()> {
    found(op, client, NEWEST_LAYOUT).await.map(|_| ())
}

/// The layout that is stored under a key, 0 if there is none.
async fn found(op: &'static str, client: &Client, key: &str) -> Result<usize> {
    let get = redis::cmd("GET").arg(key).to_owned();
    let Some(text) = client.query::<Option<String>>(op, &get).await? else { return Ok(0) };
    match text.parse() {
        Ok(layout @ 1..=LAYOUT) => Ok(layout),
        Ok(newer) if newer > LAYOUT => Err(StoreError::misconfigured(
            op,
            format!(
                "the records have layout {newer}, and this program knows those up to {LAYOUT}: \
                 use the release that wrote them, or a later one"
            ),
        )),
        _ => Err(StoreError::corrupt(op, format!("{key} is no number of a layout"))),
    }
}

async fn raise_newest(op: &'static str, client: &Client) -> Result<()> {
    if found(op, client, NEWEST_LAYOUT).await? < LAYOUT {
        let set = redis::cmd("SET").arg(NEWEST_LAYOUT).arg(LAYOUT).to_owned();
        client.query::<()>(op, &set).await?;
    }
    Ok(())
}
