//! The one reader. It finds where values begin and end; texts and numbers are read by `serde_json`.

use super::error::NotJson;
use super::number::Number;
use super::value::{Json, Object};

/// How deep values may be nested.
const DEEPEST: usize = 127;

impl Json {
    /// Reads one JSON text (RFC 8259). Values may be nested 127 deep.
    ///
    /// # Errors
    /// [`NotJson`] when `bytes` are anything else than one JSON text in UTF-8.
    pub fn read(bytes: &[u8]) -> Result<Self, NotJson> {
        let text = std::str::from_utf8(bytes).map_err(|_| NotJson)?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(DEEPEST)?;
        match reader.next() {
            None => Ok(value),
            Some(_) => Err(NotJson),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// The position, in bytes.
    at: usize,
}

impl<'a> Reader<'a> {
    /// A value, which may be nested this deep.
    fn value(&mut self, depth: usize) -> Result<Json, NotJson> {
        match self.next().ok_or(NotJson)? {
            b'{' => self.object(depth.checked_sub(1).ok_or(NotJson)?).map(Json::Object),
            b'[' => self.list(depth.checked_sub(1).ok_or(NotJson)?).map(Json::List),
            b'"' => self.text().map(Json::Text),
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            _ => self.number().map(Json::Number),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Object, NotJson> {
        let mut members = Vec::new();
        self.at += 1;
        if self.next() == Some(b'}') {
            self.at += 1;
            return Ok(Object::default());
        }
        loop {
            if self.next() != Some(b'"') {
                return Err(NotJson);
            }
            let key = self.text()?;
            self.pass(b':')?;
            members.push((key, self.value(depth)?));
            if self.is_end(b'}')? {
                return Object::of(members);
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Json>, NotJson> {
        let mut items = Vec::new();
        self.at += 1;
        if self.next() == Some(b']') {
            self.at += 1;
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.is_end(b']')? {
                return Ok(items);
            }
        }
    }

    /// Skips a comma, or the end of the object or list.
    fn is_end(&mut self, end: u8) -> Result<bool, NotJson> {
        let next = self.next();
        self.at += 1;
        match next {
            Some(b',') => Ok(false),
            Some(next) if next == end => Ok(true),
            _ => Err(NotJson),
        }
    }

    fn pass(&mut self, expected: u8) -> Result<(), NotJson> {
        if self.next() != Some(expected) {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, NotJson> {
        let rest = self.rest().ok_or(NotJson)?;
        if !rest.starts_with(word) {
            return Err(NotJson);
        }
        self.at += word.len();
        Ok(value)
    }

    fn text(&mut self) -> Result<String, NotJson> {
        let rest = self.rest().ok_or(NotJson)?;
        let mut escaped = false;
        let closes = |byte: u8| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        };
        let inside = rest.bytes().skip(1).position(closes).ok_or(NotJson)?;
        let quoted = rest.get(..inside + 2).ok_or(NotJson)?;
        self.at += quoted.len();
        serde_json::from_str(quoted).map_err(|_| NotJson)
    }

    fn number(&mut self) -> Result<Number, NotJson> {
        let rest = self.rest().ok_or(NotJson)?;
        let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        let digits = rest.get(..length).ok_or(NotJson)?;
        self.at += length;
        Number::read(digits)
    }

    /// The next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += spaces.count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> Option<&'a str> {
        self.text.get(self.at..)
    }
}
