//! Answers: redirects, and pages of errors.

use http::StatusCode;
use http::header::{HeaderName, HeaderValue, LOCATION};
use swarm_core::json::Json;

use super::page::Page;
use crate::response::{Answer, ApiError};
use crate::tenants::ServedTenant;

/// 303, which a browser follows with a GET.
pub(super) fn see_other(location: &str) -> Answer {
    let mut answer = Answer::empty(StatusCode::SEE_OTHER);
    if let Ok(location) = HeaderValue::try_from(location) {
        answer.headers.insert(LOCATION, location);
    }
    answer.headers.insert(ROBOTS, HeaderValue::from_static("noindex, nofollow"));
    answer
}

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// The status and headers of an error, with this page as its body.
pub(super) fn with_error(error: Answer, page: Page) -> Answer {
    let page = page.answer(error.status);
    let (mut headers, problem) = (error.headers, error.problem);
    headers.extend(page.headers.clone());
    Answer { headers, problem, ..page }
}

/// The error and its detail, as one text.
pub(super) fn fault_of(error: &Answer) -> String {
    let body = Json::read(&error.body).ok();
    let mut body = body.map(Json::into_object).unwrap_or_default();
    let text = body.text("error").unwrap_or_else(|_| "refused".to_owned());
    let mut letters = text.chars();
    let text: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match body.text("detail") {
        Ok(detail) => format!("{text}: {detail}."),
        Err(_) => format!("{text}."),
    }
}

/// A page for somebody who is not signed in.
pub(super) fn plain(served: &ServedTenant, page: Page) -> Page {
    Page { tenant: served.config().name.clone(), ..page }
}

/// An error before anybody is signed in.
pub(super) fn refusal(
    served: &ServedTenant,
    error: impl Into<ApiError>,
    title: &str,
    lead: &str,
) -> Answer {
    let page = plain(served, Page::new(title).leading(lead));
    with_error(error.into().into_answer(), page)
}
