//! Brief files for a CDN: today's briefs of a committee, in a folder, whole or not at all.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swarm_core::{CommitteeDesk, Instant};
use tokio::task::spawn_blocking;

use crate::Failure;

/// Where a tenant's briefs go, and the origin that their links name.
#[derive(Clone)]
pub(crate) struct Export {
    pub(crate) folder: PathBuf,
    pub(crate) origin: String,
}

impl Export {
    /// Brings the folder up to date, unless it has the briefs generated at `written` and those are
    /// still today's. Answers when the briefs that it now has were generated.
    pub(crate) async fn refresh(
        &self,
        desk: &Arc<CommitteeDesk>,
        written: Option<Option<Instant>>,
    ) -> Result<Option<Instant>, Failure> {
        let briefs = desk.briefs().await?;
        let generated_at = briefs.first().map(|brief| brief.generated_at);
        if written == Some(generated_at) {
            return Ok(generated_at);
        }
        let file = |brief: &swarm_core::domain::committee::CommitteeBrief| {
            (format!("{}.json", brief.member_id), brief.text(&self.origin))
        };
        let files: Vec<_> = briefs.iter().map(|brief| file(brief)).collect();
        let folder = self.folder.clone();
        spawn_blocking(move || write(&folder, &files)).await??;
        Ok(generated_at)
    }
}

/// Puts the files into the folder, each by renaming a whole one into place, and removes those that
/// are not among them.
fn write(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in files {
        let unfinished = folder.join(format!(".{name}.new"));
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, folder.join(name))?;
    }
    let kept: HashSet<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let stale =
            name.to_str().is_some_and(|name| name.ends_with(".json") && !kept.contains(name));
        if stale {
            fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}
