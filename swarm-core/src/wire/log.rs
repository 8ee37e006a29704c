//! Responses about the log.

use super::Answer;
use super::answer::Written;
use crate::domain::json::write;
use crate::service::LogPage;

/// The store was accepted as it is: `{ok, status}`.
pub fn accepted() -> Answer {
    Answer::done(200, &Written {})
}

/// Returns the response with a page of the log: `{log, entries, next, more}`, each entry as its exact text (API.md, 11.2).
pub fn page(page: &LogPage) -> Answer {
    Answer::written(200, write(page))
}
