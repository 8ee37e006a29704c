//! The thread that writes a restore.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use async_trait::async_trait;
use rusqlite::Connection;
use swarm_core::TenantId;
use swarm_core::store::{LogPosition, Restore, Restored, Result, SeenLogs, Stored};
use tokio::sync::oneshot;

use super::rows;
use crate::database::TimeSource;
use crate::failure::{Failure, Outcome};
use crate::opened_file::OpenedFile;
use crate::tenant_rows::TenantRows;
use crate::{connection, layout, log_rows};

/// A request to the thread, with the channel for its answer.
enum Order {
    Write(TenantId, Vec<Stored>, oneshot::Sender<Outcome<()>>),
    Commit(oneshot::Sender<Outcome<Committed>>),
}

/// The outcome, and the position of the log of each tenant.
type Committed = (Restored, Vec<(TenantId, LogPosition)>);

/// The thread rolls back and ends when this is dropped without a commit.
pub(super) struct Transaction {
    orders: Sender<Order>,
    seen: Arc<SeenLogs>,
}

/// Starts the thread; returns once it has the write lock.
pub(super) async fn begin(
    path: &Path,
    clock: TimeSource,
    seen: Arc<SeenLogs>,
) -> Outcome<Transaction> {
    let (orders, received) = mpsc::channel();
    let (reply, begun) = oneshot::channel();
    let path = path.to_owned();
    let thread = thread::Builder::new().name("swarm-sqlite-restore".to_owned());
    thread.spawn(move || work(&path, clock, &received, reply)).map_err(Failure::thread)?;
    begun.await.unwrap_or_else(|_| Err(Failure::stopped()))?;
    Ok(Transaction { orders, seen })
}

fn work(
    path: &Path,
    clock: TimeSource,
    orders: &Receiver<Order>,
    begun: oneshot::Sender<Outcome<()>>,
) {
    let mut restore = match Restoration::begin(path, clock) {
        Ok(restore) => restore,
        Err(failure) => return drop(begun.send(Err(failure))),
    };
    // Here and below, the caller may be gone.
    let _ = begun.send(Ok(()));
    while let Ok(order) = orders.recv() {
        match order {
            Order::Write(tenant, records, reply) => {
                let _ = reply.send(restore.write(&tenant, records));
            }
            Order::Commit(reply) => return drop(reply.send(restore.commit())),
        }
    }
    // Closing the connection rolls back.
}

/// An open transaction.
struct Restoration {
    db: Connection,
    file: OpenedFile,
    clock: TimeSource,
    /// The tenants written so far, with the number of their submissions to the committee.
    tenants: BTreeMap<TenantId, u64>,
    occupied: Option<TenantId>,
}

impl Restoration {
    fn begin(path: &Path, clock: TimeSource) -> Outcome<Self> {
        let db = connection::to_write(path)?;
        let file = OpenedFile::of(path);
        db.execute_batch("BEGIN IMMEDIATE")?;
        layout::check_unchanged(&db)?;
        Ok(Self { db, file, clock, tenants: BTreeMap::new(), occupied: None })
    }

    fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Outcome<()> {
        let world = TenantRows::new(&self.db, tenant, &self.clock);
        if self.occupied.is_some() {
            return Ok(());
        }
        if !self.tenants.contains_key(tenant) && rows::is_used(&world)? {
            self.occupied = Some(tenant.clone());
            return Ok(());
        }
        let submissions = self.tenants.entry(tenant.clone()).or_default();
        records.iter().try_for_each(|record| rows::insert(&world, record, submissions))
    }

    fn commit(self) -> Outcome<Committed> {
        if let Some(occupied) = self.occupied {
            return Ok((Restored::Occupied(occupied), Vec::new()));
        }
        let position = |tenant: &TenantId| {
            let position = log_rows::position(&TenantRows::new(&self.db, tenant, &self.clock))?;
            Ok((tenant.clone(), position))
        };
        let positions = self.tenants.keys().map(position).collect::<Outcome<_>>()?;
        self.file.check_in_place()?;
        self.db.execute_batch("COMMIT")?;
        self.file.check_in_place()?;
        Ok((Restored::Complete, positions))
    }
}

#[async_trait]
impl Restore for Transaction {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let (reply, written) = oneshot::channel();
        let sent = self.orders.send(Order::Write(tenant.clone(), records, reply));
        let written = match sent {
            Ok(()) => written.await.unwrap_or_else(|_| Err(Failure::stopped())),
            Err(_) => Err(Failure::stopped()),
        };
        written.map_err(|failure| failure.of("restore"))
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        let (reply, committed) = oneshot::channel();
        let committed = match self.orders.send(Order::Commit(reply)) {
            Ok(()) => committed.await.unwrap_or_else(|_| Err(Failure::stopped())),
            Err(_) => Err(Failure::stopped()),
        };
        let (outcome, positions) = committed.map_err(|failure| failure.of("restore"))?;
        for (tenant, position) in positions {
            let seen = self.seen.of(&tenant);
            drop(seen.changing());
            seen.advance(position);
        }
        Ok(outcome)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
