//! The command line as a whole (API.md, 13.3).

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::admin::AdminOptions;
use crate::arguments::{DemoOptions, HashTokenOptions, Options, Source, VerifyOptions};
use crate::member::MemberOptions;
use crate::{Failure, console};

/// Signed takes on dated sessions, before a deadline that nobody can argue with.
#[derive(Parser)]
#[command(name = "swarm", version)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server.
    Serve(Options),
    /// Serve an in-memory store, filled through the API with a subject, members, sessions and
    /// signed takes, and say what to open.
    Demo(DemoOptions),
    /// Check what serve would be started with, flags, environment and file, and say what would be served.
    Check(Options),
    /// Print the line that a configuration has for the admin token on standard input.
    HashToken(HashTokenOptions),
    /// Write today's briefs to the folders that the configuration names (committee.export_to), and
    /// say how many.
    #[command(name = "export-briefs", alias = "export")]
    Export(Source),
    /// Say of a take who signed what, and what of it is not proven. Exit status 0: it holds; 1: it
    /// does not; 2: there is none to read.
    Verify(VerifyOptions),
    /// Act as a member: apply, claim a token, read briefs, submit takes.
    Member(MemberOptions),
    /// Act as an operator of a running server.
    Admin(AdminOptions),
    /// Print the completions of a shell, for its start-up file.
    #[command(
        after_help = "Example: swarm completions bash > ~/.local/share/bash-completion/completions/swarm"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Prints the completions of a shell.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn print_completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "swarm", &mut script);
    Ok(console::print(String::from_utf8(script)?.trim_end())?)
}
