//! The flags of `swarm admin`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use swarm_core::domain::{DeliveryState, MemberState};

use super::declared::{AdminVerb, possible_value};
use crate::arguments::Trust;
use crate::command::flag;

#[derive(Args)]
#[command(
    after_help = "Example: swarm admin context add desk --url https://acme.example --token-file desk.token && \
                        swarm admin applications\n\n\
                        The token comes from SWARM_ADMIN_TOKEN or a file, never from a flag.\n\
                        Exit status: 0 done, 1 refused, 2 wrong use, 3 not reached, 4 no or a wrong token"
)]
pub(crate) struct AdminOptions {
    #[command(flatten)]
    pub(super) access: Access,
    /// Print the API's own answer, as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Dry run: print what a change would do, without making it
    #[arg(long, global = true)]
    pub(super) dry_run: bool,
    /// Do not ask for confirmation of changes that cannot be undone
    #[arg(long, global = true)]
    pub(super) yes: bool,
    #[command(subcommand)]
    pub(super) verb: AdminVerb<Verb>,
}

/// The service and the token.
#[derive(Args)]
pub(super) struct Access {
    /// The service [env: SWARM_URL]
    // The URL of a webhook is an argument too.
    #[arg(id = "service", long = "url", global = true, value_name = "URL")]
    pub(super) url: Option<String>,
    /// A file with the admin token, which its owner alone may read
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// A context, with URL and token [default: the one in use]
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) context: Option<String>,
    #[command(flatten)]
    pub(super) trust: Trust,
}

impl Access {
    /// The beginning of a command with the same flags.
    pub(super) fn command(&self) -> String {
        let mut command = "swarm admin".to_owned();
        command += &flag("url", self.url.as_ref());
        command += &flag("token-file", self.token_file.as_ref());
        command += &flag("context", self.context.as_ref());
        command + &flag("ca-file", self.trust.ca_file.as_ref())
    }
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Remember services and their tokens
    #[command(after_help = "Example: swarm admin context use desk")]
    Context {
        #[command(subcommand)]
        verb: ContextVerb,
    },
    /// Show what needs attention: applications, sessions that collect takes or wait for an act, mail, the schedule, the log,
    /// the committee, and warnings
    #[command(after_help = "Example: swarm admin status")]
    Status,
    /// List applications
    #[command(after_help = "Example: swarm admin applications --state applied")]
    Applications {
        /// Those in this state only
        #[arg(long, value_parser = MemberState::ALL.map(MemberState::as_str))]
        state: Option<String>,
    },
    /// List members, with their last take and how many they filed in 30 days
    #[command(after_help = "Example: swarm admin members")]
    Members,
    /// Subjects
    #[command(after_help = "Example: swarm admin subject put aurora.json")]
    Subject {
        #[command(subcommand)]
        verb: SubjectVerb,
    },
    /// Sessions
    #[command(after_help = "Example: swarm admin session convene --subject aurora --closes 19:00")]
    Session(SessionOptions),
    /// Show the members by the lower bound of their skill
    #[command(after_help = "Example: swarm admin ranking --subject aurora --since 2026-01-01")]
    Ranking {
        /// Only sessions about this subject
        #[arg(long, value_name = "ID")]
        subject: Option<String>,
        /// Only sessions of this day or later ones
        #[arg(long, value_name = "DAY")]
        since: Option<String>,
        /// How many scored sessions a place takes [default: 20]
        #[arg(long, value_name = "N")]
        min: Option<u32>,
    },
    /// What operators did in the last 400 days, the latest first
    #[command(after_help = "Example: swarm admin acts --by ada --since -7d")]
    Acts {
        /// The name of an operator's token
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// From this time on: -3h, 19:00 (UTC, the last one) or an RFC 3339 time
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        since: Option<String>,
        /// Before this time, given likewise
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        before: Option<String>,
        /// The most acts
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
    },
    /// Mail to members
    #[command(after_help = "Example: swarm admin outbox list")]
    Outbox {
        #[command(subcommand)]
        verb: OutboxVerb,
    },
    /// Webhooks, and deliveries to them
    #[command(after_help = "Example: swarm admin webhook list")]
    Webhook {
        #[command(subcommand)]
        verb: WebhookVerb,
    },
    /// The daily committee
    #[command(after_help = "Example: swarm admin committee member list")]
    Committee {
        #[command(subcommand)]
        verb: CommitteeVerb,
    },
}

#[derive(Subcommand)]
pub(super) enum ContextVerb {
    /// Remember the service of --url and the token of --token-file or SWARM_ADMIN_TOKEN
    #[command(
        after_help = "Example: swarm admin context add desk --url https://acme.example --token-file desk.token"
    )]
    Add {
        /// Its name
        name: String,
    },
    /// Make a context the default, if neither flag nor environment variable names a service
    #[command(after_help = "Example: swarm admin context use desk")]
    Use {
        /// Its name
        name: String,
    },
    /// List the contexts
    #[command(after_help = "Example: swarm admin context list")]
    List,
}

#[derive(Subcommand)]
pub(super) enum SubjectVerb {
    /// List the subjects
    #[command(after_help = "Example: swarm admin subject list --json")]
    List,
    /// Show a subject
    #[command(after_help = "Example: swarm admin subject show aurora")]
    Show {
        /// Its id
        id: String,
    },
}

#[derive(Subcommand)]
pub(super) enum OutboxVerb {
    /// List the messages with their delivery state
    #[command(after_help = "Example: swarm admin outbox list")]
    List,
}

#[derive(Subcommand)]
pub(super) enum WebhookVerb {
    /// List the webhooks, and the last deliveries to them
    #[command(after_help = "Example: swarm admin webhook list --state failed")]
    List {
        /// Deliveries in this state only
        #[arg(long, value_parser = DeliveryState::ALL.map(DeliveryState::as_str))]
        state: Option<String>,
    },
}

#[derive(Args)]
pub(super) struct SessionOptions {
    /// A note of the log, at most 500 characters
    #[arg(long, global = true, value_name = "TEXT")]
    note: Option<String>,
    #[command(subcommand)]
    pub(super) verb: SessionVerb,
}

#[derive(Subcommand)]
pub(super) enum SessionVerb {
    /// List the sessions, newest first
    #[command(after_help = "Example: swarm admin session list --state open")]
    List {
        /// Those in this state only
        #[arg(long, value_parser = session_states())]
        state: Option<String>,
    },
    /// Show a session
    #[command(after_help = "Example: swarm admin session show 12")]
    Show {
        /// Its id
        id: u64,
    },
}

fn session_states() -> PossibleValuesParser {
    let states = ["scheduled", "collecting", "window_closed", "aggregated", "published"];
    PossibleValuesParser::new(states.map(possible_value))
}

#[derive(Subcommand)]
pub(super) enum CommitteeVerb {
    /// Its members
    #[command(after_help = "Example: swarm admin committee member list")]
    Member {
        #[command(subcommand)]
        verb: CommitteeMemberVerb,
    },
    /// Show who has filed on a day, before its deadline too
    #[command(after_help = "Example: swarm admin committee filing 2026-11-21")]
    Filing {
        /// YYYY-MM-DD
        day: String,
    },
}

#[derive(Subcommand)]
pub(super) enum CommitteeMemberVerb {
    /// List the members
    #[command(after_help = "Example: swarm admin committee member list")]
    List,
}
