//! Verbs that send one request of the API: their arguments, and what becomes of them, are those that the route has
//! (`swarm_http::Command`).

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches, Subcommand};
use swarm_client::path_segment;
use swarm_core::json::{Json, Object};
use swarm_http::{Argument, ArgumentKind, Command, operator_commands};

use super::delivery;
use super::operator::{Member, Operator, read_json};
use crate::command::{
    Progress, cell, note, now, parse_time, read_input, shell_word, state_word, text_of,
};
use crate::failure::CommandError;

/// The groups of verbs that have declared ones alone.
const GROUPS: [(&str, &str, &str); 3] = [
    ("take", "Takes", "take withhold 7 --note 'it names a client'"),
    ("memo", "Memos", "memo retract 7"),
    ("mail", "The delivery of mail", "mail test ada@acme.example"),
];

/// A verb of `swarm admin`; `V` are those that send no request, or more than one.
pub(super) enum AdminVerb<V> {
    /// A verb that sends a request.
    Declared(Declared),
    /// Another one.
    Other(V),
}

/// A verb that sends a request, and its arguments.
pub(super) struct Declared {
    method: &'static str,
    path: &'static str,
    command: &'static Command,
    matches: ArgMatches,
}

impl<V: Subcommand> FromArgMatches for AdminVerb<V> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut words, mut last) = (Vec::new(), matches);
        while let Some((word, inner)) = last.subcommand() {
            words.push(word);
            last = inner;
        }
        let is_named = |command: &Command| {
            command.group.split_whitespace().chain([command.word]).eq(words.iter().copied())
        };
        match operator_commands().find(|(.., command)| is_named(command)) {
            Some((method, path, command)) => {
                let (method, matches) = (method.as_str(), last.clone());
                Ok(Self::Declared(Declared { method, path, command, matches }))
            }
            None => V::from_arg_matches(matches).map(Self::Other),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<V: Subcommand> Subcommand for AdminVerb<V> {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let groups = GROUPS.map(|(name, about, example)| {
            let group = clap::Command::new(name).about(about).subcommand_required(true);
            group.arg_required_else_help(true).after_help(example_text(example))
        });
        let command = V::augment_subcommands(command).subcommands(groups);
        operator_commands().fold(command, |command, (.., declared)| {
            let group: Vec<_> = declared.group.split_whitespace().collect();
            insert(command, &group, declared)
        })
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        V::has_subcommand(name) || operator_commands().any(|(.., command)| command.word == name)
    }
}

fn example_text(example: &str) -> String {
    format!("Example: swarm admin {example}")
}

/// Puts a declared verb below these words.
fn insert(command: clap::Command, group: &[&str], declared: &'static Command) -> clap::Command {
    match group.split_first() {
        Some((first, rest)) => {
            command.mut_subcommand(*first, |inner| insert(inner, rest, declared))
        }
        None => {
            // What the whole group takes is no argument of the verb.
            let (inherited, own): (Vec<_>, Vec<_>) =
                declared.arguments.iter().partition(|argument| {
                    let mut of_group = command.get_arguments().filter(|it| it.is_global_set());
                    of_group.any(|it| it.get_id() == argument.field.as_str())
                });
            let arguments: Vec<_> = own.into_iter().flat_map(arguments).collect();
            let demanded =
                inherited.iter().filter(|it| it.is_required).filter_map(|it| it.flag.as_deref());
            let demanded: String = demanded.map(|flag| format!("It wants --{flag}.\n")).collect();
            let words = [declared.group, declared.word, declared.example].map(str::trim);
            let example = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
            let verb = clap::Command::new(declared.word).about(declared.help).args(arguments);
            command.subcommand(verb.after_help(demanded + &example_text(&example.join(" "))))
        }
    }
}

/// The flag beside [`ArgumentKind::Members`].
const ALL: &str = "all";

/// The arguments of clap for a declared one.
fn arguments(argument: &'static Argument) -> Vec<Arg> {
    let plain = Arg::new(argument.field.as_str()).help(argument.help.as_str());
    let plain = plain.required(argument.is_required);
    let plain = plain.conflicts_with_all(argument.conflicts.iter().copied());
    let plain = match &argument.flag {
        Some(flag) => plain.long(flag.as_str()),
        None => plain,
    };
    let plain = match argument.kind {
        ArgumentKind::Switch | ArgumentKind::Negation => plain,
        _ => plain.value_name(argument.value_name.as_str()),
    };
    let one = match &argument.kind {
        ArgumentKind::Choice(texts) => {
            let values = texts.iter().map(|text| possible_value(text));
            plain.value_parser(PossibleValuesParser::new(values))
        }
        ArgumentKind::Id => plain.value_parser(clap::value_parser!(u64)),
        ArgumentKind::Count => plain.value_parser(clap::value_parser!(u32)),
        ArgumentKind::NumberOrNone => plain.allow_negative_numbers(true),
        ArgumentKind::RankedStances => plain.action(ArgAction::Append),
        ArgumentKind::List => plain.value_delimiter(',').action(ArgAction::Append),
        ArgumentKind::Switch | ArgumentKind::Negation => plain.action(ArgAction::SetTrue),
        ArgumentKind::Roster if argument.flag.is_some() => {
            plain.value_delimiter(',').action(ArgAction::Append)
        }
        ArgumentKind::Roster | ArgumentKind::Members { or_all: false } => plain.num_args(1..),
        ArgumentKind::Members { or_all: true } => {
            let every = Arg::new(ALL).long(ALL).action(ArgAction::SetTrue);
            let every = every.help("Everyone in state applied");
            let every = every.conflicts_with(argument.field.as_str());
            let named = plain.required(false).required_unless_present(ALL).num_args(1..);
            return vec![named, every];
        }
        _ => plain,
    };
    vec![one]
}

/// A value of an argument. The state of a session has the word of lists, and may also be given as the API names it.
pub(super) fn possible_value(text: &'static str) -> PossibleValue {
    PossibleValue::new(state_word(text)).alias(text)
}

impl Declared {
    /// Sends the request, or one for each member.
    ///
    /// # Errors
    /// [`CommandError`], also if an argument is not valid.
    pub(super) fn run(self, operator: &Operator) -> Result<(), CommandError> {
        let request = Request::of(&self, operator)?;
        let several = self.command.arguments.iter().find_map(|argument| match argument.kind {
            ArgumentKind::Members { or_all } => Some((argument.field.as_str(), or_all)),
            _ => None,
        });
        let Some((field, or_all)) = several else { return request.send(operator, self.command) };
        let members = match or_all && self.matches.get_flag(ALL) {
            true => applied(operator)?,
            false => operator.members(&self.texts(field))?,
        };
        if members.is_empty() {
            note("no application waits");
        }
        request.send_each(operator, self.command, field, &members)
    }

    /// The texts that are given for an argument.
    fn texts(&self, field: &str) -> Vec<String> {
        let given = self.matches.try_get_many::<String>(field).ok().flatten();
        given.into_iter().flatten().cloned().collect()
    }

    /// What is typed for an argument, as one text.
    fn text(&self, argument: &Argument) -> Option<String> {
        let field = argument.field.as_str();
        match argument.kind {
            ArgumentKind::Id => self.matches.get_one::<u64>(field).map(ToString::to_string),
            ArgumentKind::Count => self.matches.get_one::<u32>(field).map(ToString::to_string),
            _ => self.texts(field).into_iter().next(),
        }
    }
}

/// The request of a verb.
struct Request {
    method: &'static str,
    path: String,
    body: Json,
    /// The arguments as people read them.
    shown: Vec<(String, String)>,
}

impl Request {
    fn of(declared: &Declared, operator: &Operator) -> Result<Self, CommandError> {
        let Declared { method, command, .. } = declared;
        let mut path = declared.path.to_owned();
        let (mut fields, mut file, mut shown) = (Object::default(), None, Vec::new());
        for (field, value) in command.fixed {
            fields.set(field, Json::read(value.as_bytes()).unwrap_or(Json::Null));
        }
        for argument in &command.arguments {
            let parameter = format!("{{{}}}", argument.field);
            match declared.text(argument) {
                Some(text) if path.contains(&parameter) => {
                    path = path.replace(&parameter, &path_segment(&text));
                    shown.push((argument.field.clone(), text));
                    continue;
                }
                None if argument.is_required && argument.flag.is_some() => {
                    let flag = argument.flag.as_deref().unwrap_or_default();
                    let text = format!("{} wants --{flag}: {}", command.word, argument.help);
                    return Err(CommandError::Usage(text));
                }
                text => {
                    let value = value(declared, operator, argument, text)?;
                    let Some((value, text)) = value else { continue };
                    match argument.kind {
                        ArgumentKind::Body => file = Some(value),
                        _ => {
                            fields.set(&argument.field, value);
                            shown.push((argument.field.clone(), text));
                        }
                    }
                }
            }
        }
        Ok(Self { method, path, body: file.unwrap_or(Json::Object(fields)), shown })
    }

    /// Sends it, after what should be heard before.
    fn send(self, operator: &Operator, command: &Command) -> Result<(), CommandError> {
        // The console shows these first, too.
        let is_cautioned = command.preview != Default::default();
        if is_cautioned || !command.asks.is_empty() {
            let target = match command.target {
                Some(target) => self.filled(target, &Json::Null, str::to_owned),
                None => self.first_placed(command),
            };
            operator.heed(&target, (self.method, &self.path), &self.body, command.asks)?;
        }
        let answer = operator.change(self.method, &self.path, &self.body)?;
        match command.row {
            Some(columns) => operator.output.each(std::slice::from_ref(&answer), columns)?,
            None => operator.output.record(&answer)?,
        }
        operator.done(&self.done(command, &answer));
        if let Some(next) = command.next {
            operator.next(&self.filled(next, &answer, shell_word));
        }
        follow(operator, command, &answer)
    }

    /// Sends it for each of these members. If one of several is refused, it is sent for the others all the same.
    fn send_each(
        mut self,
        operator: &Operator,
        command: &Command,
        field: &str,
        members: &[Member],
    ) -> Result<(), CommandError> {
        let (mut answers, mut refused) = (Vec::new(), 0);
        let columns = command.row.unwrap_or_default();
        let progress = Progress::new(Some(members.len() as u64), "{bar:30} {pos}/{len} {elapsed}");
        for member in members {
            let id = Json::from(member.id.as_str());
            let mut fields = self.body.into_object();
            fields.set(field, id);
            self.body = Json::Object(fields);
            self.shown = vec![(field.to_owned(), member.to_string())];
            match operator.change(self.method, &self.path, &self.body) {
                Ok(answer) => {
                    progress.suspend(|| operator.done(&self.done(command, &answer)));
                    answers.push(answer);
                }
                Err(CommandError::Refused(why)) if members.len() > 1 => {
                    progress.suspend(|| note(&format!("{member}: {why}")));
                    refused += 1;
                }
                Err(error) => {
                    // What was changed before stands.
                    operator.output.each(&answers, columns)?;
                    return Err(error);
                }
            }
            progress.add(1);
        }
        drop(progress);
        operator.output.each(&answers, columns)?;
        if refused > 0 {
            let text =
                format!("{refused} of {} were refused, the others are changed", members.len());
            return Err(CommandError::Refused(text));
        }
        let is_approved = |answer: &&Json| text_of(answer, "state") == "approved";
        answers.iter().find(is_approved).map_or(Ok(()), |it| follow(operator, command, it))
    }

    /// The first argument with a place of its own, else the first one.
    fn first_placed(&self, command: &Command) -> String {
        let is_placed = |field: &String| {
            command
                .arguments
                .iter()
                .any(|argument| argument.flag.is_none() && argument.field == *field)
        };
        let placed = self.shown.iter().find(|(field, _)| is_placed(field));
        let first = placed.or(self.shown.first());
        first.map_or_else(String::new, |(_, text)| text.clone())
    }

    fn done(&self, command: &Command, answer: &Json) -> String {
        let is_shown = |(field, text, _): &(&str, &str, &str)| {
            self.shown.iter().any(|(name, shown)| name == field && shown == text)
        };
        let other = command.done_where.filter(is_shown).map(|(.., done)| done);
        self.filled(other.unwrap_or(&command.done), answer, str::to_owned)
    }

    /// A template with the names in braces replaced: by an argument, a field of the body, or a member of the answer.
    fn filled(&self, template: &str, answer: &Json, word: impl Fn(&str) -> String) -> String {
        let mut parts = template.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            filled += &word(&self.named(name, answer));
            filled += rest;
        }
        filled
    }

    fn named(&self, name: &str, answer: &Json) -> String {
        if let Some((_, text)) = self.shown.iter().find(|(field, _)| field == name) {
            return text.clone();
        }
        let (outer, field) = name.rsplit_once('.').unwrap_or(("", name));
        let of = match outer {
            "" if self.body.clone().into_object().has(field) => self.body.clone(),
            "" => answer.clone(),
            outer => answer.clone().into_object().take(outer).unwrap_or(Json::Null),
        };
        match cell(&of, field) {
            // A dry run mints nothing.
            text if text.is_empty() => format!("<{field}>"),
            text => text,
        }
    }
}

/// What comes after an answer: a first attempt that is waited for, or what the member does.
fn follow(operator: &Operator, command: &Command, answer: &Json) -> Result<(), CommandError> {
    match command.awaited {
        Some(what) => delivery::await_attempt(operator, answer, what),
        // A member that was let in again may have its token.
        None if !operator.dry_run
            && command.row.is_some()
            && text_of(answer, "state") == "approved" =>
        {
            note("next: the member runs swarm member claim");
            Ok(())
        }
        None => Ok(()),
    }
}

/// The value of an argument, and how it is shown; `None` where it is not given.
fn value(
    declared: &Declared,
    operator: &Operator,
    argument: &Argument,
    text: Option<String>,
) -> Result<Option<(Json, String)>, CommandError> {
    let field = argument.field.as_str();
    let is_set = || declared.matches.get_flag(field);
    let plain = |text: String| (Json::from(text.as_str()), text);
    Ok(match (&argument.kind, text) {
        (ArgumentKind::Switch, _) => is_set().then(|| (Json::Bool(true), "true".to_owned())),
        (ArgumentKind::Negation, _) => Some((Json::Bool(!is_set()), (!is_set()).to_string())),
        (ArgumentKind::Members { .. }, _) => None,
        (ArgumentKind::Day, text) => Some(plain(text.unwrap_or_else(|| now().day().to_string()))),
        (_, None) => None,
        (ArgumentKind::List, _) => {
            let texts = declared.texts(field);
            Some((texts.iter().map(|text| Json::from(text.as_str())).collect(), texts.join(", ")))
        }
        (ArgumentKind::RankedStances, _) => {
            let texts = declared.texts(field);
            let stances = texts.iter().map(|text| ranked_stance(text));
            Some((stances.collect::<Result<Vec<_>, _>>()?.into_iter().collect(), texts.join(", ")))
        }
        (ArgumentKind::Roster, _) => {
            Some((roster(operator, &declared.texts(field))?, String::new()))
        }
        (ArgumentKind::Time, Some(text)) => Some(plain(parse_time(&text, now())?.to_string())),
        (ArgumentKind::TimeOrNone | ArgumentKind::NumberOrNone, Some(text)) if text == "none" => {
            Some((Json::Null, text))
        }
        (ArgumentKind::TimeOrNone, Some(text)) => {
            Some(plain(parse_time(&text, now())?.to_string()))
        }
        (ArgumentKind::NumberOrNone, Some(text)) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| {
                let word = declared.command.word;
                CommandError::Usage(format!("{text:?} is no {word}: {}", argument.help))
            })?;
            Some((Json::from(number), text))
        }
        (ArgumentKind::Id | ArgumentKind::Count, Some(text)) => {
            Some((Json::read(text.as_bytes()).unwrap_or(Json::Null), text))
        }
        (ArgumentKind::Member, Some(text)) => {
            let member = operator.member(&text)?;
            Some((Json::from(member.id.as_str()), member.to_string()))
        }
        (ArgumentKind::TextFile, Some(path)) => {
            Some((Json::Text(read_input(Path::new(&path))?), path))
        }
        (ArgumentKind::JsonFile | ArgumentKind::Body, Some(path)) => {
            Some((read_json(Path::new(&path))?, path))
        }
        (ArgumentKind::Choice(texts), Some(text)) => {
            let chosen = texts.iter().find(|it| state_word(it) == text).unwrap_or(&text);
            Some((Json::from(chosen.as_str()), text))
        }
        (_, Some(text)) => Some(plain(text)),
    })
}

/// A stance and its rank, as `NAME=RANK`.
fn ranked_stance(text: &str) -> Result<Json, CommandError> {
    let parts = text.rsplit_once('=');
    let ranked = parts.and_then(|(name, rank)| Some((name, Json::read(rank.as_bytes()).ok()?)));
    let (name, rank) = ranked
        .ok_or_else(|| CommandError::Usage(format!("--stance wants NAME=RANK, not {text:?}")))?;
    Ok(Json::from([("name", Json::from(name)), ("rank", rank)]))
}

/// The rows of a roster; `active` alone stands for all active members.
fn roster(operator: &Operator, members: &[String]) -> Result<Json, CommandError> {
    let ids: Vec<_> = if members == ["active"] {
        let mut listed = operator.get("/api/swarm/members")?.into_object();
        listed.items("members").iter().map(|member| text_of(member, "id")).collect()
    } else {
        operator.members(members)?.into_iter().map(|member| member.id).collect()
    };
    Ok(ids.into_iter().map(|id| Json::from([("memberId", Json::Text(id))])).collect())
}

/// All applicants in state applied.
fn applied(operator: &Operator) -> Result<Vec<Member>, CommandError> {
    let path = "/api/swarm/admin/applications?state=applied";
    let mut answer = operator.pages(path, "applications")?.into_object();
    Ok(answer.items("applications").iter().map(Member::of).collect())
}
