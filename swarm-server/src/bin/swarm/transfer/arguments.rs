//! Flags of the commands that move tenants.

use std::path::PathBuf;

use clap::Args;
use swarm_core::TenantId;

use crate::arguments::{Source, address};

/// The file of the key that signs dumps.
#[derive(Args)]
pub(crate) struct KeyFile {
    /// The server's signing key, which signs dumps too [default: swarm.key, if there is one]
    #[arg(long, env = "SWARM_SIGNING_KEY", value_name = "FILE")]
    pub(super) signing_key: Option<PathBuf>,
}

/// The flags of `swarm dump`.
#[derive(Args)]
#[command(after_help = "Example: swarm dump --store sqlite:swarm.db --out swarm.dump")]
pub(crate) struct DumpOptions {
    #[command(flatten)]
    pub(super) source: Source,
    /// Only this tenant
    #[arg(long, value_name = "ID", value_parser = tenant)]
    pub(super) tenant: Option<TenantId>,
    #[command(flatten)]
    pub(super) key: KeyFile,
    /// Write to this new file, which its owner alone may read, instead of standard output (-)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// The flags of `swarm restore`.
#[derive(Args)]
#[command(after_help = "Example: swarm restore --store redis://127.0.0.1 swarm.dump")]
pub(crate) struct RestoreOptions {
    /// The dump; standard input unless given
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) source: Source,
    /// Only this tenant; the whole dump is checked
    #[arg(long, value_name = "ID", value_parser = tenant)]
    pub(super) tenant: Option<TenantId>,
    /// Check the dump, and write nothing; no store is needed
    #[arg(long)]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) key: KeyFile,
    /// Accept a dump that is not signed by the key of this server
    #[arg(long)]
    pub(super) unsigned: bool,
}

/// The flags of `swarm copy`.
#[derive(Args)]
#[command(
    after_help = "Example: swarm copy --from sqlite:swarm.db --to redis://127.0.0.1 --tenant acme\n\n\
                  Flags are visible to all users of the machine: give passwords in the environment"
)]
pub(crate) struct CopyOptions {
    /// The store to read
    #[arg(long, env = "SWARM_FROM", hide_env_values = true, value_name = "URL", value_parser = address)]
    pub(super) from: String,
    /// The store to write; the tenants must have no records there
    #[arg(long, env = "SWARM_TO", hide_env_values = true, value_name = "URL", value_parser = address)]
    pub(super) to: String,
    /// Only this tenant
    #[arg(long, value_name = "ID", value_parser = tenant)]
    pub(super) tenant: Option<TenantId>,
}

/// The flags of `swarm remove`.
#[derive(Args)]
#[command(after_help = "Example: swarm remove --store sqlite:swarm.db --tenant acme\n\n\
                  Take the tenant out of the configuration and stop or restart each server first. Back it up with swarm dump")]
pub(crate) struct RemoveOptions {
    #[command(flatten)]
    pub(super) source: Source,
    /// The tenant
    #[arg(long, value_name = "ID", value_parser = tenant)]
    pub(super) tenant: TenantId,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

fn tenant(text: &str) -> Result<TenantId, String> {
    TenantId::parse(text).map_err(|invalid| invalid.to_string())
}
