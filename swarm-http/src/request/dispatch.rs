//! The way of a request: route, tenant, credential, body, handler, answer.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::{FutureExt, Stream};
use swarm_core::json::Json;
use tokio::time::Instant;
use tracing::Instrument as _;
use warp::filters::BoxedFilter;
use warp::filters::path::FullPath;
use warp::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK, TRANSFER_ENCODING};
use warp::http::uri::Authority;
use warp::http::{HeaderMap, Method, StatusCode};
use warp::reply::Response;
use warp::{Filter, reject};

use crate::Site;
use crate::response::{Answer, ApiError, NOT_JSON, Reply, SERVICE_LINKS, caching};

use super::body::{self, BodyError};
use super::context::RequestContext;
use super::credential::admit;
use super::id::RequestId;
use super::route::{BodyRule, Endpoint, Handler, Route, Table};

/// How long a body may take to arrive, all of it.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// The filter of these routes; paths that are not among them are rejected as not found.
pub(crate) fn filter(site: Arc<Site>, routes: Vec<Route>) -> BoxedFilter<(Response,)> {
    let table = Arc::new(Table::new(routes));
    let find = move |path: FullPath| {
        let found = table.find(path.as_str());
        async move { found.ok_or_else(reject::not_found) }
    };
    warp::path::full()
        .and_then(find)
        .untuple_one()
        .and(warp::method())
        .and(warp::host::optional())
        .and(warp::header::headers_cloned())
        .and(raw_query())
        .and(warp::body::stream())
        .then(move |endpoint: Arc<Endpoint>, path, method, host, headers, query, stream| {
            let request = RequestHead { endpoint, path, method, host, headers, query };
            respond(Arc::clone(&site), request, stream)
        })
        .boxed()
}

/// The filter for all that no route answers.
pub(crate) fn unknown_path(site: Arc<Site>) -> BoxedFilter<(Response,)> {
    warp::method()
        .and(warp::host::optional())
        .and(warp::header::headers_cloned())
        .then(move |method, host: Option<Authority>, headers: HeaderMap| {
            let site = Arc::clone(&site);
            async move {
                let known = site.hosts.find(host.as_ref(), &headers).is_some();
                let mut answer = if known { UNKNOWN_PATH } else { UNKNOWN_HOST }.into_answer();
                if known {
                    answer.headers.insert(LINK, SERVICE_LINKS);
                }
                let id = RequestId::of(&headers);
                let answer = std::future::ready(answer);
                observed(&site, id, &method, "unknown", answer).await.into_response()
            }
        })
        .boxed()
}

const UNKNOWN_PATH: ApiError = ApiError::Request(StatusCode::NOT_FOUND, "not found");

const UNKNOWN_HOST: ApiError = ApiError::Request(StatusCode::MISDIRECTED_REQUEST, "unknown host");

fn raw_query() -> impl Filter<Extract = (String,), Error = Infallible> + Clone {
    warp::query::raw().or(warp::any().map(String::new)).unify()
}

struct RequestHead {
    endpoint: Arc<Endpoint>,
    path: Vec<String>,
    method: Method,
    host: Option<Authority>,
    headers: HeaderMap,
    query: String,
}

async fn respond<S, B>(site: Arc<Site>, request: RequestHead, stream: S) -> Response
where
    S: Stream<Item = Result<B, warp::Error>> + Send + 'static,
    B: Buf + Send,
{
    let id = RequestId::of(&request.headers);
    let endpoint = Arc::clone(&request.endpoint);
    let method = request.method.clone();
    let negotiation =
        endpoint.has_public_read().then(|| caching::Negotiation::of(&request.headers));
    let answer = async {
        let answer = answer(Arc::clone(&site), request, stream).await;
        let answer = answer.unwrap_or_else(|error| error.answer_to(b""));
        match &negotiation {
            Some(negotiation) => caching::make_public(answer, &method, negotiation),
            None => answer,
        }
    };
    observed(&site, id, &method, endpoint.pattern(), answer).await.into_response()
}

/// Logs and counts a request, and answers 500 for a handler that panicked.
async fn observed(
    site: &Site,
    id: RequestId,
    method: &Method,
    route: &'static str,
    answer: impl Future<Output = Answer> + Send,
) -> Answer {
    let _in_flight = site.metrics.enter();
    let began = Instant::now();
    let span = tracing::info_span!("request", %id, %method, route, tenant = tracing::field::Empty);
    let outcome = AssertUnwindSafe(answer).catch_unwind().instrument(span.clone()).await;
    let mut answer = outcome.unwrap_or_else(|_panic| ApiError::Panicked.into_answer());
    let took = began.elapsed();
    site.metrics.record(method, route, answer.status, took.as_secs_f64());
    let (status, micros) = (answer.status.as_u16(), took.as_micros());
    span.in_scope(|| tracing::info!(status, micros, "answered"));
    id.stamp(&mut answer);
    answer
}

async fn answer<S, B>(site: Arc<Site>, request: RequestHead, stream: S) -> Reply
where
    S: Stream<Item = Result<B, warp::Error>>,
    B: Buf,
{
    let RequestHead { endpoint, path, method, host, headers, query } = request;
    let served = site.hosts.find(host.as_ref(), &headers).map(Arc::clone);
    if served.is_none() && endpoint.is_of_tenants() {
        return Err(UNKNOWN_HOST);
    }
    if method == Method::OPTIONS {
        return Ok(caching::preflight(endpoint.allow(), endpoint.has_public_read()));
    }
    let route = endpoint.route(&method)?;
    let handler = match &route.handler {
        Handler::Server(handler) => return handler.answer(site).await,
        Handler::Tenant(handler) => handler,
    };
    let served = served.ok_or(UNKNOWN_HOST)?;
    tracing::Span::current().record("tenant", served.id.as_str());
    admit(route.access, &headers, &served)?;
    let (bytes, body) = match route.body {
        None => (Bytes::new(), Json::Null),
        Some(rule) => {
            let bytes = read_body(&headers, stream, rule).await?;
            let body = if rule.unread { Json::Null } else { read_json(&bytes)? };
            (bytes, body)
        }
    };
    let sent = bytes.clone();
    let request = RequestContext { site, served, host, headers, path, query, bytes, body };
    Ok(handler.answer(request).await.unwrap_or_else(|error| error.answer_to(&sent)))
}

async fn read_body<S, B>(headers: &HeaderMap, stream: S, rule: BodyRule) -> Result<Bytes, ApiError>
where
    S: Stream<Item = Result<B, warp::Error>>,
    B: Buf,
{
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if rule.optional && !headers.contains_key(CONTENT_TYPE) && is_empty(headers, length) {
        return Ok(Bytes::from_static(b"{}"));
    }
    if !is_json(headers) {
        let error = "content type must be application/json";
        return Err(ApiError::Request(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    body::read(stream, length, rule.limit, BODY_DEADLINE).await.map_err(body_error)
}

fn read_json(bytes: &[u8]) -> Result<Json, ApiError> {
    Json::read(bytes).map_err(|_| ApiError::Request(StatusCode::BAD_REQUEST, NOT_JSON))
}

fn is_empty(headers: &HeaderMap, length: Option<u64>) -> bool {
    length.unwrap_or_default() == 0 && !headers.contains_key(TRANSFER_ENCODING)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn body_error(error: BodyError) -> ApiError {
    match error {
        BodyError::TooLarge => ApiError::Request(StatusCode::PAYLOAD_TOO_LARGE, "body too large"),
        BodyError::TooSlow => ApiError::Request(StatusCode::REQUEST_TIMEOUT, "body too slow"),
        BodyError::Broken => ApiError::Request(StatusCode::BAD_REQUEST, "body incomplete"),
    }
}
