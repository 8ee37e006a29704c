//! `swarm dump`: writes a store as lines.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;

use swarm_core::TenantId;
use swarm_core::proof::DumpKey;
use swarm_core::service::dump::{DumpWriter, Totals};
use swarm_core::store::Store;

use super::arguments::DumpOptions;
use super::opened::{to_dump, usage};
use super::read_ahead::ReadAhead;
use super::signatures::NO_KEY;
use super::{PROGRAM, count_record, entries_progress, no_such_tenant, store_failed};
use crate::command::{create_in_folder, note};
use crate::failure::CommandError;

/// Writes the dump.
///
/// # Errors
/// [`CommandError`]; then a file that was begun is removed.
pub(crate) async fn run(options: DumpOptions) -> Result<(), CommandError> {
    let out = options.out.filter(|path| path.as_os_str() != "-");
    if out.is_none() && io::stdout().is_terminal() {
        return Err(CommandError::Usage(
            "a dump has contacts and hashes of tokens, and does not go to a terminal: give --out \
             FILE, or redirect standard output"
                .to_owned(),
        ));
    }
    let config = options.source.resolve().map_err(usage)?;
    let key = options.key.resolve(config.signing_key.as_deref())?;
    let store = to_dump(&config.store).await?;
    let (mut output, file) = match out {
        Some(path) => (Output::File(BufWriter::new(create_in_folder(&path)?)), Some(path)),
        None => (Output::Standard(BufWriter::new(io::stdout())), None),
    };
    let dumped = match tenants(&store, options.tenant.as_ref()).await {
        Ok(tenants) => {
            let put = async |line: String| output.put(&line);
            write_lines(&store, tenants, key.as_ref(), put).await
        }
        Err(error) => Err(error),
    };
    let dumped = dumped.and_then(|totals| output.close().map(|()| totals));
    let totals = dumped.inspect_err(|_| remove(file.as_ref()))?;
    note(&format!("dumped {}", described(&totals)));
    if totals.signature.is_none() {
        note(NO_KEY);
    }
    if let Some(path) = file {
        note(&format!("check it with: swarm restore --check {}", path.display()));
    }
    Ok(())
}

fn remove(file: Option<&PathBuf>) {
    // There is nothing more to be done about it.
    let _ = file.map(fs::remove_file);
}

/// Where the dump goes.
enum Output {
    File(BufWriter<File>),
    Standard(BufWriter<io::Stdout>),
}

impl Output {
    fn put(&mut self, line: &str) -> Result<(), CommandError> {
        match self {
            Self::File(file) => file.write_all(line.as_bytes()),
            Self::Standard(output) => output.write_all(line.as_bytes()),
        }
        .map_err(not_written)
    }

    /// Writes what is buffered; a file is on the disk then.
    fn close(self) -> Result<(), CommandError> {
        match self {
            Self::File(mut file) => file.flush().and_then(|()| file.get_ref().sync_all()),
            Self::Standard(mut output) => output.flush(),
        }
        .map_err(not_written)
    }
}

fn not_written(error: io::Error) -> CommandError {
    CommandError::Refused(format!("the dump cannot be written: {error}"))
}

/// Dumps these tenants, a line at a time.
pub(super) async fn write_lines(
    store: &Store,
    tenants: Vec<TenantId>,
    key: Option<&DumpKey>,
    mut put: impl AsyncFnMut(String) -> Result<(), CommandError>,
) -> Result<Totals, CommandError> {
    let (mut writer, first) = DumpWriter::new(PROGRAM);
    put(first).await?;
    let progress = entries_progress();
    for tenant in tenants {
        let mut dump = ReadAhead::of(store, &tenant).await?;
        loop {
            let records = dump.next().await?;
            if records.is_empty() {
                break;
            }
            for record in records {
                count_record(&progress, &record);
                put(writer.record(&tenant, record)).await?;
            }
        }
    }
    let (last, totals) = writer.end(key);
    put(last).await?;
    Ok(totals)
}

/// The tenants to dump: this one, or all.
pub(super) async fn tenants(
    store: &Store,
    tenant: Option<&TenantId>,
) -> Result<Vec<TenantId>, CommandError> {
    let all = store.tenants().await.map_err(|error| store_failed(&error))?;
    match tenant {
        None => Ok(all),
        Some(tenant) if all.contains(tenant) => Ok(vec![tenant.clone()]),
        Some(tenant) => Err(no_such_tenant("the store", tenant)),
    }
}

/// The totals in words.
pub(super) fn described(totals: &Totals) -> String {
    let counted = |kind: &str, name: &str| {
        let count = totals.count(kind);
        format!("{count} {name}{}", if count == 1 { "" } else { "s" })
    };
    let entries = match totals.count("log") {
        1 => "1 log entry".to_owned(),
        count => format!("{count} log entries"),
    };
    let counts = [
        counted("tenant", "tenant"),
        counted("member", "member"),
        counted("session", "session"),
        counted("take", "take"),
        entries,
    ];
    format!("{}; {}", counts.join(", "), totals.sha256)
}
