//! Responses about the log.

use serde::Serialize;

use super::Answer;
use crate::service::LogPage;

/// The store was accepted as it is: `{ok, status}`.
pub fn accepted() -> Answer {
    #[derive(Serialize)]
    struct Nothing {}
    Answer::done(200, &Nothing {})
}

/// A page of the log: `{entries, next}`, each entry as its exact text (API.md, 11.1).
pub fn page(page: &LogPage) -> Answer {
    let next = page.next.map_or_else(|| "null".to_owned(), |seq| seq.to_string());
    let body = format!(r#"{{"entries":[{}],"next":{next}}}"#, page.entries.join(","));
    Answer { status: 200, body, problem: None }
}
