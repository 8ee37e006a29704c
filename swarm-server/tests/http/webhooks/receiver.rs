//! A receiver of webhooks.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use swarm_redis_testing::wait_until;

/// The secret of the tests, as it is configured.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request to the receiver.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Delivery {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn event(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }
}

/// How it answers.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// This status, and in how many seconds to try again.
    Busy(u16, u64),
    Redirect(String),
    /// After so long.
    Late(Duration),
}

/// A receiver that remembers the deliveries.
pub struct Receiver {
    pub url: String,
    seen: Arc<Mutex<Vec<Delivery>>>,
    reply: Arc<Mutex<Reply>>,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/swarm?key=hush", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Delivery>>>::default();
        let reply = Arc::new(Mutex::new(Reply::Status(204)));
        let (keep, how) = (Arc::clone(&seen), Arc::clone(&reply));
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (keep, how) = (Arc::clone(&keep), Arc::clone(&how));
                std::thread::spawn(move || answer(&socket.unwrap(), &keep, &how));
            }
        });
        Self { url, seen, reply }
    }

    /// Answers in this way from now on.
    pub fn answer(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    pub fn seen(&self) -> Vec<Delivery> {
        self.seen.lock().unwrap().clone()
    }

    pub fn events(&self) -> Vec<String> {
        self.seen().iter().map(Delivery::event).collect()
    }

    /// Waits for the first delivery of this event.
    pub fn wait_for(&self, event: &str) -> Delivery {
        let mut found = None;
        wait_until(&format!("{event} is delivered"), || {
            found = self.seen().into_iter().find(|delivery| delivery.event() == event);
            found.is_some()
        });
        found.unwrap()
    }

    /// The lines of its webhook in a configuration.
    pub fn table(&self, more: &str) -> String {
        let url = &self.url;
        format!("[[tenants.webhooks]]\nurl = \"{url}\"\nsecret = \"{SECRET}\"\n{more}\n")
    }
}

fn answer(socket: &TcpStream, seen: &Mutex<Vec<Delivery>>, reply: &Mutex<Reply>) {
    let mut reader = BufReader::new(socket);
    let (mut headers, mut line) = (BTreeMap::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line != "\r\n" {
        if let Some((name, value)) = line.split_once(": ") {
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        line.clear();
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() || body.is_empty() {
        return;
    }
    let body = String::from_utf8(body).unwrap();
    seen.lock().unwrap().push(Delivery { headers, body });
    let reply = reply.lock().unwrap().clone();
    let (status, more) = match reply {
        Reply::Status(status) => (status, String::new()),
        Reply::Busy(status, seconds) => (status, format!("retry-after: {seconds}\r\n")),
        Reply::Redirect(to) => (302, format!("location: {to}\r\n")),
        Reply::Late(time) => {
            sleep(time);
            (200, String::new())
        }
    };
    let head =
        format!("HTTP/1.1 {status} X\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n");
    let _ = (&*socket).write_all(head.as_bytes());
}
