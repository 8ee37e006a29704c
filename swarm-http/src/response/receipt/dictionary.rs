//! A parser for dictionaries of structured fields (RFC 8941) whose members are inner lists.

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    String(String),
    Boolean(bool),
    /// A number, a token or a byte sequence, which are only skipped.
    Other,
}

/// Parameters in order, each name once.
pub(super) type Parameters = Vec<(String, Bare)>;

/// A member's value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An inner list: its items with their parameters, and its own.
    List(Vec<(Bare, Parameters)>, Parameters),
    Item,
}

/// The members in order, each name once; of several with one name, the last value counts. `None` if the text is
/// no dictionary.
pub(super) fn parse(text: &str) -> Option<Vec<(String, Value)>> {
    let mut parser = Parser(text.trim_matches(' '));
    let mut members = Vec::new();
    while !parser.0.is_empty() {
        let key = parser.key()?;
        let value = match parser.skip('=') {
            true if parser.0.starts_with('(') => parser.list()?,
            true => {
                parser.bare()?;
                parser.parameters()?;
                Value::Item
            }
            false => {
                parser.parameters()?;
                Value::Item
            }
        };
        set(&mut members, key, value);
        parser.skip_all(&[' ', '\t']);
        if parser.0.is_empty() {
            break;
        }
        let is_separated = parser.skip(',');
        parser.skip_all(&[' ', '\t']);
        if !is_separated || parser.0.is_empty() {
            return None;
        }
    }
    Some(members)
}

/// The text of a string.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn set<T>(all: &mut Vec<(String, T)>, key: String, value: T) {
    match all.iter_mut().find(|(known, _)| *known == key) {
        Some((_, known)) => *known = value,
        None => all.push((key, value)),
    }
}

/// The text that is not parsed yet.
struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    fn skip(&mut self, expected: char) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn skip_all(&mut self, skipped: &[char]) {
        self.0 = self.0.trim_start_matches(skipped);
    }

    /// The longest beginning of such characters.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|letter| !is_part(letter)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn key(&mut self) -> Option<String> {
        if !self.0.starts_with(|first: char| first.is_ascii_lowercase() || first == '*') {
            return None;
        }
        let is_part = |it: char| {
            it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '_' | '-' | '.' | '*')
        };
        Some(self.take(is_part).to_owned())
    }

    fn list(&mut self) -> Option<Value> {
        self.skip('(');
        let mut items = Vec::new();
        loop {
            self.skip_all(&[' ']);
            if self.skip(')') {
                return Some(Value::List(items, self.parameters()?));
            }
            items.push((self.bare()?, self.parameters()?));
            if !self.0.starts_with([' ', ')']) {
                return None;
            }
        }
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let mut parameters = Vec::new();
        while self.skip(';') {
            self.skip_all(&[' ']);
            let key = self.key()?;
            let value = if self.skip('=') { self.bare()? } else { Bare::Boolean(true) };
            set(&mut parameters, key, value);
        }
        Some(parameters)
    }

    fn bare(&mut self) -> Option<Bare> {
        match self.0.chars().next()? {
            '"' => self.string().map(Bare::String),
            '?' => {
                self.skip('?');
                let is_true = self.skip('1');
                (is_true || self.skip('0')).then_some(Bare::Boolean(is_true))
            }
            ':' => {
                self.skip(':');
                self.take(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '='));
                self.skip(':').then_some(Bare::Other)
            }
            first if first.is_ascii_digit() || first == '-' => {
                self.skip('-');
                let digits = self.take(|it| it.is_ascii_digit());
                let is_number = !digits.is_empty()
                    && (!self.skip('.') || !self.take(|it| it.is_ascii_digit()).is_empty());
                is_number.then_some(Bare::Other)
            }
            first if first.is_ascii_alphabetic() || first == '*' => {
                let is_part =
                    |it: char| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/".contains(it);
                self.take(is_part);
                Some(Bare::Other)
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<String> {
        let (mut text, mut letters) = (String::new(), self.0.char_indices().skip(1));
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.0 = self.0.get(at + 1..)?;
                    return Some(text);
                }
                '\\' => text.push(letters.next().filter(|(_, it)| matches!(it, '"' | '\\'))?.1),
                ' '..='~' => text.push(letter),
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_of_inner_lists_is_parsed() {
        let text =
            r#"a=("x";req "y");created;nonce="q\"\\";n=-1.5, b=?0;t=tok/en, c, *d=( ) , a=:YQ==:"#;
        let members = parse(text).unwrap();
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "*d"]);
        assert_eq!(members[0].1, Value::Item, "the last value counts");
        let (first, _) = text.split_once(", b").unwrap();
        let string = |text: &str| Bare::String(text.to_owned());
        let items = vec![
            (string("x"), vec![("req".to_owned(), Bare::Boolean(true))]),
            (string("y"), vec![]),
        ];
        let parameters = vec![
            ("created".to_owned(), Bare::Boolean(true)),
            ("nonce".to_owned(), string("q\"\\")),
            ("n".to_owned(), Bare::Other),
        ];
        assert_eq!(parse(first).unwrap(), [("a".to_owned(), Value::List(items, parameters))]);
        assert_eq!(quoted("q\"\\"), r#""q\"\\""#);
    }

    #[test]
    fn what_is_no_dictionary_is_refused() {
        for text in [
            "a=(",
            "a=()b",
            "a=(),",
            ",a",
            "A=()",
            "a=(\"x\"\"y\")",
            "a=(\"x)",
            "a=\"\\n\"",
            "a=?2",
            "a=1.",
            "a=:a",
            "a=();",
            "a=\u{e9}",
            "a= ()",
            "a=() b=()",
            "a=(x;)",
            "a=\"\u{7f}\"",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(" "), Some(vec![]));
    }
}
