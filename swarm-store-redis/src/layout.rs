//! The layout: the set of keys and the format of their values.
//!
//! Each tenant is marked with its layout before its first write, and the server before its first tenant, under
//! [`SERVER_LAYOUT`]. Records of another layout are neither read nor written.

use std::sync::atomic::{AtomicU8, Ordering};

use swarm_core::StoreError;
use swarm_core::store::{Result, other_layout};

use crate::connection::client::Client;
use crate::keys::{Keys, SERVER_LAYOUT};

/// The number of the layout that this program reads and writes.
const LAYOUT: u32 = 5;

/// What precedes the number in a mark.
const PREFIX: char = 'v';

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

    /// Before the first read of a tenant: checks its layout. A tenant without a mark has no records.
    pub(crate) async fn check(&self, op: &'static str, client: &Client, keys: &Keys) -> Result<()> {
        let is_marked = is_marked(op, client, &keys.layout()).await?;
        let verified = if is_marked { Self::MARKED } else { Self::CHECKED };
        self.0.fetch_max(verified, Ordering::Relaxed);
        Ok(())
    }

    /// Before the first write to a tenant: checks its layout, and marks it if it has no mark.
    pub(crate) async fn mark(&self, op: &'static str, client: &Client, keys: &Keys) -> Result<()> {
        if !is_marked(op, client, &keys.layout()).await? {
            mark(op, client, SERVER_LAYOUT).await?;
            mark(op, client, &keys.layout()).await?;
        }
        self.0.store(Self::MARKED, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns an error for a server with records of another layout.
pub(crate) async fn check_server(op: &'static str, client: &Client) -> Result<()> {
    is_marked(op, client, SERVER_LAYOUT).await.map(drop)
}

/// Writes the mark under a key that has none. Several processes may run it at the same time.
async fn mark(op: &'static str, client: &Client, key: &str) -> Result<()> {
    let set = redis::cmd("SET").arg(key).arg(format!("{PREFIX}{LAYOUT}")).arg("NX").to_owned();
    client.query::<()>(op, &set).await?;
    is_marked(op, client, key).await.map(drop)
}

/// Returns whether there is a mark under the key, and an error if it is that of another layout.
async fn is_marked(op: &'static str, client: &Client, key: &str) -> Result<bool> {
    let get = redis::cmd("GET").arg(key).to_owned();
    let Some(mark) = client.query::<Option<String>>(op, &get).await? else { return Ok(false) };
    match mark.strip_prefix(PREFIX).and_then(|number| number.parse::<u32>().ok()) {
        Some(LAYOUT) => Ok(true),
        Some(other) => Err(StoreError::misconfigured(op, other_layout(other, LAYOUT))),
        None => Err(StoreError::corrupt(op, format!("{key} is no mark of a layout"))),
    }
}
