//! A common interface to the members of a JSON object.

use std::borrow::Cow;

use crate::domain::Invalid;

/// The members of an object, which a reader takes one by one: those of an [`Object`](super::Object)
/// or of a [`Document`](super::Document). A member that is `null` counts as absent.
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

pub(super) fn not_a_string(field: &'static str) -> Invalid {
    Invalid::new(field, "must be a string")
}

pub(super) fn not_a_number(field: &'static str) -> Invalid {
    Invalid::new(field, "must be a number")
}

pub(super) fn not_a_list(field: &'static str) -> Invalid {
    Invalid::new(field, "must be an array")
}
