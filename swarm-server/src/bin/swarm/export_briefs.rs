//! `swarm export-briefs`: writes the brief files once.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use swarm_core::Timestamp;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::Source;
use crate::failure::with_causes;
use crate::{Failure, brief_files, console, log, open_site, store};

/// Prints a line for each tenant with an export folder, by id. Stops at the first failure to export; a
/// failure to print is reported at the end.
pub(crate) async fn run(source: Source) -> Result<(), Failure> {
    let config = source.resolve()?;
    log::start(config.log_format, LevelFilter::ERROR)?;
    if brief_files::folders(&config.tenants)?.is_empty() {
        return Err("export: no tenant has committee.export_to".into());
    }
    let no_certificate = None::<fn() -> Option<Timestamp>>;
    let open = open_site::open(config, None, no_certificate, store::open_existing).await?;
    let exports = open.exports.read().unwrap_or_else(PoisonError::into_inner).clone();
    let mut printed = Ok(());
    for (id, export) in exports.into_iter().collect::<BTreeMap<_, _>>() {
        let Some(served) = open.site.tenant(&id) else { continue };
        let Some(committee) = served.committee() else { continue };
        let named = |failure: Failure| with_causes(&format!("export: {id}"), &*failure);
        let count = export.write(committee).await.map_err(named)?;
        let line = format!("{id}: {count} in {}", export.folder.display());
        printed = printed.and(console::print(&line));
    }
    printed.map_err(Failure::from)
}
