//! The table of routes: a path, a method, who may call it, and what answers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method};
use matchit::Router;
use percent_encoding::percent_decode_str;

use crate::Site;
use crate::metrics::Submitted;
use crate::response::{ApiError, Reply};

use super::context::RequestContext;
use super::credential::Access;

/// The largest body of a request, in bytes (API.md, 1.1).
pub(crate) const BODY_LIMIT: usize = 256 << 10;

pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) method: Method,
    pub(crate) access: Access,
    /// What body it takes, if any.
    pub(crate) body: Option<BodyRule>,
    pub(crate) work: Work,
    /// The parameters of the query that its answer depends on. All others are ignored.
    pub(crate) params: &'static [&'static str],
    /// What it submits, where the outcomes are counted.
    pub(crate) submitted: Option<Submitted>,
    pub(crate) handler: Handler,
}

/// How expensive the answer is, and where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Its cost is bounded whatever is stored: it is made on the thread of the request.
    Short,
    /// Its cost depends on what is stored: the worker pool makes it.
    Long,
    /// As `Short`, and cached. The answer must depend only on what is in the log, neither on the time
    /// nor on the origin.
    CachedShort,
    /// As `Long`, and cached in the same way.
    CachedLong,
}

/// A JSON body.
#[derive(Clone, Copy)]
pub(crate) struct BodyRule {
    /// The largest, in bytes.
    pub(crate) limit: usize,
    /// Whether a missing body counts as an empty object.
    pub(crate) optional: bool,
    /// Whether the handler gets the raw bytes, because the rules parse them later.
    pub(crate) unread: bool,
}

/// What answers.
pub(crate) enum Handler {
    /// One tenant, to a request.
    Tenant(Box<dyn AsyncHandler<RequestContext>>),
    /// The server itself, the same on every host.
    Server(Box<dyn AsyncHandler<Arc<Site>>>),
}

/// An `async` function from its input to the reply.
pub(crate) trait AsyncHandler<T>: Send + Sync + 'static {
    fn answer(&self, input: T) -> BoxFuture<'static, Reply>;
}

impl<T, A, F> AsyncHandler<T> for A
where
    A: Fn(T) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    fn answer(&self, input: T) -> BoxFuture<'static, Reply> {
        self(input).boxed()
    }
}

/// A public read.
pub(crate) fn read(path: &'static str, handler: impl AsyncHandler<RequestContext>) -> Route {
    read_as(Access::Public, path, handler)
}

/// A public read whose answer is cached, and made by the worker pool.
pub(crate) fn cached(path: &'static str, handler: impl AsyncHandler<RequestContext>) -> Route {
    read(path, handler).with(Work::CachedLong)
}

/// A read with a credential.
pub(crate) fn read_as(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    let handler = Handler::Tenant(Box::new(handler));
    let (method, work, submitted) = (Method::GET, Work::Short, None);
    Route { path, method, access, body: None, work, params: &[], submitted, handler }
}

/// A request with a JSON body.
pub(crate) fn post(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    let body = Some(BodyRule { limit: BODY_LIMIT, optional: false, unread: false });
    Route { method: Method::POST, body, ..read_as(access, path, handler) }
}

/// A request that says all in its path.
pub(crate) fn command(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    Route { body: None, ..post(access, path, handler) }
}

/// A change, with a JSON body.
pub(crate) fn patch(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    Route { method: Method::PATCH, ..post(access, path, handler) }
}

/// A question to the server, not to a tenant.
pub(crate) fn server(path: &'static str, handler: impl AsyncHandler<Arc<Site>>) -> Route {
    let handler = Handler::Server(Box::new(handler));
    let (method, access, work) = (Method::GET, Access::Public, Work::Short);
    Route { path, method, access, body: None, work, params: &[], submitted: None, handler }
}

impl Route {
    /// With another limit for the body, in bytes.
    pub(crate) fn up_to(self, limit: usize) -> Self {
        Self { body: self.body.map(|body| BodyRule { limit, ..body }), ..self }
    }

    /// A missing body counts as an empty object.
    pub(crate) fn or_nothing(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { optional: true, ..body }), ..self }
    }

    /// With its outcomes counted.
    pub(crate) fn counted(self, submitted: Submitted) -> Self {
        Self { submitted: Some(submitted), ..self }
    }

    /// With work of this cost.
    pub(crate) fn with(self, work: Work) -> Self {
        Self { work, ..self }
    }

    /// With an answer that depends on these parameters of the query.
    pub(crate) fn of_query(self, params: &'static [&'static str]) -> Self {
        Self { params, ..self }
    }

    /// With its body as bytes.
    pub(crate) fn unread(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { unread: true, ..body }), ..self }
    }

    /// Whether anyone may read it, from any origin, and keep it while it is fresh.
    pub(crate) fn is_public_read(&self) -> bool {
        let of_tenant = matches!(self.handler, Handler::Tenant(_));
        of_tenant && self.method == Method::GET && self.access == Access::Public
    }
}

/// All routes, found by path.
pub(crate) struct Table(Router<Arc<Endpoint>>);

/// What answers at one path.
pub(crate) struct Endpoint {
    routes: Vec<Route>,
    allow: HeaderValue,
}

impl Table {
    /// # Panics
    /// When two of the paths contradict each other: the table is written down, not input.
    #[expect(clippy::panic, reason = "the table is a constant; every start builds it")]
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        let mut paths: HashMap<&'static str, Vec<Route>> = HashMap::new();
        for route in routes {
            paths.entry(route.path).or_default().push(route);
        }
        let mut router = Router::new();
        for (path, routes) in paths {
            if let Err(error) = router.insert(path, Arc::new(Endpoint::new(routes))) {
                panic!("{path}: {error}");
            }
        }
        Self(router)
    }

    /// The endpoint at this path, and the parts that it leaves open, percent-decoded. A part that
    /// is not UTF-8 then is part of no path.
    pub(crate) fn find(&self, path: &str) -> Option<(Arc<Endpoint>, Vec<String>)> {
        let found = self.0.at(path).ok()?;
        let decode = |part| percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned);
        let parts = found.params.iter().map(|(_, part)| decode(part)).collect::<Option<_>>()?;
        Some((Arc::clone(found.value), parts))
    }
}

impl Endpoint {
    fn new(routes: Vec<Route>) -> Self {
        let mut methods = vec!["OPTIONS"];
        for route in &routes {
            methods.push(route.method.as_str());
            if route.method == Method::GET {
                methods.push("HEAD");
            }
        }
        methods.sort_unstable();
        let allow = HeaderValue::try_from(methods.join(", "));
        Self { routes, allow: allow.unwrap_or(HeaderValue::from_static("GET")) }
    }

    /// The route for this method; a HEAD is a GET whose answer the server sends without its body.
    pub(crate) fn route(&self, method: &Method) -> Result<&Route, ApiError> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let route = self.routes.iter().find(|route| route.method == *method);
        route.ok_or_else(|| ApiError::Method(self.allow.clone()))
    }

    /// What a request with this method submits.
    pub(crate) fn submitted(&self, method: &Method) -> Option<Submitted> {
        self.routes.iter().find(|route| route.method == *method)?.submitted
    }

    pub(crate) fn has_public_read(&self) -> bool {
        self.routes.iter().any(Route::is_public_read)
    }

    /// Whether this endpoint answers for tenants, each on its own hosts.
    pub(crate) fn is_of_tenants(&self) -> bool {
        self.routes.iter().any(|route| matches!(route.handler, Handler::Tenant(_)))
    }

    pub(crate) fn allow(&self) -> &HeaderValue {
        &self.allow
    }

    /// The path as it stands in the table.
    pub(crate) fn pattern(&self) -> &'static str {
        self.routes.first().map_or("", |route| route.path)
    }
}
