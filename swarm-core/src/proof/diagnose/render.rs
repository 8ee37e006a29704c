//! Writes objects as other programs do: other white space, escapes, number formats and names, and what is not JSON.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

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

/// How a program writes an object. The default is the canonical style.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Style {
    pub(super) layout: Layout,
    pub(super) escapes: Escapes,
    pub(super) numbers: Numbers,
    pub(super) names: Names,
    pub(super) notation: Notation,
}

/// The names that a program has for the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Names {
    #[default]
    AsSent,
    /// `MemberId`.
    Pascal,
    /// `member_id`.
    Snake,
}

impl Names {
    fn of(self, key: &str) -> Cow<'_, str> {
        let mut characters = key.chars();
        match self {
            Self::AsSent => key.into(),
            Self::Pascal => {
                let first = characters.next().map(|it| it.to_ascii_uppercase());
                first.into_iter().chain(characters).collect()
            }
            Self::Snake => characters
                .flat_map(|it| {
                    let mark = it.is_ascii_uppercase().then_some('_');
                    mark.into_iter().chain([it.to_ascii_lowercase()])
                })
                .collect(),
        }
    }
}

/// The language in which strings and constants are written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Notation {
    #[default]
    Json,
    /// As `repr` and `str` of Python.
    Python,
    /// The same, with each apostrophe made a quotation mark.
    PythonQuoted,
}

/// The white space that a program writes. The default is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// Before each entry and each closing bracket; without a line feed on one line.
    line_break: &'static str,
    /// The indentation of one level.
    indent: &'static str,
    colon: &'static str,
    comma: &'static str,
    nesting: Nesting,
}

/// Where the lines of inner objects and lists begin.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Nesting {
    /// One indentation further in than the lines around.
    Levels,
    /// At the column of the opening bracket.
    Columns,
    /// The entries of a list are on one line, with spaces between them and the brackets.
    InlineLists,
    /// The same, with spaces only between the entries, whose lines are two indentations further in.
    DenseLists,
    /// As [`Self::Levels`], and the opening bracket of a list has a line of its own.
    OwnLines,
}

impl Layout {
    pub(super) const COMPACT: Self =
        Self { line_break: "", indent: "", colon: ":", comma: ",", nesting: Nesting::Levels };
    /// `", "` and `": "`.
    pub(super) const SPACED: Self = Self { colon: ": ", comma: ", ", ..Self::COMPACT };
    pub(super) const TWO: Self = Self::lines("  ");
    pub(super) const FOUR: Self = Self::lines("    ");
    pub(super) const TAB: Self = Self::lines("\t");
    /// The line breaks of Windows.
    pub(super) const WINDOWS_TWO: Self = Self { line_break: "\r\n", ..Self::TWO };
    pub(super) const WINDOWS_FOUR: Self = Self { line_break: "\r\n", ..Self::FOUR };
    /// As PowerShell 5.1, but for inner objects and lists.
    pub(super) const WIDE: Self = Self { colon: ":  ", ..Self::WINDOWS_FOUR };
    /// As PowerShell 5.1.
    pub(super) const POWER_SHELL: Self = Self { nesting: Nesting::Columns, ..Self::WIDE };
    pub(super) const SWIFT: Self = Self { colon: " : ", ..Self::TWO };
    pub(super) const PERL: Self = Self { colon: " : ", ..Self::lines("   ") };
    pub(super) const JACKSON: Self = Self { nesting: Nesting::InlineLists, ..Self::SWIFT };
    pub(super) const WINDOWS_JACKSON: Self = Self { line_break: "\r\n", ..Self::JACKSON };
    /// As `cJSON_Print`.
    pub(super) const C_JSON: Self =
        Self { colon: ":\t", nesting: Nesting::DenseLists, ..Self::TAB };
    /// As json-c, on one line.
    pub(super) const JSON_C: Self = Self { line_break: " ", colon: ": ", ..Self::COMPACT };
    pub(super) const JSON_CPP: Self =
        Self { colon: " : ", nesting: Nesting::OwnLines, ..Self::TAB };

    /// One entry per line, each level indented by this string.
    const fn lines(indent: &'static str) -> Self {
        Self { line_break: "\n", indent, colon: ": ", ..Self::COMPACT }
    }

    /// Whether there are several lines.
    pub(super) fn is_pretty(self) -> bool {
        self.line_break.contains('\n')
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::COMPACT
    }
}

/// The characters that a program escapes without need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Escapes {
    /// These are written as `\uXXXX`.
    unicode: &'static [Range],
    /// Among all that are written as `\uXXXX`, these have upper-case digits.
    upper: &'static [Range],
    slash: Slash,
}

type Range = RangeInclusive<char>;

/// When a program writes `\/`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Slash {
    #[default]
    Never,
    Always,
    /// In `</`.
    AfterLess,
}

impl Escapes {
    pub(super) const LEAST: Self = Self { unicode: &[], upper: &[], slash: Slash::Never };
    /// All characters outside ASCII.
    pub(super) const ASCII: Self = Self { unicode: &['\u{80}'..=char::MAX], ..Self::LEAST };
    /// The same, with upper-case digits.
    pub(super) const ASCII_UPPER: Self = Self { upper: Self::ASCII.unicode, ..Self::ASCII };
    /// All outside ASCII, and U+007F.
    pub(super) const PYTHON: Self = Self { unicode: &['\u{7f}'..=char::MAX], ..Self::LEAST };
    pub(super) const JQ: Self = Self { unicode: &['\u{7f}'..='\u{7f}'], ..Self::LEAST };
    /// Go and Rails.
    pub(super) const HTML: Self = Self {
        unicode: &['&'..='&', '<'..='<', '>'..='>', '\u{2028}'..='\u{2029}'],
        ..Self::LEAST
    };
    /// PowerShell 5.1.
    pub(super) const POWER_SHELL: Self = Self {
        unicode: &['&'..='\'', '<'..='<', '>'..='>', '\u{85}'..='\u{85}', '\u{2028}'..='\u{2029}'],
        ..Self::LEAST
    };
    pub(super) const GSON: Self =
        Self { unicode: &['&'..='\'', '<'..='>', '\u{2028}'..='\u{2029}'], ..Self::LEAST };
    /// The mandatory ones with upper-case digits.
    pub(super) const JACKSON: Self = Self { upper: &['\0'..=char::MAX], ..Self::LEAST };
    pub(super) const NEWTONSOFT: Self =
        Self { unicode: &['\u{85}'..='\u{85}', '\u{2028}'..='\u{2029}'], ..Self::LEAST };
    /// System.Text.Json.
    pub(super) const DOT_NET: Self = Self {
        unicode: &[
            '"'..='"',
            '&'..='\'',
            '+'..='+',
            '<'..='<',
            '>'..='>',
            '`'..='`',
            '\u{7f}'..=char::MAX,
        ],
        ..Self::JACKSON
    };
    /// System.Text.Json with its relaxed encoder.
    pub(super) const DOT_NET_RELAXED: Self = Self {
        unicode: &['\u{7f}'..='\u{9f}', '\u{2028}'..='\u{2029}', '\u{10000}'..=char::MAX],
        ..Self::JACKSON
    };
    /// Swift, and org.json on Android.
    pub(super) const SLASH: Self = Self { slash: Slash::Always, ..Self::LEAST };
    /// lua-cjson.
    pub(super) const LUA: Self = Self { slash: Slash::Always, ..Self::JQ };
    pub(super) const PHP: Self = Self { slash: Slash::Always, ..Self::ASCII };
    /// PHP with `JSON_UNESCAPED_UNICODE`.
    pub(super) const PHP_UNICODE: Self =
        Self { unicode: &['\u{2028}'..='\u{2029}'], ..Self::SLASH };
    /// PHP with `JSON_HEX_TAG`, `JSON_HEX_AMP`, `JSON_HEX_APOS` and `JSON_HEX_QUOT`.
    pub(super) const PHP_HEX: Self = Self {
        unicode: &['"'..='"', '&'..='\'', '<'..='<', '>'..='>', '\u{80}'..=char::MAX],
        upper: &['<'..='>'],
        ..Self::PHP
    };
    pub(super) const ORG_JSON: Self = Self {
        unicode: &['\u{80}'..='\u{9f}', '\u{2000}'..='\u{20ff}'],
        slash: Slash::AfterLess,
        ..Self::LEAST
    };
    pub(super) const JSON_SIMPLE: Self = Self {
        unicode: &['\u{7f}'..='\u{9f}', '\u{2000}'..='\u{20ff}'],
        slash: Slash::Always,
        ..Self::JACKSON
    };
    /// What `repr` of Python does not print.
    pub(super) const REPR: Self = Self {
        unicode: &[
            '\u{7f}'..='\u{a0}',
            '\u{ad}'..='\u{ad}',
            '\u{600}'..='\u{605}',
            '\u{61c}'..='\u{61c}',
            '\u{6dd}'..='\u{6dd}',
            '\u{1680}'..='\u{1680}',
            '\u{180e}'..='\u{180e}',
            '\u{2000}'..='\u{200f}',
            '\u{2028}'..='\u{202f}',
            '\u{205f}'..='\u{206f}',
            '\u{3000}'..='\u{3000}',
            '\u{e000}'..='\u{f8ff}',
            '\u{feff}'..='\u{feff}',
            '\u{fff9}'..='\u{fffb}',
            '\u{e0000}'..='\u{e00ff}',
            '\u{f0000}'..=char::MAX,
        ],
        ..Self::LEAST
    };

    /// Whether the style escapes a character without need, as `\uXXXX`.
    fn includes(self, character: char) -> bool {
        self.unicode.iter().any(|range| range.contains(&character))
    }

    fn escapes_slash(self, before: Option<char>) -> bool {
        match self.slash {
            Slash::Never => false,
            Slash::Always => true,
            Slash::AfterLess => before == Some('<'),
        }
    }

    fn is_upper(self, character: char) -> bool {
        self.upper.iter().any(|range| range.contains(&character))
    }
}

/// Writes a string in JSON.
pub(super) fn quoted(text: &str, escapes: Escapes) -> String {
    let mut written = String::new();
    Writer { text: &mut written, style: Style { escapes, ..Style::default() } }.string(text);
    written
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Numbers {
    #[default]
    EcmaScript,
    /// As in the request.
    AsSent,
    /// Integers with a decimal point: `1.0` for 1.
    Point(Which),
    /// With this number of decimals.
    Fixed(usize, Which),
    /// With 17 digits, as `%.17g` in C.
    Exact,
    /// As the nearest number of 32 bits is written with 64.
    Single,
    /// Small ones with an exponent.
    Scientific(&'static Exponent),
}

/// How a program writes numbers with an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exponent {
    /// Numbers below this have one.
    below: f64,
    /// What follows the digits, and the minimum number of digits of the exponent.
    mark: &'static str,
    width: usize,
    /// Whether there is always a decimal point before the exponent.
    has_point: bool,
    /// Whether whole numbers have a decimal point: `1.0` for 1.
    is_point_of_whole: bool,
}

impl Exponent {
    pub(super) const JAVA: Self =
        Self { below: 1e-3, mark: "E-", width: 1, has_point: true, is_point_of_whole: true };
    pub(super) const PYTHON: Self =
        Self { below: 1e-4, mark: "e-", width: 2, has_point: false, is_point_of_whole: false };
    /// Of numbers that are all of the type `float`.
    pub(super) const PYTHON_FLOATS: Self = Self { is_point_of_whole: true, ..Self::PYTHON };
    pub(super) const DOT_NET: Self = Self { mark: "E-", ..Self::PYTHON };
    pub(super) const RUST: Self = Self { below: 1e-5, width: 1, ..Self::PYTHON_FLOATS };

    /// Returns the text of a small number; `None` for others.
    fn text(&self, number: f64) -> Option<String> {
        let Self { below, mark, width, has_point, .. } = *self;
        let is_small = number > 0.0 && number < below;
        let text = is_small.then(|| format!("{number:e}"))?;
        let (digits, exponent) = text.split_once("e-")?;
        let point = if has_point && !digits.contains('.') { ".0" } else { "" };
        Some(format!("{digits}{point}{mark}{exponent:0>width$}"))
    }
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
    Writer { text: &mut text, style }.object(fields, 0, style.layout.line_break);
    text
}

struct Writer<'a> {
    text: &'a mut String,
    style: Style,
}

/// What a writer puts between the entries of an object or a list: line breaks with their indentation.
struct Breaks {
    before_first: String,
    before_next: String,
    before_end: String,
    /// The break before the end of what is around the entries of an entry.
    within: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize, line: &str) {
        match value {
            Value::Null => self.constant("null", "None"),
            Value::Bool(true) => self.constant("true", "True"),
            Value::Bool(false) => self.constant("false", "False"),
            Value::Number(written) => self.number(written, depth),
            Value::Text(text) => self.string(text),
            Value::List(items) => {
                if self.style.layout.nesting == Nesting::OwnLines {
                    self.text.push_str(line);
                }
                let breaks = self.breaks_of_list(line);
                self.listed(('[', ']'), items, &breaks, |this, item| {
                    this.value(item, depth + 1, &breaks.within);
                });
            }
            Value::Object(fields) => self.object(fields, depth, line),
        }
    }

    /// Writes an object whose closing bracket is on this line.
    fn object(&mut self, fields: &Fields, depth: usize, line: &str) {
        let breaks = self.breaks(line);
        self.listed(('{', '}'), fields, &breaks, |this, (key, value)| {
            this.string(&this.style.names.of(key));
            this.text.push_str(this.style.layout.colon);
            this.value(value, depth + 1, &breaks.within);
        });
    }

    fn listed<T>(
        &mut self,
        (open, close): (char, char),
        items: &[T],
        breaks: &Breaks,
        mut each: impl FnMut(&mut Self, &T),
    ) {
        self.text.push(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text.push_str(self.style.layout.comma);
                self.text.push_str(&breaks.before_next);
            } else {
                self.text.push_str(&breaks.before_first);
            }
            each(self, item);
        }
        self.text.push_str(if items.is_empty() { "" } else { &breaks.before_end });
        self.text.push(close);
    }

    fn breaks(&self, line: &str) -> Breaks {
        let layout = self.style.layout;
        let before_end = match layout.nesting {
            Nesting::Columns => format!("{}{}", layout.line_break, " ".repeat(self.column())),
            Nesting::Levels | Nesting::InlineLists | Nesting::DenseLists | Nesting::OwnLines => {
                line.to_owned()
            }
        };
        let within = format!("{before_end}{}", layout.indent);
        Breaks { before_first: within.clone(), before_next: within.clone(), before_end, within }
    }

    fn breaks_of_list(&self, line: &str) -> Breaks {
        let layout = self.style.layout;
        let (around, within) = match layout.nesting {
            Nesting::Levels | Nesting::Columns | Nesting::OwnLines => return self.breaks(line),
            Nesting::InlineLists => (" ", line.to_owned()),
            Nesting::DenseLists => ("", format!("{line}{}", layout.indent)),
        };
        Breaks {
            before_first: around.to_owned(),
            before_next: " ".to_owned(),
            before_end: around.to_owned(),
            within,
        }
    }

    /// The number of characters on the last line, as far as the fields of a payload reach. Longer keys would make
    /// texts much longer than what was sent.
    fn column(&self) -> usize {
        const MAX: usize = 64;
        self.text.chars().rev().take(MAX).take_while(|character| *character != '\n').count()
    }

    fn number(&mut self, written: &str, depth: usize) {
        let number: f64 = written.parse().unwrap_or_default();
        match self.style.numbers {
            Numbers::AsSent => self.text.push_str(written),
            Numbers::Fixed(decimals, which) if which.includes(depth) => {
                self.text.push_str(&format!("{number:.decimals$}"));
            }
            Numbers::Exact => self.text.push_str(&exact(number)),
            numbers => {
                let text = match numbers {
                    Numbers::Scientific(exponent) => exponent.text(number),
                    Numbers::Single => {
                        written.parse::<f32>().ok().map(|it| json::write(&f64::from(it)))
                    }
                    _ => None,
                };
                let text = text.unwrap_or_else(|| json::write(&number));
                let has_point = match numbers {
                    Numbers::Point(which) => which.includes(depth),
                    Numbers::Scientific(exponent) => exponent.is_point_of_whole,
                    _ => false,
                };
                let whole = has_point && text.bytes().all(|digit| digit.is_ascii_digit());
                self.text.push_str(&text);
                self.text.push_str(if whole { ".0" } else { "" });
            }
        }
    }

    fn constant(&mut self, json: &str, python: &str) {
        self.text.push_str(if self.style.notation == Notation::Json { json } else { python });
    }

    fn string(&mut self, text: &str) {
        match self.style.notation {
            Notation::Json => self.json(text),
            Notation::Python => self.text.push_str(&repr(text, self.style.escapes)),
            Notation::PythonQuoted => {
                self.text.push_str(&repr(text, self.style.escapes).replace('\'', "\""));
            }
        }
    }

    fn json(&mut self, text: &str) {
        self.text.push('"');
        let mut before = None;
        for character in text.chars() {
            self.character(character, before);
            before = Some(character);
        }
        self.text.push('"');
    }

    /// Writes a character after the one before it in the string.
    fn character(&mut self, character: char, before: Option<char>) {
        let escapes = self.style.escapes;
        match character {
            _ if escapes.includes(character) => self.unicode(character),
            '/' if escapes.escapes_slash(before) => self.text.push_str("\\/"),
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\u{8}' => self.text.push_str("\\b"),
            '\t' => self.text.push_str("\\t"),
            '\n' => self.text.push_str("\\n"),
            '\u{c}' => self.text.push_str("\\f"),
            '\r' => self.text.push_str("\\r"),
            _ if character < ' ' => self.unicode(character),
            _ => self.text.push(character),
        }
    }

    /// Writes the code units of a character as `\uXXXX`.
    fn unicode(&mut self, character: char) {
        let is_upper = self.style.escapes.is_upper(character);
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = match is_upper {
                true => write!(self.text, "\\u{unit:04X}"),
                false => write!(self.text, "\\u{unit:04x}"),
            };
        }
    }
}

/// Returns a text as `repr` of Python does.
fn repr(text: &str, escapes: Escapes) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in text.chars() {
        let code = u32::from(character);
        // Writing to a string does not fail.
        let _ = match character {
            '\t' => write!(written, "\\t"),
            '\n' => write!(written, "\\n"),
            '\r' => write!(written, "\\r"),
            '\\' => write!(written, "\\\\"),
            _ if character == quote => write!(written, "\\{quote}"),
            _ if character >= ' ' && !escapes.includes(character) => write!(written, "{character}"),
            _ if code <= 0xff => write!(written, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(written, "\\u{code:04x}"),
            _ => write!(written, "\\U{code:08x}"),
        };
    }
    written.push(quote);
    written
}

/// Returns the number with 17 digits, without zeros at the end.
fn exact(number: f64) -> String {
    const DIGITS: usize = 17;
    let scientific = format!("{number:.0$e}", DIGITS - 1);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    if let Some(exponent) = exponent.strip_prefix('-')
        && number > 0.0
        && number < 1e-4
    {
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e-{exponent:0>2}");
    }
    let exponent = exponent.parse().ok();
    let before_point = exponent.map_or(1, |exponent: isize| exponent.saturating_add(1));
    let decimals = DIGITS.saturating_add_signed(before_point.saturating_neg());
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
