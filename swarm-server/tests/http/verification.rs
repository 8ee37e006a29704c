//! Verification of takes by the clients under `examples/clients`, above all of takes that prove
//! nothing, and their retries against a server that does not answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use swarm_core::proof::KeyPair;

use crate::clients::{ClientProgram, node, python};
use crate::harness::{Author, fresh_key, signed_text};
use crate::program::swarm;

const UNPROVEN: &str = "unproven: that this is the member's key";

/// The key of the log in the bundles among the vectors.
const LOG_KEY: &str =
    "desk.example/swarm/log/acme+dc41f35d+ARl/ayPhbIUyxqvIOPrNXqeJvgx2spIDNAOb+os9No1h";

/// A server that gives these answers in order to any request. Returns its URL, and the bodies received.
pub fn scripted(answers: Vec<(u16, String)>) -> (String, Receiver<Vec<u8>>) {
    answering(answers.into_iter().map(|(status, answer)| whole(status, &answer)))
}

/// Writes an answer.
pub type Answer = Box<dyn FnOnce(&mut TcpStream) + Send>;

/// A complete answer.
pub fn whole(status: u16, body: &str) -> Answer {
    let length = body.len();
    raw(&format!(
        "HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// Sends these bytes, then closes the connection.
pub fn raw(text: &str) -> Answer {
    let text = text.to_owned();
    Box::new(move |stream| stream.write_all(text.as_bytes()).unwrap())
}

/// A success whose body never ends.
pub fn endless() -> Answer {
    Box::new(|stream| {
        let spaces = [b' '; 1 << 16];
        let _ = stream.write_all(b"HTTP/1.1 200 -\r\n\r\n");
        while stream.write_all(&spaces).is_ok() {}
    })
}

/// An answer that begins with `start`, and continues byte by byte for half a minute.
pub fn dribbling(start: &str) -> Answer {
    let start = start.to_owned();
    Box::new(move |stream| {
        let _ = stream.write_all(start.as_bytes());
        for _ in 0..150 {
            sleep(Duration::from_millis(200));
            if stream.write_all(b"x").is_err() {
                break;
            }
        }
    })
}

/// Like [`scripted`], with arbitrary answers.
pub fn answering(
    answers: impl IntoIterator<Item = Answer, IntoIter: Send + 'static>,
) -> (String, Receiver<Vec<u8>>) {
    let answers = answers.into_iter();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let (_, body) = received(&stream);
            let _ = tell.send(body);
            answer(&mut stream);
        }
    });
    (url, told)
}

/// The lines of the head of a request, and its body.
pub fn received(stream: &TcpStream) -> (Vec<String>, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let head: Vec<_> = reader
        .by_ref()
        .lines()
        .map_while(|line| line.ok().filter(|line| !line.is_empty()))
        .collect();
    let length = head.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (head, body)
}

/// The record of a take in the name of Ada, signed with `key`.
fn record(key: &KeyPair) -> Value {
    let ada = Author {
        id: swarm_core::MemberId::parse("ada").unwrap(),
        key: fresh_key(),
        token: String::new(),
    };
    let signed = key.sign(ada.draft("2026-11-21", "aurora"));
    let mut record: Value = serde_json::from_str(&signed_text(&signed)).unwrap();
    let more = json!({ "id": 5, "sessionId": 1, "revision": 1, "publicKey": key.public_key() });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

/// Both clients, each in a folder that holds `files`.
pub fn clients(name: &str, url: &str, files: &[(&str, &str)]) -> [ClientProgram; 2] {
    [(python(), "swarm_client.py"), (node(), "swarm_client.mjs")].map(|(interpreter, script)| {
        let folder = format!("{name}-{script}");
        let client = ClientProgram::new(interpreter, script, &folder, url.to_owned());
        for (file, text) in files {
            std::fs::write(client.folder.join(file), text).unwrap();
        }
        client
    })
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn key_from_the_record_proves_nothing() {
    let (ada, liar) = (fresh_key(), fresh_key());
    let (url, _bodies) = scripted(vec![(200, record(&liar).to_string()); 14]);
    let mut texts = Vec::new();
    for client in clients("liar", &url, &[]) {
        let forged = client.run(&["verify", "--url", &url, "5"]);
        let text = said(&forged);
        assert!(text.contains(UNPROVEN) && !text.contains("verified"), "{text}");
        assert!(text.contains("member \"ada\" says of \"aurora\" on \"2026-11-21\""), "{text}");
        assert_eq!(forged.status.code(), Some(0), "{text}");

        let permalink = format!("{url}/swarm/takes/5");
        let capitals = client.run(&["verify", &permalink.replace("http", "HTTP")]);
        assert_eq!(said(&capitals), text, "{capitals:?}");
        let by_key = client.run(&["verify", &permalink, "--key", &ada.public_key().to_string()]);
        assert_eq!(by_key.status.code(), Some(1), "{by_key:?}");
        assert!(said(&by_key).starts_with("does not hold"), "{by_key:?}");

        for other in
            [&["verify", "--url", &url, "6"][..], &["verify", &format!("{url}/swarm/takes/6")]]
        {
            let other = client.run(other);
            assert_eq!(other.status.code(), Some(1), "{other:?}");
            assert!(said(&other).contains("asked for take 6, got take 5"), "{other:?}");
        }
        texts.push(text);
    }
    assert_eq!(texts[0], texts[1]);
    let permalink = format!("{url}/swarm/takes/5");
    let forged = verify(&[&permalink]);
    assert_eq!((forged.status.code(), said(&forged)), (Some(0), texts[0].clone()));
    assert_eq!(said(&verify(&[&permalink.replace("http", "HTTP")])), texts[0]);
    let by_key = verify(&[&permalink, "--key", &ada.public_key().to_string()]);
    assert!(said(&by_key).starts_with("does not hold"), "{by_key:?}");
    let other = verify(&[&format!("{url}/api/swarm/takes/6")]);
    assert!(said(&other).contains("asked for take 6, got take 5"), "{other:?}");
    assert_eq!([by_key, other].map(|output| output.status.code()), [Some(1); 2]);
}

#[test]
fn bundle_of_another_session_than_the_url_names_fails() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../vectors/bundles/valid-published.json");
    let bundle = std::fs::read_to_string(file).unwrap();
    let (url, _bodies) = scripted(vec![(200, bundle); 2]);
    for (session, is_asked) in [(7, true), (8, false)] {
        let bundle = format!("{url}/api/swarm/sessions/{session}/bundle");
        let verified = verify(&[&bundle, "--key", LOG_KEY]);
        let said = said(&verified);
        assert_eq!(said.contains("asked for session 8, got session 7"), !is_asked, "{said}");
        assert_eq!(said.contains("holds: record: session 7 of "), is_asked, "{said}");
    }
}

/// `swarm verify`.
fn verify(arguments: &[&str]) -> Output {
    swarm(&[&["verify"], arguments].concat(), &[]).output().unwrap()
}

#[test]
fn file_is_verified_without_a_server() {
    let key = fresh_key();
    let take = record(&key);
    let changed = |field: &str, value: Value| {
        let mut changed = take.clone();
        changed[field] = value;
        changed.to_string()
    };
    let shares = |buckets: &[&str], weight: i8| {
        let share = |bucket: &&str| json!({ "bucket": bucket, "weight": weight });
        buckets.iter().map(share).collect::<Value>()
    };
    let mut withheld = take.clone();
    let mark = json!({ "at": "2026-11-21T22:45:00.000Z", "note": "it names\u{9b} a client" });
    withheld.as_object_mut().unwrap().retain(|field, _| field != "body" && field != "memoUrl");
    withheld["withheld"] = mark.clone();
    let sealed = format!("sha256:{}", "5e".repeat(32));
    let opened = |sealed: Option<&str>| {
        let mut opened = withheld.clone();
        opened["salt"] = STANDARD.encode([7; 32]).into();
        opened["sealed"] = sealed.into();
        opened.to_string()
    };
    let files = [
        ("take", take.to_string()),
        ("withheld", withheld.to_string()),
        ("withheld-opened", opened(Some(&sealed))),
        ("salt-without-seal", opened(None)),
        ("withheld-no-seal", opened(Some("sha256:5E"))),
        ("not-withheld", changed("withheld", mark)),
        ("stance", changed("stance", "bearish".into())),
        ("weights", changed("weights", json!([{ "bucket": "cash", "weight": 1 }]))),
        ("key", changed("publicKey", fresh_key().public_key().to_string().into())),
        ("no-key", changed("publicKey", "no key".into())),
        ("hex", changed("signature", "ab".repeat(64).into())),
        ("escape", changed("stance", "\u{9b}31m\u{2028}".into())),
        ("confidence", changed("confidence", 2.into())),
        ("negative-confidence", changed("confidence", (-0.5).into())),
        ("day", changed("date", "2026-2-30".into())),
        ("no-stance", changed("stance", "".into())),
        ("long-nonce", changed("nonce", "\u{1f680}".repeat(201).into())),
        ("twice", changed("weights", shares(&["cash", "cash"], 1))),
        ("negative-weight", changed("weights", shares(&["cash"], -1))),
        ("no-weights", changed("weights", shares(&[], 1))),
        ("long-bucket", changed("weights", shares(&["b".repeat(101).as_str()], 1))),
        ("longest", changed("nonce", "\u{1f680}".repeat(200).into())),
        ("not-a-take", json!({ "id": 5 }).to_string()),
        ("not-json", "{".to_owned()),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    for client in clients("files", "http://127.0.0.1:1", &files) {
        let verify = |file: &str| {
            let output = client.run(&["verify", file]);
            let at = client.folder.join(file);
            let file = if file.starts_with("http") { file } else { at.to_str().unwrap() };
            let program = self::verify(&[file]);
            let both = [&program, &output].map(|output| (output.status.code(), said(output)));
            assert_eq!(both[0], both[1], "{file}: {program:?}");
            output
        };
        let public = key.public_key().to_string();
        let given = client.run(&["verify", "take", "--key", &public]);
        assert_eq!(given.status.code(), Some(0), "{given:?}");
        assert!(said(&given).contains("given: the key is the one that you named"), "{given:?}");
        assert!(!said(&given).contains(UNPROVEN), "{given:?}");
        let input = std::fs::File::open(client.folder.join("take")).unwrap();
        let piped = swarm(&["verify", "-", "--key", &public], &[]).stdin(input).output().unwrap();
        assert_eq!((piped.status.code(), said(&piped)), (Some(0), said(&given)), "{piped:?}");
        assert_eq!(self::verify(&["-", "-"]).status.code(), Some(2));
        // Nothing was compared with a text that is no key.
        let unpadded = public.trim_end_matches('=');
        let hex = "ab".repeat(32);
        for no_key in ["", "no key", &hex, unpadded, LOG_KEY] {
            for output in [
                client.run(&["verify", "take", "--key", no_key]),
                self::verify(&[client.folder.join("take").to_str().unwrap(), "--key", no_key]),
            ] {
                assert_eq!((output.status.code(), &*said(&output)), (Some(2), ""), "{no_key}");
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(error.contains("cannot be read: "), "{no_key}: {error}");
            }
        }
        assert!(said(&verify("take")).contains(UNPROVEN));
        // Without its texts nobody can check the signature: anybody can have made it up.
        let withheld = verify("withheld");
        assert_eq!(withheld.status.code(), Some(0), "{withheld:?}");
        assert!(said(&withheld).contains("unproven: that the key signed this"), "{withheld:?}");
        assert!(said(&withheld).contains("\nnothing was verified of this take"), "{withheld:?}");
        let opened = verify("withheld-opened");
        assert_eq!(opened.status.code(), Some(0), "{opened:?}");
        let unproven = format!("unproven: that the seal {sealed} is of this take and its salt");
        assert!(said(&opened).contains(&unproven), "{opened:?}");
        assert!(said(&verify("not-withheld")).starts_with("holds: the key"));
        for broken in
            ["stance", "weights", "key", "no-key", "hex", "escape", "longest", "salt-without-seal"]
        {
            let output = verify(broken);
            assert_eq!(output.status.code(), Some(1), "{broken}: {output:?}");
            assert!(said(&output).starts_with("does not hold: "), "{output:?}");
        }
        let unreadable = [
            "not-a-take",
            "withheld-no-seal",
            "confidence",
            "negative-confidence",
            "day",
            "no-stance",
            "long-nonce",
            "twice",
            "negative-weight",
            "no-weights",
            "long-bucket",
            "not-json",
            "no-such-file",
            "http://127.0.0.1:1/swarm/takes/5",
        ];
        for unreadable in unreadable {
            let output = verify(unreadable);
            assert_eq!(output.status.code(), Some(2), "{unreadable}: {output:?}");
            assert_eq!(said(&output), "");
        }
    }
}

#[test]
fn take_is_retried_with_the_same_bytes() {
    let python_says = r#"
import sys; sys.path.insert(0, sys.argv[1])
from swarm_client import Swarm, new_key, sign, take
signed = sign(take("ada", "2026-11-21", "aurora", "cautious", 0.62), new_key())
print(int(Swarm(sys.argv[2]).submit("tok", signed)["recommendationId"]))
"#;
    let node_says = r#"
const { Swarm, newKey, sign, take } = await import(process.argv[1] + "/swarm_client.mjs");
const fields = { memberId: "ada", date: "2026-11-21", subjectId: "aurora", stance: "cautious", confidence: 0.62 };
console.log((await new Swarm(process.argv[2]).submit("tok", sign(take(fields), newKey()))).recommendationId);
"#;
    let folder = format!("{}/../examples/clients", env!("CARGO_MANIFEST_DIR"));
    let node_options = ["--input-type=module", "-e", node_says];
    for (program, options) in [(python(), &["-B", "-c", python_says][..]), (node(), &node_options)]
    {
        let (url, bodies) = answering([
            whole(503, r#"{"ok":false,"status":503,"error":"store unavailable"}"#),
            whole(504, "<h1>in between</h1>"),
            raw("HTTP/1.1 201 -\r\ncontent-length: 99\r\n\r\n{\"ok\":"), // cut in the middle
            whole(409, r#"{"ok":false,"status":409,"error":"…","recommendationId":7}"#),
        ]);
        let output = Command::new(program).args(options).args([&folder, &url]).output().unwrap();
        assert_eq!(said(&output).trim(), "7", "{output:?}");
        let sent: Vec<_> = bodies.iter().collect();
        assert_eq!((sent.len(), &sent[1..]), (4, &vec![sent[0].clone(); 3][..]));
        assert!(sent[0].starts_with(br#"{"memberId":"ada""#));
    }
}
