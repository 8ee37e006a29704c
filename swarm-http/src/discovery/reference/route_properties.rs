//! Properties of routes that the reference derives.

use swarm_core::wire::Problem;

use crate::request::credential::Access;
use crate::request::route::{Handler, Route};
use crate::tenants::Role;

/// The path as a template of OpenAPI, in which a parameter may be of several segments too.
pub(super) fn template(route: &Route) -> String {
    route.path.replace("{*", "{")
}

/// The path parameters: name and schema.
pub(super) fn parts(route: &Route) -> impl Iterator<Item = (&'static str, &'static str)> {
    let open = |part: &'static str| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.strip_prefix('*').unwrap_or(name))
    };
    route.path.split('/').filter_map(open).zip(route.about.parts.iter().copied())
}

/// Whether the route also answers a page.
pub(super) fn is_page(route: &Route) -> bool {
    route.about.answers.iter().any(|(_, forms)| forms.len() > 1 && forms.contains(&"text/html"))
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
    problems.extend(match route.access {
        Access::Public | Access::PublicOrMember | Access::Console => None,
        Access::Member => Some(Problem::MissingBearer),
        Access::Operator(_) | Access::CommitteeOperator(_) => Some(Problem::AdminToken),
        Access::CommitteeMember => Some(Problem::MissingKey),
    });
    // Every role may do what a reader may.
    let needs_more = route.access.role().is_some_and(|role| role > Role::Reader);
    problems.extend(needs_more.then_some(Problem::NotForRole));
    problems
}
