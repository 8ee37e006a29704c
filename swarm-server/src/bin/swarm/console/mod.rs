//! Standard output and standard error. Either may be closed, on a full disk, or a pipe that is not read:
//! a server must neither block on them nor fail because of them.

mod background;

use std::io::{self, Write as _};
use std::sync::LazyLock;
use std::time::Duration;

use background::BackgroundWriter;
use swarm_core::json::printable_lines;

/// Maximum time that the program waits at its end for pending output, for each of the two.
const MAX_FLUSH: Duration = Duration::from_secs(1);

static OUTPUT: LazyLock<BackgroundWriter> =
    LazyLock::new(|| BackgroundWriter::new("stdout", io::stdout()));

static LOG: LazyLock<BackgroundWriter> =
    LazyLock::new(|| BackgroundWriter::new("log", io::stderr()));

/// Writes lines to standard output.
pub(crate) fn say(text: &str) {
    OUTPUT.put(format!("{text}\n").as_bytes());
}

/// Writes lines to standard output and waits: for the result of a command, in which a terminal finds nothing to
/// interpret. A reader that wants no more, as `head`, is no failure.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    let written = writeln!(output, "{}", printable_lines(text)).and_then(|()| output.flush());
    let written = match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    };
    written.map_err(|error| io::Error::new(error.kind(), format!("standard output: {error}")))
}

/// Prints the report of a verification. Returns its exit status; if it cannot be written, 2 in place of all but 1, which says that
/// something fails.
pub(crate) fn report(text: &str, status: u8) -> u8 {
    match print(text) {
        Ok(()) => status,
        Err(error) => {
            warn(&error.to_string());
            if status == 1 { 1 } else { 2 }
        }
    }
}

/// Writes a line to standard error, in which a terminal finds nothing to interpret.
pub(crate) fn warn(text: &str) {
    LOG.put(format!("{}\n", printable_lines(text)).as_bytes());
}

/// The writer of the log. Each line must be one call of `write`.
pub(crate) fn log() -> impl io::Write {
    &*LOG
}

/// Number of lines of standard error dropped so far.
pub(crate) fn lines_dropped() -> u64 {
    LOG.dropped()
}

/// Waits for pending output.
pub(crate) fn flush() {
    for writer in [&OUTPUT, &LOG] {
        writer.flush(MAX_FLUSH);
    }
}
