//! The error of parsing JSON.

use std::fmt;

use super::is_unprintable;

/// The bytes are not one JSON text. `Display` is the text on the wire, which does not say where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid json body")]
pub struct NotJson {
    /// Where the text stops being JSON.
    pub position: ErrorPosition,
}

/// Where a text stops being JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorPosition {
    /// At this line and column. A column is one character. No JSON value or mark can begin there.
    At {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// Before the text, which begins with the byte order mark of UTF-8.
    ByteOrderMark,
    /// At its beginning: it is in UTF-16.
    Utf16,
    /// At its beginning: it is compressed with gzip.
    Gzip,
    /// As `At`, at a character that most programs do not show.
    Invisible {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The character.
        character: char,
    },
    /// As `At`, at a value of JSON that is not read.
    Refused {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// Why, as a sentence without its end.
        why: &'static str,
    },
    /// An object has this key twice.
    DuplicateKey(String),
    /// The text has more values than its reader takes.
    TooManyValues,
}

impl NotJson {
    /// The fault at this byte of the text, where reading stopped.
    pub(super) fn at(bytes: &[u8], at: usize, stop: Stop) -> Self {
        if bytes.starts_with(b"\xef\xbb\xbf") && at == 0 {
            return Self { position: ErrorPosition::ByteOrderMark };
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Self { position: ErrorPosition::Utf16 };
        }
        if bytes.starts_with(b"\x1f\x8b") {
            return Self { position: ErrorPosition::Gzip };
        }
        let before = bytes.get(..at).unwrap_or(bytes);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let in_line = before.get(line_start..).unwrap_or_default();
        let column = String::from_utf8_lossy(in_line).chars().count() + 1;
        let rest = bytes.get(at..).and_then(|rest| std::str::from_utf8(rest).ok());
        let place = match (stop.refusal(), rest.and_then(|rest| rest.chars().next())) {
            (Some(why), _) => ErrorPosition::Refused { line, column, why },
            (None, Some(character)) if is_invisible(character) => {
                ErrorPosition::Invisible { line, column, character }
            }
            _ => ErrorPosition::At { line, column },
        };
        Self { position: place }
    }
}

/// Whether most programs show nothing for a character that JSON does not allow between its tokens.
fn is_invisible(character: char) -> bool {
    let is_json_space = matches!(character, ' ' | '\t' | '\n' | '\r');
    is_unprintable(character)
        || (!is_json_space && (character.is_control() || character.is_whitespace()))
}

impl fmt::Display for ErrorPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { line, column } | Self::Invisible { line, column, .. } => {
                write!(f, "line {line}, column {column}")
            }
            Self::Refused { line, column, why } => {
                write!(f, "line {line}, column {column}: {why}")
            }
            Self::ByteOrderMark => f.write_str("a byte order mark"),
            Self::Utf16 => f.write_str("UTF-16"),
            Self::Gzip => f.write_str("gzip"),
            Self::DuplicateKey(key) => write!(f, "the key {key:?} stands twice"),
            Self::TooManyValues => f.write_str("there are too many values"),
        }
    }
}

/// The error inside the reader, whose position says where the fault is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// No JSON goes on like this.
    Syntax,
    /// An escape of half of a surrogate pair.
    HalfPair,
    /// A number outside the range of a double.
    OutOfRange,
    /// A list or an object at a level that is not read.
    TooDeep,
}

impl Stop {
    /// Why a value of JSON is not read.
    fn refusal(self) -> Option<&'static str> {
        match self {
            Self::Syntax => None,
            Self::HalfPair => Some("the string has half of a surrogate pair"),
            Self::OutOfRange => Some("the number is out of the range of a double"),
            Self::TooDeep => Some("there are more than 127 levels of nesting"),
        }
    }
}
