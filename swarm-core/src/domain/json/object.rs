//! Objects, as requests carry them.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

use super::fields::{Fields, not_a_list, not_a_number, not_a_string};
use super::value::{Json, Object};
use crate::domain::Invalid;

impl Object {
    /// The members, in their order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Removes a member and returns it. `null` counts as absent.
    pub fn take(&mut self, field: &str) -> Option<Json> {
        let place = self.0.iter().position(|(key, _)| key == field)?;
        let (_, value) = self.0.remove(place);
        Some(value).filter(|value| *value != Json::Null)
    }

    /// Whether the member is present, even if it is `null`.
    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|(key, _)| key == field)
    }

    /// Sets a member, replacing one of that name.
    pub fn set(&mut self, field: &str, value: Json) {
        match self.0.iter_mut().find(|(key, _)| key == field) {
            Some((_, stored)) => *stored = value,
            None => self.0.push((field.to_owned(), value)),
        }
    }

    /// Takes all members that are left, to be kept and shown inside of others.
    ///
    /// # Errors
    /// [`Invalid`] when one is nested more than 64 deep.
    pub(crate) fn rest(&mut self) -> Result<Self, Invalid> {
        let rest = Json::Object(std::mem::take(self)).free("body")?;
        Ok(rest.into_object())
    }

    /// Takes a text that must be there.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or no text.
    pub fn text(&mut self, field: &'static str) -> Result<String, Invalid> {
        self.text_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes a text that may be absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is no text.
    pub fn text_if_any(&mut self, field: &'static str) -> Result<Option<String>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(not_a_string(field)),
        }
    }

    /// Takes a number that must be there.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or no number.
    pub fn number(&mut self, field: &'static str) -> Result<f64, Invalid> {
        self.number_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes a number that may be absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is no number.
    pub fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Number(number)) => Ok(Some(number.get())),
            Some(_) => Err(not_a_number(field)),
        }
    }

    /// Takes a whole number, 0 to 2^53, that may be absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is no such number.
    pub fn whole_if_any(&mut self, field: &'static str) -> Result<Option<u64>, Invalid> {
        const END: f64 = 9_007_199_254_740_992.0;
        match self.number_if_any(field)? {
            None => Ok(None),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            Some(number) if (0.0..=END).contains(&number) && number.fract() == 0.0 => {
                Ok(Some(number as u64))
            }
            Some(_) => Err(Invalid::new(field, "must be a whole number, not negative")),
        }
    }

    /// Takes an id that may be absent: a [whole number](Self::whole_if_any), or its decimal digits
    /// as a text.
    ///
    /// # Errors
    /// [`Invalid`] when it is neither.
    pub fn id_if_any(&mut self, field: &'static str) -> Result<Option<u64>, Invalid> {
        let value = self.members().find(|(key, _)| *key == field);
        let Some((_, Json::Text(text))) = value else { return self.whole_if_any(field) };
        let number = text.parse().ok().filter(|id: &u64| id.to_string() == *text);
        self.take(field);
        number.map(Some).ok_or_else(|| Invalid::new(field, "must be a number, or its digits"))
    }

    /// Takes a truth value that may be absent.
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

    /// Takes a list that may be absent and reads each of its elements.
    ///
    /// # Errors
    /// [`Invalid`] when it is no list, or what `read` says of an element.
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

    /// Takes a list of texts; absent, it is empty.
    ///
    /// # Errors
    /// [`Invalid`] when it is no list of texts.
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
