//! Clients that send large bodies to each route that takes one, as the table of routes has them: JSON of every tenant's API, and
//! forms of the console.

use std::fmt::Write as _;
use std::sync::Arc;

use swarm_benches::shipped::{ADMIN, ServerFixture, host};
use swarm_client::{Client, new_key};
use swarm_core::domain::AdminTokenHash;
use swarm_core::{Committees, Swarm, SystemEntropy, TenantId};
use swarm_http::{Access, AdminTokens, BodyFormat, RequestBody, RouteInfo, Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use crate::memory::signed_in;
use crate::paths::{PathAttack, Values};
use crate::{BUDGET, OPERATORS_BUDGET};

/// The size of bodies in bytes, unless a route takes less or more. A route that takes less is sent these too.
const USUAL: usize = 256 << 10;

/// Addresses of strangers who send bodies to all routes at the same time.
const ADDRESSES: u8 = 8;

/// An attack by bodies on each route that takes one; on all routes of strangers from several addresses; and on all forms of the
/// console by an operator of the tenant.
pub fn all(fixture: &ServerFixture) -> Vec<PathAttack> {
    let first = fixture.server.address.to_string();
    // Forms of operators are carried out: none may shut out a member that files takes.
    let (values, routes) = (Values::of(fixture).with_member(applicant(&first)), routes());
    let of_the_console = signed_in(fixture.server.address);
    let (mut attacks, mut of_strangers, mut of_operators) = (Vec::new(), Vec::new(), Vec::new());
    for route in &routes {
        let Some(body) = &route.body else { continue };
        let (path, is_of_operators) = (values.path(route.path), route.access.role().is_some());
        // Operators of the second tenant send them to it, with its token.
        let host = if is_of_operators { host(1) } else { first.clone() };
        let sender = Sender { method: route.method.as_str(), host: &host, path: &path };
        let texts = sender.requests(body, &format!("X-Admin-Token: {ADMIN}\r\n"));
        if !is_of_operators {
            of_strangers.extend(texts.clone());
        }
        if route.access == Access::Console && !is_of_the_session(route.path) {
            of_operators.extend(sender.requests(body, &of_the_console));
        }
        let budget = if is_of_operators { OPERATORS_BUDGET } else { BUDGET };
        let name = format!("{} {}", route.method, route.path);
        attacks.push(PathAttack { name, texts, budget, addresses: 1 });
    }
    let name = format!("bodies of strangers to all routes, {ADDRESSES} addresses");
    attacks.push(PathAttack { name, texts: of_strangers, budget: BUDGET, addresses: ADDRESSES });
    let name = "forms of the console, signed in".to_owned();
    attacks.push(PathAttack { name, texts: of_operators, budget: OPERATORS_BUDGET, addresses: 1 });
    attacks
}

/// Applies as a member; returns its id.
fn applicant(host: &str) -> String {
    let client = Client::new(&format!("http://{host}")).expect("a URL");
    let key = new_key().expect("entropy");
    client.apply(&key, "Mallory", "m@example.org", "").expect("a member").to_string()
}

/// All routes of a site with both interfaces.
fn routes() -> Vec<RouteInfo> {
    let store = MemoryStore::new();
    let services =
        (Swarm::new(store.clone(), SystemEntropy), Committees::new(store, SystemEntropy));
    let operators = AdminTokens::single(AdminTokenHash::of(ADMIN.as_bytes()));
    let tenant = TenantConfig::new(TenantId::parse("default").expect("an id"), operators);
    swarm_http::routes(&Arc::new(Site::single(services, tenant)))
}

/// Whether a form begins or ends a session of the console. Those that begin one wait after wrong tokens.
fn is_of_the_session(path: &str) -> bool {
    ["/operate", "/operate/sign-out"].contains(&path)
}

struct Sender<'a> {
    method: &'a str,
    host: &'a str,
    path: &'a str,
}

impl Sender<'_> {
    /// Requests with bodies of each [`Filling`], as large as the route takes, and as large as most routes take.
    fn requests(&self, body: &RequestBody, headers: &str) -> Vec<Vec<u8>> {
        let (kind, fillings) = match body.format {
            BodyFormat::Json => ("application/json", JSON),
            BodyFormat::Form => ("application/x-www-form-urlencoded", FORMS),
            other => panic!("{other:?} needs bodies"),
        };
        let mut sizes = vec![body.limit, body.limit.max(USUAL)];
        sizes.dedup();
        let all = sizes.iter().flat_map(|size| fillings.iter().map(|filling| filling.of(*size)));
        all.map(|text| self.request(kind, headers, &text)).collect()
    }

    fn request(&self, kind: &str, headers: &str, body: &str) -> Vec<u8> {
        let Self { method, host, path } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n\
             Authorization: Bearer tok_made_up\r\nSec-Fetch-Site: same-origin\r\n{headers}\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// What fills a large body: `before`, then parts, then `after`.
struct Filling {
    before: &'static str,
    part: Part,
    after: &'static str,
}

enum Part {
    /// The same text again and again.
    Same(&'static str),
    /// A field with a name of its own, before this text.
    Field(&'static str),
}

const JSON: &[Filling] = &[
    Filling { before: "{\"nonce\":[", part: Part::Same("1,"), after: "1]}" },
    Filling { before: "{\"body\":\"", part: Part::Same("\\u0041"), after: "\"}" },
    Filling { before: "{\"a\":", part: Part::Same("["), after: "" },
    Filling { before: "{", part: Part::Field(":0,"), after: "\"\":0}" },
    Filling { before: "{\"n\":[", part: Part::Same("0.1234567890123456789e-300,"), after: "1]}" },
];

const FORMS: &[Filling] = &[
    Filling { before: "", part: Part::Same("a&"), after: "" },
    Filling { before: "note=", part: Part::Same("%41"), after: "" },
    Filling { before: "note=", part: Part::Same("<"), after: "" },
    Filling { before: "", part: Part::Field("=&"), after: "a=" },
];

impl Filling {
    /// A body of almost this size.
    fn of(&self, size: usize) -> String {
        let room = size.saturating_sub(self.before.len() + self.after.len());
        let mut body = self.before.to_owned();
        match self.part {
            Part::Same(text) => body += &text.repeat(room / text.len()),
            Part::Field(rest) => {
                let mut number = 0;
                while body.len() + 12 + rest.len() < size {
                    let _ = write!(body, "\"{number}\"{rest}");
                    number += 1;
                }
            }
        }
        body + self.after
    }
}
