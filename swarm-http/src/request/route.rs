//! A row of the table of routes: a method and a path, who may call it, what answers, and what the reference
//! says of it.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Method;
use swarm_core::wire::Problem;

use crate::Site;
use crate::metrics::Submitted;
use crate::response::Reply;

use super::context::RequestContext;
use super::credential::Access;

/// The largest body of a request, in bytes (API.md, 1.1).
pub(crate) const BODY_LIMIT: usize = 256 << 10;

/// One route.
pub(crate) struct Route {
    pub(crate) section: Section,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// Its body, if it takes one.
    pub(crate) body: Option<BodyRule>,
    pub(crate) work: Work,
    /// The parameters of the query that its answer depends on. All others are ignored.
    pub(crate) query: &'static [Parameter],
    /// What it submits, where the outcomes are counted.
    pub(crate) submitted: Option<Submitted>,
    pub(crate) handler: Handler,
    pub(crate) about: Description,
}

/// What the reference says of a route. A schema is named as in `door/reference/schemas`.
#[derive(Default)]
pub(crate) struct Description {
    /// What it is for, in a sentence.
    pub(crate) summary: &'static str,
    /// The schemas of the parts that the path leaves open, in order.
    pub(crate) parts: Vec<&'static str>,
    /// Each status of success, with the schemas or media types of its body.
    pub(crate) answers: Vec<(u16, Forms)>,
    /// Its own errors. Those of every request like it (host, credential, body) are added.
    pub(crate) refusals: &'static [Problem],
}

/// A parameter of the query: its name, and its schema.
pub(crate) type Parameter = (&'static str, &'static str);

/// The forms that a body may have: media types, or schemas of JSON.
pub(crate) type Forms = Vec<&'static str>;

/// A section of the reference, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    #[default]
    Door,
    Joining,
    Takes,
    Sessions,
    Records,
    Log,
    Operating,
    Committee,
    Pages,
    Server,
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
    pub(crate) schema: &'static str,
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
    Route::new(Method::GET, access, path, Handler::Tenant(Box::new(handler)))
}

/// A request that does something.
pub(crate) fn post(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    Route::new(Method::POST, access, path, Handler::Tenant(Box::new(handler)))
}

/// A change.
pub(crate) fn patch(
    access: Access,
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
) -> Route {
    Route::new(Method::PATCH, access, path, Handler::Tenant(Box::new(handler)))
}

/// A question to the server, not to a tenant.
pub(crate) fn server(path: &'static str, handler: impl AsyncHandler<Arc<Site>>) -> Route {
    Route::new(Method::GET, Access::Public, path, Handler::Server(Box::new(handler)))
}

/// What a route is besides its method, path, access and handler.
impl Route {
    fn new(method: Method, access: Access, path: &'static str, handler: Handler) -> Self {
        Self {
            section: Section::default(),
            method,
            path,
            access,
            body: None,
            query: &[],
            work: Work::Short,
            submitted: None,
            handler,
            about: Description::default(),
        }
    }

    /// What it is for.
    pub(crate) fn about(mut self, summary: &'static str) -> Self {
        self.about.summary = summary;
        self
    }

    /// With the next part that the path leaves open, by its schema.
    pub(crate) fn part(mut self, schema: &'static str) -> Self {
        self.about.parts.push(schema);
        self
    }

    /// With these parameters of the query.
    pub(crate) fn query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// With a JSON body of this schema.
    pub(crate) fn body(self, schema: &'static str) -> Self {
        let body = BodyRule { schema, limit: BODY_LIMIT, optional: false, unread: false };
        Self { body: Some(body), ..self }
    }

    /// With another limit for the body, in bytes.
    pub(crate) fn up_to(self, limit: usize) -> Self {
        Self { body: self.body.map(|body| BodyRule { limit, ..body }), ..self }
    }

    /// A missing body counts as an empty object.
    pub(crate) fn or_nothing(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { optional: true, ..body }), ..self }
    }

    /// With its body as bytes.
    pub(crate) fn unread(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { unread: true, ..body }), ..self }
    }

    /// With an answer of this status, in one of these forms.
    pub(crate) fn answers(mut self, status: u16, forms: &[&'static str]) -> Self {
        self.about.answers.push((status, forms.to_vec()));
        self
    }

    /// With these errors of its own.
    pub(crate) fn refuses(mut self, refusals: &'static [Problem]) -> Self {
        self.about.refusals = refusals;
        self
    }

    /// With its outcomes counted.
    pub(crate) fn counted(self, submitted: Submitted) -> Self {
        Self { submitted: Some(submitted), ..self }
    }

    /// With work of this cost.
    pub(crate) fn with(self, work: Work) -> Self {
        Self { work, ..self }
    }

    /// Whether anyone may read it, from any origin, and keep it while it is fresh.
    pub(crate) fn is_public_read(&self) -> bool {
        let of_tenant = matches!(self.handler, Handler::Tenant(_));
        of_tenant && self.method == Method::GET && self.access == Access::Public
    }
}

impl Section {
    /// These routes, as they belong to the section.
    pub(crate) fn rows(self, routes: Vec<Route>) -> Vec<Route> {
        routes.into_iter().map(|route| Route { section: self, ..route }).collect()
    }

    /// Its heading in the reference.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Door => "The door",
            Self::Joining => "Joining",
            Self::Takes => "Takes",
            Self::Sessions => "Sessions",
            Self::Records => "Members, subjects, memos",
            Self::Log => "The log",
            Self::Operating => "Operating",
            Self::Committee => "The daily committee",
            Self::Pages => "Pages",
            Self::Server => "How the server is",
        }
    }
}
