//! HTML pages (MANUAL.md, 10). All text on them is untrusted: templates, charts and Markdown escape it,
//! and the content security policy blocks scripts if one of them fails to; `verifier` alone has a script. Each page is rendered
//! from the same reads as the API. A client that prefers JSON gets the API's answer at the same path.

pub(crate) mod about;
mod acts;
pub(crate) mod calendar;
pub(crate) mod card;
mod charts;
mod citation;
#[cfg(feature = "committee")]
pub(crate) mod committee;
pub(crate) mod console;
mod declaration;
mod differences;
mod disagreement;
mod error_page;
pub(crate) mod feed;
pub(crate) mod files;
pub(crate) mod find;
mod frame;
mod home;
mod key_figures;
#[cfg(feature = "pictures")]
mod lettering;
mod links;
mod list_filter;
mod lists;
pub(crate) mod log;
mod markdown;
mod markup;
pub(crate) mod member;
pub(crate) mod members;
pub(crate) mod memo;
pub(crate) mod memos;
mod negotiation;
mod outcome;
mod page_size;
mod people;
#[cfg(feature = "pictures")]
pub(crate) mod picture;
pub(crate) mod ranking;
mod result;
pub(crate) mod session;
pub(crate) mod session_history;
mod session_link;
pub(crate) mod session_roster;
pub(crate) mod sessions;
pub(crate) mod since;
mod stage_text;
mod stance;
mod styles;
pub(crate) mod subject;
mod subject_card;
mod subject_record;
pub(crate) mod subjects;
pub(crate) mod take;
mod take_list;
pub(crate) mod takes;
mod time_text;
pub(crate) mod verifier;

use std::sync::Arc;

use http::header::{CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::request::RequestContext;
use crate::request::table::ErrorPage;
use crate::response::{Answer, Reply};
use crate::tenants::ServedTenant;

pub(crate) use frame::{Frame, SiteContext, html};
pub(crate) use markup::Markup;
pub(crate) use negotiation::{page, page_alone, page_within};
pub(crate) use page_size::Limit;
pub(crate) use styles::{list_style, style};

use negotiation::{prefers_html, read_consistently};
use page_size::fitting;

/// The home page, or an error page.
pub(crate) async fn home(request: RequestContext) -> Reply {
    let site = SiteContext::of(&request);
    let consistent = |request| read_consistently(request, home::page);
    let page = fitting(Limit::WithStyles, request, consistent).await;
    Ok(page.unwrap_or_else(|error| error_page::page(site, error)))
}

/// Pages of the errors at paths that are not of the API, if the client prefers HTML. The headers of an answer have the base path already.
pub(crate) fn error_pages(
    headers: &HeaderMap,
    served: Option<&Arc<ServedTenant>>,
    path: &str,
    address: &dyn Fn() -> String,
) -> ErrorPage {
    let (is_page, is_console) = (prefers_html(headers), Answer::is_of_console(path));
    let site = served.filter(|_| is_page).map(|served| (Arc::clone(served), address()));
    Box::new(move |answer| {
        // Only an error in JSON changes.
        if answer.problem.is_none() || answer.header(&CONTENT_TYPE) != Some("application/json") {
            return answer;
        }
        let mut answer = match &site {
            Some((served, address)) => {
                let site = SiteContext::new(served, address.clone());
                let base = served.config().base_path();
                error_page::page_below(base, (site, is_console), answer)
            }
            None if is_page => error_page::page_of_no_tenant(answer),
            None => answer,
        };
        answer.headers.insert(VARY, HeaderValue::from_static("Accept"));
        answer
    })
}

/// The icon.
pub(crate) async fn icon(_: RequestContext) -> Reply {
    let icon = include_str!("../../templates/icon.svg");
    Ok(Answer::new(StatusCode::OK, "image/svg+xml", icon.to_owned()))
}
