//! `swarm restore`: reads a dump into a store.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use super::arguments::RestoreOptions;
use super::bytes_progress;
use super::dump::described;
use super::opened::{OpenedTarget, usage};
use super::signatures::Signer;
use super::target::Target;
use crate::command::{Progress, note};
use crate::failure::CommandError;
use swarm_core::service::dump::longest_line;

/// Checks a dump, and writes it unless only asked to check.
///
/// # Errors
/// [`CommandError`]; then nothing is written.
pub(crate) async fn run(options: RestoreOptions) -> Result<(), CommandError> {
    let file = options.file.filter(|path| path.as_os_str() != "-");
    if file.is_none() && io::stdin().is_terminal() {
        return Err(CommandError::Usage(
            "give the file of the dump, or redirect standard input".to_owned(),
        ));
    }
    let mut input = Input::open(file.as_ref())?;
    let config = options.source.resolve().map_err(usage)?;
    let key = options.key.resolve(config.signing_key.as_deref())?;
    let signer = Signer::of(key.as_ref(), options.unsigned);
    if options.check {
        let mut target = Target::begin(None, options.tenant, signer).await?;
        input.read_into(&mut target).await?;
        note(&format!("valid: {}", described(&target.finish().await?)));
        return Ok(());
    }
    let opened = OpenedTarget::open(&config.store).await?;
    // The totals are those of the whole dump, which is checked.
    let only = options.tenant.as_ref().map(|only| format!("{only} alone, of a dump of "));
    let only = only.unwrap_or_default();
    let send = async |target: &mut Target| input.read_into(target).await;
    let totals = Target::fill(opened, options.tenant, signer, send).await?;
    note(&format!("restored {only}{}", described(&totals)));
    Ok(())
}

/// The lines of a dump.
struct Input {
    lines: Box<dyn BufRead + Send>,
    progress: Progress,
}

impl Input {
    fn open(file: Option<&PathBuf>) -> Result<Self, CommandError> {
        let Some(path) = file else {
            let lines = Box::new(BufReader::new(io::stdin()));
            return Ok(Self { lines, progress: bytes_progress(None) });
        };
        let unread = |error| unreadable(path, &error);
        let file = File::open(path).map_err(unread)?;
        let length = file.metadata().map_err(unread)?.len();
        let lines = Box::new(BufReader::new(file));
        Ok(Self { lines, progress: bytes_progress(Some(length)) })
    }

    async fn read_into(&mut self, target: &mut Target) -> Result<(), CommandError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            // How long it may be depends on how it begins. A longer one is refused without its rest.
            let mut read = self.read_part(longest_line(&[]), &mut line)?;
            let longest = longest_line(&line);
            if read > longest_line(&[]) && read <= longest {
                read += self.read_part(longest - read, &mut line)?;
            }
            if read == 0 {
                return Ok(());
            }
            self.progress.add(read as u64);
            target.line(&line).await?;
        }
    }

    /// Appends the next bytes to a line, at most `limit` and a line feed.
    fn read_part(&mut self, limit: usize, line: &mut Vec<u8>) -> Result<usize, CommandError> {
        if line.ends_with(b"\n") {
            return Ok(0);
        }
        let read = self.lines.by_ref().take(limit as u64 + 1).read_until(b'\n', line);
        read.map_err(|error| unreadable(Path::new("the dump"), &error))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Usage(format!("{}: {error}", path.display()))
}
