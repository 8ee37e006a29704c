//! All routes of a site, found by path and method.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderValue, Method};
use matchit::Router;
use percent_encoding::percent_decode_str;

use crate::metrics::Submitted;
use crate::response::ApiError;

use super::route::{Handler, Route};

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
