//! `swarm copy`: dumps one store into another.

use swarm_core::TenantId;
use swarm_core::service::dump::{DumpWriter, Totals};
use swarm_core::store::Store;

use super::arguments::CopyOptions;
use super::dump::{described, tenants};
use super::opened::{OpenedTarget, to_dump};
use super::read_ahead::ReadAhead;
use super::signatures::Signer;
use super::target::Target;
use super::{PROGRAM, count_record, entries_progress};
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
    let mut target = match Target::begin(Some(opened.store()), None, Signer::Same).await {
        Ok(target) => target,
        Err(error) => {
            opened.remove_if_new();
            return Err(error);
        }
    };
    let copied = match copy(&from, ids, &mut target).await {
        Ok(()) => target.finish().await,
        Err(error) => {
            target.discard().await;
            Err(error)
        }
    };
    match copied {
        Ok(totals) => {
            report(&totals);
            Ok(())
        }
        Err(error) => {
            opened.remove_if_new();
            Err(error)
        }
    }
}

fn report(totals: &Totals) {
    note(&format!("copied {}", described(totals)));
}

async fn copy(
    from: &Store,
    tenants: Vec<TenantId>,
    target: &mut Target,
) -> Result<(), CommandError> {
    let progress = entries_progress();
    let (mut writer, first) = DumpWriter::new(PROGRAM);
    target.line(first.as_bytes()).await?;
    for tenant in tenants {
        let mut dump = ReadAhead::of(from, &tenant).await?;
        loop {
            let records = dump.next().await?;
            if records.is_empty() {
                break;
            }
            for record in records {
                count_record(&progress, &record);
                target.line(writer.record(&tenant, record).as_bytes()).await?;
            }
        }
    }
    let (last, _) = writer.end(None);
    target.line(last.as_bytes()).await
}
