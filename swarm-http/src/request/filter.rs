//! The route table as a warp filter.

use std::sync::Arc;

use http::uri::Authority;
use http::{Extensions, HeaderMap, Method};
use warp::filters::BoxedFilter;
use warp::filters::path::FullPath;
use warp::reply::{Reply as _, Response};
use warp::{Filter, reject};

use crate::Site;
use crate::response::Answer;
use crate::tenants::Host;

use super::arrival::Arrival;
use super::dispatch::{respond, respond_unknown};
use super::head::RequestHead;
use super::table::{ErrorPages, Table};

/// The filter of these routes; it rejects other paths as not found.
pub(crate) fn routes(site: Arc<Site>, table: Table) -> BoxedFilter<(Response,)> {
    let (table, of) = (Arc::new(table), Arc::clone(&site));
    let find = move |head: RequestHead| {
        let arrival = Arrival::of(&of, head);
        let found = arrival.find(&table).map(|found| (found, arrival));
        async move { found.ok_or_else(reject::not_found) }
    };
    head()
        .and_then(find)
        .untuple_one()
        .and(warp::body::stream())
        .then(move |found, arrival, body| {
            let site = Arc::clone(&site);
            async move { response(respond(site, found, arrival, body).await) }
        })
        .boxed()
}

/// The filter for all other paths.
pub(crate) fn unknown_path(site: Arc<Site>, error_pages: ErrorPages) -> BoxedFilter<(Response,)> {
    head()
        .and(warp::body::stream())
        .then(move |head, body| {
            let site = Arc::clone(&site);
            async move {
                let arrival = Arrival::of(&site, head);
                response(respond_unknown(&site, error_pages, arrival, body).await)
            }
        })
        .boxed()
}

/// The answer as a response of warp.
fn response(answer: Answer) -> Response {
    let (parts, body) = answer.into_response().into_parts();
    let body = match body.into_bytes() {
        Ok(bytes) => bytes.into(),
        Err(stream) => warp::reply::stream(stream).into_response().into_body(),
    };
    Response::from_parts(parts, body)
}

/// Copies the parts of a request that warp only borrows.
fn head() -> impl Filter<Extract = (RequestHead,), Error = warp::Rejection> + Clone {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::method()
        .and(warp::host::optional())
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .map(
            |method: Method,
             named: Option<Authority>,
             path: FullPath,
             query: String,
             headers: HeaderMap| {
                let host = named.and_then(|host| Host::parse(host.as_str()));
                let (path, extensions) = (path.as_str().to_owned(), Extensions::new());
                RequestHead { method, host, path, query, headers, extensions }
            },
        )
}
