//! A mail server that keeps each letter before it acknowledges it.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::sleep;

use super::LATENCY;

/// A letter that arrived.
#[derive(Clone, Debug)]
pub struct Letter {
    pub to: String,
    head: String,
    /// Decoded, with line feeds alone.
    pub body: String,
}

impl Letter {
    /// `text` has line feeds alone.
    fn new(to: &str, text: &str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut letter = Self { to: to.to_owned(), head: head.to_owned(), body: body.to_owned() };
        match letter.header("Content-Transfer-Encoding") {
            "7bit" => {}
            "quoted-printable" => letter.body = decoded(body),
            other => panic!("{other}: {text}"),
        }
        letter
    }

    pub fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(field, _)| *field == name);
        found.unwrap_or_else(|| panic!("no {name} in {}", self.head)).1
    }

    pub fn contains(&self, text: &str) -> bool {
        self.head.contains(text) || self.body.contains(text)
    }
}

/// Decodes quoted-printable ASCII.
fn decoded(text: &str) -> String {
    let text = text.replace("=\n", "");
    let mut parts = text.split('=');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (digits, rest) = part.split_at(2);
        all + char::from(u8::from_str_radix(digits, 16).unwrap()).encode_utf8(&mut [0; 4]) + rest
    })
}

/// The server.
pub struct MailSink {
    pub url: String,
    seen: Arc<Mutex<Vec<Letter>>>,
}

impl MailSink {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Letter>>>::default();
        let keep = Arc::clone(&seen);
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let keep = Arc::clone(&keep);
                // An error: the sender was killed.
                std::thread::spawn(move || drop(receive(&socket.unwrap(), &keep)));
            }
        });
        Self { url, seen }
    }

    pub fn seen(&self) -> Vec<Letter> {
        self.seen.lock().unwrap().clone()
    }
}

/// Receives letters until the client leaves.
fn receive(socket: &TcpStream, seen: &Mutex<Vec<Letter>>) -> io::Result<()> {
    let mut lines = BufReader::new(socket).lines();
    let say = |text: &str| (&*socket).write_all(format!("{text}\r\n").as_bytes());
    say("220 sink.test.example")?;
    let mut to = String::new();
    while let Some(line) = lines.next() {
        let line = line?;
        match line.get(..4).unwrap_or_default() {
            "DATA" => {
                say("354 go on")?;
                let mut text = String::new();
                loop {
                    let line = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
                    if line == "." {
                        break;
                    }
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push('\n');
                }
                seen.lock().unwrap().push(Letter::new(&to, &text));
                sleep(LATENCY);
                say("250 accepted")?;
            }
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                say("250 accepted")?;
            }
            "QUIT" => return say("221 goodbye"),
            _ => say("250 sink.test.example")?,
        }
    }
    Ok(())
}
