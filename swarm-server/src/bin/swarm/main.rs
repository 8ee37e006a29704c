//! `swarm`: the server, and the commands of operators, members and those who verify.

mod admin;
mod arguments;
mod brief_files;
mod check;
mod command;
mod command_line;
mod config;
mod console;
mod demo;
mod descriptors;
mod effective_settings;
mod export;
mod export_briefs;
mod failure;
mod log;
#[cfg_attr(not(feature = "mail"), path = "without_mail.rs")]
mod mail;
mod member;
mod memory;
mod open_site;
mod outgoing;
mod schedule;
mod secrets;
mod serve;
mod signing_key;
mod store;
mod successions;
mod tenants;
mod text_file;
mod timestamp_check;
mod timestamps;
#[cfg_attr(not(feature = "tls"), path = "without_tls.rs")]
mod tls_files;
mod transfer;
mod trust;
mod verify;
mod watch;
mod webhooks;
mod witnesses;

use std::env;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{self, ExitCode};

use swarm_core::proof::pem_text;
use tokio::signal::unix::{SignalKind, signal};

use command_line::{Command, CommandLine};
use failure::{CommandError, Failure};

/// Starts the program again without an empty `SSL_CERT_FILE`, which the libraries that read the authorities of the system take for
/// the name of a file. A variable cannot be removed while other threads may read it.
fn forget_empty_authorities() {
    const VARIABLE: &str = "SSL_CERT_FILE";
    if env::var_os(VARIABLE).is_none_or(|path| !path.is_empty()) {
        return;
    }
    let mut arguments = env::args_os();
    if let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) {
        // Returns if it cannot be started; the variable then stays.
        let _ =
            process::Command::new(program).arg0(name).args(arguments).env_remove(VARIABLE).exec();
    }
}

/// Refuses a file of `SSL_CERT_FILE` that has a byte order mark or sections joined without a line end. The libraries that read the file would skip
/// authorities in it without an error. The files of `SSL_CERT_DIR` are not checked: there may be hundreds, of one certificate each.
fn check_authorities() -> Result<(), CommandError> {
    let Some(file) = env::var_os("SSL_CERT_FILE") else { return Ok(()) };
    // What is read of a pipe is lost to those who need it.
    if !Path::new(&file).is_file() {
        return Ok(());
    }
    // A file that cannot be read is reported by those who need it.
    let Ok(text) = fs::read(&file) else { return Ok(()) };
    let fault = match pem_text(&text) {
        Some(read) if read.len() == text.len() => return Ok(()),
        Some(_) => "begins with a byte order mark: save it without",
        None => "a section does not begin and end with lines of its own",
    };
    let file = file.to_string_lossy();
    Err(CommandError::Usage(format!("SSL_CERT_FILE: {file}: {fault}")))
}

/// Ends process 1 of a container at SIGTERM and SIGINT, with the status that shells give for them. The kernel ends any other process, but
/// not process 1 where it has no handler.
fn end_process_1_at_signals() {
    if process::id() != 1 {
        return;
    }
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let Ok(mut signal) = signal(kind) else { continue };
        tokio::spawn(async move {
            signal.recv().await;
            process::exit(128 + kind.as_raw_value());
        });
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    forget_empty_authorities();
    let command = CommandLine::read().command;
    if let Err(error) = check_authorities() {
        return exit_code(Err(error));
    }
    if !matches!(command, Command::Serve(_) | Command::Demo(_)) {
        end_process_1_at_signals();
    }
    let ended = match command {
        Command::Serve(options) => serve::run(options).await,
        Command::Demo(options) => demo::run(options).await,
        Command::Check(options) => check::run(options).await,
        Command::HashToken(options) => secrets::hash_token(&options),
        Command::ExportBriefs(source) => export_briefs::run(source).await,
        Command::Verify(options) => {
            let verdict = verify::run(&options);
            console::flush();
            return verdict;
        }
        Command::Watch(options) => {
            let verdict = watch::run(&options);
            console::flush();
            return verdict;
        }
        Command::Completions { shell } => command_line::print_completions(shell),
        Command::Member(options) => return exit_code(member::run(options)),
        Command::Admin(options) => return exit_code(admin::run(options)),
        Command::Export(options) => return exit_code(export::run(&options)),
        Command::Dump(options) => return exit_code(transfer::dump(options).await),
        Command::Restore(options) => return exit_code(transfer::restore(options).await),
        Command::Copy(options) => return exit_code(transfer::copy(options).await),
        Command::Remove(options) => return exit_code(transfer::remove(options).await),
    };
    if let Err(failure) = &ended {
        console::warn(&format!("swarm: {failure}"));
    }
    console::flush();
    if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The exit status of a command that distinguishes why it failed.
fn exit_code(ended: Result<(), CommandError>) -> ExitCode {
    let code = match &ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::warn(&format!("swarm: {error}"));
            error.exit_code()
        }
    };
    console::flush();
    code
}
