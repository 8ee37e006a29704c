//! Dictionaries of structured fields (RFC 8941): the form of the headers that ask for a receipt, and of those
//! that are one (API.md, 11.7).

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bare {
    /// A string, without its quotation marks and escapes.
    String(String),
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// The base64 of a byte sequence.
    Bytes(String),
    /// A decimal number or a token, which nothing here has a use for.
    Other,
}

/// Parameters in order, each name once.
pub type Parameters = Vec<(String, Bare)>;

/// An item with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldItem {
    /// The bare item.
    pub bare: Bare,
    /// The parameters.
    pub parameters: Parameters,
}

/// The value of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// An inner list, with its own parameters.
    List(Vec<FieldItem>, Parameters),
    /// An item.
    Item(FieldItem),
}

/// A member of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryMember<'a> {
    /// The key.
    pub key: String,
    /// The value.
    pub value: FieldValue,
    /// The text of its value, exactly as it was given.
    pub text: &'a str,
}

/// Reads a dictionary: its members in order, each key once; of several with one key, the last value counts.
/// `None` if the text is no dictionary.
pub fn dictionary(text: &str) -> Option<Vec<DictionaryMember<'_>>> {
    let mut parser = Parser(text.trim_matches(' '));
    let mut members: Vec<DictionaryMember<'_>> = Vec::new();
    while !parser.0.is_empty() {
        let member = parser.member()?;
        match members.iter_mut().find(|known| known.key == member.key) {
            Some(known) => *known = member,
            None => members.push(member),
        }
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

/// Returns the value of a parameter that is a string.
pub fn string_of<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    match parameters.iter().find(|(known, _)| known == name) {
        Some((_, Bare::String(text))) => Some(text),
        _ => None,
    }
}

/// Returns the text of a string, in its quotation marks.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The most digits of an integer.
const MAX_DIGITS: usize = 15;

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

    fn member(&mut self) -> Option<DictionaryMember<'a>> {
        let key = self.key()?;
        let is_given = self.skip('=');
        let rest = self.0;
        let value = match is_given {
            true if rest.starts_with('(') => self.list()?,
            true => FieldValue::Item(self.item()?),
            false => FieldValue::Item(FieldItem {
                bare: Bare::Boolean(true),
                parameters: self.parameters()?,
            }),
        };
        let text = rest.get(..rest.len() - self.0.len())?;
        Some(DictionaryMember { key, value, text })
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

    fn list(&mut self) -> Option<FieldValue> {
        self.skip('(');
        let mut items = Vec::new();
        loop {
            self.skip_all(&[' ']);
            if self.skip(')') {
                return Some(FieldValue::List(items, self.parameters()?));
            }
            items.push(self.item()?);
            if !self.0.starts_with([' ', ')']) {
                return None;
            }
        }
    }

    fn item(&mut self) -> Option<FieldItem> {
        Some(FieldItem { bare: self.bare()?, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let mut parameters = Parameters::new();
        while self.skip(';') {
            self.skip_all(&[' ']);
            let key = self.key()?;
            let value = if self.skip('=') { self.bare()? } else { Bare::Boolean(true) };
            match parameters.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = value,
                None => parameters.push((key, value)),
            }
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
                let base64 =
                    self.take(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '='));
                self.skip(':').then(|| Bare::Bytes(base64.to_owned()))
            }
            first if first.is_ascii_digit() || first == '-' => {
                let sign = if self.skip('-') { -1 } else { 1 };
                let digits = self.take(|it| it.is_ascii_digit());
                if self.skip('.') {
                    let fraction = self.take(|it| it.is_ascii_digit());
                    return (!digits.is_empty() && !fraction.is_empty()).then_some(Bare::Other);
                }
                let number = digits.parse::<i64>().ok().filter(|_| digits.len() <= MAX_DIGITS)?;
                Some(Bare::Integer(sign * number))
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
        let text = r#"a=("x";req "y");created;nonce="q\"\\";n=-1.5;i=-15, b=?0;t=tok/en, c, *d=( ) , a=:YQ==:;p"#;
        let members = dictionary(text).unwrap();
        let keys: Vec<_> = members.iter().map(|member| member.key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "c", "*d"]);
        let texts: Vec<_> = members.iter().map(|member| member.text).collect();
        assert_eq!(texts, [":YQ==:;p", "?0;t=tok/en", "", "( )"]);
        let named = |name: &str, value| (name.to_owned(), value);
        let item = |bare, parameters| FieldValue::Item(FieldItem { bare, parameters });
        let bytes = Bare::Bytes("YQ==".to_owned());
        let flag = vec![named("p", Bare::Boolean(true))];
        assert_eq!(members[0].value, item(bytes, flag), "the last value counts");
        assert_eq!(members[1].value, item(Bare::Boolean(false), vec![named("t", Bare::Other)]));
        assert_eq!(members[2].value, item(Bare::Boolean(true), vec![]));
        assert_eq!(members[3].value, FieldValue::List(vec![], vec![]));

        let (first, _) = text.split_once(", b").unwrap();
        let string = |text: &str| Bare::String(text.to_owned());
        let items = vec![
            FieldItem { bare: string("x"), parameters: vec![named("req", Bare::Boolean(true))] },
            FieldItem { bare: string("y"), parameters: vec![] },
        ];
        let parameters = vec![
            named("created", Bare::Boolean(true)),
            named("nonce", string("q\"\\")),
            named("n", Bare::Other),
            named("i", Bare::Integer(-15)),
        ];
        assert_eq!(string_of(&parameters, "nonce"), Some("q\"\\"));
        assert_eq!(string_of(&parameters, "created"), None);
        let whole = DictionaryMember {
            key: "a".to_owned(),
            value: FieldValue::List(items, parameters),
            text: first.strip_prefix("a=").unwrap(),
        };
        assert_eq!(dictionary(first).unwrap(), [whole]);
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
            "a=-",
            "a=1234567890123456",
            "a=:a",
            "a=();",
            "a=\u{e9}",
            "a= ()",
            "a=() b=()",
            "a=(x;)",
            "a=\"\u{7f}\"",
        ] {
            assert_eq!(dictionary(text), None, "{text}");
        }
        assert_eq!(dictionary(" "), Some(vec![]));
    }
}
