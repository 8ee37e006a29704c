//! The memory that hostile input takes: names of console forms, a line of a dump, a reply of a mail server, and a list without
//! an end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::json;
use swarm_benches::shipped::ADMIN;
use swarm_benches::shipped::process::{Process, peak_of};

/// Input that costs memory.
#[derive(Clone, Copy, Debug)]
pub enum HostileInput {
    FormNames,
    DumpLine,
    MailReply,
    EndlessList,
}

impl HostileInput {
    pub const ALL: [Self; 4] =
        [Self::FormNames, Self::DumpLine, Self::MailReply, Self::EndlessList];

    pub fn name(self) -> &'static str {
        match self {
            Self::FormNames => "memory: 600 console forms with names of 250 kB",
            Self::DumpLine => "memory: a line of a dump with 4,900,000 values",
            Self::MailReply => "memory: a mail server's reply without an end",
            Self::EndlessList => "memory: a list without an end",
        }
    }

    /// The most memory that it may take, in MiB.
    pub fn budget(self) -> usize {
        match self {
            Self::FormNames => 80,
            Self::MailReply => 32,
            // The text of a list is read up to 64 MiB. A line of a dump has up to 5,000,000 values of 150 bytes in memory.
            Self::EndlessList => 256,
            Self::DumpLine => 800,
        }
    }

    /// Feeds it to this program; returns what it took, in MiB.
    pub fn taken(self, program: &Path) -> usize {
        let bytes = match self {
            Self::FormNames => form_names(program),
            Self::DumpLine => dump_line(program),
            Self::MailReply => mail_reply(program),
            Self::EndlessList => endless_list(program),
        };
        bytes >> 20
    }
}

/// Three sessions of the console send 200 forms each, every one with a name that the server has to recognize.
fn form_names(program: &Path) -> usize {
    let server = Process::start(&serve(program));
    let mut before = 0;
    for session in 0..3 {
        let headers = SAME_ORIGIN.to_owned() + &signed_in(server.address);
        if session == 0 {
            before = server.resident();
            server.peak();
        }
        for number in 0..200 {
            let name = "n".repeat(250_000);
            let form = format!("form={session}-{number}{name}&id=s{session}-{number}&name=a");
            let answer = post(server.address, "/operate/subjects", (FORM, &headers), &form);
            assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
        }
    }
    server.peak().saturating_sub(before)
}

/// Signs into the console; returns the header with the cookie of the session.
pub fn signed_in(server: SocketAddr) -> String {
    let answer = post(server, "/operate", (FORM, SAME_ORIGIN), &format!("token={ADMIN}"));
    let (_, cookie) = answer.split_once("set-cookie: ").expect("a session");
    format!("Cookie: {}\r\n", cookie.split(';').next().unwrap_or_default())
}

const SAME_ORIGIN: &str = "Sec-Fetch-Site: same-origin\r\n";

const FORM: &str = "application/x-www-form-urlencoded";

/// Restores a dump whose second line has almost as many values as one may have.
fn dump_line(program: &Path) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let line = format!("{{\"session\":{{\"roster\":[{}1]}}}}\n", "1,".repeat(4_900_000));
    let dump = "{\"format\":\"swarm-dump/1\",\"program\":\"swarm 0.3.0\"}\n".to_owned() + &line;
    std::fs::write(folder.path().join("hostile.dump"), dump).expect("a file");
    let mut command = Command::new(program);
    command.args(["restore", "--store=sqlite:restored.db", "hostile.dump"]);
    peak_until_it_fails(command.current_dir(folder.path()))
}

/// The mail server answers with a line of up to 512 MiB.
fn mail_reply(program: &Path) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("smtp://{}", listener.local_addr().expect("an address"));
    let flood = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let piece = [b'2'; 1 << 20];
        // Until the server has had enough.
        (0..512).take_while(|_| stream.write_all(&piece).is_ok()).count()
    });
    let mut command = serve(program);
    command.env("SWARM_SMTP_URL", url).env("SWARM_MAIL_FROM", "desk@acme.example");
    let server = Process::start(&command);
    let before = server.resident();
    server.peak();
    let body = json!({ "address": "ada@acme.example" }).to_string();
    let headers = format!("X-Admin-Token: {ADMIN}\r\n");
    let queued =
        post(server.address, "/api/swarm/admin/mail/test", ("application/json", &headers), &body);
    assert!(queued.starts_with("HTTP/1.1 200"), "{queued}");
    assert!(flood.join().expect("it ends") < 512, "all of the reply was read");
    server.peak().saturating_sub(before)
}

/// A command lists what a service has that always names a next page.
fn endless_list(program: &Path) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        let long = "x".repeat(4 << 20);
        for (number, connection) in listener.incoming().enumerate() {
            let mut connection = BufReader::new(connection.expect("a connection"));
            let mut line = String::new();
            while connection.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let body =
                format!("{{\"applications\":[{{\"id\":\"{long}\"}}],\"nextAfter\":\"{number}\"}}");
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let answer = format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}");
            // The command may have ended.
            let _ = connection.get_mut().write_all(answer.as_bytes());
        }
    });
    let mut command = Command::new(program);
    command.args(["admin", "applications"]);
    peak_until_it_fails(command.env("SWARM_URL", url).env("SWARM_ADMIN_TOKEN", ADMIN))
}

/// The peak memory of a command that refuses what it reads.
fn peak_until_it_fails(command: &mut Command) -> usize {
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
    let (mut peak, end) = (0, Instant::now() + Duration::from_secs(60));
    let status = loop {
        peak = peak.max(peak_of(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("its status") {
            break status;
        }
        if Instant::now() > end {
            child.kill().expect("it runs");
        }
        sleep(Duration::from_millis(1));
    };
    assert_eq!(status.code(), Some(1), "it was refused");
    peak
}

fn serve(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["serve", "--store=memory", "--listen=127.0.0.1:0"]);
    command.env("SWARM_ADMIN_TOKEN", ADMIN);
    command
}

/// Sends a body of this type, with these headers; returns the whole answer.
fn post(server: SocketAddr, path: &str, (kind, headers): (&str, &str), body: &str) -> String {
    let mut stream = TcpStream::connect(server).expect("a server");
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {server}\r\nContent-Type: {kind}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("a connection");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
