//! Approval mail, sent to a real SMTP server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_core::store::Store;
use swarm_http::{PublicOrigin, Site};
use swarm_maintenance::{Job as _, LogQueuedMail, Next};
use swarm_redis_testing::wait_until;
use swarm_store_memory::MemoryStore;

use crate::backend::{nightly, now};
use crate::clients::python;
use crate::harness::{ADMIN, Client, Server, fresh_key, services, signed_text, tenant};
use crate::program::{Program, configuration, refusal};
use crate::proxies::deployed;
use crate::tenant_configuration;
use crate::tls::make_certificate;

nightly!(silent_mail_server_times_out);

/// An SMTP server that prints each message as a line of JSON; its first line is its port. Its arguments are `clear`, `tls`,
/// `starttls` or `auth` (which takes passwords without TLS), and the certificate and the key, if it has them.
const SMTP: &str = r#"
import asyncio, json, ssl, sys
from aiosmtpd.smtp import AuthResult, SMTP

def say(value):
    print(json.dumps(value), flush=True)

class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("gone"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        say({"from": envelope.mail_from, "to": envelope.rcpt_tos, "helo": session.host_name,
             "encrypted": session.ssl is not None, "password": session.auth_data,
             "text": envelope.content.decode("utf-8")})
        # The text may be empty.
        return "250"

def password(server, session, envelope, mechanism, data):
    return AuthResult(success=True, auth_data=data.password.decode())

async def serve():
    loop = asyncio.get_running_loop()
    mode, *files = sys.argv[1:]
    tls = None
    if files:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*files)
    options = {
        "starttls": {"authenticator": password, "tls_context": tls},
        "auth": {"authenticator": password, "auth_require_tls": False},
    }.get(mode, {})
    new = lambda: SMTP(Handler(), loop=loop, **options)
    server = await loop.create_server(new, "127.0.0.1", 0, ssl=tls if mode == "tls" else None)
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
        Self::with("clear", &[])
    }

    fn with(mode: &str, certificate: &[&Path]) -> Self {
        let mut child = Command::new(python())
            .args(["-c", SMTP, mode])
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
        public_key: key.public_key().to_string(),
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
    activated(&program.client, "mailto:zoe@test.example%0D%0ARCPT%20TO:%3Call@test.example");
    // The mail server does not have SMTPUTF8.
    activated(&program.client, "zoé@test.example");

    let mail = smtp.next();
    assert_eq!(
        (&mail["from"], &mail["to"]),
        (&json!("swarm@test.example"), &json!(["zoe@test.example"]))
    );
    let text = mail["text"].as_str().unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Subject: Your application was approved"), "{text}");
    assert!(!head.contains("Bcc"), "{text}");
    for field in [
        "Date: ",
        "MIME-Version: 1.0",
        "From: Swarm <swarm@test.example>",
        "Auto-Submitted: auto-generated",
    ] {
        assert_eq!(head.matches(&format!("\r\n{field}")).count(), 1, "{field} in {text}");
    }
    let (_, id_field) = head.split_once("Message-ID: <").unwrap();
    let (unique, _) = id_field.split_once("@test.example>").unwrap();
    assert!(unique.len() == 64 && unique.bytes().all(|b| b.is_ascii_hexdigit()), "{text}");
    let address = program.client.address;
    for path in ["api/swarm/token-claim/challenge", "api/swarm/token-claim", "skill.md"] {
        assert!(text.contains(&format!("\r\nhttp://{address}/{path}\r\n")), "{path}: {text}");
    }

    let messages = settled(&program.client);
    let states: Vec<_> = messages.iter().map(|message| &message["state"]).collect();
    let bad = "undeliverable";
    assert_eq!(states, ["sent", bad, bad, bad, bad]);
    assert!(
        messages[0]["sentAt"].is_string() && messages[0]["body"].as_str().unwrap().contains(&id)
    );
    for message in &messages[1..4] {
        assert_eq!(message["lastError"], "contact is no e-mail address");
    }
    let refused = messages[4]["lastError"].as_str().unwrap();
    assert!(refused.contains("characters outside ASCII"), "{refused}");
    // It counts for the alert until it is cancelled.
    let counts = |state: &str, count: u64| {
        let line = format!("swarm_outbox{{state=\"{state}\"}} {count}\n");
        program.client.get("/metrics").expect(200).text.contains(&line)
    };
    wait_until("all are counted", || counts("undeliverable", 4));
    assert!(
        deployed("prometheus/alerts.yml")
            .contains("swarm_outbox{state=~\"failed|undeliverable\"} > 0")
    );
    for message in &messages[1..] {
        let path = format!("/outbox/{}/cancel", message["id"]);
        let cancelled = program.client.operate(&path, &json!({})).expect(200).json();
        assert_eq!(cancelled["message"]["state"], "cancelled");
    }
    wait_until("none is counted", || counts("undeliverable", 0) && counts("cancelled", 4));
}

/// By its own authority, which `SSL_CERT_FILE` names.
#[test]
fn certificate_of_the_mail_server_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "mail");
    let [certificate, key] =
        ["pem", "key"].map(|end| folder.path().join("mail").with_extension(end));
    let mut smtp = SmtpServer::with("tls", &[&certificate, &key]);
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
        let fault = outbox.json()["messages"][0]["lastError"].to_string();
        fault.contains("UnknownIssuer") && fault.contains("SSL_CERT_FILE")
    });
    let trusting = Program::start(&["serve"], &environment);
    activated(&trusting.client, "zoe@test.example");
    assert_eq!(smtp.next()["to"], json!(["zoe@test.example"]));
}

/// A program whose mail goes through this server.
fn mailing(smtp_url: &str, more: &[(&str, &str)]) -> Program {
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", smtp_url),
        ("SWARM_MAIL_FROM", "Swarm <swarm@bücher.example>"),
    ];
    Program::start(&["serve"], &[&environment[..], more].concat())
}

/// The first message, once it has failed.
fn failed(client: &Client) -> Value {
    let mut message = Value::Null;
    wait_until("the mail failed", || {
        let headers = [("x-admin-token", ADMIN)];
        let outbox = client.send("GET", "/api/swarm/admin/outbox", &headers, b"").expect(200);
        message = outbox.json()["messages"][0].clone();
        !message["lastError"].is_null()
    });
    message
}

/// Its error.
fn fault(client: &Client) -> String {
    failed(client)["lastError"].as_str().unwrap().to_owned()
}

/// Words, and the replies to the lines that begin with them. The greeting is the reply to `CONNECT`.
type Script = &'static [(&'static str, &'static [u8])];

/// The address of a mail server that follows this script, and answers other commands as usual.
fn scripted(script: Script) -> String {
    const USUAL: Script = &[
        ("CONNECT", b"220 mail\r\n"),
        ("EHLO", b"250-mail\r\n250 8BITMIME\r\n"),
        ("MAIL", b"250 ok\r\n"),
        ("RCPT", b"250 ok\r\n"),
        ("DATA", b"354 go\r\n"),
        (".", b"250 ok\r\n"),
        ("QUIT", b"221 bye\r\n"),
    ];
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for line in std::iter::once(Ok("CONNECT".to_owned())).chain(lines) {
                let Ok(line) = line else { break };
                let reply = script.iter().chain(USUAL).find(|(word, _)| line.starts_with(word));
                if reply.is_some_and(|(_, reply)| stream.write_all(reply).is_err()) {
                    break;
                }
            }
        }
    });
    address.to_string()
}

#[test]
fn password_is_not_sent_without_tls() {
    let mut smtp = SmtpServer::with("auth", &[]);
    let url = |parameters: &str| format!("smtp://ada:hunter2@127.0.0.1:{}{parameters}", smtp.port);
    let refused = |url: &str| {
        let environment = [("SWARM_SMTP_URL", url), ("SWARM_MAIL_FROM", "swarm@test.example")];
        let said = refusal(&["serve"], &environment);
        assert!(!said.contains("hunter2"), "{said}");
        said
    };
    for parameters in ["", "?insecure=false"] {
        let said = refused(&url(parameters));
        assert!(said.contains("smtp_url: would send the password without TLS"), "{said}");
        assert!(said.contains("smtps://") && said.contains("?tls=required"), "{said}");
    }
    for (parameters, fault) in [
        ("?tls=maybe", "tls: must be required or opportunistic"),
        ("?insecure=1", "insecure: must be true or false"),
        ("?helo=a%20b", "helo: must be the name of a host"),
        ("?starttls=true", "has a parameter other than tls, helo and insecure"),
    ] {
        let said = refused(&url(parameters));
        assert!(said.contains(&format!("smtp_url: {fault}")), "{said}");
    }
    // With STARTTLS if there is any, there is none.
    let program = mailing(&url("?tls=opportunistic"), &[]);
    activated(&program.client, "zoe@test.example");
    assert_eq!(
        fault(&program.client),
        "the mail server offers no TLS, and the password is not sent without"
    );
    let program = mailing(&url("?insecure=true"), &[]);
    activated(&program.client, "zoe@test.example");
    let mail = smtp.next();
    assert_eq!((&mail["password"], &mail["encrypted"]), (&json!("hunter2"), &json!(false)));
}

#[test]
fn password_is_sent_by_starttls() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path(), "mail");
    let [certificate, key] =
        ["pem", "key"].map(|end| folder.path().join("mail").with_extension(end));
    let mut smtp = SmtpServer::with("starttls", &[&certificate, &key]);
    let trusting = [("SSL_CERT_FILE", certificate.to_str().unwrap())];
    for tls in ["required", "opportunistic"] {
        let url = format!("smtp://ada:p%40ss%2Fword@localhost:{}?tls={tls}", smtp.port);
        let program = mailing(&url, &trusting);
        activated(&program.client, "zoe@test.example");
        let mail = smtp.next();
        assert_eq!((&mail["password"], &mail["encrypted"]), (&json!("p@ss/word"), &json!(true)));
    }
    // Neither is the mail itself, where STARTTLS is required.
    let clear = SmtpServer::start();
    let url = format!("smtp://127.0.0.1:{}?tls=required", clear.port);
    let program = mailing(&url, &[]);
    activated(&program.client, "zoe@test.example");
    assert!(fault(&program.client).contains("STARTTLS is not supported"));
}

#[test]
fn international_domains_and_the_name_of_the_sender_are_sent_in_ascii() {
    let mut smtp = SmtpServer::start();
    for (parameters, helo) in [
        ("", "xn--bcher-kva.example"),
        ("?helo=mail.test.example", "mail.test.example"),
        ("?helo=192.0.2.1", "[192.0.2.1]"),
    ] {
        let program = mailing(&format!("smtp://127.0.0.1:{}{parameters}", smtp.port), &[]);
        let contacts = [
            ("zoe@bücher.example", "zoe@xn--bcher-kva.example"),
            ("zoe@BÜCHER.example", "zoe@xn--bcher-kva.example"),
            ("zoe@例え.テスト", "zoe@xn--r8jz45g.xn--zckzah"),
            ("zoe@test.example.", "zoe@test.example"),
            ("Zoe <zoe@bücher.example>", "zoe@xn--bcher-kva.example"),
            ("mailto:zoe@test.example", "zoe@test.example"),
            ("MAILTO:zoe%2Btag@test.example?subject=Hi", "zoe+tag@test.example"),
            ("\u{200b}zoe@test.example\u{feff}", "zoe@test.example"),
        ];
        for (contact, _) in contacts {
            activated(&program.client, contact);
        }
        for (contact, to) in contacts {
            let mail = smtp.next();
            assert_eq!(
                (&mail["helo"], &mail["from"]),
                (&json!(helo), &json!("swarm@xn--bcher-kva.example"))
            );
            assert_eq!(mail["to"], json!([to]), "{contact}");
            assert!(mail["text"].as_str().unwrap().contains(&format!("\r\nTo: {to}\r\n")));
        }
        settled(&program.client);
    }
}

/// A line without an end took memory as fast as it came.
#[test]
fn reply_of_a_mail_server_is_bounded() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let flood = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let piece = [b'2'; 1 << 20];
        // Until the server has had enough.
        (0..512).position(|_| stream.write_all(&piece).is_err())
    });
    let program = mailing(&url, &[]);
    let before = program.peak_memory();
    activated(&program.client, "zoe@test.example");
    assert!(fault(&program.client).contains("the reply is too long"));
    assert!(flood.join().unwrap().is_some(), "all of the reply was read");
    let grown = program.peak_memory() - before;
    assert!(grown < 32 << 20, "grown by {} MiB", grown >> 20);
}

/// Anybody on the way can add to the reply to STARTTLS, and it would count as if it came through TLS.
#[test]
fn more_than_the_reply_to_starttls_ends_the_connection() {
    let server = scripted(&[
        ("EHLO", b"250-mail\r\n250 STARTTLS\r\n"),
        ("STARTTLS", b"220 go\r\n250-evil\r\n250 AUTH PLAIN\r\n"),
    ]);
    for tls in ["required", "opportunistic"] {
        let program = mailing(&format!("smtp://ada:hunter2@{server}?tls={tls}"), &[]);
        activated(&program.client, "zoe@test.example");
        let fault = fault(&program.client);
        assert!(fault.contains("more than its reply to STARTTLS"), "{fault}");
    }
}

/// Without text, in other letters and another encoding.
#[test]
fn unusual_replies_of_a_mail_server_are_read() {
    let server = scripted(&[
        ("CONNECT", b"220 h\xe9llo\r\n"),
        ("EHLO", b"250-mail\r\n250-8bitmime\r\n250 auth plain\r\n"),
        ("AUTH PLAIN", b"235\r\n"),
        ("MAIL", b"250\r\n"),
        ("RCPT", b"250\r\n"),
        ("DATA", b"354\r\n"),
        (".", b"250\r\n"),
    ]);
    let program = mailing(&format!("smtp://ada:hunter2@{server}?insecure=true"), &[]);
    activated(&program.client, "zoe@test.example");
    wait_until("the mail was tried", || {
        let headers = [("x-admin-token", ADMIN)];
        let outbox = program.client.send("GET", "/api/swarm/admin/outbox", &headers, b"");
        let message = outbox.expect(200).json()["messages"][0].clone();
        assert!(message["lastError"].is_null(), "{message}");
        message["state"] == "sent"
    });
    // STARTTLS is sent to a server that offers it so.
    let server =
        scripted(&[("EHLO", b"250-mail\r\n250 starttls\r\n"), ("STARTTLS", b"454 not now\r\n")]);
    let program = mailing(&format!("smtp://{server}?tls=required"), &[]);
    activated(&program.client, "zoe@test.example");
    assert!(fault(&program.client).contains("not now"));
}

/// What the mail server refuses of us, be it before or when it hears of the recipient, may be due to our settings, and is retried.
#[test]
fn only_a_refused_recipient_or_letter_is_undeliverable() {
    const REFUSALS: [(&str, Script); 11] = [
        ("queued", &[("CONNECT", b"554 5.7.1 refused\r\n")]),
        ("queued", &[("MAIL", b"550 5.7.1 refused\r\n")]),
        // As Postfix does.
        ("queued", &[("RCPT", b"554 5.7.1 <mail[192.0.2.1]>: Client host refused\r\n")]),
        ("queued", &[("RCPT", b"550-5.1.8 <swarm@test.example>:\r\n550 5.1.8 refused\r\n")]),
        // As where SPF or DMARC is missing.
        ("queued", &[(".", b"550-5.7.26 unauthenticated:\r\n550 5.7.26 refused\r\n")]),
        ("queued", &[(".", b"550 5.1.8 refused\r\n")]),
        ("undeliverable", &[("RCPT", b"550 5.1.1 refused\r\n")]),
        // As Outlook does for a mailbox that is none.
        ("undeliverable", &[("RCPT", b"550 5.5.0 refused\r\n")]),
        ("undeliverable", &[("RCPT", b"550 5.2.1 refused\r\n")]),
        ("undeliverable", &[("RCPT", b"550 refused, see 5.7.1\r\n")]),
        ("undeliverable", &[(".", b"554 5.7.1 refused\r\n")]),
    ];
    for (state, script) in REFUSALS {
        let program = mailing(&format!("smtp://{}", scripted(script)), &[]);
        activated(&program.client, "zoe@test.example");
        let message = failed(&program.client);
        assert_eq!((&message["state"], &message["attempts"]), (&json!(state), &json!(1)));
        assert!(message["lastError"].as_str().unwrap().contains("refused"), "{message}");
    }
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
    let store: Store = MemoryStore::new().into();
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
    let message = failed(&program.client);
    assert_eq!((&message["state"], &message["attempts"]), (&json!("queued"), &json!(1)));
}

#[test]
fn without_a_mail_server_messages_stay_queued_and_logged_without_text() {
    let store: Store = MemoryStore::new().into();
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

/// The address of another scheme than the server speaks is refused, or fails, with what to do.
#[test]
fn addresses_and_senders_that_people_write_are_taken_or_explained() {
    let refused = |url: &str, from: &str| {
        let said = refusal(&["serve"], &[("SWARM_SMTP_URL", url), ("SWARM_MAIL_FROM", from)]);
        assert!(!said.contains("zz"), "{said}");
        said
    };
    let said = refused("smtps://ada:p%zz@mail.example", "desk@acme.example");
    assert!(said.contains("user and password percent-encoded"), "{said}");
    let said = refused("smtps://mail.example", "a@acme.example, b <c@acme.example>");
    assert!(said.contains("must be desk@example.org or Desk"), "{said}");

    let mut smtp = SmtpServer::start();
    let url = format!("smtp://127.0.0.1:{}", smtp.port);
    let environment = [
        ("SWARM_ADMIN_TOKEN", ADMIN),
        ("SWARM_SMTP_URL", &url),
        ("SWARM_MAIL_FROM", "Acme, Inc. <desk@acme.example>"),
    ];
    let program = Program::start(&["serve"], &environment);
    activated(&program.client, "zoe@test.example");
    let mail = smtp.next();
    // Base64 of `Acme, Inc.`: so that its comma separates nothing.
    let head = "\r\nFrom: =?utf-8?b?QWNtZSwgSW5jLg==?= <desk@acme.example>\r\n";
    assert!(mail["text"].as_str().unwrap().contains(head), "{mail}");

    let program = mailing(&url.replace("smtp:", "smtps:"), &[]);
    activated(&program.client, "zoe@test.example");
    let said = fault(&program.client);
    assert!(said.contains("smtp://") && said.contains("?tls=required"), "{said}");
}
