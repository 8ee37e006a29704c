//! The attacks.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use swarm_benches::shipped::ServerFixture;
use swarm_client::new_key;
use swarm_core::domain::{Application, Contact, Lens, Name};

use crate::strangers::{Strangers, Then};
use crate::{BUDGET, FOLLOWERS_BUDGET, LARGE};

/// Lists of each kind that are read before they repeat: more than answers are cached.
const LISTS: usize = 300;

#[derive(Clone, Copy, Debug)]
pub enum Attack {
    IdleConnections,
    HalfSentHeads,
    Challenges,
    LargeReads,
    SlowReads,
    LargeBodies,
    Numbers,
    SignedOutForms,
    Applications,
    Followers,
    FollowersOfOneAddress,
    Lists,
    StoreReads,
}

impl Attack {
    /// Those on a server whose store is in memory.
    pub const ALL: [Self; 12] = [
        Self::IdleConnections,
        Self::HalfSentHeads,
        Self::Challenges,
        Self::LargeReads,
        Self::SlowReads,
        Self::LargeBodies,
        Self::Numbers,
        Self::SignedOutForms,
        Self::Applications,
        Self::Followers,
        Self::FollowersOfOneAddress,
        Self::Lists,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::IdleConnections => "2,000 connections, a GET each in 5 s",
            Self::HalfSentHeads => "2,000 half-sent heads",
            Self::Challenges => "a member's challenge, a hundred times a second",
            Self::LargeReads => "four readers of 4.5 MB",
            Self::SlowReads => "200 slow readers of 4.5 MB",
            Self::LargeBodies => "64 bodies of 2 MiB with a made-up token",
            Self::Numbers => "16 bodies of 130,000 numbers to diagnose",
            Self::SignedOutForms => "16 signed-out forms of 130,000 fields",
            Self::Applications => "applications of 8 kB on eight connections",
            Self::Followers => "1,000 waiting readers and 200 streams",
            Self::FollowersOfOneAddress => "1,200 followers from one address",
            Self::Lists => "64 readers of lists that no cache holds",
            Self::StoreReads => "480 readers of what only the store has",
        }
    }

    /// The budget of the 99th percentile of takes, in that without the attack.
    pub fn budget(self) -> f64 {
        match self {
            Self::Followers => FOLLOWERS_BUDGET,
            _ => BUDGET,
        }
    }

    /// The most memory that a server may keep six seconds after the attack, in MiB.
    pub fn kept_budget(self) -> usize {
        match self {
            Self::SlowReads => 60,
            _ => usize::MAX,
        }
    }

    /// The attackers of this fixture.
    pub fn on(self, fixture: &ServerFixture) -> Strangers {
        let host = fixture.server.address;
        let get = |path: &str, more: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").into_bytes()
        };
        let post = |path: &str, more: &str, body: &str| {
            let length = body.len();
            format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n{more}\r\n{body}"
            )
            .into_bytes()
        };
        let large = fixture.sessions.get(LARGE).expect("a session").id;
        let large = get(&format!("/api/swarm/sessions/{large}"), CLOSE);
        let (connections, texts, then) = match self {
            Self::IdleConnections => {
                (2_000, vec![get("/healthz", "")], Then::SendAgain(Duration::from_secs(5)))
            }
            Self::HalfSentHeads => {
                let head = b"GET / HTTP/1.1\r\nHost:".to_vec();
                (2_000, vec![head], Then::SendAgain(Duration::from_secs(5)))
            }
            Self::Challenges => {
                let member = fixture.authors.first().expect("an author").id();
                let body = json!({ "memberId": member }).to_string();
                let ask = post("/api/swarm/token-claim/challenge", "", &body);
                (10, vec![ask], Then::SendAgain(Duration::from_millis(100)))
            }
            Self::LargeReads => (4, vec![large], Then::Read),
            // At the minimum read rate.
            Self::SlowReads => (200, vec![large], Then::ReadSlowly((16 << 10) / 10)),
            Self::LargeBodies => {
                let token = "Authorization: Bearer tok_made_up\r\nConnection: close\r\n";
                let body = json!({ "title": "m", "body": "b".repeat(2_000_000) }).to_string();
                (64, vec![post("/api/swarm/memos", token, &body)], Then::Read)
            }
            Self::Numbers => {
                let body = format!("{{\"nonce\":[{}1]}}", "1,".repeat(130_000));
                (16, vec![post("/api/swarm/diagnose", CLOSE, &body)], Then::Read)
            }
            Self::SignedOutForms => {
                let body = "a&".repeat(130_000);
                let form = format!(
                    "POST /operate/subjects HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\n\
                     Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\
                     {CLOSE}\r\n{body}",
                    body.len()
                );
                (16, vec![form.into_bytes()], Then::Read)
            }
            Self::Applications => {
                let apply = |_| post("/api/swarm/apply", CLOSE, &application());
                (8, (0..2_000).map(apply).collect(), Then::Read)
            }
            Self::Followers | Self::FollowersOfOneAddress => {
                // They wait for what does not come while takes are filed; one in six gets each take, as it is filed.
                let last = signed_size(host);
                let wait = format!("/api/swarm/log?after={last}&kind=operation&wait=60");
                let mut texts = vec![get(&wait, ""); 5];
                texts.push(get(&format!("/api/swarm/events?after={last}"), ""));
                (1_200, texts, Then::ReadFor(Duration::from_secs(60)))
            }
            Self::Lists => (64, lists().map(|path| get(&path, CLOSE)).collect(), Then::Read),
            Self::StoreReads => {
                let token = |number| {
                    let bearer = format!("Authorization: Bearer tok_{number}\r\n{CLOSE}");
                    get("/api/swarm/verify-token", &bearer)
                };
                let lists = lists().map(|path| get(&path, CLOSE));
                (480, (0..LISTS).map(token).chain(lists).collect(), Then::Read)
            }
        };
        let addresses = if matches!(self, Self::Followers) { 100 } else { 1 };
        Strangers { addresses, connections, texts, then }
    }
}

fn lists() -> impl Iterator<Item = String> {
    (0..LISTS).flat_map(|number| {
        [
            format!("/api/swarm/takes?q=lend+{number}"),
            format!("/swarm/find?q=lend+{number}"),
            format!("/api/swarm/sessions?before={}", number + 2),
            format!("/api/swarm/log?limit=500&after={number}"),
        ]
    })
}

/// The entries of the log that are signed: all but those of the last two seconds.
fn signed_size(server: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(server).expect("a server");
    let request = format!("GET /swarm/log/checkpoint HTTP/1.1\r\nHost: {server}\r\n{CLOSE}\r\n");
    stream.write_all(request.as_bytes()).expect("a connection");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a checkpoint");
    let (_, note) = answer.split_once("\r\n\r\n").expect("a head");
    note.lines().nth(1).and_then(|size| size.parse().ok()).expect("a size")
}

const CLOSE: &str = "Connection: close\r\n";

fn application() -> String {
    let key = new_key().expect("entropy");
    let lens = "\u{1f680}".repeat(2_000);
    let application = Application {
        name: Name::parse("Mallory").expect("a name"),
        contact: Contact::parse("m@example.org").expect("a contact"),
        lens: Lens::parse(lens).expect("a lens"),
        public_key: key.public_key().to_string(),
    };
    key.sign(application).to_json()
}
