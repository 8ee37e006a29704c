//! The log, on standard error. `RUST_LOG` chooses what is in it; by default `info`.

use std::io::IsTerminal as _;
use std::panic;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::LogFormat;
use crate::{Failure, console};

pub(crate) fn start(format: LogFormat, default: LevelFilter) -> Result<(), Failure> {
    let filter = EnvFilter::builder().with_default_directive(default.into()).from_env()?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .log_internal_errors(false)
        .with_writer(console::log);
    match format {
        LogFormat::Text => log.try_init()?,
        LogFormat::Json => log.json().try_init()?,
    }
    // Panics are logged like anything else: the default report would block on standard error.
    panic::set_hook(Box::new(|panic| tracing::error!(panic = panic.to_string(), "panicked")));
    Ok(())
}
