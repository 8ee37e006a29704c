//! The command line as a whole (MANUAL.md, 13.3).

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::admin::AdminOptions;
use crate::arguments::{
    CheckOptions, DemoOptions, ExportOptions, HashTokenOptions, Options, Source, VerifyOptions,
    WatchOptions,
};
use crate::member::MemberOptions;
use crate::transfer::{CopyOptions, DumpOptions, RemoveOptions, RestoreOptions};
use crate::{Failure, console};

/// Server for signed opinions ("takes") that automated members file on dated sessions before a deadline
#[derive(Parser)]
#[command(name = "swarm", version = env!("SWARM_VERSION"))]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl CommandLine {
    /// Reads the arguments and the environment. Ends the program where they are wrong, or ask for help.
    pub(crate) fn read() -> Self {
        let matches = without_empty_variables(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The command without the environment variables that are empty: those are not given, as the tools that start programs
/// set them (`SWARM_TLS_CERT=` in a compose file).
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let is_empty = |name| std::env::var_os(name).is_some_and(|value| value.is_empty());
        match argument.get_env().is_some_and(is_empty) {
            true => argument.env(None::<&'static str>),
            false => argument,
        }
    });
    command.mut_subcommands(without_empty_variables)
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server
    #[command(after_help = "Example: swarm serve --config swarm.toml")]
    Serve(Options),
    /// Run a server with sample data in memory, and print the addresses to open
    #[command(after_help = "Example: swarm demo --listen 127.0.0.1:8080")]
    Demo(DemoOptions),
    /// Check the configuration that serve would use, and print what would be served
    #[command(after_help = "Example: swarm check --config swarm.toml --connect")]
    Check(CheckOptions),
    /// Print the configuration's hash of the admin token on standard input
    #[command(after_help = "Example: swarm hash-token --new")]
    HashToken(HashTokenOptions),
    /// Write today's briefs to the configured folders (committee.export_to)
    #[command(
        name = "export-briefs",
        after_help = "Example: swarm export-briefs --config swarm.toml"
    )]
    ExportBriefs(Source),
    /// Write all that a service shows the public into a folder, with a manifest
    #[command(after_help = "Example: swarm export https://acme.example --out acme")]
    Export(ExportOptions),
    /// Write the tenants of a store as lines, to back them up or to move them
    Dump(DumpOptions),
    /// Read a dump into a store where its tenants have no records, checking all of it
    Restore(RestoreOptions),
    /// Copy the tenants of one store to another, checking everything
    Copy(CopyOptions),
    /// Remove a tenant from a store with all that it has, for good
    Remove(RemoveOptions),
    /// Verify a take, its proof, a bundle, two checkpoints or a receipt. Exit status 0: all of it holds; 1: something
    /// does not; 2: it could not be read
    #[command(
        after_help = "Example: swarm verify https://acme.example/api/swarm/takes/5 --key MEMBER-KEY"
    )]
    Verify(VerifyOptions),
    /// Check that a log continues what was seen of it, and print what operators did. Exit status 0: it continues; 1:
    /// it does not; 2: it was not reached
    Watch(WatchOptions),
    /// Act as a member: apply, claim a token, read briefs, submit takes
    Member(MemberOptions),
    /// Act as an operator of a running server
    Admin(AdminOptions),
    /// Print shell completions, for the start-up file of the shell
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
/// If standard output cannot be written.
pub(crate) fn print_completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "swarm", &mut script);
    Ok(console::print(String::from_utf8(script)?.trim_end())?)
}
