//! `swarm copy`: dumps one store into another.

use super::arguments::CopyOptions;
use super::dump::{described, tenants, write_lines};
use super::opened::{OpenedTarget, to_dump};
use super::signatures::Signer;
use super::target::Target;
use crate::command::note;
use crate::failure::CommandError;

/// Copies tenants; everything is checked as by a restore.
///
/// # Errors
/// [`CommandError`]; then nothing is written.
pub(crate) async fn run(options: CopyOptions) -> Result<(), CommandError> {
    let from = to_dump(&options.from).await?;
    let ids = tenants(&from, options.tenant.as_ref()).await?;
    let opened = OpenedTarget::open(&options.to).await?;
    let copy = async |target: &mut Target| {
        let put = async |line: String| target.line(line.as_bytes()).await;
        write_lines(&from, ids, None, put).await.map(drop)
    };
    let totals = Target::fill(opened, None, Signer::Same, copy).await?;
    note(&format!("copied {}", described(&totals)));
    Ok(())
}
