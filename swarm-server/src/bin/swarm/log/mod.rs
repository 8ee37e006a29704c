//! The log, on standard error. `RUST_LOG` chooses what is in it; by default `info`.

mod fields;
mod lines;
mod spans;

use std::io::IsTerminal as _;
use std::panic;

use tracing::Dispatch;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::arguments::LogFormat;
use crate::{Failure, console};

use lines::Lines;

pub(crate) fn start(format: LogFormat, default: LevelFilter) -> Result<(), Failure> {
    let filter = EnvFilter::builder().with_default_directive(default.into()).from_env()?;
    let is_terminal = std::io::stderr().is_terminal();
    let formatted = tracing_subscriber::fmt()
        .with_ansi(is_terminal)
        .log_internal_errors(false)
        .with_writer(console::log);
    let log = match format {
        LogFormat::Text if is_terminal => Dispatch::new(formatted.with_env_filter(filter).finish()),
        LogFormat::Text => Dispatch::new(filter.with_subscriber(Lines::new(console::log))),
        LogFormat::Json => Dispatch::new(formatted.json().with_env_filter(filter).finish()),
    };
    tracing::dispatcher::set_global_default(log)?;
    // Panics are logged like anything else: the default report would block on standard error.
    panic::set_hook(Box::new(|panic| tracing::error!(panic = panic.to_string(), "panicked")));
    Ok(())
}
