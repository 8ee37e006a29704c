//! The fields of a line, each as `name=value`.

use std::error::Error;
use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};

/// Writes fields at the end of a text, with a space before each but the first. The message stands
/// without its name.
pub(super) struct Fields<'a> {
    text: &'a mut String,
    is_first: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(text: &'a mut String) -> Self {
        Self { text, is_first: true }
    }

    fn name(&mut self, field: &Field) {
        self.separate();
        let name = field.name();
        self.text.push_str(name.strip_prefix("r#").unwrap_or(name));
        self.text.push('=');
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.text.push(' ');
        }
        self.is_first = false;
    }

    /// Writing to a string fails only where a value's own `fmt` does: the line then goes without the
    /// rest of that value.
    fn write(&mut self, value: fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(value);
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if is_message(field) {
            return self.record_debug(field, &format_args!("{value}"));
        }
        self.name(field);
        if value.bytes().all(is_plain) {
            for part in ["\"", value, "\""] {
                self.text.push_str(part);
            }
        } else {
            self.write(format_args!("{value:?}"));
        }
    }

    fn record_error(&mut self, field: &Field, error: &(dyn Error + 'static)) {
        self.name(field);
        let _ = write!(Escaped(self.text), "{error}");
        let Some(mut cause) = error.source() else { return };
        self.write(format_args!(" {}.sources=[", field.name()));
        loop {
            let _ = write!(Escaped(self.text), "{cause}");
            let Some(next) = cause.source() else { break };
            self.text.push_str(", ");
            cause = next;
        }
        self.text.push(']');
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if is_message(field) {
            self.separate();
            let _ = write!(Escaped(self.text), "{value:?}");
        } else {
            self.name(field);
            self.write(format_args!("{value:?}"));
        }
    }
}

fn is_message(field: &Field) -> bool {
    field.name() == "message"
}

/// Whether it stands for itself in quotes, as nearly all do: that is seen sooner than how to write
/// the others.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// Text in which nothing tells a terminal what to do.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            match char {
                '\x1b' | '\x07' | '\x08' | '\x0c' | '\x7f' => {
                    write!(self.0, "\\x{:02x}", u32::from(char))?;
                }
                '\u{80}'..='\u{9f}' => write!(self.0, "\\u{{{:x}}}", u32::from(char))?,
                char => self.0.push(char),
            }
        }
        Ok(())
    }
}
