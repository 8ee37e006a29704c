//! Reading fields from JSON objects, also through an interface that parsed and unparsed objects have in common.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

use super::number::Number;
use super::value::{Json, Object};
use crate::domain::Invalid;

/// The members of an object, which a reader takes one by one: those of an [`Object`](super::Object)
/// or of a [`JsonDocument`](super::JsonDocument). A member that is `null` counts as absent.
pub trait Fields {
    /// Takes an optional string.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a string.
    fn text_if_any(&mut self, field: &'static str) -> Result<Option<Cow<'_, str>>, Invalid>;

    /// Takes an optional number.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a number.
    fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid>;

    /// Takes an optional list and calls `read` with the members of each of its elements. An element
    /// that is not an object has no members. Returns whether the list is present.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a list; else the first error of `read`.
    fn objects_if_any(
        &mut self,
        field: &'static str,
        read: &mut dyn FnMut(&mut dyn Fields) -> Result<(), Invalid>,
    ) -> Result<bool, Invalid>;

    /// The names that are none of these, in their order, at most `limit`.
    fn others(&self, known: &[&str], limit: usize) -> Vec<String>;

    /// Takes a required string.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or not a string.
    fn text(&mut self, field: &'static str) -> Result<Cow<'_, str>, Invalid> {
        self.text_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes a required number.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or not a number.
    fn number(&mut self, field: &'static str) -> Result<f64, Invalid> {
        self.number_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }
}

impl Object {
    /// Returns the members, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Removes a member and returns it. `null` counts as absent.
    pub fn take(&mut self, field: &str) -> Option<Json> {
        let place = self.0.iter().position(|(key, _)| key == field)?;
        let (_, value) = self.0.remove(place);
        Some(value).filter(|value| *value != Json::Null)
    }

    /// Returns whether the member is present, even if it is `null`.
    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|(key, _)| key == field)
    }

    /// Returns the member with this name.
    pub fn get(&self, field: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| key == field).map(|(_, value)| value)
    }

    /// Returns the member with this name, to be changed.
    pub fn get_mut(&mut self, field: &str) -> Option<&mut Json> {
        self.0.iter_mut().find(|(key, _)| key == field).map(|(_, value)| value)
    }

    /// Takes a list; empty where there is none.
    pub fn items(&mut self, field: &str) -> Vec<Json> {
        match self.take(field) {
            Some(Json::List(items)) => items,
            _ => Vec::new(),
        }
    }

    /// Sets a member, replacing an existing one.
    pub fn set(&mut self, field: &str, value: Json) {
        match self.0.iter_mut().find(|(key, _)| key == field) {
            Some((_, stored)) => *stored = value,
            None => self.0.push((field.to_owned(), value)),
        }
    }

    /// Takes all remaining members, to be stored and shown inside another object.
    ///
    /// # Errors
    /// [`Invalid`] when one is nested deeper than 64 levels.
    pub(crate) fn rest(&mut self) -> Result<Self, Invalid> {
        let rest = Json::Object(std::mem::take(self)).free("body")?;
        Ok(rest.into_object())
    }

    /// Reads this object with `read`, which takes the members that it knows.
    ///
    /// # Errors
    /// The error of `read`; [`Invalid`] when a member is left. Its name is probably misspelled, and ignoring
    /// it would lose a setting.
    pub fn read_all<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Invalid>,
    ) -> Result<T, Invalid> {
        let value = read(&mut self)?;
        match self.members().next() {
            None => Ok(value),
            Some((name, _)) => Err(Invalid::unknown(name)),
        }
    }

    /// Takes a required string.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or not a string.
    pub fn text(&mut self, field: &'static str) -> Result<String, Invalid> {
        self.text_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes an optional string.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a string.
    pub fn text_if_any(&mut self, field: &'static str) -> Result<Option<String>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(not_a_string(field)),
        }
    }

    /// Takes a required number.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or not a number.
    pub fn number(&mut self, field: &'static str) -> Result<f64, Invalid> {
        self.number_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes an optional number.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a number.
    pub fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Number(number)) => Ok(Some(number.get())),
            Some(_) => Err(not_a_number(field)),
        }
    }

    /// Takes an optional integer, 0 to 2^53.
    ///
    /// # Errors
    /// [`Invalid`] for any other value.
    pub fn whole_if_any(&mut self, field: &'static str) -> Result<Option<u64>, Invalid> {
        match self.number_if_any(field)?.map(|number| Number::from(number).whole()) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => Err(Invalid::new(field, "must be a whole number, not negative")),
        }
    }

    /// Takes an optional id: an [integer](Self::whole_if_any), or its decimal digits as a string.
    ///
    /// # Errors
    /// [`Invalid`] when it is neither.
    pub fn id_if_any(&mut self, field: &'static str) -> Result<Option<u64>, Invalid> {
        let Some(Json::Text(text)) = self.get(field) else { return self.whole_if_any(field) };
        let number = text.parse().ok().filter(|id: &u64| id.to_string() == *text);
        self.take(field);
        number.map(Some).ok_or_else(|| Invalid::new(field, "must be a number, or its digits"))
    }

    /// Takes an optional boolean.
    ///
    /// # Errors
    /// [`Invalid`] when it is neither `true` nor `false`.
    pub fn bool_if_any(&mut self, field: &'static str) -> Result<Option<bool>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(Invalid::new(field, "must be true or false")),
        }
    }

    /// Takes an optional list and reads each of its elements.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a list; else the first error of `read`.
    pub fn list_if_any<T>(
        &mut self,
        field: &'static str,
        read: impl FnMut(Json) -> Result<T, Invalid>,
    ) -> Result<Option<Vec<T>>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::List(items)) => {
                items.into_iter().map(read).collect::<Result<_, _>>().map(Some)
            }
            Some(_) => Err(not_a_list(field)),
        }
    }

    /// Takes a list of strings; empty when absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is not a list of strings.
    pub fn texts(&mut self, field: &'static str) -> Result<Vec<String>, Invalid> {
        let text = |item| match item {
            Json::Text(text) => Ok(text),
            _ => Err(Invalid::new(field, "must hold strings")),
        };
        Ok(self.list_if_any(field, text)?.unwrap_or_default())
    }
}

impl Fields for Object {
    fn text_if_any(&mut self, field: &'static str) -> Result<Option<Cow<'_, str>>, Invalid> {
        Ok(self.text_if_any(field)?.map(Cow::Owned))
    }

    fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid> {
        self.number_if_any(field)
    }

    fn objects_if_any(
        &mut self,
        field: &'static str,
        read: &mut dyn FnMut(&mut dyn Fields) -> Result<(), Invalid>,
    ) -> Result<bool, Invalid> {
        let list = self.list_if_any(field, |item| read(&mut item.into_object()))?;
        Ok(list.is_some())
    }

    fn others(&self, known: &[&str], limit: usize) -> Vec<String> {
        let others = self.0.iter().map(|(key, _)| key).filter(|key| !known.contains(&&***key));
        others.take(limit).cloned().collect()
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.members())
    }
}

pub(super) fn not_a_string(field: &'static str) -> Invalid {
    Invalid::new(field, "must be a string")
}

pub(super) fn not_a_number(field: &'static str) -> Invalid {
    Invalid::new(field, "must be a number")
}

pub(super) fn not_a_list(field: &'static str) -> Invalid {
    Invalid::new(field, "must be an array")
}
