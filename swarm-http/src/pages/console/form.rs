//! Forms: their data as a browser sends it, and their fields as a page shows them.

use std::collections::HashMap;

use serde::Deserialize;
use swarm_core::json::{Json, write};

use super::table::Table;
use crate::pages::Markup;
use crate::pages::markup::{escape, printable};

/// The field that marks a form whose token signs the operator in.
pub(super) const SIGNING_IN: &str = "signing-in";

/// The end of the name of a hidden field, which has the value of the field before it as it was.
const WAS: &str = "-was";

/// The name of the field that a field of this name belongs to: the field itself, or the one that it has the value of, as it was.
pub(super) fn field_name(name: &str) -> &str {
    name.strip_suffix(WAS).unwrap_or(name)
}

/// What a field had before the form was sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Was {
    Text(String),
    /// Of a field with one text a line.
    List(Vec<String>),
}

/// The fields of a submitted form, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct FormData {
    fields: Vec<(String, String)>,
    /// The values that no page can show as they are, and that nobody changed, by field.
    unchanged: HashMap<String, Was>,
}

impl FormData {
    pub(super) fn read(body: &[u8]) -> Self {
        let plain = |text: &str| text.replace("\r\n", "\n");
        let fields = form_urlencoded::parse(body);
        let fields: Vec<_> = fields.map(|(name, value)| (plain(&name), plain(&value))).collect();
        let sent: HashMap<_, _> =
            fields.iter().map(|(name, value)| (name.as_str(), value.trim())).collect();
        let unchanged = fields.iter().filter_map(|(name, value)| {
            let name = name.strip_suffix(WAS)?;
            let values = Json::read(value.as_bytes()).ok()?;
            let (shown, was) = <(String, Was)>::deserialize(values).ok()?;
            (sent.get(name) == Some(&shown.trim())).then(|| (name.to_owned(), was))
        });
        let unchanged = unchanged.collect();
        Self { fields, unchanged }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The value of the field without the space around it; empty if the field was not sent. A text that nobody changed is as it
    /// was.
    pub(super) fn text(&self, name: &str) -> &str {
        match self.unchanged.get(name) {
            Some(Was::Text(text)) => text,
            _ => self.get(name).unwrap_or_default().trim(),
        }
    }

    /// The texts of a field with one a line: the lines that are not blank. A list that nobody changed is as it was.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        match self.unchanged.get(name) {
            Some(Was::List(list)) => list.clone(),
            _ => lines_of(self.text(name)),
        }
    }

    /// Whether the field has a value that it had before.
    pub(super) fn is_unchanged(&self, name: &str) -> bool {
        self.unchanged.contains_key(name)
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The rows of the fields with these names, without those in which all that can be typed is empty.
    pub(super) fn rows(&self, names: &[&str]) -> Vec<Vec<String>> {
        let columns: Vec<Vec<&str>> = names.iter().map(|name| self.all(name).collect()).collect();
        let length = columns.iter().map(Vec::len).max().unwrap_or_default();
        let row = |at: usize| -> Vec<String> {
            let cell =
                |column: &Vec<&str>| column.get(at).map_or("", |cell| cell.trim()).to_owned();
            columns.iter().map(cell).collect()
        };
        let is_typed =
            |(name, cell): (&&str, &String)| !name.ends_with("-was[]") && !cell.is_empty();
        let is_row = |row: &Vec<String>| names.iter().zip(row).any(is_typed);
        (0..length).map(row).filter(is_row).collect()
    }

    /// All fields with their values, in the order in which they were sent.
    pub(super) fn fields(&self) -> impl Iterator<Item = &(String, String)> {
        self.fields.iter()
    }
}

/// A form of a page.
pub(crate) struct FormView {
    /// The id, which the ids of its fields begin with.
    pub(crate) id: String,
    pub(crate) action: String,
    pub(crate) method: &'static str,
    /// What it is called, where it is folded until it is opened.
    pub(crate) summary: Option<String>,
    pub(crate) lead: Option<Markup>,
    pub(crate) hidden: Vec<(String, String)>,
    pub(crate) fields: Vec<Field>,
    /// Rows to choose from, before the fields.
    pub(crate) table: Option<Table>,
    /// The text directly above the buttons.
    pub(crate) remark: Option<Markup>,
    pub(crate) buttons: Vec<Button>,
    /// Whether the form was refused, or comes back as it was typed.
    pub(crate) is_back: bool,
    /// A form of one button, set in a line with others.
    pub(crate) is_inline: bool,
}

/// A button that sends a form.
pub(crate) struct Button {
    pub(crate) label: String,
    /// The path that the form is sent to, where that is not its own.
    pub(crate) path: Option<String>,
    /// A field that is sent with the form.
    pub(crate) sends: Option<(&'static str, String)>,
    /// Whether it is filled. A page has one such button at most.
    pub(crate) is_primary: bool,
}

impl Button {
    pub(super) fn new(label: &str) -> Self {
        Self { label: label.to_owned(), path: None, sends: None, is_primary: false }
    }

    pub(super) fn primary(self) -> Self {
        Self { is_primary: true, ..self }
    }

    pub(super) fn at(self, path: String) -> Self {
        Self { path: Some(path), ..self }
    }

    pub(super) fn sending(self, name: &'static str, value: impl Into<String>) -> Self {
        Self { sends: Some((name, value.into())), ..self }
    }

    /// The button that leads back to the form, as it was typed.
    pub(super) fn cancel() -> Self {
        Self::new("Cancel").sending(BACK, "yes")
    }

    /// The button in a cell of a table.
    pub(super) fn markup(&self) -> Markup {
        let attribute = |name: &str, value: &str| format!(" {name}=\"{}\"", escape(value));
        let path = self.path.as_deref().map(|path| attribute("formaction", path));
        let sends = self.sends.as_ref();
        let sends = sends.map(|(name, value)| attribute("name", name) + &attribute("value", value));
        let attributes: String = path.into_iter().chain(sends).collect();
        let label = escape(&self.label);
        Markup(format!("<button type=\"submit\" class=\"other\"{attributes}>{label}</button>"))
    }

    /// Whether the browser sends the form whatever its fields hold.
    pub(crate) fn is_unchecked(&self) -> bool {
        self.sends.as_ref().is_some_and(|(name, _)| [BACK, CHOOSE].contains(name))
    }
}

/// The field that asks for the form again, as it was typed.
pub(super) const BACK: &str = "back";

/// The field that asks for the form again, with all boxes set or none.
pub(super) const CHOOSE: &str = "choose";

impl FormView {
    /// A form of these fields that is sent to this path.
    pub(super) fn new(
        method: &'static str,
        action: String,
        button: Button,
        fields: Vec<Field>,
    ) -> Self {
        Self {
            id: String::new(),
            action,
            method,
            summary: None,
            lead: None,
            hidden: Vec::new(),
            fields,
            table: None,
            remark: None,
            buttons: vec![button],
            is_back: false,
            is_inline: false,
        }
    }

    /// Whether the form only searches.
    pub(crate) fn is_look_up(&self) -> bool {
        self.method == "get"
    }

    /// Whether the fields and the button are set in a line: there are up to two fields of one line each.
    pub(crate) fn is_short(&self) -> bool {
        let is_line = |field: &Field| matches!(field.kind, Kind::Input(_) | Kind::Choice);
        (1..=2).contains(&self.fields.len()) && self.fields.iter().all(is_line)
    }

    /// Whether a button for the boxes stands before that of the form, which the key Enter would press.
    pub(crate) fn has_chooser(&self) -> bool {
        self.fields.iter().any(|field| field.chooser.is_some())
    }

    /// The form with its first button filled.
    pub(super) fn primary(mut self) -> Self {
        if let Some(button) = self.buttons.first_mut() {
            button.is_primary = true;
        }
        self
    }

    /// The form, folded under this name until it is opened.
    pub(super) fn folded(self, summary: &str) -> Self {
        Self { summary: Some(summary.to_owned()), is_inline: false, ..self }
    }

    pub(super) fn with_lead(self, lead: &str) -> Self {
        Self { lead: Some(Markup::text(lead)), is_inline: false, ..self }
    }
}

/// The acts on one record, which are sent with one form: they share a note.
pub(crate) struct Panels {
    /// The id of the form.
    pub(crate) id: String,
    pub(crate) hidden: Vec<(String, String)>,
    /// The act that comes next.
    pub(crate) primary: Option<Panel>,
    pub(crate) note: Field,
    /// The other acts, each folded until it is opened.
    pub(crate) others: Vec<Panel>,
}

/// An act of [`Panels`], or several that have the same fields.
pub(crate) struct Panel {
    pub(crate) summary: &'static str,
    /// What the act means, in one sentence.
    pub(crate) lead: &'static str,
    pub(crate) fields: Vec<Field>,
    /// Rows, each with a button.
    pub(crate) table: Option<Table>,
    pub(crate) buttons: Vec<Button>,
    /// Whether its form was refused, or comes back as it was typed.
    pub(crate) is_back: bool,
}

impl Panels {
    /// All fields, in their order on the page.
    pub(super) fn fields_mut(&mut self) -> Vec<&mut Field> {
        let Self { primary, note, others, .. } = self;
        let first = primary.iter_mut().flat_map(|panel| &mut panel.fields);
        first.chain([note]).chain(others.iter_mut().flat_map(|panel| &mut panel.fields)).collect()
    }

    /// Whether there is an act.
    pub(super) fn has_acts(&self) -> bool {
        self.primary.is_some() || !self.others.is_empty()
    }
}

/// A field.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// The texts of the value, of a field with one a line.
    pub(super) list: Option<Vec<String>>,
    pub(crate) hint: Option<String>,
    pub(crate) is_required: bool,
    /// Whether some act of the form needs it.
    pub(crate) is_needed: bool,
    /// Values, labels, and whether they are chosen.
    pub(crate) options: Vec<(String, String, bool)>,
    /// Values to pick from, with labels, of a field whose value is typed.
    pub(crate) suggestions: Vec<(String, String)>,
    /// The path of the form whose boxes are set or cleared together.
    pub(crate) chooser: Option<String>,
    /// The columns of a field of rows: names and labels.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// The cells of a field of rows.
    pub(crate) rows: Vec<Vec<String>>,
    /// Why the value was refused.
    pub(crate) fault: Option<String>,
    /// Whether the page opens at this field.
    pub(crate) has_focus: bool,
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
    /// Rows of inputs.
    Rows,
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
        Self {
            name,
            label: label.to_owned(),
            kind,
            value: String::new(),
            list: None,
            hint: None,
            is_required: false,
            is_needed: false,
            options: Vec::new(),
            suggestions: Vec::new(),
            chooser: None,
            columns: &[],
            rows: Vec::new(),
            fault: None,
            has_focus: false,
        }
    }

    /// Rows of inputs, and some empty ones.
    pub(super) fn rows(
        name: &'static str,
        label: &str,
        columns: &'static [(&'static str, &'static str)],
        mut rows: Vec<Vec<String>>,
    ) -> Self {
        rows.resize(rows.len() + EMPTY_ROWS, vec![String::new(); columns.len()]);
        Self { columns, rows, ..Self::new(Kind::Rows, name, label) }
    }

    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(Kind::Input("text"), name, label)
    }

    /// A time, in UTC.
    pub(super) fn time(name: &'static str, label: &str) -> Self {
        Self::new(TIME, name, label)
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

    /// One of these values, each with its label.
    pub(super) fn choice(
        name: &'static str,
        label: &str,
        options: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
        chosen: &str,
    ) -> Self {
        let options = options.into_iter().map(|(value, label)| {
            let value = value.into();
            let is_chosen = value == chosen;
            (value, label.into(), is_chosen)
        });
        Self { options: options.collect(), ..Self::new(Kind::Choice, name, label) }
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

    /// With these texts, one a line.
    pub(super) fn with_list(self, list: Vec<String>) -> Self {
        Self { value: list.join("\n"), list: Some(list), ..self }
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Needed by an act of the form, but not by all: the browser sends it empty too.
    pub(super) fn needed(self) -> Self {
        Self { is_needed: true, ..self }
    }

    /// Whether the label says that it may be left empty.
    pub(crate) fn is_optional(&self) -> bool {
        !self.is_required && !self.is_needed && self.kind != Kind::Choice
    }

    /// With values to pick from, and their labels.
    pub(super) fn with_suggestions(self, suggestions: Vec<(String, String)>) -> Self {
        Self { suggestions, ..self }
    }

    /// With buttons that set or clear all boxes, of a form that is sent to this path.
    pub(super) fn with_chooser(self, path: String) -> Self {
        Self { chooser: Some(path), ..self }
    }

    /// The value as the page has it: a time to the minute, as browsers take it.
    pub(crate) fn shown(&self) -> &str {
        let length = if self.kind == TIME { TO_THE_MINUTE } else { self.value.len() };
        self.value.get(..length).unwrap_or(&self.value)
    }

    /// The text that a browser sends if nobody changes it, and the value itself, where they may differ.
    pub(crate) fn was(&self) -> Option<String> {
        let shown = match self.kind {
            Kind::Lines(_) => printable(self.value.clone()),
            Kind::Input("text") | TIME => sent_in_line(self.shown()),
            _ => return None,
        };
        match &self.list {
            Some(list) => {
                // Two spaces may be a rank and a name that begins with one.
                let is_lossy = lines_of(&shown) != *list || shown.contains("  ");
                is_lossy.then(|| ascii(&write(&(&shown, list))))
            }
            None => (shown.trim() != self.value).then(|| ascii(&write(&(&shown, &self.value)))),
        }
    }

    /// The columns that are shown: others are sent back as they came.
    pub(crate) fn shown_columns(&self) -> impl Iterator<Item = &(&'static str, &'static str)> {
        self.columns.iter().filter(|(_, label)| !label.is_empty())
    }

    /// The cells of a row: name, label and value.
    pub(crate) fn cells<'a>(
        &self,
        row: &'a [String],
    ) -> impl Iterator<Item = (&'static str, &'static str, &'a String)> {
        self.columns.iter().zip(row).map(|((name, label), value)| (*name, *label, value))
    }

    /// The field with the submitted value.
    pub(super) fn typed(mut self, sent: &FormData) -> Self {
        if self.kind == Kind::Rows {
            let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
            let rows = sent.rows(&names);
            if !rows.is_empty() {
                let hint = self.hint;
                self = Self { hint, ..Self::rows(self.name, &self.label, self.columns, rows) };
            }
        } else if self.kind == Kind::Several && sent.has(CHOOSE) {
            for (_, _, is_chosen) in &mut self.options {
                *is_chosen = sent.text(CHOOSE) == "all";
            }
        } else if !self.options.is_empty() {
            for (value, _, is_chosen) in &mut self.options {
                *is_chosen = sent.all(self.name).any(|sent| sent == value);
            }
        } else if self.kind == Kind::Flag {
            self.value = sent.text(self.name).to_owned();
        } else if let Some(value) = sent.get(self.name).filter(|_| !self.is_token()) {
            match sent.unchanged.get(self.name) {
                Some(Was::Text(text)) => self.value.clone_from(text),
                Some(Was::List(list)) => self = self.with_list(list.clone()),
                None => self = Self { value: value.to_owned(), list: None, ..self },
            }
        }
        self
    }
}

/// A time.
const TIME: Kind = Kind::Input("datetime-local");

/// The length of a time as a browser's field takes it, without seconds: `2026-11-21T22:45`.
const TO_THE_MINUTE: usize = 16;

/// The lines that are not blank, without the space around them.
fn lines_of(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// What a browser sends of a field of one line with this text, if nobody changes it.
pub(super) fn sent_in_line(text: &str) -> String {
    let mut shown = printable(text.to_owned());
    shown.retain(|letter| letter != '\n');
    shown
}

/// The same JSON in ASCII, which a page shows as it is.
pub(super) fn ascii(json: &str) -> String {
    let mut units = [0; 2];
    let mut escaped = |letter: char| -> String {
        let units = letter.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let letters = json.chars();
    letters.map(|it| if it.is_ascii() { it.into() } else { escaped(it) }).collect()
}

/// The empty rows after those of a field of rows.
const EMPTY_ROWS: usize = 2;

/// Values, labels, and whether they are chosen.
pub(super) type Options = Vec<(String, String, bool)>;

#[cfg(test)]
mod tests {
    use super::*;

    /// What a browser sends of a form with this field, unless something is typed.
    fn sent(field: &Field, typed: Option<&str>) -> FormData {
        let mut shown = printable(field.value.clone());
        if field.kind.input().is_some() {
            shown.retain(|letter| letter != '\n');
        }
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair(field.name, &typed.unwrap_or(&shown).replace('\n', "\r\n"));
        if let Some(was) = field.was() {
            assert!(was.is_ascii() && !was.contains(char::is_control), "{was}");
            form.append_pair(&format!("{}{WAS}", field.name), &was);
        }
        FormData::read(form.finish().as_bytes())
    }

    #[test]
    fn time_that_nobody_changed_keeps_its_seconds() {
        let field = Field::time("at", "At").with_value("2026-11-30T12:34:56.789Z");
        assert_eq!(field.shown(), "2026-11-30T12:34");
        let unchanged = sent(&field, Some(field.shown()));
        assert_eq!(unchanged.text("at"), "2026-11-30T12:34:56.789Z");
        assert_eq!(field.clone().typed(&unchanged).value, field.value, "it comes back as it was");
        for typed in ["2026-11-30T12:35", ""] {
            assert_eq!(sent(&field, Some(typed)).text("at"), typed);
        }
        assert_eq!(Field::time("at", "At").was(), None);
    }

    #[test]
    fn list_that_nobody_changed_stays_as_it_was() {
        let list = ["a", " lead", "two\nlines", "", "\u{202e}"].map(str::to_owned).to_vec();
        let field = Field::lines("notes", "Notes", 3).with_list(list.clone());
        let unchanged = sent(&field, None);
        assert_eq!(unchanged.list("notes"), list);
        assert_eq!(field.clone().typed(&unchanged).list, Some(list), "it comes back as it was");
        let typed = sent(&field, Some(" b \n\nc"));
        assert_eq!(typed.list("notes"), ["b", "c"]);
        assert_eq!(sent(&field.typed(&typed), None).list("notes"), ["b", "c"]);
    }

    #[test]
    fn text_that_nobody_changed_stays_as_it_was() {
        for text in ["a\r\nb", "a\rb\n", " a", "\u{202e}a\u{1f680}", "a\u{0}\"\\", "\u{1b}é"] {
            for field in [Field::text("lens", "Lens"), Field::lines("lens", "Lens", 3)] {
                let field = field.with_value(text);
                let unchanged = sent(&field, None);
                assert_eq!(unchanged.text("lens"), text);
                assert_eq!(field.clone().typed(&unchanged).value, text, "it comes back as it was");
                assert_eq!(sent(&field, Some("b")).text("lens"), "b");
                assert_eq!(sent(&field, Some("")).text("lens"), "");
            }
        }
        assert_eq!(Field::lines("lens", "Lens", 3).with_value("a\nb").was(), None);
    }
}
