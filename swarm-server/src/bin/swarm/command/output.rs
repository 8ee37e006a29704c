//! Data on standard output; everything else on standard error. No colour is written.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

use comfy_table::{Table, presets};
use swarm_client::printable;
use swarm_core::domain::SessionState;
use swarm_core::json::{self, Json, printable_json};
use swarm_core::rules::Stage;

use crate::console;
use crate::failure::CommandError;
use crate::text_file::read_text;

/// The state of a session in the words of the pages. A state that this version does not know stays as it is.
pub(crate) fn state_word(state: &str) -> &str {
    SessionState::parse(state).map_or(state, |state| Stage::of_state(state).word())
}

/// A session with its state in the words of the pages, and what else is to be known: `open, sealed`.
fn for_people(session: Json) -> Json {
    let state = state_word(&text_of(&session, "state")).to_owned();
    let is_given = |name: &str| !matches!(cell(&session, name).as_str(), "" | "false");
    let flags = [
        (is_given("blind") && !is_given("openedAt"), "sealed"),
        (is_given("practice"), "practice"),
        (is_given("voided"), "void"),
    ];
    let flags = flags.into_iter().filter_map(|(holds, flag)| holds.then_some(flag.to_owned()));
    let state = [state].into_iter().chain(flags).collect::<Vec<_>>().join(", ");
    let mut session = session.into_object();
    session.set("state", Json::Text(state));
    Json::Object(session)
}

/// The output format of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// The API's own answer as JSON, instead of text for people.
    pub(crate) json: bool,
}

impl Output {
    /// Prints an answer: as JSON with `--json`, else by `show`.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn answer(
        self,
        answer: &Json,
        show: impl FnOnce(&Json) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        if self.json { print_json(answer) } else { show(answer) }
    }

    /// Prints one value: as an object with this member with `--json`, else as this text.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn value(self, name: &str, value: Json, text: &str) -> Result<(), CommandError> {
        self.answer(&Json::from([(name, value)]), |_| Ok(console::print(text)?))
    }

    /// Prints the rows of an answer: a table on a terminal, else a line a row, separated by tabs.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn rows(
        self,
        answer: &Json,
        list: &str,
        columns: &[&str],
    ) -> Result<(), CommandError> {
        self.answer(answer, |answer| {
            let rows = match answer.clone() {
                Json::List(rows) => rows,
                other => other.into_object().items(list),
            };
            print_rows(&rows, columns)
        })
    }

    /// Prints the sessions of an answer as [`rows`](Self::rows) does, with the words for people of their states.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn sessions(self, answer: &Json, columns: &[&str]) -> Result<(), CommandError> {
        if self.json {
            return print_json(answer);
        }
        let rows = answer.clone().into_object().items("sessions");
        print_rows(&rows.into_iter().map(for_people).collect::<Vec<_>>(), columns)
    }

    /// Prints several answers: a line of JSON each, or a table.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn each(self, answers: &[Json], columns: &[&str]) -> Result<(), CommandError> {
        if !self.json && !answers.is_empty() {
            return print_rows(answers, columns);
        }
        answers.iter().try_for_each(print_json)
    }

    /// Prints the members of an object, a line each.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn fields(self, object: &Json) -> Result<(), CommandError> {
        self.answer(object, |object| Ok(console::print(&table(&[], &fields(object)))?))
    }

    /// Prints the record in the answer to a change, which names it as the session in `{ok, status, session}`, whose state
    /// is in the words for people; of any other answer what it says.
    ///
    /// # Errors
    /// [`CommandError::Refused`] when standard output cannot be written.
    pub(crate) fn record(self, answer: &Json) -> Result<(), CommandError> {
        self.answer(answer, |answer| {
            let object = answer.clone().into_object();
            let record = object.members().find(|(_, value)| matches!(value, Json::Object(_)));
            let rows = match record {
                Some(("session", session)) if !text_of(session, "state").is_empty() => {
                    fields(&for_people(session.clone()))
                }
                Some((_, record)) => fields(record),
                None => fields(answer)
                    .into_iter()
                    .filter(|row| !matches!(&*row[0], "ok" | "status"))
                    .collect(),
            };
            if rows.is_empty() { Ok(()) } else { Ok(console::print(&table(&[], &rows))?) }
        })
    }
}

/// Prints an answer of the service as JSON, on one line. What a terminal would interpret or not show is escaped, which
/// changes no value.
///
/// # Errors
/// [`CommandError::Refused`] when standard output cannot be written.
pub(crate) fn print_json(answer: &Json) -> Result<(), CommandError> {
    Ok(console::print(&printable_json(&json::write(answer)))?)
}

fn print_rows(rows: &[Json], columns: &[&str]) -> Result<(), CommandError> {
    let cells = |row: &Json| columns.iter().map(|column| cell(row, column)).collect::<Vec<_>>();
    let rows: Vec<_> = rows.iter().map(cells).collect();
    Ok(console::print(&table(columns, &rows))?)
}

/// The members of an object. On a terminal those without a value are left out, and a member of a member has a line of its
/// own.
fn fields(object: &Json) -> Vec<[String; 2]> {
    if io::stdout().is_terminal() {
        let mut lines = Vec::new();
        nested("", object, &mut lines);
        return lines;
    }
    let members = object.clone().into_object();
    members.members().map(|(name, _)| [printable_line(name), cell(object, name)]).collect()
}

fn nested(prefix: &str, object: &Json, lines: &mut Vec<[String; 2]>) {
    let members = object.clone().into_object();
    for (name, value) in members.members() {
        let name = format!("{prefix}{}", printable_line(name));
        match value {
            Json::Null => {}
            Json::Object(_) => nested(&format!("{name}."), value, lines),
            Json::List(items) if items.iter().any(|item| matches!(item, Json::Object(_))) => {
                for (place, item) in items.iter().enumerate() {
                    nested(&format!("{name}.{}.", place + 1), item, lines);
                }
            }
            value => lines.push([name, printable_line(&text(value))]),
        }
    }
}

fn table<R: AsRef<[String]>>(columns: &[&str], rows: &[R]) -> String {
    if !io::stdout().is_terminal() {
        let header = (!columns.is_empty()).then(|| columns.join("\t"));
        let lines = rows.iter().map(|row| row.as_ref().join("\t"));
        return header.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).add_rows(rows.iter().map(AsRef::as_ref));
    if !columns.is_empty() {
        table.set_header(columns);
    }
    table.trim_fmt()
}

/// A member of an object as it is: the text of a text, the JSON of anything else, empty where there is none.
pub(crate) fn text_of(row: &Json, field: &str) -> String {
    let Json::Object(object) = row else { return String::new() };
    object.get(field).map_or_else(String::new, text)
}

fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Text(text) => text.clone(),
        value => json::write(value),
    }
}

/// A member of an object for people, as one line without control characters.
pub(crate) fn cell(row: &Json, field: &str) -> String {
    printable_line(&text_of(row, field))
}

/// A text as one line without control characters and invisible ones.
pub(crate) fn printable_line(text: &str) -> String {
    let quoted = printable(text);
    quoted[1..quoted.len() - 1].replace("\\\"", "\"")
}

/// Writes a line for people to standard error.
pub(crate) fn note(text: &str) {
    console::warn(text);
}

/// Says what will happen, and asks whether it may; `--yes` answers where there is no terminal.
///
/// # Errors
/// [`CommandError::Usage`] where nobody can be asked; [`CommandError::Refused`] when the answer is no.
pub(crate) fn confirm(what: &str, yes: bool) -> Result<(), CommandError> {
    note(what);
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(CommandError::Usage("this cannot be undone: add --yes".to_owned()));
    }
    note("This cannot be undone. Type yes to go on:");
    console::flush();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == "yes" {
        return Ok(());
    }
    Err(CommandError::Refused("nothing was changed".to_owned()))
}

/// The text in a file; `-` is standard input.
///
/// # Errors
/// [`CommandError::Usage`] when it cannot be read.
pub(crate) fn read_input(path: &Path) -> Result<String, CommandError> {
    let read = match path.as_os_str() == "-" {
        true => read_text(io::stdin()),
        false => File::open(path).and_then(read_text),
    };
    read.map_err(|error| CommandError::Usage(format!("{}: {error}", shown(path))))
}

/// The name of an input in messages.
pub(crate) fn shown(path: &Path) -> String {
    match path.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}
