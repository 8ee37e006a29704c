//! `swarm admin session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use swarm_core::json::Json;

use super::operator::{IRREVERSIBLE, Operator, read_json};
use crate::command::{cell, now, parse_time, text_of};
use crate::failure::CommandError;

#[derive(Args)]
pub(super) struct SessionOptions {
    /// A note of the log, at most 500 characters
    #[arg(long, global = true, value_name = "TEXT")]
    note: Option<String>,
    #[command(subcommand)]
    verb: SessionVerb,
}

#[derive(Subcommand)]
enum SessionVerb {
    /// List the sessions, newest first
    #[command(after_help = "Example: swarm admin session list --state collecting")]
    List {
        /// Those in this state only
        #[arg(long, value_parser = STATES)]
        state: Option<String>,
    },
    /// Show a session
    #[command(after_help = "Example: swarm admin session show 12")]
    Show {
        /// Its id
        id: u64,
    },
    /// Convene a session
    #[command(
        after_help = "Example: swarm admin session convene --subject aurora --closes +3h --roster active"
    )]
    Convene(ConveneOptions),
    /// Let a session collect takes
    #[command(after_help = "Example: swarm admin session open 12")]
    Open {
        /// Its id
        id: u64,
    },
    /// End the window of a session: its deadline becomes now
    #[command(after_help = "Example: swarm admin session close 12 --note 'venue is down' --yes")]
    Close {
        /// Its id
        id: u64,
    },
    /// Write the snapshot of a session, once
    #[command(after_help = "Example: swarm admin session aggregate 12")]
    Aggregate {
        /// Its id
        id: u64,
    },
    /// Publish an aggregated session
    #[command(after_help = "Example: swarm admin session publish 12")]
    Publish {
        /// Its id
        id: u64,
    },
    /// Void an aggregated session: it counts for nothing from then on
    #[command(
        after_help = "Example: swarm admin session void 12 --note 'the brief had the prices of another day' --yes"
    )]
    Void {
        /// Its id
        id: u64,
    },
    /// Withdraw a session without takes: it is as if it had never been convened
    #[command(after_help = "Example: swarm admin session withdraw 12 --note 'the wrong subject'")]
    Withdraw {
        /// Its id
        id: u64,
    },
    /// Move the deadline of a session
    #[command(after_help = "Example: swarm admin session deadline 12 +1h")]
    Deadline {
        /// Its id
        id: u64,
        /// +3h, 19:00 (UTC), an RFC 3339 time, or none
        time: String,
    },
    /// Change the quorum of a session, until it is aggregated
    #[command(after_help = "Example: swarm admin session quorum 12 3")]
    Quorum {
        /// Its id
        id: u64,
        /// How many members it needs, or none
        members: String,
    },
    /// Change the question of a session, until a take is on file
    #[command(
        after_help = "Example: swarm admin session question 12 --question 'More or less exposed?' --resolves +7d"
    )]
    Question {
        /// Its id
        id: u64,
        #[command(flatten)]
        question: QuestionOptions,
    },
    /// Record the outcome of a session: members are scored by it, in public
    #[command(
        after_help = "Example: swarm admin session outcome 12 -0.5 --source https://prices.example/aurora"
    )]
    Outcome {
        /// Its id
        id: u64,
        /// From -2 (bearish) to 2 (bullish), or none: nothing is scored
        #[arg(allow_negative_numbers = true)]
        value: String,
        /// Where it was read
        #[arg(long, value_name = "TEXT")]
        source: Option<String>,
    },
    /// Freeze the roster of a session, once
    #[command(after_help = "Example: swarm admin session roster 12 Zoë Ada")]
    Roster {
        /// Its id
        id: u64,
        /// Ids or names
        #[arg(value_name = "MEMBER", required = true)]
        members: Vec<String>,
    },
    /// Excuse a listed member
    #[command(after_help = "Example: swarm admin session excuse 12 Zoë --undo")]
    Excuse {
        /// Its id
        id: u64,
        /// An id or a name
        member: String,
        /// Expect it again
        #[arg(long)]
        undo: bool,
    },
    /// Publish the brief of a session, once, or replace it while no take is on file
    #[command(after_help = "Example: swarm admin session brief 12 --prompt prompt.json")]
    Brief {
        /// Its id
        id: u64,
        /// JSON with system and user; - is standard input
        #[arg(long, value_name = "FILE")]
        prompt: Option<PathBuf>,
        /// Replace the brief that it has
        #[arg(long)]
        replace: bool,
    },
}

#[derive(Args)]
struct QuestionOptions {
    /// What a stance is about
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// How, by which source and when the outcome is determined
    #[arg(long, value_name = "TEXT")]
    resolution: Option<String>,
    /// When the outcome will be known: +7d, 19:00 (UTC) or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    resolves: Option<String>,
}

impl QuestionOptions {
    /// The fields of the request that are given.
    fn fields(self) -> Result<impl Iterator<Item = (&'static str, Json)>, CommandError> {
        let resolves = self.resolves.map(|time| parse_time(&time, now())).transpose()?;
        let fields = [
            ("question", self.question),
            ("resolution", self.resolution),
            ("resolvesAt", resolves.map(|time| time.to_string())),
        ];
        Ok(fields.into_iter().filter_map(|(field, text)| Some((field, Json::Text(text?)))))
    }
}

#[derive(Args)]
struct ConveneOptions {
    /// The subject
    #[arg(long, value_name = "ID")]
    subject: String,
    /// The day, YYYY-MM-DD [default: today, UTC]
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
    /// The deadline: +3h, 19:00 (UTC) or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    closes: Option<String>,
    /// The state to begin in
    #[arg(long, value_parser = ["scheduled", "collecting"])]
    state: Option<String>,
    /// Ids or names of members; active lists all active members
    #[arg(long, value_name = "MEMBER", value_delimiter = ',')]
    roster: Vec<String>,
    /// How many members it needs
    #[arg(long, value_name = "N")]
    quorum: Option<u32>,
    /// The buckets of a bucket-weight session
    #[arg(long, value_name = "BUCKET", value_delimiter = ',')]
    buckets: Vec<String>,
    /// Seal takes until the session is opened, after its deadline or by its aggregation
    #[arg(long)]
    blind: bool,
    /// For practice: open to every active member, without roster and quorum, and counted nowhere
    #[arg(long, conflicts_with_all = ["roster", "quorum"])]
    practice: bool,
    /// Let the server aggregate it once its window has closed, and publish it
    #[arg(long)]
    finish: bool,
    #[command(flatten)]
    question: QuestionOptions,
}

/// The states of a session.
const STATES: [&str; 5] = ["scheduled", "collecting", "window_closed", "aggregated", "published"];

/// The codes of the cautions because of which a command about a session asks.
const ASKED: &[&str] = &["window-open", "deadline-earlier"];

const COLUMNS: [&str; 5] = ["id", "date", "subjectId", "state", "windowClosesAt"];

/// Runs `swarm admin session`.
pub(super) fn run(operator: &Operator, options: SessionOptions) -> Result<(), CommandError> {
    let change = Change { operator, note: options.note };
    match options.verb {
        SessionVerb::List { state } => list(operator, state.as_deref()),
        SessionVerb::Show { id } => {
            let session = operator.get(&format!("/api/swarm/sessions/{id}"))?;
            operator.output.record(&session)
        }
        SessionVerb::Convene(options) => convene(&change, options),
        SessionVerb::Open { id } => change.state(id, "collecting", "close"),
        SessionVerb::Close { id } => close(&change, id),
        SessionVerb::Aggregate { id } => {
            let body = change.body([("state", Json::from("aggregated"))]);
            let path = format!("/api/swarm/admin/sessions/{id}/state");
            operator.heed(&format!("session {id}"), ("POST", &path), &body, ASKED)?;
            change.state(id, "aggregated", "publish")
        }
        SessionVerb::Publish { id } => change.state(id, "published", "show"),
        SessionVerb::Void { id } => {
            if change.note.is_none() {
                return Err(CommandError::Usage("void wants --note: why".to_owned()));
            }
            let (path, body) = (format!("/api/swarm/admin/sessions/{id}/void"), change.body([]));
            operator.heed(&format!("session {id}"), ("POST", &path), &body, IRREVERSIBLE)?;
            change.send(id, "/void", [], "is void")
        }
        SessionVerb::Withdraw { id } => change.send(id, "/withdraw", [], "is withdrawn"),
        SessionVerb::Deadline { id, time } => move_deadline(&change, id, &time),
        SessionVerb::Quorum { id, members } => change_quorum(&change, id, &members),
        SessionVerb::Question { id, question } => {
            let fields = question.fields()?.chain(change.noted());
            let path = format!("/api/swarm/admin/sessions/{id}");
            let answer = operator.change("PATCH", &path, &fields.collect())?;
            operator.output.record(&answer)?;
            operator.done(&format!("session {id} has its question"));
            Ok(())
        }
        SessionVerb::Outcome { id, value, source } => outcome(&change, id, &value, source),
        SessionVerb::Roster { id, members } => {
            let members = roster(operator, &members)?;
            change.send(
                id,
                "/roster",
                [("members", members)],
                "has its roster, which cannot be set again",
            )
        }
        SessionVerb::Excuse { id, member, undo } => {
            let member = operator.member(&member)?;
            let done = if undo { "expects" } else { "excuses" };
            let done = format!("{done} {member}");
            let body = [("memberId", Json::Text(member.id)), ("excused", Json::Bool(!undo))];
            change.send(id, "/roster/excuse", body, &done)
        }
        SessionVerb::Brief { id, prompt, replace } => {
            let prompt = prompt.as_deref().map(read_json).transpose()?.unwrap_or(Json::Null);
            let replaces = if replace { Json::Bool(true) } else { Json::Null };
            change.send(id, "/brief", [("prompt", prompt), ("replaces", replaces)], "has its brief")
        }
    }
}

/// A change of a session, with its note.
struct Change<'a> {
    operator: &'a Operator,
    note: Option<String>,
}

impl Change<'_> {
    fn body<const N: usize>(&self, members: [(&str, Json); N]) -> Json {
        members.into_iter().chain(self.noted()).collect()
    }

    /// The note, if there is one.
    fn noted(&self) -> Option<(&'static str, Json)> {
        self.note.as_ref().map(|note| ("note", Json::from(note.as_str())))
    }

    fn send<const N: usize>(
        &self,
        id: u64,
        path: &str,
        members: [(&str, Json); N],
        done: &str,
    ) -> Result<(), CommandError> {
        let path = format!("/api/swarm/admin/sessions/{id}{path}");
        self.operator.post(&path, &self.body(members), &format!("session {id} {done}"))
    }

    fn state(&self, id: u64, state: &str, next: &str) -> Result<(), CommandError> {
        self.send(id, "/state", [("state", Json::from(state))], &format!("is {state}"))?;
        self.operator.next(&format!("session {next} {id}"));
        Ok(())
    }
}

/// A page of sessions is ordered by id, descending, and continued by `before`.
fn list(operator: &Operator, state: Option<&str>) -> Result<(), CommandError> {
    let is_in = |session: &Json| state.is_none_or(|state| text_of(session, "state") == state);
    let answer = operator.pages_by("before", "/api/swarm/sessions", "sessions", is_in)?;
    operator.output.sessions(&answer, &COLUMNS)
}

fn convene(change: &Change<'_>, options: ConveneOptions) -> Result<(), CommandError> {
    let operator = change.operator;
    let closes = options.closes.map(|time| parse_time(&time, now())).transpose()?;
    let mut body = vec![
        ("date", Json::Text(options.date.unwrap_or_else(|| now().day().to_string()))),
        ("subjectId", Json::Text(options.subject)),
    ];
    body.extend(options.state.map(|state| ("state", Json::Text(state))));
    body.extend(closes.map(|time| ("windowClosesAt", Json::Text(time.to_string()))));
    if !options.roster.is_empty() {
        body.push(("roster", roster(operator, &options.roster)?));
    }
    body.extend(options.quorum.map(|quorum| ("quorum", Json::from(f64::from(quorum)))));
    if !options.buckets.is_empty() {
        body.push(("buckets", options.buckets.into_iter().map(Json::Text).collect()));
    }
    let flags =
        [("blind", options.blind), ("practice", options.practice), ("finish", options.finish)];
    body.extend(
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, Json::Bool(true))),
    );
    body.extend(options.question.fields()?);
    body.extend(change.noted());
    let body: Json = body.into_iter().collect();
    let answer = operator.change("POST", "/api/swarm/admin/sessions", &body)?;
    let session = answer.clone().into_object().take("session").unwrap_or(Json::Null);
    let id = cell(&session, "id");
    operator.output.record(&answer)?;
    // A dry run mints no id.
    let name = if id.is_empty() { "a session".to_owned() } else { format!("session {id}") };
    operator.done(&format!("{name} is convened"));
    operator.next(&format!("session brief {id}"));
    Ok(())
}

fn close(change: &Change<'_>, id: u64) -> Result<(), CommandError> {
    let ended = [("state", Json::from("window_closed")), ("endWindow", Json::Bool(true))];
    let path = format!("/api/swarm/admin/sessions/{id}/state");
    let body = change.body(ended.clone());
    change.operator.heed(&format!("session {id}"), ("POST", &path), &body, ASKED)?;
    change.send(id, "/state", ended, "is closed")?;
    change.operator.next(&format!("session aggregate {id}"));
    Ok(())
}

fn move_deadline(change: &Change<'_>, id: u64, time: &str) -> Result<(), CommandError> {
    let operator = change.operator;
    let time = match time {
        "none" => None,
        time => Some(parse_time(time, now())?),
    };
    let done = match time {
        Some(time) => format!("session {id} closes at {time}"),
        None => format!("session {id} has no deadline"),
    };
    let closes = time.map_or(Json::Null, |time| Json::Text(time.to_string()));
    let (path, body) =
        (format!("/api/swarm/admin/sessions/{id}"), change.body([("windowClosesAt", closes)]));
    operator.heed(&format!("session {id}"), ("PATCH", &path), &body, ASKED)?;
    let answer = operator.change("PATCH", &path, &body)?;
    operator.output.record(&answer)?;
    operator.done(&done);
    Ok(())
}

fn change_quorum(change: &Change<'_>, id: u64, members: &str) -> Result<(), CommandError> {
    let (quorum, done) = match members {
        "none" => (Json::Null, format!("session {id} has no quorum")),
        text => {
            let wrong =
                || CommandError::Usage(format!("{text:?} is no quorum: give a number, or none"));
            let quorum: u32 = text.parse().map_err(|_| wrong())?;
            (Json::from(f64::from(quorum)), format!("session {id} needs {quorum} members"))
        }
    };
    let (operator, path) = (change.operator, format!("/api/swarm/admin/sessions/{id}"));
    let answer = operator.change("PATCH", &path, &change.body([("quorum", quorum)]))?;
    operator.output.record(&answer)?;
    operator.done(&done);
    Ok(())
}

fn outcome(
    change: &Change<'_>,
    id: u64,
    value: &str,
    source: Option<String>,
) -> Result<(), CommandError> {
    let wrong = || CommandError::Usage(format!("{value:?} is no outcome: give -2 to 2, or none"));
    let (value, done) = match value {
        "none" => (Json::Null, "is not scored".to_owned()),
        text => {
            let value = text.parse::<f64>().ok().filter(|value| (-2.0..=2.0).contains(value));
            (Json::from(value.ok_or_else(wrong)?), format!("has the outcome {text}"))
        }
    };
    let source = source.map_or(Json::Null, Json::Text);
    change.send(id, "/outcome", [("value", value), ("source", source)], &done)
}

/// The rows of a roster; `active` alone stands for all active members.
fn roster(operator: &Operator, members: &[String]) -> Result<Json, CommandError> {
    let ids: Vec<_> = if members == ["active"] {
        let mut listed = operator.get("/api/swarm/members")?.into_object();
        let listed = match listed.take("members") {
            Some(Json::List(members)) => members,
            _ => Vec::new(),
        };
        listed.iter().map(|member| text_of(member, "id")).collect()
    } else {
        operator.members(members)?.into_iter().map(|member| member.id).collect()
    };
    Ok(ids.into_iter().map(|id| Json::from([("memberId", Json::Text(id))])).collect())
}
