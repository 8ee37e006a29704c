//! What fields are read from.

use std::borrow::Cow;

use crate::domain::Invalid;

/// The members of an object, which are taken out one by one: those of an [`Object`](super::Object)
/// or of a [`Document`](super::Document). One that is `null` counts as absent.
pub trait Fields {
    /// Takes a text that may be absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is no text.
    fn text_if_any(&mut self, field: &'static str) -> Result<Option<Cow<'_, str>>, Invalid>;

    /// Takes a number that may be absent.
    ///
    /// # Errors
    /// [`Invalid`] when it is no number.
    fn number_if_any(&mut self, field: &'static str) -> Result<Option<f64>, Invalid>;

    /// Takes a list that may be absent, and lets `read` take the members of each of its objects; what
    /// is no object has none. Whether there was a list.
    ///
    /// # Errors
    /// [`Invalid`] when it is no list, or what `read` says first.
    fn objects_if_any(
        &mut self,
        field: &'static str,
        read: &mut dyn FnMut(&mut dyn Fields) -> Result<(), Invalid>,
    ) -> Result<bool, Invalid>;

    /// Takes a text that must be there.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or no text.
    fn text(&mut self, field: &'static str) -> Result<Cow<'_, str>, Invalid> {
        self.text_if_any(field)?.ok_or_else(|| Invalid::missing(field))
    }

    /// Takes a number that must be there.
    ///
    /// # Errors
    /// [`Invalid`] when it is absent or no number.
    fn number(&mut self, field: &'static str) -> Result<f64, Invalid> {
        self.number_if_any(field)?.ok_or_else(|| Invalid::missing(field))
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
