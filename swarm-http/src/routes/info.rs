//! The routes of a site as data, made from the rows of the route table.

use http::Method;
use swarm_core::json::{Json, Object, write};

use crate::request::command::Command;
use crate::request::credential::Access;
use crate::request::route::{BodyRule, Handler, Route};

/// A route of a site; see [`routes`](crate::routes).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RouteInfo {
    /// The method. Each GET route answers HEAD too, and each path OPTIONS.
    pub method: Method,
    /// The path. `{name}` stands for a segment or the part of one, `{*name}` for one or more segments.
    pub path: &'static str,
    /// The credential that the route requires.
    pub access: Access,
    /// The names of the query parameters that the route takes.
    pub query: Vec<&'static str>,
    /// The body that the route takes, if any.
    pub body: Option<RequestBody>,
    /// Whether the route is a change by an operator, which takes the query parameter `dry_run` (API.md, 7.1).
    pub takes_dry_run: bool,
    /// The verbs of `swarm admin` that send its requests.
    pub commands: Vec<Command>,
    /// Whether the route belongs to interface B, whose errors have a form of their own (API.md, 8).
    pub is_of_committee: bool,
    /// Whether the route answers for the server, the same on every host. Other routes answer only on the hosts of a tenant.
    pub is_of_server: bool,
}

/// The body that a route takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestBody {
    /// The format of the body.
    pub format: BodyFormat,
    /// The largest size, in bytes.
    pub limit: usize,
    /// Whether the body may be missing.
    pub is_optional: bool,
    /// The example of the reference, if there is one. Its ids are those of no record.
    pub example: Option<String>,
}

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFormat {
    /// `application/json`.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
}

impl RouteInfo {
    /// The data of a row. `schemas` are those of bodies, by name.
    pub(crate) fn of(route: &Route, schemas: &Object) -> Self {
        Self {
            method: route.method.clone(),
            path: route.path,
            access: route.access,
            query: route.parameters().map(|(name, _)| name).collect(),
            body: route.body.map(|rule| RequestBody::of(rule, schemas)),
            takes_dry_run: route.is_operators_change(),
            commands: route.commands(schemas),
            is_of_committee: route.is_of_committee(),
            is_of_server: matches!(route.handler, Handler::Server(_)),
        }
    }
}

impl RequestBody {
    fn of(rule: BodyRule, schemas: &Object) -> Self {
        let schema = schemas.get(rule.schema).cloned().map(Json::into_object);
        let example = schema.unwrap_or_default().items("examples").into_iter().next();
        Self {
            format: if rule.is_form { BodyFormat::Form } else { BodyFormat::Json },
            limit: rule.limit,
            is_optional: rule.optional,
            example: example.as_ref().map(write),
        }
    }
}
