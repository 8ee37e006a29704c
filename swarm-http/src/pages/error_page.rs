//! Error pages, for what was not found or could not be read, with a link back.

use askama::Template;
use http::StatusCode;
use swarm_core::json::Json;

use super::frame::{Desk, Frame, html};
use crate::response::{Answer, ApiError};

/// The page of an error, with its status and headers.
pub(crate) fn page(desk: Desk, error: ApiError) -> Answer {
    let answer = error.into_answer();
    let told = Json::read(&answer.body).ok().and_then(|body| body.into_object().text("error").ok());
    let title = capitalized(told.as_deref().unwrap_or_default());
    let page = FaultPage {
        text: text(answer.status),
        frame: Frame { path: None, ..Frame::new(desk, title, "") },
    };
    let rendered = html(answer.status, &page);
    // The headers of the error stay: which methods are allowed, when to retry.
    let (mut headers, problem) = (answer.headers, answer.problem);
    headers.extend(rendered.headers.clone());
    Answer { headers, problem, ..rendered }
}

#[derive(Template)]
#[template(path = "error_page.html")]
struct FaultPage {
    frame: Frame,
    text: &'static str,
}

fn text(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => {
            "Nothing is on file at this address. It may have been mistyped, or a memo was retracted; \
             takes and sessions are never removed."
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            "The records cannot be read at the moment. Nothing on file is lost: try again shortly."
        }
        _ => "The address asks for something that cannot be shown.",
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Something went wrong".to_owned(),
    }
}
