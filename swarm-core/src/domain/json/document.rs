//! A parsed JSON text that borrows from its input.

use std::borrow::Cow;
use std::iter::from_fn;
use std::mem::take;

use super::number::{Number, nearest};
use super::object::{Fields, not_a_list, not_a_number, not_a_string};
use super::value::Json;
use crate::domain::Invalid;

/// A parsed JSON text. All values are in one flat list, and strings without escapes borrow from the
/// input, so that parsing usually allocates once.
#[derive(Debug)]
pub struct JsonDocument<'a>(Vec<Node<'a>>);

/// A value. The values that it contains follow it in the list.
#[derive(Debug)]
struct Node<'a> {
    /// The key, if it is a member of an object.
    key: Cow<'a, str>,
    value: Value<'a>,
    /// The number of values in the list that belong to it, including itself.
    size: usize,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    /// A number, as written. It is converted when it is read.
    Number(&'a str),
    Text(Cow<'a, str>),
    List,
    Object,
}

impl<'a> JsonDocument<'a> {
    /// The initial capacity: the number of values in a typical take.
    const CAPACITY: usize = 32;

    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(Self::CAPACITY))
    }

    /// Returns the members of the outermost object; any other value has none.
    pub fn members(&mut self) -> Members<'_, 'a> {
        Members::of(&mut self.0)
    }

    /// Converts it to an owned value.
    pub fn into_json(mut self) -> Json {
        json(&mut self.0)
    }
}

/// What becomes of the values that are parsed.
pub(super) trait Sink<'a> {
    /// The number of values so far.
    fn len(&self) -> usize;

    /// Begins a value, and returns its place.
    fn begin(&mut self, key: Cow<'a, str>) -> usize;

    /// Ends the value at this place.
    fn end(&mut self, place: usize, value: Value<'a>);

    /// Called after the end of an element of a list.
    fn element(&mut self) {}

    /// The keys of the object at this place, which has not ended.
    fn keys(&self, place: usize) -> impl Iterator<Item = &str> + Clone;
}

impl<'a> Sink<'a> for JsonDocument<'a> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn begin(&mut self, key: Cow<'a, str>) -> usize {
        self.0.push(Node { key, value: Value::Null, size: 0 });
        self.0.len() - 1
    }

    fn end(&mut self, place: usize, value: Value<'a>) {
        let size = self.0.len() - place;
        if let Some(node) = self.0.get_mut(place) {
            (node.value, node.size) = (value, size);
        }
    }

    fn keys(&self, place: usize) -> impl Iterator<Item = &str> + Clone {
        keys(self.0.get(place + 1..).unwrap_or_default())
    }
}

/// The members of an object in a [`JsonDocument`]. A member that is `null` counts as absent, and
/// unknown members are ignored (API.md, 1.1).
#[derive(Debug)]
pub struct Members<'d, 'a>(&'d mut [Node<'a>]);

impl<'d, 'a> Members<'d, 'a> {
    fn of(value: &'d mut [Node<'a>]) -> Self {
        match value {
            [Node { value: Value::Object, .. }, inside @ ..] => Self(inside),
            _ => Self(&mut []),
        }
    }

    fn member(&mut self, field: &str) -> Option<&mut [Node<'a>]> {
        let member = values(self.0).find(|member| matches!(member, [it, ..] if it.key == field))?;
        (!matches!(member, [Node { value: Value::Null, .. }, ..])).then_some(member)
    }
}

impl Fields for Members<'_, '_> {
    fn text_if_any(&mut self, field: &'static str) -> Result<Option<Cow<'_, str>>, Invalid> {
        match self.member(field) {
            None => Ok(None),
            Some([Node { value: Value::Text(text), .. }, ..]) => Ok(Some(take(text))),
            Some(_) => Err(not_a_string(field)),
        }
    }

    fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid> {
        match self.member(field) {
            None => Ok(None),
            Some([Node { value: Value::Number(text), .. }, ..]) => Ok(Some(nearest(text))),
            Some(_) => Err(not_a_number(field)),
        }
    }

    fn objects_if_any(
        &mut self,
        field: &'static str,
        read: &mut dyn FnMut(&mut dyn Fields) -> Result<(), Invalid>,
    ) -> Result<bool, Invalid> {
        match self.member(field) {
            None => Ok(false),
            Some([Node { value: Value::List, .. }, inside @ ..]) => {
                values(inside).try_for_each(|item| read(&mut Members::of(item))).map(|()| true)
            }
            Some(_) => Err(not_a_list(field)),
        }
    }

    fn others(&self, known: &[&str], limit: usize) -> Vec<String> {
        let others = keys(self.0).filter(|key| !known.contains(key));
        others.take(limit).map(str::to_owned).collect()
    }
}

/// The keys of the values that follow each other.
fn keys<'n>(mut rest: &'n [Node<'_>]) -> impl Iterator<Item = &'n str> + Clone {
    from_fn(move || {
        let first = rest.first()?;
        rest = rest.get(first.size..)?;
        Some(&*first.key)
    })
}

/// Splits a list into its values, each with the values that it contains.
fn values<'n, 'a>(mut rest: &'n mut [Node<'a>]) -> impl Iterator<Item = &'n mut [Node<'a>]> {
    from_fn(move || {
        let size = rest.first()?.size;
        let (value, after) = take(&mut rest).split_at_mut_checked(size)?;
        rest = after;
        Some(value)
    })
}

fn json(value: &mut [Node<'_>]) -> Json {
    let Some((first, inside)) = value.split_first_mut() else { return Json::Null };
    match &mut first.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(text) => Json::Number(Number::written(text)),
        Value::Text(text) => Json::Text(take(text).into_owned()),
        Value::List => Json::List(values(inside).map(json).collect()),
        Value::Object => Json::Object(values(inside).map(member).collect()),
    }
}

fn member(value: &mut [Node<'_>]) -> (String, Json) {
    let key = value.first_mut().map(|first| take(&mut first.key)).unwrap_or_default();
    (key.into_owned(), json(value))
}
