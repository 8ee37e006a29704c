//! Standard output and standard error. Either may be on a full disk, closed, or a pipe that nobody
//! reads: a server never waits for them, and does not fail with them.

mod background;

use std::io::{self, Write as _};
use std::sync::LazyLock;
use std::time::Duration;

use background::BackgroundWriter;

/// How long the end of the program waits for what is not written yet, for each of the two.
const FLUSH: Duration = Duration::from_secs(1);

static OUTPUT: LazyLock<BackgroundWriter> =
    LazyLock::new(|| BackgroundWriter::new("stdout", io::stdout()));

static LOG: LazyLock<BackgroundWriter> =
    LazyLock::new(|| BackgroundWriter::new("log", io::stderr()));

/// Writes lines to standard output.
pub(crate) fn say(text: &str) {
    OUTPUT.put(format!("{text}\n").as_bytes());
}

/// Writes lines to standard output at once: what a command was run for.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    let written = writeln!(output, "{text}").and_then(|()| output.flush());
    written.map_err(|error| io::Error::new(error.kind(), format!("standard output: {error}")))
}

/// Writes a line to standard error.
pub(crate) fn warn(text: &str) {
    LOG.put(format!("{text}\n").as_bytes());
}

/// Where the lines of the log go, each in one piece.
pub(crate) fn log() -> impl io::Write {
    &*LOG
}

/// How many lines of standard error were dropped.
pub(crate) fn lines_dropped() -> u64 {
    LOG.dropped()
}

/// Lets what was written come out, where it can.
pub(crate) fn flush() {
    for writer in [&OUTPUT, &LOG] {
        writer.flush(FLUSH);
    }
}
