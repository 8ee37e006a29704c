//! Commands of operators: how `swarm admin` gives a request of the API its fields (MANUAL.md, 13.3), and what the console
//! says of it (MANUAL.md, 14).
//!
//! A command is declared in the row of its route, so that an act of operators gets its verb and its form where it gets its
//! path. Its arguments are the parameters of the path and the fields of the body, as the schema of the body describes them;
//! the row says only what is different. The texts are templates, in which `{name}` stands for an argument, or for a member of the answer.

use swarm_core::domain::Method;
use swarm_core::json::{Json, Object};
use swarm_core::rules::CautionCode;

/// A verb of `swarm admin` that sends one request, or one for each of several members.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Command {
    /// The words before its own, after `swarm admin`; empty: none.
    pub group: &'static str,
    /// Its own word.
    pub word: &'static str,
    /// The description for `--help`: the summary of the route, unless the row has another.
    pub help: &'static str,
    /// The arguments of an example.
    pub example: &'static str,
    /// The arguments, those without a flag in their order.
    pub arguments: Vec<Argument>,
    /// The fields of the body that are the same in each request, as JSON.
    pub fixed: &'static [(&'static str, &'static str)],
    /// What the request is about, where it is not the first argument without a flag.
    pub target: Option<&'static str>,
    /// What is done afterwards.
    pub done: String,
    /// What is done instead where an argument has this text.
    pub done_where: Option<(&'static str, &'static str, &'static str)>,
    /// The codes of the cautions because of which a person is asked first: to say yes, and in the console to give the token
    /// again.
    pub asks: &'static [CautionCode],
    /// What the console says of it.
    pub form: FormTexts,
    /// When the console shows first what would change.
    pub preview: FormPreview,
    /// Whether the console asks for the token because of the cautions.
    pub wants_proof: bool,
    /// The command that comes next.
    pub next: Option<&'static str>,
    /// The columns of the answer, where it is a row of a table.
    pub row: Option<&'static [&'static str]>,
    /// The member of the answer whose first attempt is waited for.
    pub awaited: Option<&'static str>,
    /// What the schema of the body does not say.
    exceptions: Exceptions,
}

/// What the console says of a change.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FormTexts {
    /// The label of the button.
    pub button: &'static str,
    /// The message after the change.
    pub done: &'static str,
    /// Whether something is gone or void afterwards. Its button is never filled.
    pub is_destructive: bool,
    /// What becomes public or stops to count, and how that is undone; empty where the page of its form says so.
    pub consequence: &'static str,
}

/// When the console shows first what would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormPreview {
    /// At no time.
    #[default]
    Never,
    /// If there is a caution.
    Cautioned,
    /// Each time.
    Always,
}

/// An argument of a command: a field of the body, or a parameter of the path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Argument {
    /// The field or the parameter.
    pub field: String,
    /// The name of the flag; `None`: the argument has a place of its own.
    pub flag: Option<String>,
    /// The name of its value in the help.
    pub value_name: String,
    /// The description for `--help`.
    pub help: String,
    /// What is typed.
    pub kind: ArgumentKind,
    /// Whether the argument is required.
    pub is_required: bool,
    /// The fields whose flags it cannot be given with.
    pub conflicts: &'static [&'static str],
}

/// What is typed for an argument, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A text.
    Text,
    /// One of these texts.
    Choice(Vec<String>),
    /// A whole number of a record.
    Id,
    /// A number; `none` is null.
    NumberOrNone,
    /// How many.
    Count,
    /// A time, also relative to now.
    Time,
    /// A time; `none` is null.
    TimeOrNone,
    /// A day; today, unless it is given.
    Day,
    /// Texts with commas between them.
    List,
    /// A flag without a value, which stands for true.
    Switch,
    /// A flag without a value, which stands for false; without the flag, it is true.
    Negation,
    /// A member, by its id or its name.
    Member,
    /// Several members, or with the flag `--all` all applicants. Each gets a request of its own.
    Members {
        /// Whether there is the flag.
        or_all: bool,
    },
    /// Stances with their ranks, each as `NAME=RANK`.
    RankedStances,
    /// The rows of a roster: members, or `active`, which stands for all active ones.
    Roster,
    /// A file with a text.
    TextFile,
    /// A file with JSON.
    JsonFile,
    /// A file with the whole body, as JSON.
    Body,
}

/// What a row says of its arguments beside the schema of the body.
#[derive(Clone, Debug, Default)]
struct Exceptions {
    /// The only fields that are arguments; empty: all.
    only: &'static [&'static str],
    /// Fields whose flag has another name, or that would otherwise have a place.
    flags: Vec<(&'static str, &'static str)>,
    /// Fields that have a place, and would otherwise be flags.
    placed: &'static [&'static str],
    /// Fields that are read from a file.
    files: &'static [&'static str],
    help: Option<(&'static str, &'static str)>,
    conflicts: Option<(&'static str, &'static [&'static str])>,
    /// Whether the whole body is a file.
    is_file: bool,
    /// `Some` if the command takes several members; true if it also takes all applicants.
    several: Option<bool>,
}

/// What a route says of its request.
pub(crate) struct Described<'a> {
    /// The template of the path.
    pub(crate) path: &'a str,
    /// The schemas of the parameters of the path, in their order.
    pub(crate) parts: &'a [&'static str],
    /// The summary of the route.
    pub(crate) summary: &'static str,
    /// The schema of the body.
    pub(crate) body: Option<&'static str>,
}

impl Command {
    pub(crate) fn new(word: &'static str, example: &'static str, done: impl Into<String>) -> Self {
        Self {
            group: "",
            word,
            help: "",
            example,
            arguments: Vec::new(),
            fixed: &[],
            target: None,
            done: done.into(),
            done_where: None,
            asks: &[],
            form: FormTexts::default(),
            preview: FormPreview::Never,
            wants_proof: true,
            next: None,
            row: None,
            awaited: None,
            exceptions: Exceptions::default(),
        }
    }

    /// Puts it below these words.
    pub(crate) fn below(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// Describes it otherwise than the route.
    pub(crate) fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Sets the fields that are the same in each request.
    pub(crate) fn fixed(self, fixed: &'static [(&'static str, &'static str)]) -> Self {
        Self { fixed, ..self }
    }

    /// Sets what is done where this argument has this text.
    pub(crate) fn done_where(
        self,
        field: &'static str,
        text: &'static str,
        done: &'static str,
    ) -> Self {
        Self { done_where: Some((field, text, done)), ..self }
    }

    /// Asks first if there is a caution with one of these codes, and shows what would change.
    pub(crate) fn asks(self, asks: &'static [CautionCode]) -> Self {
        Self { asks, preview: FormPreview::Always, ..self }
    }

    /// Asks for a yes alone in the console, not for the token.
    #[cfg(feature = "committee")]
    pub(crate) fn without_proof(self) -> Self {
        Self { wants_proof: false, ..self }
    }

    /// Sets the label of the button, and the message after the change.
    pub(crate) fn form(self, button: &'static str, done: &'static str) -> Self {
        Self { form: FormTexts { button, done, ..self.form }, ..self }
    }

    /// Says what the change means, and how it is undone.
    pub(crate) fn means(self, consequence: &'static str) -> Self {
        Self { form: FormTexts { consequence, ..self.form }, ..self }
    }

    /// Says that something is gone or void afterwards.
    pub(crate) fn destructive(self) -> Self {
        Self { form: FormTexts { is_destructive: true, ..self.form }, ..self }
    }

    /// Sets when the console shows first what would change.
    pub(crate) fn shown_first(self, preview: FormPreview) -> Self {
        Self { preview, ..self }
    }

    /// Asks first: the change cannot be undone.
    pub(crate) fn irreversible(self) -> Self {
        self.asks(&[CautionCode::Irreversible])
    }

    pub(crate) fn about(self, target: &'static str) -> Self {
        Self { target: Some(target), ..self }
    }

    pub(crate) fn next(self, next: &'static str) -> Self {
        Self { next: Some(next), ..self }
    }

    pub(crate) fn row(self, row: &'static [&'static str]) -> Self {
        Self { row: Some(row), ..self }
    }

    pub(crate) fn awaited(self, awaited: &'static str) -> Self {
        Self { awaited: Some(awaited), ..self }
    }

    /// Takes these fields alone.
    pub(crate) fn only(mut self, only: &'static [&'static str]) -> Self {
        self.exceptions.only = only;
        self
    }

    /// Makes a field the flag of this name.
    pub(crate) fn flag(mut self, field: &'static str, flag: &'static str) -> Self {
        self.exceptions.flags.push((field, flag));
        self
    }

    /// Gives fields a place.
    pub(crate) fn placed(mut self, placed: &'static [&'static str]) -> Self {
        self.exceptions.placed = placed;
        self
    }

    /// Reads fields from files.
    #[cfg(feature = "committee")]
    pub(crate) fn files(mut self, files: &'static [&'static str]) -> Self {
        self.exceptions.files = files;
        self
    }

    /// Reads the whole body from a file.
    pub(crate) fn of_file(mut self) -> Self {
        self.exceptions.is_file = true;
        self
    }

    /// Takes several members, or with `or_all` also all applicants.
    pub(crate) fn several(mut self, or_all: bool) -> Self {
        self.exceptions.several = Some(or_all);
        self
    }

    /// Describes a field otherwise than the schema.
    pub(crate) fn describe(mut self, field: &'static str, help: &'static str) -> Self {
        self.exceptions.help = Some((field, help));
        self
    }

    /// Refuses a field beside others.
    pub(crate) fn conflicts(
        mut self,
        field: &'static str,
        others: &'static [&'static str],
    ) -> Self {
        self.exceptions.conflicts = Some((field, others));
        self
    }

    /// The command with the arguments of its request. `schemas` are the schemas of bodies by name.
    pub(crate) fn of(&self, request: &Described<'_>, schemas: &Object) -> Self {
        let names = request.path.split('{').skip(1).filter_map(|part| part.split('}').next());
        let of_path = names.zip(request.parts).map(|(name, schema)| {
            let (kind, help) = match *schema {
                "Id" => (ArgumentKind::Id, "Its id"),
                "SubjectId" => (ArgumentKind::Text, "The subject"),
                _ => (ArgumentKind::Text, "Its id"),
            };
            Argument::placed(name, kind, None, help)
        });
        let mut arguments: Vec<_> = of_path.collect();
        if self.exceptions.is_file {
            let help = "JSON; - is standard input";
            arguments.push(Argument::placed("file", ArgumentKind::Body, Some("FILE"), help));
        } else if let Some(schema) = request.body.and_then(|body| schemas.get(body).cloned()) {
            arguments.extend(self.of_fields(&schema.into_object()));
        }
        let help = if self.help.is_empty() { request.summary } else { self.help };
        Self { arguments, help, ..self.clone() }
    }

    /// The fields that the row names.
    #[cfg(test)]
    pub(crate) fn named_fields(&self) -> impl Iterator<Item = &'static str> {
        let Exceptions { only, flags, placed, files, help, conflicts, .. } = &self.exceptions;
        let lists = [*only, *placed, *files].into_iter().flatten().copied();
        let fixed = self.fixed.iter().map(|(field, _)| *field);
        let flags = flags.iter().map(|(field, _)| *field);
        let conflicts = conflicts
            .iter()
            .flat_map(|(field, others)| [*field].into_iter().chain(others.iter().copied()));
        let help = help.iter().map(|(field, _)| *field);
        lists.chain(fixed).chain(flags).chain(conflicts).chain(help)
    }

    /// The arguments of the fields of a body.
    fn of_fields(&self, schema: &Object) -> Vec<Argument> {
        let required = texts(schema, "required");
        let properties = schema.get("properties").cloned().unwrap_or(Json::Null).into_object();
        let Exceptions { only, .. } = self.exceptions;
        let is_argument = |field: &str| {
            let is_fixed = self.fixed.iter().any(|(fixed, _)| *fixed == field);
            !is_fixed && (only.is_empty() || only.contains(&field))
        };
        let fields = properties.members().filter(|(field, _)| is_argument(field));
        let of = |(field, property): (&str, &Json)| {
            self.argument(field, &Property::of(property), required.iter().any(|it| it == field))
        };
        fields.map(of).collect()
    }

    fn argument(&self, field: &str, property: &Property, is_required: bool) -> Argument {
        let Exceptions { flags, placed, files, several, help, conflicts, .. } = &self.exceptions;
        let named = flags.iter().find(|(of, _)| *of == field).map(|(_, flag)| (*flag).to_owned());
        let is_placed =
            placed.contains(&field) || is_required && named.is_none() && field != "note";
        let (kind, value_name, plain) = match several {
            Some(or_all) => {
                (ArgumentKind::Members { or_all: *or_all }, Some("MEMBER"), "Ids or names")
            }
            None if files.contains(&field) => (ArgumentKind::TextFile, Some("FILE"), ""),
            None => property.kind(is_required, is_placed),
        };
        let plain = match (field, plain) {
            ("note", "") => "A note of the log, at most 500 characters",
            (_, plain) => plain,
        };
        let described = match help {
            Some((of, help)) if *of == field => help,
            _ if property.description.is_empty() => plain,
            _ => property.description.trim_end_matches('.'),
        };
        let (start, end) = match kind {
            ArgumentKind::Time => (described, ": +3h, 19:00 (UTC) or an RFC 3339 time"),
            ArgumentKind::TimeOrNone => ("+3h, 19:00 (UTC), an RFC 3339 time, or none", ""),
            ArgumentKind::TextFile => (described, ": a file; - is standard input"),
            ArgumentKind::JsonFile => (described, "; - is standard input"),
            ArgumentKind::Day => ("The day, YYYY-MM-DD [default: today, UTC]", ""),
            _ => (described, ""),
        };
        let has_default = kind == ArgumentKind::Day;
        Argument {
            flag: (!is_placed).then(|| named.unwrap_or_else(|| kebab(field))),
            help: format!("{start}{end}").replace("null", "none"),
            is_required: is_placed || is_required && !has_default && kind != ArgumentKind::Negation,
            conflicts: conflicts.filter(|(of, _)| *of == field).map_or(&[], |(_, others)| others),
            ..Argument::placed(field, kind, value_name, "")
        }
    }
}

impl Argument {
    /// An argument with a place of its own.
    fn placed(field: &str, kind: ArgumentKind, value_name: Option<&str>, help: &str) -> Self {
        Self {
            field: field.to_owned(),
            flag: None,
            value_name: value_name.map_or_else(|| field.to_ascii_uppercase(), str::to_owned),
            help: help.to_owned(),
            kind,
            is_required: true,
            conflicts: &[],
        }
    }
}

/// A field of a body, as its schema describes it.
struct Property {
    /// The schema that it refers to, or its type.
    name: String,
    choices: Vec<String>,
    is_nullable: bool,
    description: String,
}

impl Property {
    fn of(property: &Json) -> Self {
        let fields = property.clone().into_object();
        let description = text(&fields, "description");
        let alternative = match fields.get("anyOf").cloned() {
            Some(Json::List(forms)) => forms.into_iter().next(),
            _ => None,
        };
        let is_alternative = alternative.is_some();
        let fields = alternative.map_or(fields, Json::into_object);
        let types = texts(&fields, "type");
        let name = match text(&fields, "$ref") {
            reference if reference.is_empty() => types.first().cloned().unwrap_or_default(),
            reference => reference.rsplit('/').next().unwrap_or_default().to_owned(),
        };
        let is_nullable = is_alternative || types.iter().any(|name| name == "null");
        Self { name, choices: texts(&fields, "enum"), is_nullable, description }
    }

    /// The kind of its argument, the name of the value, and what it is where the schema does not say.
    fn kind(
        &self,
        is_required: bool,
        is_placed: bool,
    ) -> (ArgumentKind, Option<&'static str>, &'static str) {
        use ArgumentKind::*;
        match self.name.as_str() {
            _ if !self.choices.is_empty() => (Choice(self.choices.clone()), None, ""),
            "MemberId" => (Member, Some("MEMBER"), "An id or a name"),
            "RosterDraft" if is_placed => (Roster, Some("MEMBER"), "Ids or names"),
            "RosterDraft" => {
                let help = "Ids or names of members; active lists all active members";
                (Roster, Some("MEMBER"), help)
            }
            "Moment" if is_placed && self.is_nullable => (TimeOrNone, Some("TIME"), ""),
            "Moment" => (Time, Some("TIME"), ""),
            "Day" if is_placed => (Text, Some("DAY"), "YYYY-MM-DD"),
            "Day" => (Day, Some("DAY"), ""),
            "DeclaredStances" => {
                let help = "A stance that takes may have, and its rank; 2 to 20 of them";
                (RankedStances, Some("NAME=RANK"), help)
            }
            "AggregationMethod" => {
                let methods = Method::ALL.map(|method| method.as_str().to_owned());
                (Choice(methods.into()), None, "How the score is computed [default: mean]")
            }
            "Prompt" => (JsonFile, Some("FILE"), "JSON with system and user"),
            "SubjectId" => (Text, Some("ID"), "The subject"),
            "PublicKey" => (Text, Some("BASE64"), ""),
            "boolean" if is_required => (Negation, None, ""),
            "boolean" => (Switch, None, ""),
            "integer" if is_placed && self.is_nullable => (NumberOrNone, Some("N"), ""),
            "integer" => (Count, Some("N"), ""),
            "number" => (NumberOrNone, None, ""),
            "array" => (List, Some("TEXT"), ""),
            _ if is_placed => (Text, None, "Its id"),
            _ => (Text, Some("TEXT"), ""),
        }
    }
}

fn text(of: &Object, name: &str) -> String {
    texts(of, name).into_iter().next().unwrap_or_default()
}

/// The texts of a member that is a text or a list.
fn texts(of: &Object, name: &str) -> Vec<String> {
    let items = match of.get(name) {
        Some(Json::List(items)) => items.as_slice(),
        Some(item) => std::slice::from_ref(item),
        None => &[],
    };
    let text = |item: &Json| match item {
        Json::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// `public-key` for `publicKey`.
fn kebab(field: &str) -> String {
    let mut words = String::new();
    for letter in field.chars() {
        if letter.is_ascii_uppercase() {
            words.push('-');
        }
        words.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    words
}
