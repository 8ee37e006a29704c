//! The route table: finds routes by path and method.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method};
use matchit::Router;
use percent_encoding::percent_decode_str;

use crate::metrics::Submitted;
use crate::response::{Answer, ApiError};
use crate::tenants::ServedTenant;

use super::route::{Handler, Route};

/// All routes, found by path.
pub(crate) struct Table {
    router: Router<Arc<Endpoint>>,
    /// For all paths that have no route.
    pub(crate) error_pages: ErrorPages,
}

/// Makes a page of an error, if the client prefers that. Other answers stay as they are.
pub(crate) type ErrorPage = Box<dyn Fn(Answer) -> Answer + Send + Sync>;

/// Returns the [`ErrorPage`] of a request with these headers to this tenant, if there is one, at this path; the function has its
/// address. Pages are made above this module.
pub(crate) type ErrorPages = fn(
    &HeaderMap,
    Option<&Arc<ServedTenant>>,
    path: &str,
    address: &dyn Fn() -> String,
) -> ErrorPage;

/// The endpoint of a request, and its path parameters.
pub(crate) type RouteMatch = (Arc<Endpoint>, Vec<String>);

/// The routes of one path.
pub(crate) struct Endpoint {
    routes: Vec<Route>,
    allow: HeaderValue,
    /// The methods that programs of other origins may use, if any.
    cross_origin: Option<HeaderValue>,
    error_pages: ErrorPages,
}

impl Table {
    /// # Panics
    /// If two paths conflict. The table is written in code, not input.
    #[expect(clippy::panic, reason = "the table is a constant; every start builds it")]
    pub(crate) fn new(routes: Vec<Route>, error_pages: ErrorPages) -> Self {
        let mut paths: HashMap<&'static str, Vec<Route>> = HashMap::new();
        for route in routes {
            paths.entry(route.path).or_default().push(route);
        }
        let mut router = Router::new();
        for (path, routes) in paths {
            if let Err(error) = router.insert(path, Arc::new(Endpoint::new(routes, error_pages))) {
                panic!("{path}: {error}");
            }
        }
        Self { router, error_pages }
    }

    /// The endpoint at this path, and the path parameters, percent-decoded. A path whose parameters do not
    /// decode to UTF-8 is unknown.
    pub(crate) fn find(&self, path: &str) -> Option<RouteMatch> {
        let found = self.router.at(path).ok()?;
        let decode = |part| percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned);
        let parts = found.params.iter().map(|(_, part)| decode(part)).collect::<Option<_>>()?;
        Some((Arc::clone(found.value), parts))
    }
}

impl Endpoint {
    fn new(routes: Vec<Route>, error_pages: ErrorPages) -> Self {
        let allow = list(["OPTIONS"].into_iter().chain(routes.iter().flat_map(methods)));
        let cross_origin = routes.iter().filter(|route| route.is_cross_origin());
        let cross_origin = list(cross_origin.flat_map(methods));
        let allow = allow.unwrap_or(HeaderValue::from_static("GET"));
        Self { routes, allow, cross_origin, error_pages }
    }

    /// The route for this method. HEAD uses the GET route; the server sends the answer without its body.
    pub(crate) fn route(&self, method: &Method) -> Result<&Route, ApiError> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let route = self.routes.iter().find(|route| route.method == *method);
        route.ok_or_else(|| ApiError::Method(self.allow.clone()))
    }

    /// The kind of submission that a request with this method makes.
    pub(crate) fn submitted(&self, method: &Method) -> Option<Submitted> {
        self.routes.iter().find(|route| route.method == *method)?.submitted
    }

    /// The pages of its errors, for clients that prefer HTML; `None` if it has none.
    pub(crate) fn error_pages(&self) -> Option<ErrorPages> {
        self.routes.iter().any(Route::has_error_pages).then_some(self.error_pages)
    }

    pub(crate) fn has_public_read(&self) -> bool {
        self.routes.iter().any(Route::is_public_read)
    }

    /// Whether this endpoint needs a tenant.
    pub(crate) fn needs_tenant(&self) -> bool {
        self.routes.iter().any(|route| matches!(route.handler, Handler::Tenant(_)))
    }

    /// Whether this is a file of a log, at a path with the name of the log.
    pub(crate) fn is_of_named_log(&self) -> bool {
        self.pattern().starts_with("/swarm/log/{tenant}/")
    }

    pub(crate) fn allow(&self) -> &HeaderValue {
        &self.allow
    }

    /// The methods that programs of other origins may use, if any.
    pub(crate) fn cross_origin(&self) -> Option<&HeaderValue> {
        self.cross_origin.as_ref()
    }

    /// The path pattern, as in the table.
    pub(crate) fn pattern(&self) -> &'static str {
        self.routes.first().map_or("", |route| route.path)
    }
}

/// The methods that a route answers.
fn methods(route: &Route) -> impl Iterator<Item = &str> {
    let head = (route.method == Method::GET).then_some("HEAD");
    [route.method.as_str()].into_iter().chain(head)
}

/// The value of a header that lists these methods; `None` if there are none.
fn list<'a>(methods: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let mut methods: Vec<_> = methods.collect();
    methods.sort_unstable();
    HeaderValue::try_from(methods.join(", ")).ok().filter(|_| !methods.is_empty())
}
