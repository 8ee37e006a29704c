//! Two worlds that differ only in what the sealed takes and the held memos say: whatever others than their authors can fetch
//! is the same in both, headers and lengths included.
//!
//! What cannot be the same is replaced by something of the same length: the seals, which are random, the date, ids of requests,
//! and what the server computes of the bytes that are compared anyway: hashes of the tree, and signatures of its own key.
//! An `ETag` is checked to be the digest of the body.

use std::fmt::Write as _;

use serde_json::{Value, json};
use swarm_core::domain::Digest;
use swarm_core::proof::hex;
use swarm_core::store::{Store, Tenants as _};
use swarm_core::{MemberId, TenantId};
use swarm_http::{Services, Site};
use swarm_redis_testing::wait_until;
use swarm_store_memory::MemoryStore;

use crate::backend::now;
use crate::clock::Clock;
use crate::fixture::{insert_member, key_of, member};
use crate::harness::{ADMIN, Answer, Author, Client, Server, log_signer, services, tenant};
use crate::routes::{self, RECORDS, Samples};

const DAY: &str = "2026-11-21";
const HOST: &str = "desk.example";
const TAKES: [u64; 3] = [1, 2, 3];

/// What stands for the parameters of paths; `SIZE` is the size of the log.
const SAMPLES: Samples<'_> = Samples { member: "ada", tile: "000.p/SIZE", ..RECORDS };

/// Reads of other records, and with queries.
const MORE_PATHS: [&str; 28] = [
    "/api/swarm/log?limit=2&after=3",
    "/api/swarm/sessions/1?limit=1",
    "/api/swarm/sessions?state=collecting",
    "/api/swarm/takes/2",
    "/api/swarm/takes/3",
    "/healthz",
    "/operate",
    "/readyz",
    "/swarm/find?q=grace",
    "/swarm/find?q=rates",
    "/swarm/log/default/1/checkpoint",
    "/swarm/log/default/1/tile/entries/000.p/SIZE",
    "/swarm/log/default/tile/entries/000.p/SIZE",
    "/swarm/log/tile/entries/000.p/SIZE",
    "/swarm/members/grace",
    "/swarm/members?q=rates",
    "/swarm/members?sort=last",
    "/swarm/sessions/1?order=confidence",
    "/swarm/sessions/1?order=stance",
    "/swarm/sessions/2",
    "/swarm/sessions?q=rates",
    "/swarm/since/0",
    "/swarm/takes/2",
    "/swarm/takes/3",
    "/swarm/takes?q=rates",
    "/swarm/takes?session=1",
    "/swarm/takes?stance=bullish",
    "/swarm/takes?stance=bearish&member=grace",
];

/// The paths of a stranger's reads: all that anyone may read, but for the metrics.
fn paths() -> impl Iterator<Item = String> {
    let public = routes::all().filter(|route| route.is_public_read());
    let paths = public.map(|route| SAMPLES.path(route.info.path));
    paths.chain(MORE_PATHS.map(str::to_owned))
}

/// A server with a blind session, in which ada filed twice and grace once, and a session that is not blind. The log is signed.
struct World {
    _server: Server,
    store: MemoryStore,
    clock: Clock,
    client: Client,
    /// ada and grace.
    authors: [Author; 2],
    lin: Author,
    /// The digits of the seals.
    seals: Vec<String>,
    size: u64,
}

impl World {
    /// `takes` are what the takes say; `memo` names the session.
    fn filled(takes: [Value; 3], memo: Value) -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let server = serve_signed(&store);
        let client = server.client().at(HOST);
        let port = store.open(&TenantId::parse("default").unwrap());
        let [ada, grace, lin] = ["ada", "grace", "lin"].map(|name| author(&*port, name));
        let session = |blind, subject| {
            let members = ["ada", "grace", "lin"].map(|id| json!({ "memberId": id }));
            let session = json!({
                "date": DAY, "subjectId": subject, "blind": blind, "quorum": 2, "roster": members,
            });
            client.operate("/subjects", &json!({ "id": subject, "name": subject }));
            client.operate("/sessions", &session).expect(201);
        };
        session(true, "aurora");
        session(false, "basalt");
        client.operate("/sessions/1/brief", &json!({})).expect(201);
        let about = |subject| json!({ "date": DAY, "subjectId": subject });
        for (author, say) in [&ada, &grace, &ada].into_iter().zip(takes) {
            let mut fields = about("aurora");
            fields.as_object_mut().unwrap().extend(say.as_object().unwrap().clone());
            client.submit(author, author.draft_of(fields)).expect(201);
        }
        let mut open = about("basalt");
        open["nonce"] = "the same in both worlds".into();
        client.submit(&grace, grace.draft_of(open)).expect(201);
        let bearer = grace.bearer();
        let published =
            client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo.to_string());
        published.expect(201);
        let size = signed(&*port);
        let text =
            |take: u64| client.get(&format!("/api/swarm/takes/{take}")).json()["sealed"].clone();
        let seals = TAKES.map(|take| text(take).as_str().unwrap()["sha256:".len()..].to_owned());
        let (authors, seals) = ([ada, grace], seals.into());
        Self { _server: server, store, clock, client, authors, lin, seals, size }
    }

    /// The bearer tokens of ada and grace after this step.
    fn taken_over(&mut self, step: TakeOver) -> [String; 2] {
        // What is filed in the same millisecond as a claim is not older.
        self.clock.move_by(1_000);
        let tokens = self.authors.each_ref().map(|author| step.token(&self.client, author));
        self.size = signed(&*self.store.open(&TenantId::parse("default").unwrap()));
        tokens.map(|token| format!("Bearer {token}"))
    }

    /// What is seen at a path with these headers.
    fn seen(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let path = path.replace("SIZE", &self.size.to_string());
        let answer = self.client.send(method, &path, headers, b"");
        let mut seen = format!("{}\n", answer.status);
        for (name, value) in &answer.headers {
            writeln!(seen, "{name}: {}", shown(name.as_str(), value.to_str().unwrap(), &answer))
                .unwrap();
        }
        seen + &self.body(&path, &answer)
    }

    fn body(&self, path: &str, answer: &Answer) -> String {
        if path.contains("/tile/0/") {
            return String::new();
        }
        let mut text = answer.text.clone();
        for seal in &self.seals {
            text = text.replace(seal, &"0".repeat(seal.len()));
        }
        if path.ends_with("/checkpoint") || path.ends_with("/proof") {
            text = without_hashes(&text);
        }
        text
    }
}

/// How an operator gets a token of a member, or makes the member claim another one.
#[derive(Clone, Copy, Debug)]
enum TakeOver {
    /// The operator mints a token.
    Minted,
    /// The operator resets the claim, and the member claims a token with its key.
    ClaimedAgain,
    /// The operator registers a key of its own, resets the claim, and claims a token with that key.
    ClaimedWithOtherKey,
}

impl TakeOver {
    fn token(self, client: &Client, author: &Author) -> String {
        let other_key = key_of(format!("operator, for {:*<18}", author.id.as_str()).as_bytes());
        let act = |act: &str, mut fields: Value| {
            fields["memberId"] = author.id.as_str().into();
            client.operate(&format!("/{act}"), &fields).expect(200)
        };
        let answer = match self {
            Self::Minted => act("rotate-key", json!({})),
            Self::ClaimedAgain => {
                act("reset-claim", json!({}));
                Author::claim(client, &author.id, &author.key).expect(201)
            }
            Self::ClaimedWithOtherKey => {
                act("rotate-key", json!({ "publicKey": other_key.public_key() }));
                act("reset-claim", json!({}));
                Author::claim(client, &author.id, &other_key).expect(201)
            }
        };
        answer.json()["token"].as_str().unwrap().to_owned()
    }
}

fn author(port: &dyn Store, name: &str) -> Author {
    let (id, key) = (MemberId::parse(name).unwrap(), key_of(format!("{name:*<32}").as_bytes()));
    let token = format!("token of {name}");
    insert_member(port, member(name, &key.public_key().to_string(), &token));
    Author { id, key, token }
}

/// A server with its background work, which signs the log.
fn serve_signed(store: &MemoryStore) -> Server {
    let services = Services::from(services(store)).with_signer(log_signer());
    Server::maintained(Site::single(services, tenant("default", ADMIN, &[])))
}

/// The size of the log, once all of it is signed.
fn signed(port: &dyn Store) -> u64 {
    let size = now(port.log_position()).unwrap().size;
    wait_until("the log is signed", || {
        now(port.tree())
            .unwrap()
            .is_some_and(|tree| tree.record.size == size && tree.record.checkpoint.is_some())
    });
    size.0
}

/// A header as it is compared.
fn shown(name: &str, value: &str, answer: &Answer) -> String {
    match name {
        // A number that all servers of this process count.
        "x-request-id" => "·".to_owned(),
        "date" | "signature" | "content-digest" => "·".repeat(value.len()),
        "signature-input" => value.replace(|it: char| it.is_ascii_digit(), "0"),
        "etag" if !answer.text.contains('\u{fffd}') && !answer.text.is_empty() => {
            let digest = hex(&Digest::of(answer.text.as_bytes()).as_bytes()[..16]);
            assert_eq!(value, format!("\"{digest}\""), "{answer:?}");
            "the digest of the body".to_owned()
        }
        "etag" => "·".repeat(value.len()),
        _ => value.to_owned(),
    }
}

/// Without hashes and signatures in base64.
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &&str| word.len() >= 44 && word.ends_with('=');
    let words = text.split([' ', '\n']).map(|word| if is_hash(&word) { "·" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn worlds() -> [World; 2] {
    let body = "Rates and liquidity: a long text. ".repeat(100);
    let weights = json!([{ "bucket": "cash", "weight": 0.5 }, { "bucket": "gold", "weight": 2 }]);
    let one = World::filled(
        [
            json!({ "nonce": "1", "stance": "bullish", "confidence": 0.25, "body": "Rates fall." }),
            json!({ "nonce": "2", "stance": "bearish", "confidence": 1.0, "body": "", "weights": weights }),
            json!({ "nonce": "3", "stance": "neutral", "confidence": 0.5, "body": body }),
        ],
        json!({ "title": "Why", "body": "Because.", "sessionId": 1 }),
    );
    let other = World::filled(
        [
            json!({ "nonce": "a longer nonce", "stance": "some stance of its own", "confidence": 0.123_456_789, "body": "" }),
            json!({ "nonce": "b", "stance": "bullish", "confidence": 0.0, "body": "Everything rises, says grace." }),
            json!({ "nonce": "3", "stance": "bullish", "confidence": 0.5, "body": "", "memoUrl": "https://memos.example/1" }),
        ],
        json!({ "title": "A longer title", "body": "rates ".repeat(200), "sessionId": 1 }),
    );
    [one, other]
}

#[test]
fn worlds_with_other_sealed_takes_look_the_same() {
    let [one, other] = worlds();
    assert_eq!(one.size, other.size);
    let lin = one.lin.bearer();
    let as_whom: [&[(&str, &str)]; 5] = [
        &[],
        &[("accept", "application/json")],
        &[("authorization", &lin)],
        &[("x-admin-token", ADMIN)],
        &[("accept-signature", "swarm=()")],
    ];
    for path in paths() {
        let path = path.as_str();
        for headers in as_whom {
            let [here, there] = [&one, &other].map(|world| world.seen("GET", path, headers));
            assert_eq!(here, there, "{path} {headers:?}");
        }
        let [here, there] = [&one, &other].map(|world| world.seen("HEAD", path, &[]));
        assert_eq!(here, there, "HEAD {path}");
    }
    let as_operator = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    for route in routes::of_operators().filter(|route| route.is_read()) {
        let path = route.path.as_str();
        let [here, there] = [&one, &other].map(|world| world.seen("GET", path, &as_operator));
        assert_eq!(here, there, "{path}");
    }
    let [here, there] = [&one, &other].map(metrics);
    assert_eq!(here, there);
}

/// An operator can mint a member's token, and register another key for it.
#[test]
fn token_that_an_operator_can_have_shows_nothing_sealed() {
    let mut worlds = worlds();
    for step in [TakeOver::Minted, TakeOver::ClaimedAgain, TakeOver::ClaimedWithOtherKey] {
        let bearers = worlds.each_mut().map(|world| world.taken_over(step));
        let [one, other] = &worlds;
        for (bearer, bearer_there) in bearers[0].iter().zip(&bearers[1]) {
            let seen = |world: &World, bearer: &str, path: &str| {
                let json = ("accept", "application/json");
                [vec![("authorization", bearer)], vec![("authorization", bearer), json]]
                    .map(|headers| world.seen("GET", path, &headers))
            };
            assert!(seen(one, bearer, "/api/swarm/verify-token")[0].starts_with("200"), "{step:?}");
            for path in
                paths().chain(["/api/swarm/me", "/api/swarm/verify-token"].map(str::to_owned))
            {
                let [here, there] = [seen(one, bearer, &path), seen(other, bearer_there, &path)];
                assert_eq!(here, there, "{path} {step:?}");
            }
        }
    }
}

/// The metrics in the order of their names, without what is of the time and of connections, once everything is counted.
fn metrics(world: &World) -> Vec<String> {
    const OF_TIME: [&str; 2] = ["swarm_connections ", "swarm_http_requests_in_flight"];
    let counted = format!("swarm_log_size {}\n", world.size);
    let read = || world.client.get("/metrics").expect(200).text;
    wait_until("the records are counted", || read().contains(&counted));
    let is_of_world = |line: &&str| {
        !line.contains("\"/metrics\"") && !OF_TIME.iter().any(|name| line.starts_with(name))
    };
    let mut lines: Vec<_> = read().lines().filter(is_of_world).map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}
