//! Values of columns, and terms that a query or a commit resolves to values.

use std::sync::Arc;

use crate::domain::Timestamp;

/// The value of a column. Values of one column have one type, or are null.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// No value.
    Null,
    /// An integer, or a time in milliseconds since 1970.
    Integer(i64),
    /// A text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

impl Value {
    /// Returns the integer; `None` for other values.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the text; `None` for other values.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes; `None` for other values.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns whether there is no value.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Appends the value to a key of bytes. The order of such keys is the order of the lists of values that they were
    /// made of, so that a backend whose keys are bytes needs no other comparison. [`read`](Self::read) is the inverse.
    pub fn append_to(&self, key: &mut Vec<u8>) {
        match self {
            Self::Null => key.push(0),
            Self::Integer(number) => append_integer(key, *number),
            Self::Text(text) => append_bytes(key, TEXT, text.as_bytes()),
            Self::Bytes(bytes) => append_bytes(key, BYTES, bytes),
        }
    }

    /// Reads the first value of a key, and leaves the others. `None` if no value is there.
    pub fn read(key: &mut &[u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        *key = rest;
        Some(match *kind {
            0 => Self::Null,
            TEXT => Self::Text(String::from_utf8(read_bytes(key)?).ok()?.into()),
            BYTES => Self::Bytes(read_bytes(key)?.into()),
            kind => {
                let (digits, rest) = key.split_at_checked(usize::from(kind.abs_diff(INTEGER)))?;
                *key = rest;
                let mut number = if kind < INTEGER { [255; 8] } else { [0; 8] };
                number.get_mut(8_usize.checked_sub(digits.len())?..)?.copy_from_slice(digits);
                Self::Integer(i64::from_be_bytes(number))
            }
        })
    }
}

/// What the key of an integer begins with: this and the number of bytes that follow; less for a negative one. That of a null
/// is a zero byte.
const INTEGER: u8 = 24;

/// What the keys of texts and bytes begin with.
const TEXT: u8 = 48;
const BYTES: u8 = 49;

/// Appends an integer: how many bytes it needs, and these. A negative one needs the bytes that differ from 255.
fn append_integer(key: &mut Vec<u8>, number: i64) {
    let magnitude = if number < 0 { !number } else { number };
    let needed = 8 - magnitude.leading_zeros() / 8;
    let needed = u8::try_from(needed).unwrap_or(8).max(u8::from(number < 0));
    key.push(if number < 0 { INTEGER - needed } else { INTEGER + needed });
    key.extend(number.to_be_bytes().iter().skip(8 - usize::from(needed)));
}

/// Appends bytes so that they end: a zero byte in them is followed by 255, which no value begins with.
fn append_bytes(key: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    key.push(kind);
    for (place, run) in bytes.split(|byte| *byte == 0).enumerate() {
        if place > 0 {
            key.extend([0, 255]);
        }
        key.extend_from_slice(run);
    }
    key.push(0);
}

fn read_bytes(key: &mut &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let end = key.iter().position(|byte| *byte == 0)?;
        let (run, rest) = key.split_at_checked(end)?;
        all.extend_from_slice(run);
        *key = rest.get(1..)?;
        match key.split_first() {
            Some((255, rest)) => *key = rest,
            _ => return Some(all),
        }
        all.push(0);
    }
}

/// Returns the key of bytes of these values: see [`Value::append_to`].
pub fn key_of<'a>(values: impl IntoIterator<Item = &'a Value> + Clone) -> Vec<u8> {
    let mut key = Vec::with_capacity(key_length(values.clone()));
    values.into_iter().for_each(|value| value.append_to(&mut key));
    key
}

/// Returns the maximum length of the key of these values, unless they contain zero bytes, which make it longer.
pub fn key_length<'a>(values: impl IntoIterator<Item = &'a Value>) -> usize {
    let length = |value: &Value| match value {
        Value::Null => 1,
        Value::Integer(_) => 9,
        Value::Text(text) => text.len() + 2,
        Value::Bytes(bytes) => bytes.len() + 2,
    };
    values.into_iter().map(length).sum()
}

/// An identifier that counts from 1; larger ones than `i64::MAX` do not occur.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.millis())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A value, or the place from which a query or a commit takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// This value.
    Value(Value),
    /// In a query: the column with the second position, in the first record that the query with the first position
    /// found. A query with such a term finds nothing if that one found nothing.
    Found(usize, usize),
    /// In a transaction: the number that the commit takes from the sequence at this position in
    /// [`Transaction::sequences`](super::Transaction::sequences).
    Assigned(usize),
    /// In a transaction: the same number as text, in decimal digits.
    AssignedText(usize),
    /// In a transaction: the time of the commit.
    Now,
}

impl<T: Into<Value>> From<T> for Term {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

/// What a commit assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The time of the commit.
    pub at: Timestamp,
    /// A number for each of the sequences of the transaction.
    pub numbers: Vec<u64>,
}

impl Term {
    /// Returns the value that a commit writes. [`Value::Null`] for a term that belongs in a query.
    pub fn written(&self, assigned: &Assigned) -> Value {
        let number = |sequence: usize| assigned.numbers.get(sequence).copied();
        match self {
            Self::Value(value) => value.clone(),
            Self::Assigned(sequence) => number(*sequence).into(),
            Self::AssignedText(sequence) => number(*sequence).map(|it| it.to_string()).into(),
            Self::Now => assigned.at.into(),
            Self::Found(..) => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<Value> {
        let texts = ["", "\0", "\0\0a", "a", "a\0", "a\0b", "aa", "ä"];
        let powers = (0..63).map(|bits| 1_i64 << bits);
        let numbers = powers.flat_map(|it| [it - 1, it, it + 1, -it - 1, -it, 1 - it]);
        let bytes = [&[][..], &[0], &[0, 0], &[0, 255], &[1], &[255, 0, 0]];
        let mut values = vec![Value::Null, Value::Integer(i64::MIN), Value::Integer(i64::MAX)];
        values.extend(numbers.map(Value::Integer));
        values.extend(texts.map(Value::from));
        values.extend(bytes.map(Value::from));
        values
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        for value in values() {
            let written = key_of([&value, &Value::from("b")]);
            let mut rest = &*written;
            assert_eq!(Value::read(&mut rest), Some(value));
            assert_eq!(Value::read(&mut rest), Some("b".into()));
            assert!(rest.is_empty());
        }
        for odd in [&[][..], &[25], &[23], &[48], &[48, 0, 255], &[48, 255, 0], &[60, 0], &[255]] {
            assert_eq!(Value::read(&mut &*odd), None, "{odd:?}");
        }
    }

    #[test]
    fn keys_are_ordered_as_their_values() {
        let second = [Value::Null, Value::from("a"), Value::Integer(7)];
        for one in &values() {
            for other in &values() {
                for (first, last) in second.iter().zip(second.iter().rev()) {
                    let (a, b) = ([one, first], [other, last]);
                    assert_eq!(a.cmp(&b), key_of(a).cmp(&key_of(b)), "{one:?} {other:?}");
                }
            }
        }
    }
}
