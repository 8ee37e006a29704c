//! Snapshots and loads, each in a transaction of its own: a snapshot is that of the transaction, and a load holds
//! the locks of its tenants. When the process is killed, the server rolls back.

mod read;
mod remove;
mod transaction;
mod write;

pub(crate) use read::Snapshotted;
pub(crate) use remove::remove;
pub(crate) use write::Loading;
