//! JSON values as their texts: what is large is read part by part, so that it takes little more memory than its text.

use std::borrow::Cow;

use memchr::memchr2;

use super::document::Value;
use super::error::NotJson;
use super::escapes::unescape;
use super::number::Number;
use super::reader::{Reader, Sink};
use super::value::{Json, Object};

/// The text of a JSON value, whose grammar was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawJson<'a>(&'a str);

/// How deep the elements of a list are counted before they are read, so that a long list is allocated once.
const COUNTED_DEPTH: usize = 4;

impl<'a> RawJson<'a> {
    /// Checks one JSON text, like [`Json::read_bounded`], and keeps nothing but the text.
    ///
    /// # Errors
    /// [`NotJson`], like [`Json::read_bounded`].
    pub fn read_bounded(bytes: &'a [u8], max_values: usize) -> Result<Self, NotJson> {
        let mut reader = Reader::of(bytes, Checked::default(), max_values)?;
        let (start, end) = reader.whole().map_err(|stopped| stopped.fault(bytes))?;
        Ok(Self(reader.input().get(start..end).unwrap_or_default()))
    }

    /// Checks one JSON text, like [`Json::read`], and keeps nothing but the text.
    ///
    /// # Errors
    /// [`NotJson`], like [`Json::read`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, NotJson> {
        Self::read_bounded(bytes, usize::MAX)
    }

    /// Returns the text.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns the members, in order; any other value than an object has none.
    pub fn members(self) -> impl Iterator<Item = (Cow<'a, str>, RawJson<'a>)> {
        let mut parts = Parts::of(self.0, b'{');
        std::iter::from_fn(move || {
            let key = parts.next_value()?;
            parts.skip(b':');
            Some((text(key), Self(parts.next_value()?)))
        })
    }

    /// Returns the member with this name. `null` counts as absent.
    pub fn member(self, field: &str) -> Option<RawJson<'a>> {
        let (_, value) = self.members().find(|(key, _)| key == field)?;
        Some(value).filter(|value| value.0 != "null")
    }

    /// Returns the elements, in order, if it is a list.
    pub fn elements(self) -> Option<impl Iterator<Item = RawJson<'a>> + Clone> {
        let mut parts = self.0.starts_with('[').then(|| Parts::of(self.0, b'['))?;
        Some(std::iter::from_fn(move || parts.next_value().map(Self)))
    }

    /// Converts it to an owned value.
    pub fn to_json(self) -> Json {
        self.json(0)
    }

    /// Converts it to an object. Any other value becomes an object without members.
    pub fn to_object(self) -> Object {
        if self.0.starts_with('{') { self.to_json().into_object() } else { Object::default() }
    }

    fn json(self, depth: usize) -> Json {
        match self.0.as_bytes().first() {
            Some(b'{') => {
                let number = if depth < COUNTED_DEPTH { self.members().count() } else { 0 };
                let mut members = Vec::with_capacity(number);
                let member =
                    |(key, value): (Cow<'_, str>, Self)| (key.into_owned(), value.json(depth + 1));
                members.extend(self.members().map(member));
                members.shrink_to_fit();
                Json::Object(Object(members))
            }
            Some(b'[') => {
                let elements = || self.elements().into_iter().flatten();
                let number = if depth < COUNTED_DEPTH { elements().count() } else { 0 };
                let mut list = Vec::with_capacity(number);
                list.extend(elements().map(|value| value.json(depth + 1)));
                list.shrink_to_fit();
                Json::List(list)
            }
            Some(b'"') => Json::Text(text(self.0).into_owned()),
            Some(b't') => Json::Bool(true),
            Some(b'f') => Json::Bool(false),
            Some(b'n') | None => Json::Null,
            Some(_) => Json::Number(Number::written(self.0)),
        }
    }
}

/// The content of a string with its quotes.
fn text(quoted: &str) -> Cow<'_, str> {
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let inside = inside.unwrap_or_default();
    match memchr::memchr(b'\\', inside.as_bytes()) {
        None => Cow::Borrowed(inside),
        Some(_) => Cow::Owned(unescape(inside).unwrap_or_default()),
    }
}

/// The values inside of a list or an object whose grammar was checked.
#[derive(Clone)]
struct Parts<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str, begin: u8) -> Self {
        let is_one = text.as_bytes().first() == Some(&begin);
        Self { text, at: if is_one { 1 } else { text.len() } }
    }

    /// The next value, or the next key; `None` at the end.
    fn next_value(&mut self) -> Option<&'a str> {
        self.skip(b',');
        let begin = self.at;
        let end = match self.text.as_bytes().get(begin)? {
            b']' | b'}' => return None,
            b'"' => end_of_string(self.text, begin)?,
            b'{' | b'[' => end_of_nested(self.text, begin)?,
            _ => {
                let rest = self.text.as_bytes().get(begin..)?;
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
                begin + rest.iter().position(is_end).unwrap_or(rest.len())
            }
        };
        self.at = end;
        self.text.get(begin..end)
    }

    /// Skips white space, and this character.
    fn skip(&mut self, mark: u8) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_skipped =
            |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || **byte == mark;
        self.at += rest.iter().take_while(is_skipped).count();
    }
}

/// The end of a string that begins with a quote here.
fn end_of_string(text: &str, begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        let rest = text.as_bytes().get(at..)?;
        let next = at + memchr2(b'"', b'\\', rest)?;
        match text.as_bytes().get(next)? {
            b'"' => return Some(next + 1),
            _ => at = next + 2,
        }
    }
}

/// The end of a list or an object that begins here.
fn end_of_nested(text: &str, begin: usize) -> Option<usize> {
    let (mut at, mut depth) = (begin, 0_usize);
    loop {
        match text.as_bytes().get(at)? {
            b'"' => {
                at = end_of_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Checks a text without keeping its values: only the keys of objects that have not ended.
#[derive(Default)]
struct Checked<'a> {
    values: usize,
    keys: Vec<Cow<'a, str>>,
}

impl<'a> Sink<'a> for Checked<'a> {
    fn len(&self) -> usize {
        self.values
    }

    fn begin(&mut self, key: Cow<'a, str>) -> usize {
        self.values += 1;
        self.keys.push(key);
        self.keys.len() - 1
    }

    fn end(&mut self, place: usize, _: Value<'a>) {
        self.keys.truncate(place + 1);
    }

    fn element(&mut self) {
        self.keys.pop();
    }

    fn keys(&self, place: usize) -> impl Iterator<Item = &str> + Clone {
        self.keys.get(place + 1..).unwrap_or_default().iter().map(|key| &**key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// JSON texts with white space, some of them with a key twice.
    fn texts() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "null|true|false",
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?(e[0-9])?",
            "\"([a-z\\]}\\[{,: ]|\\\\\"|\\\\\\\\|\\\\u0041){0,5}\"",
        ];
        leaf.prop_recursive(6, 40, 4, |inner| {
            let member = ("[a-c]", inner.clone()).prop_map(|(key, it)| format!("\"{key}\" : {it}"));
            prop_oneof![
                vec(inner, 0..4).prop_map(|list| format!("[ {} ]", list.join(" ,\n"))),
                vec(member, 0..4).prop_map(|members| format!("{{{}}} ", members.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn raw_values_are_those_of_the_parser(
            text in prop_oneof![texts(), "[\\[\\]{},:\"a01 \\\\.n-]{0,24}"],
        ) {
            let raw = RawJson::read(text.as_bytes());
            prop_assert_eq!(raw.clone().map(RawJson::to_json), Json::read(text.as_bytes()));
            if let Ok(raw) = raw {
                let members: Vec<_> = raw.members().map(|(key, it)| (key.into_owned(), it.to_json())).collect();
                prop_assert_eq!(Object(members), raw.to_object());
            }
        }
    }
}
