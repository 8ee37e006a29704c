//! HTML pages (API.md, 10). All text on them is untrusted: templates, charts and Markdown escape it,
//! and the content security policy blocks scripts if one of them fails to; `verifier` alone has a script. Each page is rendered
//! from the same reads as the API. A client that prefers JSON gets the API's answer at the same path.

pub(crate) mod about;
mod acts;
pub(crate) mod calendar;
pub(crate) mod card;
mod charts;
mod citation;
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
mod people;
#[cfg(feature = "pictures")]
pub(crate) mod picture;
pub(crate) mod ranking;
mod result;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod since;
mod stage_text;
mod stance;
pub(crate) mod subject;
mod subject_card;
mod subject_record;
pub(crate) mod subjects;
pub(crate) mod take;
mod take_list;
pub(crate) mod takes;
mod time_text;
pub(crate) mod verifier;

use std::sync::LazyLock;

use http::header::VARY;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};
use crate::tenants::ServedTenant;

pub(crate) use frame::{Frame, SiteContext, html};
pub(crate) use markup::Markup;
pub(crate) use negotiation::{page, page_alone, with_error_pages};

use negotiation::{prefers_html, read_consistently};

/// The home page, or an error page.
pub(crate) async fn home(request: RequestContext) -> Reply {
    let site = SiteContext::of(&request);
    let page = read_consistently(request, home::page).await;
    Ok(page.unwrap_or_else(|error| error_page::page(site, error)))
}

/// The answer for an unknown path: an error page if the client prefers HTML.
pub(crate) fn unknown_path(
    headers: &HeaderMap,
    served: &ServedTenant,
    origin: String,
    error: ApiError,
) -> Answer {
    let mut answer = match prefers_html(headers) {
        true => error_page::page(SiteContext::new(served, origin), error),
        false => error.into_answer(),
    };
    answer.headers.insert(VARY, HeaderValue::from_static("Accept"));
    answer
}

/// The style sheet, made short: it counts towards the size of each page.
static STYLE: LazyLock<String> =
    LazyLock::new(|| shortened(include_str!("../../templates/style.css")));

/// The style sheet of lists, which only their pages load.
static LIST_STYLE: LazyLock<String> =
    LazyLock::new(|| shortened(include_str!("../../templates/lists.css")));

/// The style sheet.
pub(crate) async fn style(_: RequestContext) -> Reply {
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", STYLE.clone()))
}

/// The style sheet of lists.
pub(crate) async fn list_style(_: RequestContext) -> Reply {
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", LIST_STYLE.clone()))
}

/// A style sheet without comments, and without spaces that mean nothing. It has no strings with spaces beside punctuation.
fn shortened(style: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(style.len()), style);
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    code.push_str(rest);
    let mut short = code.split_whitespace().collect::<Vec<_>>().join(" ");
    // A space before a colon can be a combinator: `a :is(time)`.
    for sign in ["{", "}", ";", ","] {
        short = short.replace(&format!("{sign} "), sign).replace(&format!(" {sign}"), sign);
    }
    short.replace(": ", ":").replace(";}", "}")
}

/// The icon.
pub(crate) async fn icon(_: RequestContext) -> Reply {
    let icon = include_str!("../../templates/icon.svg");
    Ok(Answer::new(StatusCode::OK, "image/svg+xml", icon.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheet_is_served_short() {
        let style = "/* a */\n  b :is(c, d) { e: f g; } /* h\n i */ j { k: l; }\n";
        assert_eq!(shortened(style), "b :is(c,d){e:f g}j{k:l}");
        let rules = include_str!("../../templates/style.css").matches('}').count();
        assert!(!STYLE.contains("*/") && STYLE.matches('}').count() == rules);
    }
}
