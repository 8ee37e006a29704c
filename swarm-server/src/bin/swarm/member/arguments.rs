//! The flags of `swarm member`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::{Trust, address};
use crate::command::flag;

/// The profile of a user who names none.
const DEFAULT_PROFILE: &str = "default";

#[derive(Args)]
#[command(
    after_help = "Example: swarm member key new && swarm member --url https://acme.example apply \
                        --name Zoë --contact zoe@acme.example\n\n\
                        Exit status: 0 done, 1 refused, 2 wrong use, 3 not reached, 4 no or a wrong token"
)]
pub(crate) struct MemberOptions {
    /// The profile: a folder with URL, member, key and token
    #[arg(
        long,
        global = true,
        env = "SWARM_PROFILE",
        value_name = "NAME",
        default_value = DEFAULT_PROFILE,
        value_parser = address
    )]
    pub(crate) profile: String,
    /// The service; the profile remembers that of the application
    #[arg(long, global = true, env = "SWARM_URL", value_name = "URL", value_parser = address)]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl MemberOptions {
    /// The beginning of a command with the same profile. A profile keeps the address of its service.
    pub(super) fn command(&self) -> String {
        let named = (self.profile != DEFAULT_PROFILE).then_some(&self.profile);
        let command = "swarm member".to_owned() + &flag("profile", named);
        command + &flag("ca-file", self.trust.ca_file.as_ref())
    }
}

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// The key of the profile
    #[command(after_help = "Example: swarm member key new")]
    Key {
        #[command(subcommand)]
        verb: KeyVerb,
    },
    /// Apply for membership with the key of the profile
    #[command(
        after_help = "Example: swarm member --url https://acme.example apply --name Zoë --contact zoe@acme.example"
    )]
    Apply {
        /// The name, public once activated
        #[arg(long)]
        name: String,
        /// Where operators reach you; they alone see it
        #[arg(long, value_name = "TEXT")]
        contact: String,
        /// How you look at subjects, public once activated
        #[arg(long, value_name = "TEXT", default_value = "")]
        lens: String,
    },
    /// Show the state of the application
    #[command(after_help = "Example: swarm member status")]
    Status,
    /// Claim the token, once an operator has activated the application
    #[command(after_help = "Example: swarm member claim")]
    Claim,
    /// Change the address of the service, which the profile keeps: it moved, or is known by another one
    #[command(after_help = "Example: swarm member address https://acme.example")]
    Address {
        /// The address at which the service is known now
        #[arg(value_name = "URL", value_parser = address)]
        address: String,
    },
    /// List the newest sessions
    #[command(after_help = "Example: swarm member sessions --limit 5")]
    Sessions {
        /// How many, 1 to 500
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Print the brief of a session
    #[command(after_help = "Example: swarm member brief 12 --json")]
    Brief {
        /// The session [default: the newest that collects takes]
        session: Option<u64>,
    },
    /// Sign and file a take
    #[command(
        after_help = "Example: swarm member submit --stance cautious --confidence 0.62 --body take.md"
    )]
    Submit(SubmitOptions),
    /// Verify all that is kept of your takes against the log
    #[command(after_help = "Example: swarm member check")]
    Check,
    /// List your takes, newest first: of each session the last revision
    #[command(after_help = "Example: swarm member takes --limit 5")]
    Takes {
        /// The most takes, 1 to 500
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=500))]
        limit: u64,
    },
    /// Publish a memo
    #[command(
        after_help = "Example: swarm member memo --title 'On aurora' --subject aurora memo.md"
    )]
    Memo {
        /// Its title
        #[arg(long, value_name = "TEXT")]
        title: String,
        /// The subject that it is about
        #[arg(long, value_name = "ID")]
        subject: Option<String>,
        /// The session that it is about
        #[arg(long, value_name = "ID")]
        session: Option<u64>,
        /// Its text, Markdown; - is standard input
        file: PathBuf,
    },
}

#[derive(Subcommand)]
pub(crate) enum KeyVerb {
    /// Generate a key, if the profile has none
    #[command(after_help = "Example: swarm member --profile second key new")]
    New,
    /// Replace the key of the member by a new one, which the old key endorses
    #[command(after_help = "Example: swarm member key replace")]
    Replace,
}

#[derive(Args)]
pub(crate) struct SubmitOptions {
    /// bullish, constructive, neutral, cautious, bearish, or what the brief allows
    #[arg(long)]
    pub(crate) stance: String,
    /// From 0 to 1
    #[arg(long, value_name = "N")]
    pub(crate) confidence: f64,
    /// The session [default: the newest that collects takes]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<u64>,
    /// The write-up, Markdown; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,
    /// Weights of buckets
    #[arg(long, value_name = "BUCKET=N", value_delimiter = ',')]
    pub(crate) weights: Vec<String>,
    /// The URL of a longer memo
    #[arg(long, value_name = "URL", default_value = "")]
    pub(crate) memo_url: String,
    /// Run the checks of a submit, and file nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
