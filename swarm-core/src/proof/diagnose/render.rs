//! Writes JSON as other programs do: other white space, escapes and number formats.

use std::fmt::Write as _;

use crate::domain::json::{self, Json, Object};

/// A JSON value that keeps the order of keys and the text of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// The number, as sent.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Fields),
}

/// The members of an object, in order.
pub(super) type Fields = Vec<(String, Value)>;

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            // Written with the digits that were sent.
            Json::Number(number) => Self::Number(json::write(number)),
            Json::Text(text) => Self::Text(text.clone()),
            Json::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Json::Object(object) => Self::Object(fields(object)),
        }
    }
}

/// The members of an object.
pub(super) fn fields(object: &Object) -> Fields {
    object.members().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// How a program writes JSON. The default is the canonical style.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Style {
    pub(super) layout: Layout,
    pub(super) escapes: Escapes,
    pub(super) numbers: Numbers,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Layout {
    #[default]
    Compact,
    /// `", "` and `": "`.
    Spaced,
    /// One member per line, each level indented by this string.
    Pretty(&'static str),
    /// The same, with the line breaks of Windows.
    PrettyWindows(&'static str),
    /// As PowerShell 5.1: the line breaks of Windows, and two spaces after a colon.
    PowerShell,
}

impl Layout {
    /// The line break and the indentation of a level; `None` on one line.
    fn lines(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Compact | Self::Spaced => None,
            Self::Pretty(indent) => Some(("\n", indent)),
            Self::PrettyWindows(indent) => Some(("\r\n", indent)),
            Self::PowerShell => Some(("\r\n", "    ")),
        }
    }

    fn colon(self) -> &'static str {
        match self {
            Self::Compact => ":",
            Self::Spaced | Self::Pretty(_) | Self::PrettyWindows(_) => ": ",
            Self::PowerShell => ":  ",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Escapes {
    #[default]
    Least,
    /// All characters outside ASCII, with lower-case digits.
    Ascii,
    /// All characters outside ASCII, with upper-case digits.
    AsciiUpper,
    /// `Ascii` and U+007F, as Python.
    Python,
    /// `\/`.
    Slash,
    /// `Ascii` and `Slash` together, as PHP.
    Php,
    /// `<`, `>`, `&`, U+2028 and U+2029, as Go and Rails.
    Html,
    /// `Html`, `'` and U+0085, as PowerShell 5.1.
    PowerShell,
    /// `Html`, `'` and `=`, as Gson.
    Gson,
    /// All outside ASCII, `Html` and `"`, `'`, `+`, a backtick and U+007F with upper-case digits, as
    /// System.Text.Json.
    DotNet,
    /// What System.Text.Json escapes with its relaxed encoder.
    DotNetRelaxed,
    /// The mandatory ones with upper-case digits, as Jackson.
    Jackson,
    /// U+0085, U+2028 and U+2029, as Newtonsoft.
    Newtonsoft,
}

impl Escapes {
    /// Whether the style escapes a character without need, as `\uXXXX`.
    fn includes(self, character: char) -> bool {
        let is_line = matches!(character, '\u{2028}' | '\u{2029}');
        let is_html = is_line || matches!(character, '<' | '>' | '&');
        match self {
            Self::Least | Self::Slash | Self::Jackson => false,
            Self::Ascii | Self::AsciiUpper | Self::Php => !character.is_ascii(),
            Self::Python => !character.is_ascii() || character == '\u{7f}',
            Self::Html => is_html,
            Self::PowerShell => is_html || matches!(character, '\'' | '\u{85}'),
            Self::Gson => is_html || matches!(character, '\'' | '='),
            Self::DotNet => {
                let is_other = matches!(character, '"' | '\'' | '+' | '`' | '\u{7f}');
                !character.is_ascii() || is_html || is_other
            }
            Self::DotNetRelaxed => {
                is_line || matches!(character, '\u{7f}'..='\u{9f}' | '\u{10000}'..)
            }
            Self::Newtonsoft => is_line || character == '\u{85}',
        }
    }

    fn escapes_slash(self) -> bool {
        matches!(self, Self::Slash | Self::Php)
    }

    /// Whether hexadecimal digits are in upper case: of all characters, or of those that need no escape.
    fn is_upper(self, is_control: bool) -> bool {
        match self {
            Self::DotNet | Self::DotNetRelaxed | Self::Jackson => true,
            Self::AsciiUpper => !is_control,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Numbers {
    #[default]
    EcmaScript,
    /// As in the request.
    AsSent,
    /// Integers with a decimal point: `1.0` for 1.
    Point(Which),
    /// Two decimals.
    Cents(Which),
}

/// Which numbers have another form; the others are as ECMAScript writes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Which {
    All,
    /// The numbers of the object itself: the confidence.
    Outer,
    /// The numbers within its lists: the weights.
    Inner,
}

impl Which {
    fn includes(self, depth: usize) -> bool {
        match self {
            Self::All => true,
            Self::Outer => depth <= 1,
            Self::Inner => depth > 1,
        }
    }
}

/// Writes an object in this style.
pub(super) fn write(fields: &Fields, style: Style) -> String {
    let mut text = String::new();
    Writer { text: &mut text, style }.object(fields, 0);
    text
}

struct Writer<'a> {
    text: &'a mut String,
    style: Style,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Number(written) => self.number(written, depth),
            Value::Text(text) => self.string(text),
            Value::List(items) => {
                self.listed('[', ']', items, depth, |this, item| this.value(item, depth + 1));
            }
            Value::Object(fields) => self.object(fields, depth),
        }
    }

    fn object(&mut self, fields: &Fields, depth: usize) {
        self.listed('{', '}', fields, depth, |this, (key, value)| {
            this.string(key);
            this.text.push_str(this.style.layout.colon());
            this.value(value, depth + 1);
        });
    }

    fn listed<T>(
        &mut self,
        open: char,
        close: char,
        items: &[T],
        depth: usize,
        mut each: impl FnMut(&mut Self, &T),
    ) {
        self.text.push(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text.push_str(if self.style.layout == Layout::Spaced { ", " } else { "," });
            }
            self.line(depth + 1);
            each(self, item);
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.text.push(close);
    }

    fn line(&mut self, depth: usize) {
        if let Some((line_break, indent)) = self.style.layout.lines() {
            self.text.push_str(line_break);
            for _ in 0..depth {
                self.text.push_str(indent);
            }
        }
    }

    fn number(&mut self, written: &str, depth: usize) {
        let number: f64 = written.parse().unwrap_or_default();
        match self.style.numbers {
            Numbers::AsSent => self.text.push_str(written),
            // Writing to a string does not fail.
            Numbers::Cents(which) if which.includes(depth) => {
                let _ = write!(self.text, "{number:.2}");
            }
            numbers => {
                let text = json::write(&number);
                let has_point = matches!(numbers, Numbers::Point(which) if which.includes(depth));
                let whole = has_point && text.bytes().all(|digit| digit.is_ascii_digit());
                self.text.push_str(&text);
                self.text.push_str(if whole { ".0" } else { "" });
            }
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        text.chars().for_each(|character| self.character(character));
        self.text.push('"');
    }

    fn character(&mut self, character: char) {
        let escapes = self.style.escapes;
        let is_control = character < ' ';
        match character {
            _ if escapes.includes(character) => self.unicode(character, escapes.is_upper(false)),
            '/' if escapes.escapes_slash() => self.text.push_str("\\/"),
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\u{8}' => self.text.push_str("\\b"),
            '\t' => self.text.push_str("\\t"),
            '\n' => self.text.push_str("\\n"),
            '\u{c}' => self.text.push_str("\\f"),
            '\r' => self.text.push_str("\\r"),
            _ if is_control => self.unicode(character, escapes.is_upper(true)),
            _ => self.text.push(character),
        }
    }

    /// Writes the code units of a character as `\uXXXX`.
    fn unicode(&mut self, character: char, is_upper: bool) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = match is_upper {
                true => write!(self.text, "\\u{unit:04X}"),
                false => write!(self.text, "\\u{unit:04x}"),
            };
        }
    }
}
