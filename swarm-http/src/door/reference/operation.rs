//! What is said of a route: its line in `operations.txt`, and what the table of routes knows itself.

use http::Method;
use swarm_core::wire::Problem;

use crate::request::credential::Access;
use crate::request::route::{BodyRule, Handler, Route};

const LINES: &str = include_str!("operations.txt");

/// One route as the reference describes it.
pub(super) struct Operation {
    /// The heading that it stands below.
    pub(super) group: &'static str,
    pub(super) method: Method,
    /// The path as it stands in the table of routes.
    pub(super) path: &'static str,
    /// The parts that the path leaves open.
    pub(super) parts: Vec<Parameter>,
    pub(super) query: Vec<Parameter>,
    pub(super) summary: &'static str,
    pub(super) access: Access,
    /// Whether everyone may read it, and keep what they read.
    pub(super) is_public_read: bool,
    pub(super) body: Option<(&'static str, BodyRule)>,
    /// What it answers when all is well: a status, and the media types or schemas of the body.
    pub(super) answers: Vec<(u16, Vec<&'static str>)>,
    /// The errors that it may answer.
    pub(super) problems: Vec<Problem>,
}

pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) schema: &'static str,
}

/// What a line says.
pub(super) struct Line {
    group: &'static str,
    pub(super) method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: &'static str,
    body: &'static str,
    answers: &'static str,
    refusals: &'static str,
}

impl Operation {
    /// The description of a line, where there is such a route.
    pub(super) fn of(line: &Line, routes: &[Route]) -> Option<Self> {
        let route = routes.iter().find(|route| line.is_of(route))?;
        Some(Self {
            group: line.group,
            method: route.method.clone(),
            path: route.path,
            parts: line.path.split('/').filter_map(part).collect(),
            query: words(line.query).filter_map(parameter).collect(),
            summary: line.summary,
            access: route.access,
            is_public_read: route.is_public_read(),
            body: words(line.body).next().zip(route.body),
            answers: line.answers.split(", ").filter_map(answer).collect(),
            problems: line.problems(route),
        })
    }

    /// Whether it speaks the form of interface B.
    pub(super) fn is_of_committee(&self) -> bool {
        self.path.starts_with("/api/ic/") || self.path.starts_with("/data/committee/")
    }

    /// Whether people read it too.
    pub(super) fn is_page(&self) -> bool {
        self.answers.iter().any(|(_, forms)| forms.len() > 1 && forms.contains(&"text/html"))
    }
}

/// All lines.
pub(super) fn lines() -> Vec<Line> {
    let mut group = "";
    let mut lines = Vec::new();
    for text in LINES.lines().skip_while(|line| !line.is_empty()) {
        match text.strip_prefix("# ") {
            Some(heading) => group = heading,
            None => lines.extend(Line::read(group, text)),
        }
    }
    lines
}

impl Line {
    fn read(group: &'static str, text: &'static str) -> Option<Self> {
        let mut columns = text.split(" | ");
        let (method, path) = columns.next()?.split_once(' ')?;
        let mut next = || columns.next();
        let (summary, query, body, answers, refusals) =
            (next()?, next()?, next()?, next()?, next()?);
        Some(Self { group, method, path, summary, query, body, answers, refusals })
    }

    pub(super) fn is_of(&self, route: &Route) -> bool {
        self.method == route.method.as_str() && self.path() == route.path
    }

    /// The path as it stands in the table of routes.
    pub(super) fn path(&self) -> String {
        let part = |text| match part(text) {
            Some(Parameter { name, .. }) => format!("{{{name}}}"),
            None => text.to_owned(),
        };
        self.path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Its own refusals, and the errors of every request like it, by status.
    fn problems(&self, route: &Route) -> Vec<Problem> {
        let named = words(self.refusals).filter_map(problem);
        let mut problems: Vec<_> = named.chain(on_the_way(route)).collect();
        if words(self.query).next().is_some() {
            problems.push(Problem::InvalidQuery);
        }
        problems.sort_unstable_by_key(|problem| (problem.status(), problem.code()));
        problems.dedup();
        problems
    }
}

/// What can go wrong before a handler sees the request, and where a store gives no answer.
fn on_the_way(route: &Route) -> Vec<Problem> {
    let mut problems = vec![Problem::MissingHost, Problem::InvalidHost, Problem::InvalidTarget];
    problems.extend([Problem::InvalidFraming, Problem::Internal]);
    if matches!(route.handler, Handler::Tenant(_)) {
        problems.extend([Problem::UnknownHost, Problem::Busy, Problem::Unavailable]);
    }
    if route.body.is_some() {
        problems.extend([Problem::InvalidJson, Problem::BodyIncomplete, Problem::BodyTooSlow]);
        problems.extend([Problem::BodyTooLarge, Problem::NotJsonType]);
    }
    problems.extend(match route.access {
        Access::Public => None,
        Access::Member => Some(Problem::MissingBearer),
        Access::Operator | Access::CommitteeOperator => Some(Problem::AdminToken),
        Access::CommitteeMember => Some(Problem::MissingKey),
    });
    problems
}

/// The words of a column that may be empty.
fn words(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.split(' ').filter(|word| *word != "-")
}

pub(super) fn problem(code: &str) -> Option<Problem> {
    Problem::ALL.iter().copied().find(|problem| problem.code() == code)
}

fn part(text: &'static str) -> Option<Parameter> {
    parameter(text.strip_prefix('{')?.strip_suffix('}')?)
}

fn parameter(text: &'static str) -> Option<Parameter> {
    let (name, schema) = text.split_once(':')?;
    Some(Parameter { name, schema })
}

fn answer(text: &'static str) -> Option<(u16, Vec<&'static str>)> {
    let (status, forms) = text.split_once(' ')?;
    Some((status.parse().ok()?, forms.split(" or ").collect()))
}
