//! The JSON parser.

use std::borrow::Cow;

use memchr::memchr2;

use super::document::{JsonDocument, Sink, Value};
use super::error::{ErrorPosition, NotJson, Stop};
use super::escapes::unescape;
use super::number::is_in_range;
use super::value::Json;
use crate::domain::distinct::{are_distinct, first_duplicate};

/// The maximum nesting depth.
const MAX_DEPTH: usize = 127;

impl<'a> JsonDocument<'a> {
    /// Parses one JSON text (RFC 8259) with at most 127 levels of nesting.
    ///
    /// # Errors
    /// [`NotJson`] when `bytes` are anything but one JSON text in UTF-8.
    pub fn read(bytes: &'a [u8]) -> Result<Self, NotJson> {
        Self::read_bounded(bytes, usize::MAX)
    }

    /// Like [`read`](Self::read), for a text with at most `max_values` values: each list, object, element and
    /// member counts. Parsing stops at the first value over the limit, so that a small text cannot occupy
    /// much memory and time.
    ///
    /// # Errors
    /// [`NotJson`], like [`read`](Self::read); with [`ErrorPosition::TooManyValues`] when there are more values.
    pub fn read_bounded(bytes: &'a [u8], max_values: usize) -> Result<Self, NotJson> {
        let mut reader = Reader::of(bytes, Self::new(), max_values)?;
        match reader.whole() {
            Ok(_) => Ok(reader.sink),
            Err(stopped) => Err(stopped.fault(bytes)),
        }
    }
}

impl Json {
    /// Parses one JSON text (RFC 8259), like [`JsonDocument::read`].
    ///
    /// # Errors
    /// [`NotJson`] when `bytes` are anything but one JSON text in UTF-8.
    pub fn read(bytes: &[u8]) -> Result<Self, NotJson> {
        JsonDocument::read(bytes).map(JsonDocument::into_json)
    }

    /// Like [`read`](Self::read), for a text with at most `max_values` values; see [`JsonDocument::read_bounded`].
    ///
    /// # Errors
    /// [`NotJson`], like [`JsonDocument::read_bounded`].
    pub fn read_bounded(bytes: &[u8], max_values: usize) -> Result<Self, NotJson> {
        JsonDocument::read_bounded(bytes, max_values).map(JsonDocument::into_json)
    }
}

pub(super) struct Reader<'a, S> {
    text: &'a str,
    /// The position, in bytes; where reading stopped, that of the fault.
    at: usize,
    /// The fault, if it is none of the text at this position.
    fault: Option<ErrorPosition>,
    /// Takes the values that are parsed.
    sink: S,
    max_values: usize,
}

/// Where reading stopped.
pub(super) struct Stopped {
    position: Option<ErrorPosition>,
    stop: Stop,
    at: usize,
}

impl Stopped {
    /// The fault in the text.
    pub(super) fn fault(self, bytes: &[u8]) -> NotJson {
        match self.position {
            Some(position) => NotJson { position },
            None => NotJson::at(bytes, self.at, self.stop),
        }
    }
}

impl<'a, S: Sink<'a>> Reader<'a, S> {
    pub(super) fn of(bytes: &'a [u8], sink: S, max_values: usize) -> Result<Self, NotJson> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| NotJson::at(bytes, error.valid_up_to(), Stop::Syntax))?;
        Ok(Self { text, at: 0, fault: None, sink, max_values })
    }

    pub(super) fn input(&self) -> &'a str {
        self.text
    }

    /// Parses the text, which is one value. Returns where the value begins and ends.
    pub(super) fn whole(&mut self) -> Result<(usize, usize), Stopped> {
        let _ = self.next();
        let begin = self.at;
        let read = self.value(Cow::default(), MAX_DEPTH);
        let end = self.at;
        let stop = match read {
            Ok(()) if self.next().is_none() => return Ok((begin, end)),
            Ok(()) => Stop::Syntax,
            Err(stop) => stop,
        };
        Err(Stopped { position: self.fault.take(), stop, at: self.at })
    }

    /// Parses the value of the member `key`. It may contain `depth` more levels of nesting.
    fn value(&mut self, key: Cow<'a, str>, depth: usize) -> Result<(), Stop> {
        if self.sink.len() >= self.max_values {
            self.fault = Some(ErrorPosition::TooManyValues);
            return Err(Stop::Syntax);
        }
        let place = self.sink.begin(key);
        let value = match self.next().ok_or(Stop::Syntax)? {
            b'{' => self.object(place, depth.checked_sub(1).ok_or(Stop::TooDeep)?)?,
            b'[' => self.list(depth.checked_sub(1).ok_or(Stop::TooDeep)?)?,
            b'"' => Value::Text(self.text()?),
            b'n' => self.word("null", Value::Null)?,
            b't' => self.word("true", Value::Bool(true))?,
            b'f' => self.word("false", Value::Bool(false))?,
            _ => self.number()?,
        };
        self.sink.end(place, value);
        Ok(())
    }

    fn object(&mut self, place: usize, depth: usize) -> Result<Value<'a>, Stop> {
        self.at += 1;
        if self.next() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object);
        }
        loop {
            if self.next() != Some(b'"') {
                return Err(Stop::Syntax);
            }
            let key = self.text()?;
            self.pass(b':')?;
            self.value(key, depth)?;
            if self.is_end(b'}')? {
                if !are_distinct(self.sink.keys(place)) {
                    let key = first_duplicate(self.sink.keys(place)).map(str::to_owned);
                    self.fault = key.map(ErrorPosition::DuplicateKey);
                    return Err(Stop::Syntax);
                }
                return Ok(Value::Object);
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, Stop> {
        self.at += 1;
        if self.next() == Some(b']') {
            self.at += 1;
            return Ok(Value::List);
        }
        loop {
            self.value(Cow::default(), depth)?;
            self.sink.element();
            if self.is_end(b']')? {
                return Ok(Value::List);
            }
        }
    }

    /// Skips a comma or the closing character `end`; returns whether it was `end`.
    fn is_end(&mut self, end: u8) -> Result<bool, Stop> {
        let is_end = match self.next() {
            Some(b',') => false,
            Some(next) if next == end => true,
            _ => return Err(Stop::Syntax),
        };
        self.at += 1;
        Ok(is_end)
    }

    fn pass(&mut self, expected: u8) -> Result<(), Stop> {
        if self.next() != Some(expected) {
            return Err(Stop::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Stop> {
        if !self.rest()?.starts_with(word) {
            return Err(Stop::Syntax);
        }
        self.at += word.len();
        Ok(value)
    }

    /// Parses a string. It borrows from the input unless it has escapes.
    fn text(&mut self) -> Result<Cow<'a, str>, Stop> {
        let rest = self.rest()?.get(1..).ok_or(Stop::Syntax)?;
        let stop = |from: usize| {
            let at = memchr2(b'"', b'\\', rest.as_bytes().get(from..)?)?;
            Some(from + at)
        };
        let plain = stop(0).ok_or(Stop::Syntax)?;
        let mut length = plain;
        while rest.as_bytes().get(length) == Some(&b'\\') {
            length = stop(length + 2).ok_or(Stop::Syntax)?;
        }
        let inside = rest.get(..length).ok_or(Stop::Syntax)?;
        // A fold without branches, so that the compiler vectorizes it.
        if inside.bytes().fold(false, |found, byte| found | (byte < b' ')) {
            return Err(Stop::Syntax);
        }
        let text = if length == plain { inside.into() } else { Cow::Owned(unescape(inside)?) };
        self.at += length + 2;
        Ok(text)
    }

    fn number(&mut self) -> Result<Value<'a>, Stop> {
        let rest = self.rest()?;
        let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        let text = rest.get(..length).ok_or(Stop::Syntax)?;
        if !is_in_range(text).ok_or(Stop::Syntax)? {
            return Err(Stop::OutOfRange);
        }
        self.at += length;
        Ok(Value::Number(text))
    }

    /// Skips white space, and returns the next byte without consuming it.
    fn next(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += spaces.count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> Result<&'a str, Stop> {
        self.text.get(self.at..).ok_or(Stop::Syntax)
    }
}
