//! The flags of `swarm admin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use swarm_core::domain::{DeliveryState, MemberState};

use super::committee::CommitteeVerb;
use super::sessions::SessionOptions;
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
    pub(super) verb: Verb,
}

/// The service and the token.
#[derive(Args)]
pub(super) struct Access {
    /// The service [env: SWARM_URL]
    #[arg(long, global = true, value_name = "URL")]
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
    /// Activate applicants, or deactivated members again
    #[command(after_help = "Example: swarm admin activate Zoë")]
    Activate {
        /// Ids or names
        #[arg(value_name = "MEMBER", required_unless_present = "all")]
        members: Vec<String>,
        /// Everyone in state applied
        #[arg(long, conflicts_with = "members")]
        all: bool,
    },
    /// Reject applicants
    #[command(after_help = "Example: swarm admin reject Mallory")]
    Reject {
        /// Ids or names
        #[arg(value_name = "MEMBER", required = true)]
        members: Vec<String>,
    },
    /// Change the name, the contact or the lens of a member
    #[command(after_help = "Example: swarm admin update Zoë --contact zoe@acme.example")]
    Update {
        /// An id or a name
        member: String,
        /// The name
        #[arg(long)]
        name: Option<String>,
        /// The address at which it is reached
        #[arg(long, value_name = "TEXT")]
        contact: Option<String>,
        /// How it looks at subjects
        #[arg(long, value_name = "TEXT")]
        lens: Option<String>,
    },
    /// Deactivate a member: its token stops working
    #[command(after_help = "Example: swarm admin deactivate Zoë")]
    Deactivate {
        /// An id or a name
        member: String,
    },
    /// Let a member that lost its token claim a new one; the old one stops working at once
    #[command(after_help = "Example: swarm admin reset-claim Zoë")]
    ResetClaim {
        /// An id or a name
        member: String,
    },
    /// Give a member a new token, shown once; the old one stops working at once
    #[command(after_help = "Example: swarm admin rotate-key Zoë --yes")]
    RotateKey {
        /// An id or a name
        member: String,
        /// A new public key too
        #[arg(long, value_name = "BASE64")]
        public_key: Option<String>,
    },
    /// Erase name, contact, lens and memos of a member that is not active, for good; its takes stay
    #[command(after_help = "Example: swarm admin erase Zoë --yes")]
    Erase {
        /// An id or a name
        member: String,
        /// Also the write-ups and memo addresses of its takes; their stances stay and count
        #[arg(long)]
        texts: bool,
    },
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
    /// Store the regime row of a day
    #[command(after_help = "Example: swarm admin regime regime.json")]
    Regime {
        /// JSON; - is standard input
        file: PathBuf,
    },
    /// Store a signal of a day
    #[command(after_help = "Example: swarm admin signal - < signal.json")]
    Signal {
        /// JSON; - is standard input
        file: PathBuf,
    },
    /// Takes
    #[command(after_help = "Example: swarm admin take withhold 7 --note 'it names a client'")]
    Take {
        #[command(subcommand)]
        verb: TakeVerb,
    },
    /// Memos
    #[command(after_help = "Example: swarm admin memo retract 7")]
    Memo {
        #[command(subcommand)]
        verb: MemoVerb,
    },
    /// What operators did in the last 400 days, the latest first
    #[command(after_help = "Example: swarm admin acts --by ada --since 2026-08-01T00:00:00Z")]
    Acts {
        /// The name of an operator's token
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// From this time on
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Before this time
        #[arg(long, value_name = "TIME")]
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
    /// The delivery of mail
    #[command(after_help = "Example: swarm admin mail test ada@acme.example")]
    Mail {
        #[command(subcommand)]
        verb: MailVerb,
    },
    /// Webhooks, and deliveries to them
    #[command(after_help = "Example: swarm admin webhook list")]
    Webhook {
        #[command(subcommand)]
        verb: WebhookVerb,
    },
    /// Accept a clock, a store or a signing key that the server refused to continue with
    #[command(after_help = "Example: swarm admin accept clock --yes")]
    Accept {
        /// What to accept
        what: Accepted,
        /// Accept a store or a key although nothing is wrong with it
        #[arg(long)]
        force: bool,
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
    /// Create or replace a subject
    #[command(after_help = "Example: swarm admin subject put aurora.json")]
    Put {
        /// JSON; - is standard input
        file: PathBuf,
    },
    /// Add a snapshot of what a subject holds on a day
    #[command(after_help = "Example: swarm admin subject snapshot aurora snapshot.json")]
    Snapshot {
        /// The subject
        id: String,
        /// JSON; - is standard input
        file: PathBuf,
    },
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
pub(super) enum TakeVerb {
    /// Withhold write-up and memo address of a take from the public; its stance stays and counts
    #[command(after_help = "Example: swarm admin take withhold 7 --note 'it names a client'")]
    Withhold {
        /// Its id
        id: u64,
        /// Why, in the public log: at most 500 characters
        #[arg(long, value_name = "TEXT")]
        note: String,
    },
    /// Show write-up and memo address of a take again
    #[command(after_help = "Example: swarm admin take restore 7")]
    Restore {
        /// Its id
        id: u64,
        /// A note of the log, at most 500 characters
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

#[derive(Subcommand)]
pub(super) enum MemoVerb {
    /// Retract a memo: reading it then gives 404
    #[command(after_help = "Example: swarm admin memo retract 7")]
    Retract {
        /// Its id
        id: u64,
    },
}

#[derive(Subcommand)]
pub(super) enum OutboxVerb {
    /// List the messages with their delivery state
    #[command(after_help = "Example: swarm admin outbox list")]
    List,
    /// Queue an unsent message again
    #[command(after_help = "Example: swarm admin outbox retry 7")]
    Retry {
        /// Its id
        id: u64,
    },
    /// Cancel an unsent message
    #[command(after_help = "Example: swarm admin outbox cancel 7")]
    Cancel {
        /// Its id
        id: u64,
    },
}

#[derive(Subcommand)]
pub(super) enum MailVerb {
    /// Send a message to an address, and say what became of it
    #[command(after_help = "Example: swarm admin mail test ada@acme.example")]
    Test {
        /// An e-mail address
        address: String,
    },
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
    /// Send a test to a webhook, and say what became of it
    #[command(after_help = "Example: swarm admin webhook test https://hooks.acme.example/swarm")]
    Test {
        /// Its URL, as it is configured
        #[arg(value_name = "URL")]
        webhook: String,
    },
    /// Deliver an event again
    #[command(after_help = "Example: swarm admin webhook retry 7")]
    Retry {
        /// The number of the delivery
        id: u64,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Accepted {
    Clock,
    Store,
    Key,
}
