//! A site as a tower service, for hyper, axum and other servers.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::HOST;
use http::{Request, Response};
use http_body_util::BodyDataStream;
use hyper::body::Body;
use tower_service::Service;

use crate::Site;
use crate::response::ResponseBody;
use crate::tenants::{BasePath, Host};

use super::arrival::Arrival;
use super::dispatch::{respond, respond_unknown};
use super::head::RequestHead;
use super::table::Table;

/// Answers every request for a site; see [`service`](crate::service). Clones are cheap and share all state.
#[derive(Clone)]
pub struct SiteService {
    site: Arc<Site>,
    table: Arc<Table>,
    /// What the program around the service leaves out of the path of each request.
    nested_at: BasePath,
}

impl SiteService {
    pub(crate) fn new(site: Arc<Site>, table: Table) -> Self {
        Self { site, table: Arc::new(table), nested_at: BasePath::ROOT }
    }

    /// Puts this path before the path of each request, for a router that leaves it out, as `nest_service` of axum does. The
    /// tenants are served below it then, too: [`TenantConfig::below`](crate::TenantConfig::below).
    #[must_use]
    pub fn nested_at(self, path: BasePath) -> Self {
        Self { nested_at: path, ..self }
    }
}

impl std::fmt::Debug for SiteService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SiteService").field(&self.site).finish()
    }
}

impl<B> Service<Request<B>> for SiteService
where
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>> + Send> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let site = Arc::clone(&self.site);
        let (head, body) = split(request, &self.nested_at);
        let arrival = Arrival::of(&site, head);
        let (found, error_pages) = (arrival.find(&self.table), self.table.error_pages);
        async move {
            let body = BodyDataStream::new(body);
            let answer = match found {
                Some(found) => respond(site, found, arrival, body).await,
                None => Box::pin(respond_unknown(&site, error_pages, arrival, body)).await,
            };
            Ok(answer.into_response())
        }
        .boxed()
    }
}

/// Splits off the body; headers are moved, not copied.
fn split<B>(request: Request<B>, nested_at: &BasePath) -> (RequestHead, B) {
    let (parts, body) = request.into_parts();
    let host = match parts.uri.authority() {
        Some(target) => Host::parse(target.as_str()),
        None => parts.headers.get(HOST).and_then(Host::parse),
    };
    let path = [nested_at.as_str(), parts.uri.path()].concat();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let (method, headers, extensions) = (parts.method, parts.headers, parts.extensions);
    (RequestHead { method, host, path, query, headers, extensions }, body)
}
