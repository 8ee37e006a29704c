//! Pages for people. Everything on them comes from strangers: the templates escape all of it, and
//! the policy sent along lets nothing run, whatever they forgot.

use askama::Template;
use serde::Serialize;
use swarm_core::domain::{Bucket, Memo, TakeOnFile, Weights};
use swarm_core::proof::canonical;
use swarm_core::{json, wire};
use warp::http::header::{ACCEPT, VARY};
use warp::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::answer::SWARM_ERROR;
use super::{Answer, ApiError, Reply};
use crate::number::number;

/// Where the style sheet stands.
const STYLE: &str = include_str!("../../templates/style.css");

const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// A record as its page, which `render` makes, or as JSON where the client would rather have that.
pub(crate) async fn or_json<T: Serialize>(
    headers: &HeaderMap,
    record: Result<T, ApiError>,
    render: impl AsyncFnOnce(&T) -> Reply,
) -> Reply {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let mut answer = match (record, prefers_json(accept.unwrap_or_default())) {
        (Ok(record), true) => wire::Answer::ok(&record).into(),
        (Ok(record), false) => render(&record).await?,
        (Err(error), true) => error.into_answer(),
        (Err(error), false) => error_page(&error.into_answer()),
    };
    answer.headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(answer)
}

/// The page of one take, by the member of this name.
pub(crate) fn take(take: &TakeOnFile, author: &str) -> Answer {
    let draft = take.take.draft();
    let weights = draft.weights.as_ref().map(Weights::entries).unwrap_or_default();
    let page = TakePage {
        on_file: take,
        author,
        confidence: json::write(&draft.confidence),
        memo_link: link(draft.memo_url.as_str()),
        weights: weights.iter().map(|it| (&it.bucket, json::write(&it.weight))).collect(),
        canonical: canonical(draft),
    };
    html(StatusCode::OK, &page)
}

/// Numbers are text here, as they were signed.
#[derive(Template)]
#[template(path = "take.html")]
struct TakePage<'a> {
    on_file: &'a TakeOnFile,
    author: &'a str,
    confidence: String,
    memo_link: Option<&'a str>,
    weights: Vec<(&'a Bucket, String)>,
    canonical: String,
}

/// The page of a memo, by the member of this name.
pub(crate) fn memo(memo: &Memo, author: &str) -> Answer {
    html(StatusCode::OK, &MemoPage { memo, author })
}

#[derive(Template)]
#[template(path = "memo.html")]
struct MemoPage<'a> {
    memo: &'a Memo,
    author: &'a str,
}

/// The page at the root.
pub(crate) fn home(status: StatusCode, tenant: &str) -> Answer {
    html(status, &HomePage { tenant })
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    tenant: &'a str,
}

/// The page of what is not there, with the status of `answer`.
fn error_page(answer: &Answer) -> Answer {
    let status = answer.status;
    let reason = status.canonical_reason().unwrap_or("Something went wrong");
    let mut page = html(status, &ErrorPage { reason });
    page.headers.extend(answer.headers.get(SWARM_ERROR).map(|code| (SWARM_ERROR, code.clone())));
    page
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    reason: &'static str,
}

pub(crate) fn style() -> Answer {
    Answer::new(StatusCode::OK, "text/css; charset=utf-8", STYLE.to_owned())
}

fn html(status: StatusCode, page: &impl Template) -> Answer {
    // Writing to a string fails only where a field's Display fails, and none of ours does.
    let text = page.render().unwrap_or_default();
    let mut answer = Answer::new(status, "text/html; charset=utf-8", text);
    let policy = HeaderName::from_static("content-security-policy");
    answer.headers.insert(policy, HeaderValue::from_static(POLICY));
    let referrer = HeaderName::from_static("referrer-policy");
    answer.headers.insert(referrer, HeaderValue::from_static("no-referrer"));
    answer
}

/// The text as the target of a link, where it is one that a page may have: http or https, or the
/// permalink of a memo of this service, as its author was told it.
fn link(text: &str) -> Option<&str> {
    let memo = text.strip_prefix("/swarm/memos/").and_then(number);
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_web =
        |scheme: &str| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    (memo.is_some() || scheme.is_some_and(is_web)).then_some(text)
}

/// Whether an `Accept` header would rather have JSON than HTML (RFC 9110, section 12.5.1). Who does
/// not care reads the page.
fn prefers_json(accept: &str) -> bool {
    quality(accept, "application", "json") > quality(accept, "text", "html")
}

/// The quality that `accept` gives a media type: that of the most specific range that has it.
pub(crate) fn quality(accept: &str, kind: &str, subtype: &str) -> f32 {
    accept
        .split(',')
        .filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let (range_kind, range_subtype) = parts.next()?.split_once('/')?;
            let specific = match (range_kind, range_subtype) {
                ("*", "*") => 0,
                (range, "*") if range.eq_ignore_ascii_case(kind) => 1,
                (range, sub)
                    if range.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subtype) =>
                {
                    2
                }
                _ => return None,
            };
            let given = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            Some((specific, given.unwrap_or(1.0)))
        })
        .max_by_key(|(specific, _)| *specific)
        .map_or(0.0, |(_, quality)| quality)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_links() {
        assert_eq!(link("HTTPS://memo.example/a?b#c"), Some("HTTPS://memo.example/a?b#c"));
        assert_eq!(link("/swarm/memos/17"), Some("/swarm/memos/17"));
        for text in ["/swarm/memos/", "/swarm/memos/1/../2", "/swarm/memos/+1", "/swarm/takes/1"] {
            assert_eq!(link(text), None, "{text}");
        }
        for text in ["javascript:alert(1)", "data:text/html,x", "//memo.example", "not a url", ""] {
            assert_eq!(link(text), None, "{text}");
        }
    }

    #[test]
    fn json_is_for_whoever_prefers_it() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for html in ["", "*/*", "text/html", browser, "application/json;q=0.5, text/html"] {
            assert!(!prefers_json(html), "{html}");
        }
        for json in
            ["application/json", "application/*", "text/html;q=0.1, */*", "Application/JSON"]
        {
            assert!(prefers_json(json), "{json}");
        }
    }
}
