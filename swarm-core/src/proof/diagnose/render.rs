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
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Escapes {
    #[default]
    Least,
    /// All characters outside ASCII, with lower-case digits.
    Ascii,
    /// All characters outside ASCII, with upper-case digits.
    AsciiUpper,
    /// `\/`.
    Slash,
    /// `Ascii` and `Slash` together.
    AsciiSlash,
    /// `<`, `>`, `&`, U+2028 and U+2029.
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Numbers {
    #[default]
    EcmaScript,
    /// As in the request.
    AsSent,
    /// Integers with a decimal point: `1.0` for 1.
    Point,
    /// Two decimals.
    Cents,
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
            Value::Number(written) => self.number(written),
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
            this.text.push_str(if this.style.layout == Layout::Compact { ":" } else { ": " });
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
        if let Layout::Pretty(indent) = self.style.layout {
            self.text.push('\n');
            for _ in 0..depth {
                self.text.push_str(indent);
            }
        }
    }

    fn number(&mut self, written: &str) {
        let number: f64 = written.parse().unwrap_or_default();
        match self.style.numbers {
            Numbers::AsSent => self.text.push_str(written),
            Numbers::EcmaScript => self.text.push_str(&json::write(&number)),
            Numbers::Point => {
                let text = json::write(&number);
                let whole = text.bytes().all(|digit| digit.is_ascii_digit());
                self.text.push_str(&text);
                self.text.push_str(if whole { ".0" } else { "" });
            }
            // Writing to a string does not fail.
            Numbers::Cents => drop(write!(self.text, "{number:.2}")),
        }
    }

    fn string(&mut self, text: &str) {
        let plain = json::write(text);
        match self.style.escapes {
            Escapes::Least => self.text.push_str(&plain),
            style => plain.chars().for_each(|character| self.escape(character, style)),
        }
    }

    /// Writes a character of a string that already has the mandatory escapes.
    fn escape(&mut self, character: char, style: Escapes) {
        let slash = matches!(style, Escapes::Slash | Escapes::AsciiSlash) && character == '/';
        let unicode = match style {
            Escapes::Html => matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
            Escapes::Ascii | Escapes::AsciiUpper | Escapes::AsciiSlash => !character.is_ascii(),
            Escapes::Least | Escapes::Slash => false,
        };
        if slash {
            self.text.push_str("\\/");
        } else if unicode {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = match style {
                    Escapes::AsciiUpper => write!(self.text, "\\u{unit:04X}"),
                    _ => write!(self.text, "\\u{unit:04x}"),
                };
            }
        } else {
            self.text.push(character);
        }
    }
}
