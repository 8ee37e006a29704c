//! Sites below a path of their host (API.md, 2.3): no answer leads out of it, and none to a path that is not there.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::Either;
use http::{Request, Response, Uri};
use serde_json::{Value, json};
use swarm_core::TenantId;
use swarm_http::{BasePath, HostTable, PublicOrigin, ResponseBody, Services, Site, SiteService};
use swarm_server::{Limits, serve};
use swarm_store_memory::MemoryStore;
use tower_service::Service;
use ureq::http::HeaderMap;

use crate::backend::Backend;
use crate::commands::{User, joined};
use crate::console::visitor::{Visitor, unescaped};
use crate::desk::Desk;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, Server, log_signer, services, signed_text, tenant};
use crate::{raw_http, routes};

pub const BASE: &str = "/opinions";

fn base() -> BasePath {
    BASE.parse().unwrap()
}

fn site(backend: &Backend) -> Site {
    let services = Services::from(services(&backend.store)).with_signer(log_signer());
    Site::single(services, tenant("default", ADMIN, &[]).below(base()))
}

/// A server that gets the whole paths of requests.
fn whole(backend: &Backend) -> Server {
    Server::of(site(backend))
}

/// The site in a program that mounts it at a path, and leaves that path out of the requests that it passes on.
fn nested(backend: &Backend) -> Server {
    let inner = swarm_http::service(&Arc::new(site(backend))).nested_at(base());
    Server::running(|listener| serve(listener, Mount(inner), Limits::default(), pending()))
}

#[derive(Clone)]
struct Mount(SiteService);

type Inner<B> = <SiteService as Service<Request<B>>>::Future;

impl<B> Service<Request<B>> for Mount
where
    SiteService: Service<Request<B>, Response = Response<ResponseBody>, Error = Infallible>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Either<Inner<B>, Ready<Result<Self::Response, Infallible>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let target = request.uri().path_and_query().unwrap().as_str().to_owned();
        let inner =
            target.strip_prefix(BASE).filter(|it| it.is_empty() || it.starts_with(['/', '?']));
        let Some(inner) = inner else {
            let mut theirs = Response::new(Bytes::from_static(b"theirs").into());
            *theirs.status_mut() = http::StatusCode::NOT_FOUND;
            return Either::Right(ready(Ok(theirs)));
        };
        let inner = if inner.starts_with('/') { inner.to_owned() } else { format!("/{inner}") };
        *request.uri_mut() = inner.parse::<Uri>().unwrap();
        Either::Left(self.0.call(request))
    }
}

/// Each kind of host, with a desk that has records for every route.
fn each_host() -> impl Iterator<Item = Desk> {
    [whole, nested].into_iter().map(|host: fn(&Backend) -> Server| {
        let backend = Backend::memory();
        let server = host(&backend);
        let Backend { clock, store, redis, .. } = backend;
        let client = server.client().below(BASE);
        let desk = Desk::of(Fixture { clock, store, redis, server, client });
        let other = Author::join(&desk.fixture.client, "Eve");
        let mut draft = other.draft("2026-11-21", "aurora");
        draft.body = swarm_core::domain::Body::parse(LIKE_LINKS).unwrap();
        desk.fixture.client.submit(&other, draft).expect(201);
        desk.fixture.sign_log();
        desk
    })
}

/// What a member wrote is shown as it is.
const LIKE_LINKS: &str = "see href=\"/swarm/takes/1\" or <a href='/x'> or `src=\"/y\"`";

/// Where a document of this site leads to: paths of its host, each with the place where it stands.
#[derive(Debug, Default)]
struct Links {
    /// The links of a page that a person follows.
    followed: BTreeSet<String>,
    /// Other addresses.
    named: BTreeSet<String>,
}

impl Links {
    /// All links of an answer, which must be below the base path.
    fn of(place: &str, address: &str, headers: &HeaderMap, text: &str) -> Self {
        let mut links = Self::default();
        let header = |name: &str| {
            let values = headers.get_all(name).iter();
            values.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for location in header("location") {
            links.followed.insert(location);
        }
        for link in header("link") {
            links
                .named
                .extend(link.split('<').skip(1).map(|it| it.split('>').next().unwrap().into()));
        }
        for cookie in header("set-cookie") {
            assert!(cookie.contains(&format!("; Path={BASE}")), "{place}: {cookie}");
        }
        let is_page = header("content-type").iter().any(|kind| kind.starts_with("text/html"));
        if is_page {
            for tag in text.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
                for (name, value) in attributes(tag) {
                    match name {
                        "href" => {
                            links.followed.insert(unescaped(value));
                        }
                        "src" | "action" | "formaction" => {
                            links.named.insert(unescaped(value));
                        }
                        "value" => {}
                        _ => assert!(!value.starts_with('/'), "{place}: {name}={value}"),
                    }
                }
            }
        }
        // The paths of the description are below the address of its server.
        let is_json = header("content-type").iter().any(|kind| kind == "application/json");
        if is_json && !place.contains("/openapi.json") {
            paths_in(&serde_json::from_str(text).unwrap_or_default(), &mut links.named);
        }
        let origin = format!("http://{address}");
        for rest in text.split(&*origin).skip(1) {
            let end = rest.find(|it: char| "\"'<>)]`, \n\\".contains(it)).unwrap_or(rest.len());
            // In the text of a page, as code that is to be copied, a quote or a brace ends it, too.
            let address = unescaped(rest[..end].trim_end_matches(['.', ':']));
            links.named.insert(address.split(['"', '}']).next().unwrap_or_default().to_owned());
        }
        let here = place.split_once(' ').map_or(place, |(_, path)| path);
        let resolve = |all: BTreeSet<String>| -> BTreeSet<String> {
            let of_host = all.into_iter().filter_map(|link| {
                let link = link.strip_prefix(&*origin).map_or(link.clone(), str::to_owned);
                let link = link.split('#').next().unwrap().to_owned();
                match link.chars().next() {
                    Some('/') => Some(link),
                    Some('?') => Some(here.split('?').next().unwrap().to_owned() + &link),
                    None => None,
                    Some(_) => {
                        assert!(link.contains(':'), "{place}: {link}");
                        None
                    }
                }
            });
            let of_host: BTreeSet<_> = of_host.collect();
            for link in &of_host {
                let rest = link.strip_prefix(BASE);
                let is_below = rest.is_some_and(|it| it.is_empty() || it.starts_with(['/', '?']));
                assert!(is_below, "{place} leads to {link}");
                assert!(!link.starts_with(&format!("{BASE}{BASE}")), "{place} leads to {link}");
            }
            of_host
        };
        let Self { followed, named } = links;
        Self { followed: resolve(followed), named: resolve(named) }
    }
}

/// Adds the texts of a document that are paths of the service. Keys and signatures may begin with a slash, too.
fn paths_in(value: &Value, paths: &mut BTreeSet<String>) {
    let is_path = |text: &str| {
        let begins = ["/swarm/", "/api/", "/docs", "/operate", "/data/", BASE];
        begins.iter().any(|path| text.starts_with(path))
    };
    match value {
        Value::String(text) if is_path(text) => {
            paths.insert(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| paths_in(value, paths)),
        Value::Object(members) => members.values().for_each(|value| paths_in(value, paths)),
        _ => {}
    }
}

/// The attributes of a tag that have values.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (before, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"').unwrap_or((after, ""));
        rest = after;
        Some((before.rsplit(char::is_whitespace).next().unwrap(), value))
    })
}

#[test]
fn every_route_is_answered_below_the_path() {
    for desk in each_host() {
        let client = &desk.fixture.client;
        let address = client.address.to_string();
        let at_root = Desk::start();
        let credentials = desk.author.bearer();
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &*credentials),
            ("x-admin-token", ADMIN),
            ("x-ic-key", crate::committee_fixture::KEY),
        ];
        for (request, same) in desk.requests().iter().zip(at_root.requests()) {
            let send = |client: &Client, body: &str| {
                client.send(request.route.method(), &request.path, &headers, body.as_bytes())
            };
            let answer = send(client, &request.body);
            let expected = send(&at_root.fixture.client, &same.body);
            assert_eq!(answer.status, expected.status, "{request:?}: {answer:?}");
            let place = format!("{} {BASE}{}", request.route.method(), request.path);
            Links::of(&place, &address, &answer.headers, &answer.text);
        }
    }
}

/// What the pages lead to is there, and so is what other documents name.
#[test]
fn no_link_leaves_the_path_or_leads_to_nothing() {
    for desk in each_host() {
        let client = desk.fixture.server.client();
        let address = client.address.to_string();
        let reads = routes::public_reads().map(|route| format!("{BASE}{}", route.path));
        let mut followed: VecDeque<String> =
            [BASE.to_owned(), format!("{BASE}/")].into_iter().chain(reads).collect();
        let mut known: BTreeSet<String> = followed.iter().cloned().collect();
        let mut named = BTreeSet::new();
        while let Some(path) = followed.pop_front() {
            let answer = client.send("GET", &path, &[("accept", "text/html")], b"");
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            let links = Links::of(&format!("GET {path}"), &address, &answer.headers, &answer.text);
            named.extend(links.named);
            followed.extend(links.followed.into_iter().filter(|link| known.insert(link.clone())));
        }
        assert!(known.len() > 100 && known.contains(&format!("{BASE}/swarm/takes/1")), "{known:?}");
        assert!(named.contains(&format!("{BASE}/api/ic/submit")), "{named:?}");
        // Commands that are to be completed have a word in the place of an id.
        let is_whole = |path: &&String| {
            !path.split('/').any(|part| matches!(part, "TAKE" | "SESSION" | "MEMO" | "MEMBER.json"))
        };
        for path in named.difference(&known).filter(is_whole) {
            let answer = desk.fixture.client.get(path.strip_prefix(BASE).unwrap());
            assert!(matches!(answer.status, 200 | 401 | 405), "{path}: {answer:?}");
        }
        let text = client.send("GET", &format!("{BASE}/swarm/takes/3"), &[], b"").text;
        assert!(
            unescaped(&text).contains("see href=\"/swarm/takes/1\" or <a href='/x'>"),
            "{text}"
        );
    }
}

#[test]
fn documents_name_the_whole_address() {
    for desk in each_host() {
        let client = &desk.fixture.client;
        let url = format!("http://{}{BASE}", client.address);
        assert_eq!(client.get("/.well-known/swarm.json").json()["origin"], *url);
        assert_eq!(client.get("/openapi.json").json()["servers"][0]["url"], *url);
        let robots = client.get("/robots.txt").text;
        assert!(robots.contains(&format!("Disallow: {BASE}/api/swarm/admin/\n")), "{robots}");
        let memo = json!({ "title": "A memo", "body": "Long." }).to_string();
        let bearer = [("authorization", &*desk.author.bearer())];
        let memo = client.post("/api/swarm/memos", &bearer, &memo).expect(201);
        let path = format!("{BASE}/swarm/memos/{}", memo.json()["memoId"]);
        assert_eq!(
            (memo.json()["url"].as_str(), memo.header("location")),
            (Some(&*path), Some(&*path))
        );
        let draft = desk.author.draft_of(json!({
            "date": "2026-11-21", "subjectId": "aurora", "memoUrl": path,
        }));
        let take = signed_text(&desk.author.key.sign(draft));
        let flight = client.post("/api/swarm/preflight", &bearer, &take).expect(200).json();
        assert_eq!((&flight["ok"], &flight["warnings"]), (&json!(true), &json!([])), "{flight}");
        let problem = [("accept", "application/problem+json")];
        let problem = client.send("GET", "/api/swarm/takes/99", &problem, b"").expect(404).json();
        assert_eq!(problem["type"], *format!("{url}/docs/errors#not-found"));
        let filed = client.submit_text(&desk.author, &take).expect(201).json();
        let again = client.submit_text(&desk.author, &take).expect(409);
        let original =
            format!("<{BASE}/swarm/takes/{}>; rel=\"original\"", filed["recommendationId"]);
        assert_eq!(again.header("link"), Some(&*original));
    }
}

#[test]
fn other_paths_are_not_of_the_site() {
    let backend = Backend::memory();
    let server = whole(&backend);
    let client = server.client();
    let visitor = Visitor::new(&client);
    for path in ["/", "/swarm/sessions", "/api/swarm/sessions", "/opinionsx", "/Opinions/skill.md"]
    {
        let page = visitor.get(path).expect(404);
        assert_eq!(page.header("swarm-error"), Some("unknown-path"), "{path}");
        let hint = page.header("swarm-hint");
        assert_eq!(hint, Some("path: is not below /opinions, where this service is"), "{path}");
        Links::of(&format!("GET {path}"), &visitor.address, &page.headers, &page.text);
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        client.get(path).expect(200);
        client.get(&format!("{BASE}{path}")).expect(200);
    }
    let nested = nested(&Backend::memory());
    let request = b"GET /swarm/sessions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_eq!(
        raw_http::exchange(nested.address, request).status,
        404,
        "it is another's to answer"
    );
}

/// Pages, forms, redirects, the cookie and a secret of the console.
#[test]
fn console_works_below_the_path() {
    for desk in each_host() {
        let address = desk.fixture.client.address.to_string();
        let mut visitor = Visitor::new(&desk.fixture.server.client());
        let at = |path: &str| format!("{BASE}{path}");
        let asked = visitor.get(&at("/operate/members?q=x"));
        assert_eq!(asked.status, 303);
        assert_eq!(
            asked.header("location"),
            Some(&*at("/operate?to=%2Foperate%2Fmembers%3Fq%3Dx"))
        );
        let page = visitor.get(asked.header("location").unwrap()).expect(200);
        let entered = visitor.submit(&page.form(&at("/operate")), &[("token", ADMIN)]);
        assert_eq!(entered.header("location"), Some(&*at("/operate/members?q=x")));
        assert!(entered.header("set-cookie").unwrap().starts_with("swarm-default="), "{entered:?}");
        visitor.keep(&entered);

        let mut pages = VecDeque::from([at("/operate")]);
        let mut known: BTreeSet<String> = pages.iter().cloned().collect();
        while let Some(path) = pages.pop_front() {
            let seen = visitor.get(&path).expect(200);
            let links = Links::of(&format!("GET {path}"), &address, &seen.headers, &seen.text);
            pages.extend(
                links
                    .followed
                    .into_iter()
                    .filter(|link| link.starts_with(&at("/operate")) && known.insert(link.clone())),
            );
            for form in seen.forms() {
                assert!(form.action.starts_with(&at("/operate")), "{path}: {form:?}");
            }
        }
        assert!(known.len() > 15, "{known:?}");

        let fields = [("date", "2026-11-22"), ("subjectId", "aurora")];
        let page = at("/operate/convene?subject=aurora");
        let convened = visitor.fill_in(&page, &at("/operate/convene"), &fields);
        let session = visitor.follow(&convened);
        assert!(convened.header("location").unwrap().starts_with(&at("/operate/sessions")));
        session.says("aurora");
        let member = at("/operate/members/rotate-key");
        let asked = visitor.fill_in(&member, &at("/operate/members/rotate-key/rotate-key"), &[]);
        let form = asked.expect(200).form(&at("/operate/members/rotate-key/rotate-key"));
        let rotated = visitor.submit(&form, &[("token", ADMIN)]);
        assert_eq!(rotated.header("location"), Some(&*at("/operate/secret")));
        visitor.follow(&rotated).says("Shown this once");

        let out = visitor.post(&at("/operate/sign-out"), &[]);
        assert_eq!(out.header("location"), Some(&*at("/operate")));
        assert!(out.header("set-cookie").unwrap().contains("Path=/opinions; Max-Age=0"), "{out:?}");
    }
}

/// A member's and an operator's commands know the service by its whole address, and receipts name the path that they used.
#[test]
fn mails_link_below_the_path() {
    for desk in each_host() {
        let client = &desk.fixture.client;
        let admin = [("x-admin-token", ADMIN)];
        client.operate("/mail/test", &json!({ "address": "ada@test.example" })).expect(200);
        let outbox = client.send("GET", "/api/swarm/admin/outbox", &admin, b"").expect(200).json();
        let mails = outbox["messages"].as_array().unwrap();
        let root = format!("http://{}", client.address);
        let addresses = |mail: &Value| -> BTreeSet<String> {
            let words = mail["body"].as_str().unwrap().split_whitespace();
            let addresses = words.filter_map(|word| word.strip_prefix(&*root));
            addresses.map(|path| path.trim_end_matches(['.', ',']).to_owned()).collect()
        };
        let below = |paths: &[&str]| paths.iter().map(|path| format!("{BASE}{path}")).collect();
        let approval: BTreeSet<String> =
            below(&["", "/api/swarm/token-claim", "/api/swarm/token-claim/challenge", "/skill.md"]);
        let of_subject = |subject: &str| {
            let found = mails.iter().filter(|mail| mail["subject"] == subject);
            found.map(addresses).collect::<Vec<_>>()
        };
        let approvals = of_subject("Your application was approved");
        assert!(approvals.len() >= 2 && approvals.iter().all(|it| *it == approval), "{outbox}");
        assert_eq!(of_subject("A test"), [below(&[""])], "{outbox}");
    }
}

#[test]
fn commands_work_below_the_path() {
    let backend = Backend::memory();
    let server = Server::maintained(site(&backend));
    let user = User::of_service(format!("http://{}{BASE}", server.address));
    user.file("aurora.json", &json!({ "id": "aurora", "name": "Aurora" }).to_string());
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin("session convene --subject aurora --closes +3h").ok();
    let submitted = user.member("submit --stance cautious --confidence 0.5");
    assert!(submitted.err.contains("the receipt holds"), "{}", submitted.err);
    submitted.ok();
    swarm_redis_testing::wait_until("the take is proved", || user.member("check").code == 0);
    let url = user.url().to_owned();
    let state = user.file("state", "").with_file_name("watched");
    let state = state.to_str().unwrap();
    user.with(&["watch", &url, "--state", state], &[]).ok();
    user.with(&["verify", &format!("{url}/api/swarm/takes/1")], &[]).ok();
    user.with(&["verify", &format!("{url}/api/swarm/sessions/1/bundle")], &[]).ok();
}

/// Tenants of one host, each below a path of its own, beside one at the root.
#[test]
fn tenants_share_a_host() {
    let table = HostTable::new();
    let below = |id: &str, token: &str, path: &str| {
        let mut config = tenant(id, token, &["127.0.0.1"]);
        config.public_origin =
            Some(PublicOrigin::parse(format!("https://desks.example{path}")).unwrap());
        config
    };
    let all = [
        below("root", "token_of_root_desk", ""),
        below("acme", "token_of_acme_desk", "/acme"),
        below("bolt", "token_of_bolt_desk", "/bolt/desk"),
    ];
    table.replace(all).unwrap();
    let store = MemoryStore::new();
    let services = Services::from(services(&store)).with_signer(log_signer());
    let site = Arc::new(Site::new(services, table));
    let serving = Arc::clone(&site);
    let server = Server::running(|listener| async move {
        swarm_server::serve_site(listener, &serving, Limits::default(), pending()).await
    });
    let client = server.client();
    for (id, base) in [("root", ""), ("acme", "/acme"), ("bolt", "/bolt/desk")] {
        let manifest = client.get(&format!("{base}/.well-known/swarm.json")).expect(200).json();
        assert_eq!(manifest["tenant"], id);
        let subject = json!({ "id": id, "name": id }).to_string();
        let token = format!("token_of_{id}_desk");
        let put = |base: &str| {
            let path = format!("{base}/api/swarm/admin/subjects");
            client.post(&path, &[("x-admin-token", &token)], &subject).status
        };
        assert_eq!(put(base), 201);
        let asked = json!({ "memberId": "m" }).to_string();
        let path = format!("{base}/api/swarm/token-claim/challenge");
        let challenge = client.post(&path, &[], &asked).expect(200).json()["challenge"].clone();
        let service = format!("https://desks.example{base} ");
        assert!(challenge.as_str().unwrap().starts_with(&service), "{challenge}");
        let served = site.tenant(&TenantId::parse(id).unwrap()).unwrap();
        let log = served.signed_log().unwrap();
        crate::backend::now(log.sign()).unwrap();
        let checkpoint = |path: String| client.get(&path).expect(200).text;
        let own = checkpoint(format!("{base}/swarm/log/checkpoint"));
        // The origin is of the host alone; the files are below that name, too.
        assert!(own.starts_with(&format!("desks.example/swarm/log/{id}\n")), "{own}");
        assert_eq!(checkpoint(format!("{base}/swarm/log/{id}/checkpoint")), own);
        assert_eq!(checkpoint(format!("/swarm/log/{id}/checkpoint")), own);
        client.get(&format!("/swarm/log/{id}/tile/0/000.p/1")).expect(200);
    }
    client.below("/acme").get("/api/swarm/subjects/bolt").expect(404);
    client.get("/swarm/log/other/checkpoint").expect(404);
    client.get("/bolt/api/swarm/subjects").expect(404);
    let listed = client.get("/acme/api/swarm/subjects").json();
    assert_eq!(listed["subjects"][0]["id"], "acme");
}
