//! Properties of routes that the reference derives.

use swarm_core::wire::Problem;

use crate::request::route::{Handler, Route, Section};
use crate::schema::{SchemaRef, schema};
use crate::tenants::Role;

/// The path as a template of OpenAPI, in which a parameter may be of several segments too.
pub(super) fn template(route: &Route) -> String {
    route.path.replace("{*", "{")
}

/// The path parameters: name and schema.
pub(super) fn parts(route: &Route) -> impl Iterator<Item = (&'static str, &'static str)> {
    let open = |part: &'static str| {
        // A suffix may follow: `{id}.csv`.
        let (name, _) = part.strip_prefix('{')?.split_once('}')?;
        Some(name.strip_prefix('*').unwrap_or(name))
    };
    route.path.split('/').filter_map(open).zip(route.about.parts.iter().copied())
}

/// The `operationId`: method and path in camel case, `getTakesById` for `GET /api/swarm/takes/{id}`.
pub(super) fn operation_id(route: &Route) -> String {
    let path = ["/api/swarm/", "/api/"].iter().find_map(|base| route.path.strip_prefix(base));
    let path = path.unwrap_or(route.path).replace('{', "/by-");
    let mut id = route.method.as_str().to_ascii_lowercase();
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_ascii_uppercase());
        id.push_str(rest);
    }
    if path == "/" { id + "Home" } else { id }
}

/// Of the audience of an operation.
pub(crate) const AUDIENCE: SchemaRef = schema!("server", "Audience", {
    "enum": Audience::ALL.map(Audience::as_str),
    "description": "Whom an operation is for: programs without a credential, members, operators, or people who read pages."
});

/// Whom an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    Public,
    Member,
    Operator,
    Page,
}

impl Audience {
    pub(super) const ALL: [Self; 4] = [Self::Public, Self::Member, Self::Operator, Self::Page];

    /// The audience of a route, by its credential. What only people read is for those who read pages.
    pub(super) fn of(route: &Route) -> Self {
        let answers = route.about.answers.iter();
        let is_html = answers.flat_map(|(_, forms)| forms).all(|form| *form == "text/html");
        match route.access.scheme() {
            Some(_) if route.access.role().is_some() => Self::Operator,
            Some(_) => Self::Member,
            None if is_html || route.section == Section::Pages => Self::Page,
            None => Self::Public,
        }
    }

    /// The name in the document.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Member => "member",
            Self::Operator => "operator",
            Self::Page => "page",
        }
    }
}

impl std::str::FromStr for Audience {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|audience| audience.as_str() == name);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("must be one of {names}")
        })
    }
}

/// The errors of a route: its own, and those of host, credential and body; sorted by status.
pub(super) fn problems(route: &Route) -> Vec<Problem> {
    let mut problems = route.about.refusals.to_vec();
    problems.extend(common(route));
    problems.sort_unstable_by_key(|problem| (problem.status(), problem.code()));
    problems.dedup();
    problems
}

/// Errors before the handler runs, and of an unavailable store.
fn common(route: &Route) -> Vec<Problem> {
    let mut problems = vec![Problem::MissingHost, Problem::InvalidHost, Problem::InvalidTarget];
    problems.extend([Problem::InvalidFraming, Problem::Internal]);
    if matches!(route.handler, Handler::Tenant(_)) {
        problems.extend([Problem::UnknownHost, Problem::Busy, Problem::Unavailable]);
    }
    if route.parameters().next().is_some() {
        problems.push(Problem::InvalidQuery);
    }
    if route.body.is_some() {
        problems.extend([Problem::InvalidJson, Problem::BodyIncomplete, Problem::BodyTooSlow]);
        problems.extend([Problem::BodyTooLarge, Problem::NotJsonType]);
    }
    problems.extend(route.access.scheme().map(|scheme| scheme.problem));
    if route.access.role().is_some() {
        problems.extend([Problem::TooManyAttempts, Problem::SignOnUnavailable]);
    }
    problems.extend(route.is_operators_change().then_some(Problem::CrossSite));
    // Every role may do what a reader may.
    let needs_more = route.access.role().is_some_and(|role| role > Role::Reader);
    problems.extend(needs_more.then_some(Problem::NotForRole));
    problems
}
