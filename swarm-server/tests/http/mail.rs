//! Approval mail, sent to a real SMTP server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_http::{PublicOrigin, Site};
use swarm_maintenance::{Job as _, LogQueuedMail, Next};
use swarm_redis_testing::wait_until;
use swarm_store_memory::MemoryStore;

use crate::backend::{AnyStore, nightly, now};
use crate::clients::python;
use crate::harness::{ADMIN, Client, Server, fresh_key, services, signed_text, tenant};
use crate::program::{Program, configuration};
use crate::tenant_configuration;
use crate::tls::make_certificate;

nightly!(silent_mail_server_times_out);

/// An SMTP server that prints each message as a line of JSON; its first line is its port. Its arguments are certificate and
/// key, if it speaks TLS.
const SMTP: &str = r#"
import asyncio, json, ssl, sys
from aiosmtpd.smtp import SMTP

def say(value):
    print(json.dumps(value), flush=True)

class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("gone"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        say({"from": envelope.mail_from, "to": envelope.rcpt_tos,
             "text": envelope.content.decode("utf-8")})
        return "250 OK"

async def serve():
    loop = asyncio.get_running_loop()
    tls = None
    if sys.argv[1:]:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*sys.argv[1:])
    server = await loop.create_server(lambda: SMTP(Handler(), loop=loop), "127.0.0.1", 0, ssl=tls)
    say(server.sockets[0].getsockname()[1])
    await asyncio.sleep(60)

asyncio.run(serve())
"#;

struct SmtpServer {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    port: u64,
}

impl SmtpServer {
    fn start() -> Self {
        Self::with(&[])
    }

    fn with(certificate: &[&Path]) -> Self {
        let mut child = Command::new(python())
            .args(["-c", SMTP])
            .args(certificate)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not run: {error}", python()));
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, lines, port: 0 };
        server.port = server.next().as_u64().unwrap();
        server
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect("the SMTP server has ended")
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn activated(client: &Client, contact: &str) -> String {
    let key = fresh_key();
    let application = key.sign(Application {
        name: Name::parse("Zoë\r\nBcc: all@test.example").unwrap(),
        contact: Contact::parse(contact).unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: key.public_key(),
    });
    let applied = client.post("/api/swarm/apply", &[], &signed_text(&application)).expect(201);
    let id = applied.json()["memberId"].as_str().unwrap().to_owned();
    client.operate("/activate", &json!({ "memberId": id })).expect(200);
    id
}

/// The messages of the outbox once none is queued.
fn settled(client: &Client) -> Vec<Value> {
    let headers = [("x-admin-token", ADMIN)];
    let mut messages = Vec::new();
    wait_until("no mail is queued", || {
        let outbox = client.send("GET", "/api/swarm/admin/outbox", &headers, b"").expect(200);
        messages = outbox.json()["messages"].as_array().unwrap().clone();
        messages.iter().all(|message| message["state"] != "queued")
    });
    messages
}

#[test]
fn approval_mail_is_sent_once_and_bad_addresses_are_marked() {
    let mut smtp = SmtpServer::start();
    let url = format!("smtp://127.0.0.1:{}", smtp.port);
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", &url),
        ("SWARM_MAIL_FROM", "Swarm <swarm@test.example>"),
    ];
    let program = Program::start(&["serve"], &environment);
    let id = activated(&program.client, "zoe@test.example");
    activated(&program.client, "@zoe, on the other network");
    activated(&program.client, "\"quo ted\"@test.example");

    let mail = smtp.next();
    assert_eq!(
        (&mail["from"], &mail["to"]),
        (&json!("swarm@test.example"), &json!(["zoe@test.example"]))
    );
    let text = mail["text"].as_str().unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Subject: Your application was approved"), "{text}");
    assert!(!head.contains("Bcc"), "{text}");
    for field in ["Date: ", "MIME-Version: 1.0", "From: Swarm <swarm@test.example>"] {
        assert_eq!(head.matches(&format!("\r\n{field}")).count(), 1, "{field} in {text}");
    }
    let (_, id_field) = head.split_once("Message-ID: <").unwrap();
    let (unique, _) = id_field.split_once("@test.example>").unwrap();
    assert!(unique.len() == 64 && unique.bytes().all(|b| b.is_ascii_hexdigit()), "{text}");
    let address = program.client.address;
    assert!(text.contains(&format!("http://{address}/api/swarm/token-claim")), "{text}");

    let messages = settled(&program.client);
    let states: Vec<_> = messages.iter().map(|message| &message["state"]).collect();
    assert_eq!(states, ["sent", "undeliverable", "undeliverable"]);
    assert!(
        messages[0]["sentAt"].is_string() && messages[0]["body"].as_str().unwrap().contains(&id)
    );
    for message in &messages[1..] {
        assert_eq!(message["lastError"], "contact is no e-mail address");
    }
}

/// By its own authority, which `SSL_CERT_FILE` names.
#[test]
fn certificate_of_the_mail_server_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "mail");
    let [certificate, key] =
        ["pem", "key"].map(|end| folder.path().join("mail").with_extension(end));
    let mut smtp = SmtpServer::with(&[&certificate, &key]);
    let url = format!("smtps://localhost:{}", smtp.port);
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", &url),
        ("SWARM_MAIL_FROM", "Swarm <swarm@test.example>"),
        ("SSL_CERT_FILE", certificate.to_str().unwrap()),
    ];
    let untrusting = Program::start(&["serve"], &environment[..3]);
    activated(&untrusting.client, "zoe@test.example");
    wait_until("the mail failed", || {
        let headers = [("x-admin-token", ADMIN)];
        let outbox = untrusting.client.send("GET", "/api/swarm/admin/outbox", &headers, b"");
        outbox.json()["messages"][0]["lastError"].to_string().contains("UnknownIssuer")
    });
    let trusting = Program::start(&["serve"], &environment);
    activated(&trusting.client, "zoe@test.example");
    assert_eq!(smtp.next()["to"], json!(["zoe@test.example"]));
}

/// It is not retried.
#[test]
fn permanently_refused_mail_is_undeliverable() {
    let smtp = SmtpServer::start();
    let url = format!("smtp://127.0.0.1:{}", smtp.port);
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", &url),
        ("SWARM_MAIL_FROM", "Swarm <swarm@test.example>"),
    ];
    let program = Program::start(&["serve"], &environment);
    activated(&program.client, "gone@test.example");
    let message = &settled(&program.client)[0];
    assert_eq!((&message["state"], &message["attempts"]), (&json!("undeliverable"), &json!(1)));
    assert!(message["lastError"].as_str().unwrap().contains("no such mailbox"), "{message}");
}

/// Independent of the host that the operator used.
#[test]
fn approval_mail_links_to_the_public_origin() {
    let origin = "https://desk.example:8443";
    let mut acme = tenant("acme", ADMIN, &["loopback.example"]);
    acme.public_origin = Some(PublicOrigin::parse(origin).unwrap());
    let store: AnyStore = Arc::new(MemoryStore::new());
    let server = Server::of(Site::by_host(services(&store), [acme]).unwrap());
    let client = server.client().at("loopback.example");
    activated(&client, "zoe@test.example");
    let headers = [("x-admin-token", ADMIN)];
    let outbox = client.send("GET", "/api/swarm/admin/outbox", &headers, b"").expect(200).json();
    let text = outbox["messages"][0]["body"].as_str().unwrap();
    assert!(text.contains(&format!("{origin}/api/swarm/token-claim")), "{text}");
    assert_eq!(text.matches("://").count(), text.matches(origin).count(), "{text}");
}

/// Without one, that of the server.
#[test]
fn sender_is_that_of_the_tenant() {
    let mut smtp = SmtpServer::start();
    let of_server = "mail_from = \"Swarm <swarm@test.example>\"\n";
    let text = format!("smtp_url = \"smtp://127.0.0.1:{}\"\n{of_server}", smtp.port)
        + &tenant_configuration::tenant("acme", "mail_from = \"Acme <desk@acme.example>\"")
        + &tenant_configuration::tenant("bolt", "");
    let file = configuration("mail-from.toml", &text);
    let program = Program::start(&["serve", "--config", file.to_str().unwrap()], &[]);
    for (host, name, from) in [
        ("acme.example", "Acme", "desk@acme.example"),
        ("bolt.example", "Swarm", "swarm@test.example"),
    ] {
        activated(&program.client.at(host), "zoe@test.example");
        let mail = smtp.next();
        assert_eq!(mail["from"], from);
        let (head, text) =
            (format!("\r\nFrom: {name} <{from}>\r\n"), mail["text"].as_str().unwrap());
        assert!(text.contains(&head), "{text}");
        settled(&program.client.at(host));
    }
}

fn silent_mail_server_times_out() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", silent.local_addr().unwrap());
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", &url),
        ("SWARM_MAIL_FROM", "swarm@test.example"),
    ];
    let program = Program::start(&["serve"], &environment);
    activated(&program.client, "zoe@test.example");
    let headers = [("x-admin-token", ADMIN)];
    let outbox = || {
        let answer = program.client.send("GET", "/api/swarm/admin/outbox", &headers, b"");
        answer.expect(200).json()["messages"][0].clone()
    };
    wait_until("the delivery is given up", || !outbox()["lastError"].is_null());
    let message = outbox();
    assert_eq!((&message["state"], &message["attempts"]), (&json!("queued"), &json!(1)));
}

#[test]
fn without_a_mail_server_messages_stay_queued_and_logged_without_text() {
    let store: AnyStore = Arc::new(MemoryStore::new());
    let site = || Site::single(services(&store), tenant("default", ADMIN, &[]));
    let (server, served) = (Server::of(site()), site().tenants());
    let client = server.client();
    let (log, mut job) = (Log::default(), LogQueuedMail::default());
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _capturing = tracing::subscriber::set_default(subscriber);
    let id = activated(&client, "zoe@test.example");
    for _round in 0..2 {
        assert_eq!(now(job.round(&*served[0])), Next::Changed);
    }
    activated(&client, "ada@test.example");
    now(job.round(&*served[0]));
    let headers = [("x-admin-token", ADMIN)];
    let outbox = client.send("GET", "/api/swarm/admin/outbox", &headers, b"").expect(200);
    assert_eq!(outbox.json()["messages"][0]["state"], "queued");
    let log = log.text();
    assert_eq!(log.matches("mail is not configured").count(), 2, "{log}");
    assert!(!log.contains(&id) && !log.contains("zoe@test.example"), "{log}");
}

/// A log that was written by this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
