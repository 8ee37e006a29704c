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
    /// made of, so that a backend whose keys are bytes needs no other comparison.
    pub fn append_to(&self, key: &mut Vec<u8>) {
        match self {
            Self::Null => key.push(0),
            Self::Integer(number) => {
                key.push(1);
                key.extend((number.cast_unsigned() ^ (1 << 63)).to_be_bytes());
            }
            Self::Text(text) => append_bytes(key, 2, text.as_bytes()),
            Self::Bytes(bytes) => append_bytes(key, 3, bytes),
        }
    }
}

/// Appends bytes so that they end: a zero byte in them is followed by 255, which no other element begins with.
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

/// Returns the key of bytes of these values: see [`Value::append_to`].
pub fn key_of<'a>(values: impl IntoIterator<Item = &'a Value> + Clone) -> Vec<u8> {
    let mut key = Vec::with_capacity(key_length(values.clone()));
    values.into_iter().for_each(|value| value.append_to(&mut key));
    key
}

/// Returns the length of the key of these values, unless they contain zero bytes, which make it longer.
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

    #[test]
    fn keys_are_ordered_as_their_values() {
        let texts = ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "aa", "b", "ä"];
        let numbers = [i64::MIN, -256, -1, 0, 1, 255, 256, i64::MAX];
        let mut values = vec![Value::Null];
        values.extend(numbers.map(Value::Integer));
        values.extend(texts.map(Value::from));
        values.extend(texts.map(|text| Value::from(text.as_bytes())));
        let lists: Vec<[&Value; 2]> =
            values.iter().flat_map(|a| values.iter().map(move |b| [a, b])).collect();
        for one in &lists {
            for other in &lists {
                let (first, second) = (key_of(one.iter().copied()), key_of(other.iter().copied()));
                assert_eq!(one.cmp(other), first.cmp(&second), "{one:?} {other:?}");
            }
        }
    }
}
