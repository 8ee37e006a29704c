//! Forms: their data as a browser sends it, and their fields as a page shows them.

use super::table::Table;
use crate::pages::Markup;

/// The field that marks a form whose token signs the operator in.
pub(super) const SIGNING_IN: &str = "signing-in";

/// The fields of a submitted form, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct FormData(Vec<(String, String)>);

impl FormData {
    pub(super) fn read(body: &[u8]) -> Self {
        let plain = |text: &str| text.replace("\r\n", "\n");
        let fields = form_urlencoded::parse(body);
        Self(fields.map(|(name, value)| (plain(&name), plain(&value))).collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The value of the field without the space around it; empty if the field was not sent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default().trim()
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// All fields with their values, in the order in which they were sent.
    pub(super) fn fields(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }
}

/// A form of a page.
pub(crate) struct FormView {
    /// The id, which the ids of its fields begin with.
    pub(crate) id: String,
    pub(crate) action: String,
    pub(crate) method: &'static str,
    pub(crate) lead: Option<Markup>,
    pub(crate) hidden: Vec<(String, String)>,
    pub(crate) fields: Vec<Field>,
    /// Rows to choose from, before the fields.
    pub(crate) table: Option<Table>,
    /// Labels, each with the path that the form is sent to, where that is not `action`.
    pub(crate) buttons: Vec<(String, Option<String>)>,
    pub(crate) fault: Option<String>,
    /// A form of one button, set in a line with others.
    pub(crate) is_inline: bool,
}

impl FormView {
    /// Whether the form only searches.
    pub(crate) fn is_look_up(&self) -> bool {
        self.method == "get"
    }

    /// Whether the fields and the button are set in a line: there are up to two fields of one line each.
    pub(crate) fn is_short(&self) -> bool {
        let is_line = |field: &Field| matches!(field.kind, Kind::Input(_) | Kind::Choice);
        (1..=2).contains(&self.fields.len()) && self.fields.iter().all(is_line)
    }
}

/// A field.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    pub(crate) hint: Option<String>,
    pub(crate) is_required: bool,
    /// Values, labels, and whether they are chosen.
    pub(crate) options: Vec<(String, String, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An `input` of this type.
    Input(&'static str),
    /// Several lines.
    Lines(u8),
    /// One of the options.
    Choice,
    /// Any of the options.
    Several,
    /// Yes or no.
    Flag,
}

impl Kind {
    /// The type of the `input`, if it is one.
    pub(crate) fn input(self) -> Option<&'static str> {
        match self {
            Self::Input(kind) => Some(kind),
            _ => None,
        }
    }

    /// The lines of a text area, if it is one.
    pub(crate) fn lines(self) -> Option<u8> {
        match self {
            Self::Lines(lines) => Some(lines),
            _ => None,
        }
    }
}

impl Field {
    pub(super) fn new(kind: Kind, name: &'static str, label: &str) -> Self {
        let (label, value) = (label.to_owned(), String::new());
        Self { name, label, kind, value, hint: None, is_required: false, options: Vec::new() }
    }

    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(Kind::Input("text"), name, label)
    }

    /// A time, in UTC.
    pub(super) fn time(name: &'static str, label: &str) -> Self {
        Self::new(Kind::Input("datetime-local"), name, label)
    }

    pub(super) fn day(name: &'static str, label: &str) -> Self {
        Self::new(Kind::Input("date"), name, label)
    }

    pub(super) fn number(name: &'static str, label: &str) -> Self {
        Self::new(Kind::Input("number"), name, label)
    }

    pub(super) fn lines(name: &'static str, label: &str, lines: u8) -> Self {
        Self::new(Kind::Lines(lines), name, label)
    }

    pub(super) fn choice(name: &'static str, label: &str, options: Options) -> Self {
        Self { options, ..Self::new(Kind::Choice, name, label) }
    }

    pub(super) fn several(name: &'static str, label: &str, options: Options) -> Self {
        Self { options, ..Self::new(Kind::Several, name, label) }
    }

    /// The token, asked for again.
    pub(super) fn token() -> Self {
        Self::new(Kind::Input("password"), "token", "Your admin token").required()
    }

    /// The note that a change of a session has in the log.
    pub(super) fn note() -> Self {
        Self::text("note", "Note in the public log")
    }

    pub(crate) fn is_token(&self) -> bool {
        self.name == "token"
    }

    pub(super) fn with_value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The field with the submitted value.
    pub(super) fn typed(mut self, sent: &FormData) -> Self {
        if !self.options.is_empty() {
            for (value, _, is_chosen) in &mut self.options {
                *is_chosen = sent.all(self.name).any(|sent| sent == value);
            }
        } else if self.kind == Kind::Flag {
            self.value = sent.text(self.name).to_owned();
        } else if let Some(value) = sent.get(self.name).filter(|_| !self.is_token()) {
            self.value = value.to_owned();
        }
        self
    }
}

/// Values, labels, and whether they are chosen.
pub(super) type Options = Vec<(String, String, bool)>;
