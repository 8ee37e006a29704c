//! The error of parsing JSON.

use std::fmt;

/// The bytes are not one JSON text. `Display` is the text on the wire, which does not say where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid json body")]
pub struct NotJson {
    /// Where the text stops being JSON.
    pub position: ErrorPosition,
}

/// Where a text stops being JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorPosition {
    /// At this line and column. A column is one character. No JSON value or mark can begin there.
    At {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// An object has this key twice.
    DuplicateKey(String),
    /// The text has more values than its reader takes.
    TooManyValues,
}

impl NotJson {
    /// The fault at this byte of the text.
    pub(super) fn at(bytes: &[u8], at: usize) -> Self {
        let before = bytes.get(..at).unwrap_or(bytes);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let in_line = before.get(line_start..).unwrap_or_default();
        let column = String::from_utf8_lossy(in_line).chars().count() + 1;
        Self { position: ErrorPosition::At { line, column } }
    }
}

impl fmt::Display for ErrorPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { line, column } => write!(f, "line {line}, column {column}"),
            Self::DuplicateKey(key) => write!(f, "the key {key:?} stands twice"),
            Self::TooManyValues => f.write_str("there are too many values"),
        }
    }
}

/// The error inside the reader, whose position says where the fault is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop;
