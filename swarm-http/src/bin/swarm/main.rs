//! `swarm`: the server, a demonstration of it, and an export of what it keeps.

mod background;
mod client;
mod config;
mod demo;
mod export;
mod log;
mod mail;
mod serve;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use config::{Command, CommandLine};

/// What can stop the program, told to whoever started it.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let ended = match CommandLine::parse().command {
        Command::Serve(options) => serve::run(options).await,
        Command::Demo(options) => demo::run(options).await,
        Command::Export(source) => export::run(source).await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("swarm: {failure}");
            ExitCode::FAILURE
        }
    }
}
