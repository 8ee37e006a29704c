//! A row of the route table: method, path, access, handler, and description for the reference.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Method;
use swarm_core::domain::{Described, NamedSchema};
use swarm_core::json::Object;
use swarm_core::wire::Problem;

use crate::Site;
use crate::metrics::Submitted;
use crate::response::{ApiError, Reply};
use crate::schema::{SchemaRef, schema};

use super::body::MAX_VALUES;
use super::command::{self, Command};
pub(crate) use super::context::Parameter;
use super::context::RequestContext;
use super::credential::Access;
use super::dry_run;
use super::parameters::FLAG;

/// The largest body of most routes, in bytes (API.md, 1.1).
pub(crate) const BODY_LIMIT: usize = 256 << 10;

/// A body without fields.
const NO_FIELDS: SchemaRef = schema!("sessions", "NoFields", {
    "type": ["object", "null"], "additionalProperties": false, "examples": [{}]
});

/// One route.
pub(crate) struct Route {
    pub(crate) section: Section,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// The request body, if the route takes one.
    pub(crate) body: Option<BodyRule>,
    pub(crate) work: Work,
    /// The query parameters that the answer depends on. All others are ignored.
    pub(crate) query: &'static [Parameter],
    /// Whether the request may wait for an entry of the log, for the time of the parameter `wait`.
    pub(crate) waits: bool,
    /// The id or secret of the answer that the commit mints, if any: `member` or `object.member`.
    pub(crate) mints: Option<&'static str>,
    /// The kind of submission whose outcomes are counted, if any.
    pub(crate) submitted: Option<Submitted>,
    pub(crate) handler: Handler,
    pub(crate) about: Description,
    /// The schemas that it declares, but for those of query parameters.
    schemas: Vec<NamedSchema>,
    /// The verbs of `swarm admin` that send its requests.
    pub(crate) commands: Vec<Command>,
}

/// The description of a route for the reference. Schemas are named; those of answers as in
/// [`wire::schema`](swarm_core::wire::schema).
#[derive(Default)]
pub(crate) struct Description {
    /// A one-line summary.
    pub(crate) summary: &'static str,
    /// The schemas of the path parameters, in order.
    pub(crate) parts: Vec<&'static str>,
    /// Each success status, with the schemas or media types of its body.
    pub(crate) answers: Vec<(u16, Forms)>,
    /// The headers of a success that are particular to this route.
    pub(crate) headers: &'static [&'static str],
    /// Errors particular to this route. The errors of host, credential and body are added.
    pub(crate) refusals: &'static [Problem],
}

/// The possible forms of a body: media types, or JSON schemas.
pub(crate) type Forms = Vec<&'static str>;

/// The sections of the reference, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    #[default]
    Discovery,
    Joining,
    Takes,
    Sessions,
    Records,
    Log,
    Operating,
    OperatingSessions,
    Committee,
    Pages,
    Server,
}

/// The cost of making the answer, and where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The cost does not depend on what is stored: made on the thread of the request.
    Short,
    /// The cost depends on what is stored: made on the worker pool.
    Long,
    /// As `Short`, and cached. The answer must depend only on records whose changes are in the log, not on
    /// the time or the origin.
    CachedShort,
    /// As `Long`, and cached like `CachedShort`.
    CachedLong,
}

/// A JSON body.
#[derive(Clone, Copy)]
pub(crate) struct BodyRule {
    pub(crate) schema: &'static str,
    /// Maximum size, in bytes.
    pub(crate) limit: usize,
    /// Whether a missing body counts as an empty object.
    pub(crate) optional: bool,
    /// Whether `null` counts as an empty object.
    pub(crate) nullable: bool,
    /// Whether the handler gets the raw bytes, because the rules parse them later.
    pub(crate) unread: bool,
    /// Whether the body is an HTML form, which the handler gets as raw bytes.
    pub(crate) is_form: bool,
}

/// The function that answers.
pub(crate) enum Handler {
    /// Answers for a tenant.
    Tenant(Arc<dyn AsyncHandler<RequestContext>>),
    /// Answers for the server, the same on every host.
    Server(Box<dyn AsyncHandler<Arc<Site>>>),
}

/// An `async` function from its input to a reply.
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

/// A part of a request.
pub(crate) trait Extract: Sized + Send + 'static {
    /// Adds a description of the part to the row.
    fn describe(route: Route) -> Route;

    /// Reads the part.
    fn extract(request: &mut RequestContext) -> Result<Self, ApiError>;
}

/// A handler of a tenant's requests: an `async` function of the request and up to three [parts](Extract) of it, which are read
/// in their order. `Parts` is the tuple of their types.
pub(crate) trait TenantHandler<Parts>: Sized {
    /// Adds descriptions of the parts to the row.
    fn describe(route: Route) -> Route;

    /// Returns the function of the request alone.
    fn of_request(self) -> Arc<dyn AsyncHandler<RequestContext>>;
}

impl<H: AsyncHandler<RequestContext>> TenantHandler<()> for H {
    fn describe(route: Route) -> Route {
        route
    }

    fn of_request(self) -> Arc<dyn AsyncHandler<RequestContext>> {
        Arc::new(self)
    }
}

macro_rules! handlers {
    ($($part:ident $name:ident),+) => {
        impl<H, F, $($part),+> TenantHandler<($($part,)+)> for H
        where
            H: Fn(RequestContext, $($part),+) -> F + Copy + Send + Sync + 'static,
            F: Future<Output = Reply> + Send + 'static,
            $($part: Extract),+
        {
            fn describe(route: Route) -> Route {
                $(let route = $part::describe(route);)+
                route
            }

            fn of_request(self) -> Arc<dyn AsyncHandler<RequestContext>> {
                Arc::new(move |mut request: RequestContext| {
                    async move {
                        $(let $name = $part::extract(&mut request)?;)+
                        self(request, $($name),+).await
                    }
                    .boxed()
                })
            }
        }
    };
}

handlers!(A a);
handlers!(A a, B b);
handlers!(A a, B b, C c);

/// A public read.
pub(crate) fn read<P>(path: &'static str, handler: impl TenantHandler<P>) -> Route {
    read_as(Access::Public, path, handler)
}

/// A public read whose answer is made on the worker pool and cached.
pub(crate) fn cached<P>(path: &'static str, handler: impl TenantHandler<P>) -> Route {
    read(path, handler).with(Work::CachedLong)
}

/// A read with a credential.
pub(crate) fn read_as<P>(
    access: Access,
    path: &'static str,
    handler: impl TenantHandler<P>,
) -> Route {
    of_tenant(Method::GET, access, path, handler)
}

/// A POST route.
pub(crate) fn post<P>(access: Access, path: &'static str, handler: impl TenantHandler<P>) -> Route {
    of_tenant(Method::POST, access, path, handler)
}

/// A PATCH route.
pub(crate) fn patch<P>(
    access: Access,
    path: &'static str,
    handler: impl TenantHandler<P>,
) -> Route {
    of_tenant(Method::PATCH, access, path, handler)
}

fn of_tenant<P, H: TenantHandler<P>>(
    method: Method,
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    H::describe(Route::new(method, access, path, Handler::Tenant(handler.of_request())))
}

/// A read of the server itself, not of a tenant.
pub(crate) fn server(path: &'static str, handler: impl AsyncHandler<Arc<Site>>) -> Route {
    Route::new(Method::GET, Access::Public, path, Handler::Server(Box::new(handler)))
}

/// Builder methods for everything but method, path, access and handler.
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
            waits: false,
            mints: None,
            submitted: None,
            handler,
            about: Description::default(),
            schemas: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// Sets the summary.
    pub(crate) fn about(mut self, summary: &'static str) -> Self {
        self.about.summary = summary;
        self
    }

    /// Adds a verb of `swarm admin`.
    pub(crate) fn command(mut self, command: Command) -> Self {
        self.commands.push(command);
        self
    }

    /// Gives its commands their arguments. `schemas` are those of bodies, by name.
    pub(crate) fn with_arguments(self, schemas: &Object) -> Self {
        Self { commands: self.commands(schemas), ..self }
    }

    /// Returns its commands with their arguments. `schemas` are those of bodies, by name.
    pub(crate) fn commands(&self, schemas: &Object) -> Vec<Command> {
        let request = command::Described {
            path: self.path,
            parts: &self.about.parts,
            summary: self.about.summary,
            body: self.body.map(|body| body.schema),
        };
        self.commands.iter().map(|command| command.of(&request, schemas)).collect()
    }

    /// Adds the schema of the next path parameter.
    pub(crate) fn part(mut self, schema: SchemaRef) -> Self {
        self.about.parts.push(schema.name());
        self.declares(schema.declared())
    }

    /// Sets the query parameters.
    pub(crate) fn query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// Takes a JSON body with these fields.
    pub(crate) fn takes<T: Described>(self) -> Self {
        self.body(T::NAME).declares(T::named())
    }

    /// Takes a JSON body of this schema.
    pub(crate) fn takes_as(self, schema: SchemaRef) -> Self {
        self.body(schema.name()).declares(schema.declared())
    }

    fn declares(mut self, schemas: impl IntoIterator<Item = NamedSchema>) -> Self {
        self.schemas.extend(schemas);
        self
    }

    fn body(self, schema: &'static str) -> Self {
        let body = BodyRule {
            schema,
            limit: BODY_LIMIT,
            optional: false,
            nullable: false,
            unread: false,
            is_form: false,
        };
        Self { body: Some(body), ..self }
    }

    /// Takes a form.
    #[cfg(feature = "pages")]
    pub(crate) fn form(self) -> Self {
        let form = self.body("Form").unread();
        Self { body: form.body.map(|body| BodyRule { is_form: true, ..body }), ..form }
    }

    /// Sets another limit for the body, in bytes.
    pub(crate) fn up_to(self, limit: usize) -> Self {
        Self { body: self.body.map(|body| BodyRule { limit, ..body }), ..self }
    }

    /// Takes an object without members, `null`, or no body.
    pub(crate) fn no_fields(self) -> Self {
        let route = self.takes_as(NO_FIELDS).optional_body();
        Self { body: route.body.map(|body| BodyRule { nullable: true, ..body }), ..route }
    }

    /// Lets a missing body count as an empty object.
    pub(crate) fn optional_body(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { optional: true, ..body }), ..self }
    }

    /// Gives the handler the body as bytes.
    pub(crate) fn unread(self) -> Self {
        Self { body: self.body.map(|body| BodyRule { unread: true, ..body }), ..self }
    }

    /// Adds forms of the body of a success with this status.
    pub(crate) fn answers(mut self, status: u16, forms: &[&'static str]) -> Self {
        let answers = &mut self.about.answers;
        match answers.iter_mut().find(|(other, _)| *other == status) {
            Some((_, all)) => all.extend(forms),
            None => answers.push((status, forms.to_vec())),
        }
        self
    }

    /// As [`answers`](Self::answers), with a form that the front end declares.
    pub(crate) fn answers_as(self, status: u16, schema: SchemaRef) -> Self {
        self.answers(status, &[schema.name()]).declares(schema.declared())
    }

    /// Sets the headers of a success that are particular to this route.
    pub(crate) fn sends(mut self, headers: &'static [&'static str]) -> Self {
        self.about.headers = headers;
        self
    }

    /// Sets the errors particular to this route.
    pub(crate) fn refuses(mut self, refusals: &'static [Problem]) -> Self {
        self.about.refusals = refusals;
        self
    }

    /// Counts the outcomes as submissions of this kind.
    pub(crate) fn counted(self, submitted: Submitted) -> Self {
        Self { submitted: Some(submitted), ..self }
    }

    /// Lets the request wait for an entry of the log.
    pub(crate) fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }

    /// Names what the commit mints: null in the answer of a dry run.
    pub(crate) fn mints(self, minted: &'static str) -> Self {
        Self { mints: Some(minted), ..self }
    }

    /// Shows more to a member whose token comes with the request.
    pub(crate) fn or_member(self) -> Self {
        Self { access: Access::PublicOrMember, ..self }
    }

    /// Sets the cost.
    pub(crate) fn with(self, work: Work) -> Self {
        Self { work, ..self }
    }

    /// The most values in the JSON body that is parsed before the handler is called; `None` if there is none to
    /// parse. What operators send may have any number: a large document has many.
    pub(crate) fn parsed_values(&self) -> Option<usize> {
        let _parsed = self.body.filter(|rule| !rule.unread)?;
        Some(if self.access.role().is_some() { usize::MAX } else { MAX_VALUES })
    }

    /// Whether this is a change by an operator, which takes `dry_run`.
    pub(crate) fn is_operators_change(&self) -> bool {
        self.access.role().is_some() && self.method != Method::GET
    }

    /// Whether its errors have the form of interface B.
    pub(crate) fn is_of_committee(&self) -> bool {
        self.section == Section::Committee
    }

    /// The query parameters that a client may send: name, and the name of the schema.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let dry_run = self.is_operators_change().then_some(("dry_run", FLAG));
        self.query.iter().copied().chain(dry_run).map(|(name, schema)| (name, schema.name()))
    }

    /// The schemas that it refers to, but for those of the core.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = NamedSchema> {
        let query = self.query.iter().map(|(_, schema)| *schema);
        let of_change = [FLAG, dry_run::ANSWER].into_iter().filter(|_| self.is_operators_change());
        let declared = query.chain(of_change).filter_map(SchemaRef::declared);
        self.schemas.iter().copied().chain(declared)
    }

    /// Whether programs of any origin may use it: what is public, and what takes the token of a member. Neither depends
    /// on what a browser sends by itself.
    pub(crate) fn is_cross_origin(&self) -> bool {
        use Access::{Member, Public, PublicOrMember};
        let of_tenant = matches!(self.handler, Handler::Tenant(_));
        of_tenant && matches!(self.access, Public | PublicOrMember | Member)
    }

    /// Whether its errors are pages for clients that prefer HTML: at each path of a tenant that is not of the API.
    pub(crate) fn has_error_pages(&self) -> bool {
        let of_tenant = matches!(self.handler, Handler::Tenant(_));
        cfg!(feature = "pages") && of_tenant && !self.path.starts_with("/api/")
    }

    /// Whether this is a public read, which any origin may fetch and caches may keep.
    pub(crate) fn is_public_read(&self) -> bool {
        let of_tenant = matches!(self.handler, Handler::Tenant(_));
        let is_public = matches!(self.access, Access::Public | Access::PublicOrMember);
        of_tenant && self.method == Method::GET && is_public
    }

    /// Whether its answer is a stream of events, which goes on after an event that the client names.
    pub(crate) fn is_stream(&self) -> bool {
        self.about.answers.iter().any(|(_, forms)| forms.contains(&"text/event-stream"))
    }
}

impl Section {
    /// Puts these routes into the section.
    pub(crate) fn rows(self, routes: Vec<Route>) -> Vec<Route> {
        routes.into_iter().map(|route| Route { section: self, ..route }).collect()
    }

    /// The heading in the reference.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Discovery => "Guides and discovery",
            Self::Joining => "Joining",
            Self::Takes => "Takes",
            Self::Sessions => "Sessions",
            Self::Records => "Members, subjects, memos",
            Self::Log => "Log",
            Self::Operating => "Operating",
            Self::OperatingSessions => "Operating sessions",
            Self::Committee => "Daily committee",
            Self::Pages => "Pages",
            Self::Server => "Server status",
        }
    }
}
