//! The log, on standard error. `RUST_LOG` chooses what is in it; by default `info`.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::Failure;
use crate::arguments::LogFormat;

pub(crate) fn start(format: LogFormat, default: LevelFilter) -> Result<(), Failure> {
    let filter = EnvFilter::builder().with_default_directive(default.into()).from_env()?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    }
}
