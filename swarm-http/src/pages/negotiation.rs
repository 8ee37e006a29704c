//! Content negotiation between HTML and JSON by `Accept` (RFC 9110, section 12.5.1).

use std::sync::Arc;

use http::header::VARY;
use http::{HeaderMap, HeaderValue};

use super::error_page;
use super::frame::SiteContext;
use super::page_size::{Limit, fitting};
use crate::request::RequestContext;
use crate::request::route::{AsyncHandler, Route, Work, read};
use crate::response::accept::{accept, preference};
use crate::response::{ApiError, Reply};

/// A route that answers a page, or `record` with this schema if the client prefers JSON.
pub(crate) fn page(
    path: &'static str,
    schema: &'static str,
    record: impl AsyncHandler<RequestContext>,
    page: impl AsyncHandler<RequestContext>,
) -> Route {
    page_within(Limit::WithStyles, path, schema, record, page)
}

/// As [`page`], for a page of this size.
pub(crate) fn page_within(
    limit: Limit,
    path: &'static str,
    schema: &'static str,
    record: impl AsyncHandler<RequestContext>,
    page: impl AsyncHandler<RequestContext>,
) -> Route {
    let either = Arc::new((record, page));
    let route = read(path, move |request: RequestContext| {
        let either = Arc::clone(&either);
        async move { answer(limit, &either.0, &either.1, request).await }
    });
    route.with(Work::Long).answers(200, &["text/html", schema])
}

/// A route that answers only a page.
pub(crate) fn page_alone(path: &'static str, page: impl AsyncHandler<RequestContext>) -> Route {
    let page = Arc::new(page);
    let fitted = move |request: RequestContext| {
        let page = Arc::clone(&page);
        async move { fitting(Limit::WithStyles, request, |request| page.answer(request)).await }
    };
    read(path, fitted).with(Work::Long).answers(200, &["text/html"])
}

async fn answer(
    limit: Limit,
    record: &impl AsyncHandler<RequestContext>,
    page: &impl AsyncHandler<RequestContext>,
    request: RequestContext,
) -> Reply {
    let mut answer = if prefers_json(&accept(&request.headers)) {
        record.answer(request).await.unwrap_or_else(ApiError::into_answer)
    } else {
        let site = SiteContext::of(&request);
        let consistent = |request| read_consistently(request, |request| page.answer(request));
        let page = fitting(limit, request, consistent).await;
        page.unwrap_or_else(|error| error_page::page(site, error))
    };
    answer.headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(answer)
}

/// Maximum number of times that a page is made while commits come between its reads.
const ATTEMPTS: usize = 4;

/// The page of a request, with all records at one position of the log. A page makes several reads, and a commit between two
/// of them would be shown by some and not by others; so the page is made again. Two attempts that are alike show what was
/// true between them: no commit since the first read changed what they show.
///
/// If commits change the page at every attempt, the last one is answered. It may show a commit and lack an earlier one;
/// each session on it, with its takes, is of one position all the same, because that is one read. A lock would be worse:
/// readers would delay takes. So would be an error: nobody could read a session in the minute before its deadline.
pub(super) async fn read_consistently<F: Future<Output = Reply>>(
    request: RequestContext,
    page: impl Fn(RequestContext) -> F,
) -> Reply {
    let mut before = request.tenant().log_position().await?;
    let mut last = None;
    for _ in 1..ATTEMPTS {
        let answer = page(request.clone_read()).await;
        let after = request.tenant().log_position().await?;
        let shown = answer.as_ref().ok().map(|answer| (answer.status, answer.body.clone()));
        if after == before || (shown.is_some() && shown == last) {
            return answer;
        }
        (before, last) = (after, shown);
    }
    page(request).await
}

/// Whether an `Accept` header prefers JSON to HTML, or a type that is written in JSON. Without a preference the client gets the page.
fn prefers_json(accept: &str) -> bool {
    let types =
        accept.split(',').filter_map(|range| range.split(';').next()?.trim().split_once('/'));
    let is_json = |(kind, subtype): &(&str, &str)| {
        let ending = subtype.len().saturating_sub(5);
        let is_suffixed = subtype.get(ending..).is_some_and(|it| it.eq_ignore_ascii_case("+json"));
        is_suffixed || (kind.eq_ignore_ascii_case("text") && subtype.eq_ignore_ascii_case("json"))
    };
    types.filter(is_json).chain([("application", "json")]).any(|(kind, subtype)| {
        preference(accept, kind, subtype) > preference(accept, "text", "html")
    })
}

/// Whether an `Accept` header prefers HTML to JSON. A client without a preference gets JSON.
pub(crate) fn prefers_html(headers: &HeaderMap) -> bool {
    let accept = accept(headers);
    preference(&accept, "text", "html") > preference(&accept, "application", "json")
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn lines_of_accept_are_one_list() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_static("*/*"));
        headers.append(ACCEPT, HeaderValue::from_static("application/json"));
        assert!(prefers_json(&accept(&headers)));
        headers.append(ACCEPT, HeaderValue::from_static("text/html"));
        assert!(!prefers_json(&accept(&headers)));
    }

    #[test]
    fn accept_selects_html_or_json() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        let java = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
        for html in [
            "",
            "*/*",
            "text/html",
            browser,
            java,
            "application/json;q=0.5, text/html",
            "application/json;Q=0.5, text/html",
            "application/json;q=0, */*",
            "text/html, application/json",
            "text/html, application/ld+json;q=0.9",
        ] {
            assert!(!prefers_json(html), "{html}");
        }
        for json in [
            "application/json",
            "application/*",
            "application/vnd.api+json",
            "application/problem+JSON, text/html;q=0.9",
            "text/json",
            "text/html;q=0.1, */*",
            "Application/JSON",
            // axios and Angular, jQuery.
            "application/json, text/plain, */*",
            "application/json, text/javascript, */*; q=0.01",
            "*/*, application/json",
        ] {
            assert!(prefers_json(json), "{json}");
        }
        let axios = "application/json, text/plain, */*";
        for (accept, html) in
            [(browser, true), ("text/html, */*", true), ("*/*", false), ("", false), (axios, false)]
        {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_html(&headers), html, "{accept}");
        }
    }
}
