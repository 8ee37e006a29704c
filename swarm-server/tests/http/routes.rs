//! All routes, taken from the table of the server, each with a path to send requests to.
//!
//! A test of all routes iterates [`all`], so it covers a new route without being changed. A path parameter that has no
//! sample value fails every one of them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use swarm_http::{Access, BodyFormat, CommitteeAccess, RequestBody, RouteInfo, Site};
use swarm_store_memory::MemoryStore;

use crate::fixture::Fixture;
use crate::harness::{ADMIN, Server, services, tenant};
use crate::raw_http::ONCE;

/// A route, and the path of a request for it.
pub struct Route {
    pub info: RouteInfo,
    /// The path of the records of [`Fixture::with_records`], with a query where there must be one.
    pub path: String,
}

/// Values of path parameters that differ between fixtures.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    pub tenant: &'a str,
    pub member: &'a str,
    /// A tile of the log.
    pub tile: &'a str,
}

/// The values of [`Fixture::with_records`].
pub const RECORDS: Samples<'_> = Samples { tenant: "default", member: "m", tile: "000.p/1" };

/// All routes of a site with both interfaces.
pub fn all() -> impl Iterator<Item = &'static Route> {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
        let site = Site::single(services(&MemoryStore::new()), tenant("default", ADMIN, &[]));
        let routes = swarm_http::routes(&site).into_iter();
        routes.map(|info| Route { path: RECORDS.path(info.path), info }).collect()
    });
    ROUTES.iter()
}

/// Public reads of tenants, without the stream of events, which does not end, the scores of a session, which need an
/// outcome, and oEmbed, which needs the address of a page. They answer 200 if their records exist.
pub fn public_reads() -> impl Iterator<Item = &'static Route> {
    const OTHERS: [&str; 3] = ["/api/swarm/events", "/api/swarm/sessions/{id}/scores", "/oembed"];
    all().filter(|route| {
        route.is_public_read() && !route.is_of_second_log() && !OTHERS.contains(&route.info.path)
    })
}

/// Reads that are not public.
pub fn other_reads() -> impl Iterator<Item = &'static Route> {
    let is_other = |access| {
        matches!(
            access,
            Access::Member | Access::Operator(_) | Access::Committee(CommitteeAccess::Operator(_))
        )
    };
    all().filter(move |route| route.is_read() && is_other(route.info.access))
}

/// Reads and changes by operators.
pub fn of_operators() -> impl Iterator<Item = &'static Route> {
    all().filter(|route| route.info.access.role().is_some())
}

/// Routes that take a JSON body.
pub fn with_json_body() -> impl Iterator<Item = (&'static Route, &'static RequestBody)> {
    let body = |route: &'static Route| Some((route, route.info.body.as_ref()?));
    all().filter_map(body).filter(|(_, body)| body.format == BodyFormat::Json)
}

impl Route {
    pub fn method(&self) -> &str {
        self.info.method.as_str()
    }

    /// The path in `/openapi.json`.
    pub fn template(&self) -> String {
        self.info.path.replace("{*", "{")
    }

    pub fn is_read(&self) -> bool {
        self.info.method == "GET"
    }

    /// Whether anyone may read it. Caches may keep the answer.
    pub fn is_public_read(&self) -> bool {
        let is_public = matches!(self.info.access, Access::Public | Access::PublicOrMember);
        is_public && self.is_read() && !self.info.is_of_server
    }

    /// Whether programs of any origin may use it.
    pub fn is_cross_origin(&self) -> bool {
        let access = self.info.access;
        !self.info.is_of_server
            && matches!(access, Access::Public | Access::PublicOrMember | Access::Member)
    }

    /// Whether it is a page or a form of the operators' console.
    pub fn is_of_console(&self) -> bool {
        self.info.access == Access::Console
    }

    /// Whether it answers 404 unless the log is signed.
    pub fn needs_signed_log(&self) -> bool {
        let path = self.info.path;
        path.starts_with("/swarm/log/") || path.ends_with("/proof") || path.ends_with("/bundle")
    }

    /// Whether it reads a log that replaced another one, whose name has a number, or the end of the one before. No fixture has
    /// a second log.
    pub fn is_of_second_log(&self) -> bool {
        self.info.path.contains("/{log}/") || self.info.path.ends_with("/succession")
    }

    /// For messages of tests.
    pub fn name(&self) -> String {
        format!("{} {}", self.method(), self.info.path)
    }
}

impl Samples<'_> {
    /// The path of a request, from the path of a route.
    pub fn path(&self, template: &str) -> String {
        let mut path = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap();
            path += before;
            path += self.value(&path, name);
            rest = after;
        }
        path += rest;
        // The only route whose query must name something.
        if template == "/api/swarm/brief" { path + "?session=1" } else { path }
    }

    /// The value of a parameter that follows `before`.
    fn value(&self, before: &str, name: &str) -> &str {
        let follows = |part: &str| before.ends_with(&format!("/{part}/"));
        match name {
            "id" if follows("members") || follows("apply") => self.member,
            "id" if follows("subjects") => "aurora",
            "id" if ["sessions", "takes", "memos", "outbox", "webhooks"]
                .into_iter()
                .any(follows) =>
            {
                "1"
            }
            "date" => "2026-11-21",
            "seq" => "1",
            "subject" => "aurora",
            "file" => "m.json",
            "chapter" => "takes",
            "tenant" => self.tenant,
            "log" => "2",
            "level" => "0",
            "*number" => self.tile,
            _ => panic!("{before}{{{name}}} has no sample value"),
        }
    }
}

/// Routes that the API description leaves out: the console is pages and forms, and no API.
fn is_undescribed(route: &Route) -> bool {
    route.is_of_console() || route.info.path == "/swarm/console.css"
}

#[test]
fn openapi_describes_exactly_the_routes() {
    let document = Server::start().client().get("/openapi.json").expect(200).json();
    let described: BTreeSet<_> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    let listed = all().filter(|route| !is_undescribed(route));
    let listed: BTreeSet<_> =
        listed.map(|route| format!("{} {}", route.method(), route.template())).collect();
    assert_eq!(described, listed);
}

/// No sample path is unknown, and every method is known there.
#[test]
fn every_route_answers() {
    let (fixture, _) = Fixture::with_records();
    for route in all().filter(|route| !route.is_of_second_log()) {
        let (method, path) = (route.method(), &route.path);
        let answer = fixture.client.send(method, path, &[ONCE], b"");
        assert_ne!(answer.header("swarm-error"), Some("unknown-path"), "{method} {path}");
        assert!(answer.status < 500 && answer.status != 405, "{method} {path}: {answer:?}");
        let expected = match route.info.access {
            // The session has no outcome.
            _ if route.info.path.ends_with("/scores") => 404..=404,
            // Nothing says of which page.
            _ if route.info.path == "/oembed" => 404..=404,
            Access::Public | Access::PublicOrMember if route.is_read() => 200..=200,
            // A visitor who is not signed in is shown the form, or sent to it.
            Access::Console if route.is_read() => 200..=303,
            _ => 400..=499,
        };
        assert!(expected.contains(&answer.status), "{method} {path}: {answer:?}");
    }
}
