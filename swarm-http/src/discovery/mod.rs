//! The entry points for a client that knows only the address (API.md, 9.1).

pub(crate) mod diagnosis;
pub(crate) mod guide;
pub(crate) mod manifest;
pub(crate) mod reference;

use http::HeaderValue;
use http::header::VARY;

use crate::request::RequestContext;
use crate::response::Reply;
use crate::response::accept::preference;

/// `/`: the home page, the index for agents or the manifest, by `Accept`; without a preference, the page.
pub(crate) async fn home(request: RequestContext) -> Reply {
    let accept = request.headers.get("accept").and_then(|accept| accept.to_str().ok());
    let wants = |kind, subtype| preference(accept.unwrap_or_default(), kind, subtype);
    let (markdown, plain) = (wants("text", "markdown"), wants("text", "plain"));
    let (html, json) = (wants("text", "html"), wants("application", "json"));
    // Clients of JSON often name plain text beside it.
    let wants_text = (markdown > html && markdown >= json) || (plain > html && plain > json);
    let mut answer = if wants_text {
        guide::llms(request).await?
    } else if json > html {
        manifest::manifest(request).await?
    } else {
        page(request).await?
    };
    answer.headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(answer)
}

#[cfg(feature = "pages")]
async fn page(request: RequestContext) -> Reply {
    crate::pages::home(request).await
}

#[cfg(not(feature = "pages"))]
async fn page(request: RequestContext) -> Reply {
    manifest::manifest(request).await
}
