//! Error pages, with a link back to the home page.

use askama::Template;
use http::StatusCode;
use swarm_core::json::Json;

use super::frame::{Frame, SiteContext, html};
use super::markup::capitalized;
use crate::response::{Answer, ApiError, SWARM_HINT};
use crate::tenants::BasePath;

/// Renders an error as a page with the same status and headers.
pub(crate) fn page(site: SiteContext, error: ApiError) -> Answer {
    page_below(&BasePath::ROOT, (site, false), error.into_answer())
}

/// As [`page`], of an answer whose headers have the base path already, which may be at a path of the console.
pub(crate) fn page_below(
    base: &BasePath,
    (site, is_console): (SiteContext, bool),
    answer: Answer,
) -> Answer {
    let page = ErrorPage {
        text: text(answer.status),
        hint: answer.header(&SWARM_HINT).map(capitalized),
        is_console,
        frame: Frame { path: None, ..Frame::new(site, title(&answer), "") },
    };
    let rendered = html(answer.status, &page).below(base);
    answer.shown_as(rendered)
}

/// As [`page`], of an answer to a request for no tenant. It has no name and no links: they would lead to the same error.
pub(crate) fn page_of_no_tenant(answer: Answer) -> Answer {
    let page = NoTenantPage { title: title(&answer), text: text(answer.status) };
    let rendered = html(answer.status, &page);
    answer.shown_as(rendered)
}

/// The text of the error, as the title of its page.
fn title(answer: &Answer) -> String {
    let body = Json::read(&answer.body).ok();
    let text_of_error = body.and_then(|body| body.into_object().text("error").ok());
    text_of_error.map_or_else(|| "Something went wrong".to_owned(), |text| capitalized(&text))
}

#[derive(Template)]
#[template(path = "error_page.html")]
struct ErrorPage {
    frame: Frame,
    text: &'static str,
    /// What is wrong with the request.
    hint: Option<String>,
    /// Whether the request was for a path of the console: then the page links to the console.
    is_console: bool,
}

#[derive(Template)]
#[template(path = "no_tenant.html")]
struct NoTenantPage {
    title: String,
    text: &'static str,
}

fn text(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => {
            "There is no record at this address. The address may be mistyped, or the memo was retracted. \
             Takes are never removed."
        }
        StatusCode::MISDIRECTED_REQUEST => {
            "Nothing is served at the host of this address. It may be mistyped, or not set up yet."
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            "The records cannot be read at the moment. No record is lost; try again shortly."
        }
        _ => "The request cannot be answered with a page.",
    }
}
