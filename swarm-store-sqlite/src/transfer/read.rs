//! The thread that reads a dump.

use std::path::Path;
use std::thread;

use async_trait::async_trait;
use rusqlite::Connection;
use swarm_core::TenantId;
use swarm_core::store::{Dump, Result, Stored};
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::rows;
use crate::connection;
use crate::database::TimeSource;
use crate::failure::{Failure, Outcome};
use crate::readers;
use crate::tenant_rows::TenantRows;

/// The maximum total weight of the records returned at once. Most records have weight 1.
const MAX_BATCH_WEIGHT: usize = 500;

/// The weight of a record that may be long, because it has a snapshot or a text.
const LONG_RECORD_WEIGHT: usize = 50;

/// The batches that the thread has read. It waits while one is not taken, and ends when this is dropped.
pub(super) struct Batches(Receiver<Outcome<Vec<Stored>>>);

/// Starts the thread; returns once it reads a snapshot.
pub(super) async fn begin(path: &Path, tenant: TenantId, clock: TimeSource) -> Outcome<Batches> {
    let db = connection::to_read(path)?;
    let (sender, mut batches) = mpsc::channel(1);
    let thread = thread::Builder::new().name("swarm-sqlite-dump".to_owned());
    thread.spawn(move || read(&db, &tenant, &clock, sender)).map_err(Failure::thread)?;
    // The first batch is empty: it signals that the snapshot is taken.
    batches.recv().await.unwrap_or_else(|| Err(Failure::stopped()))?;
    Ok(Batches(batches))
}

fn read(
    db: &Connection,
    tenant: &TenantId,
    clock: &TimeSource,
    sender: Sender<Outcome<Vec<Stored>>>,
) {
    let outcome = readers::in_snapshot(db, |db| {
        let world = TenantRows::new(db, tenant, clock);
        // A snapshot is taken by the first read.
        let head = rows::head(&world)?;
        let mut batch = Batch { records: Vec::new(), weight: 0, sender: &sender };
        batch.send()?;
        batch.push(Stored::Head(head))?;
        rows::each(&world, |record| batch.push(record))?;
        if batch.records.is_empty() { Ok(()) } else { batch.send() }
    });
    if let Err(failure) = outcome {
        // The caller may be gone.
        let _ = sender.blocking_send(Err(failure));
    }
}

/// The records that are not sent yet.
struct Batch<'a> {
    records: Vec<Stored>,
    weight: usize,
    sender: &'a Sender<Outcome<Vec<Stored>>>,
}

impl Batch<'_> {
    fn push(&mut self, record: Stored) -> Outcome<()> {
        self.weight += match record {
            Stored::Session(_) | Stored::CommitteeBrief(..) | Stored::Document(_) => {
                LONG_RECORD_WEIGHT
            }
            _ => 1,
        };
        self.records.push(record);
        if self.weight >= MAX_BATCH_WEIGHT { self.send() } else { Ok(()) }
    }

    /// Fails when the caller is gone, which ends the thread.
    fn send(&mut self) -> Outcome<()> {
        self.weight = 0;
        let records = std::mem::take(&mut self.records);
        self.sender.blocking_send(Ok(records)).map_err(|_| Failure::stopped())
    }
}

#[async_trait]
impl Dump for Batches {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        let batch = self.0.recv().await.unwrap_or_else(|| Ok(Vec::new()));
        batch.map_err(|failure| failure.of("dump"))
    }
}
