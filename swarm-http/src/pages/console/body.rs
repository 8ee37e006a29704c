//! Request bodies of the API, built from forms.

use swarm_core::Timestamp;
use swarm_core::json::{Json, Object};

use super::form::FormData;

/// A time as browsers send it, without seconds or zone, is in UTC; any other text is left to the API.
pub(super) fn utc(text: &str) -> String {
    match text.len() {
        16 if text.is_ascii() => format!("{text}:00Z"),
        19 | 23 if text.is_ascii() && !text.ends_with('Z') => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

/// A time as a browser's field takes it: to the minute, in UTC.
pub(super) fn typed_time(at: Timestamp) -> String {
    at.to_string().get(..16).unwrap_or_default().to_owned()
}

/// A request body of the API, built from a form. An empty field is left out.
pub(super) struct Body<'a> {
    sent: &'a FormData,
    fields: Object,
}

impl<'a> Body<'a> {
    pub(super) fn of(sent: &'a FormData) -> Self {
        Self { sent, fields: Object::default() }
    }

    /// Like [`of`](Self::of), for a change of a session, which has a note.
    pub(super) fn noted(sent: &'a FormData) -> Self {
        Self::of(sent).text("note")
    }

    pub(super) fn json(self) -> Json {
        Json::Object(self.fields)
    }

    pub(super) fn set(mut self, name: &str, value: Json) -> Self {
        self.fields.set(name, value);
        self
    }

    fn typed(self, name: &str, value: impl FnOnce(&str) -> Json) -> Self {
        match self.sent.text(name) {
            "" => self,
            text => {
                let value = value(text);
                self.set(name, value)
            }
        }
    }

    pub(super) fn text(self, name: &str) -> Self {
        self.typed(name, |text| Json::from(text))
    }

    pub(super) fn texts(self, names: &[&str]) -> Self {
        names.iter().fold(self, |body, name| body.text(name))
    }

    pub(super) fn time(self, name: &str) -> Self {
        self.typed(name, |text| Json::Text(utc(text)))
    }

    /// A field of JSON. Text that is not JSON is passed on, and refused by the API.
    pub(super) fn value(self, name: &str) -> Self {
        self.typed(name, |text| Json::read(text.as_bytes()).unwrap_or_else(|_| Json::from(text)))
    }

    /// The lines that are not blank.
    pub(super) fn lines(self, name: &str) -> Self {
        self.typed(name, |text| {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Json::from).collect()
        })
    }

    pub(super) fn flag(self, name: &str) -> Self {
        let is_set = !self.sent.text(name).is_empty();
        self.set(name, Json::Bool(is_set))
    }
}

/// The empty body of a request without fields.
pub(super) fn nothing(_: &[String], _: &FormData) -> Json {
    Json::from([])
}
