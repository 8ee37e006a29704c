//! Hostile strings: stored unchanged, and escaped in pages.

use std::collections::HashMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use swarm_core::MemberId;
use swarm_core::domain::{Application, Contact, Lens, Name};

use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, fresh_key, fresh_nonce, signed_text};
use crate::vector_files::third_party;

const DATE: &str = "2026-11-21";

pub(super) fn naughty() -> Vec<String> {
    let Some(text) = third_party("strings/blns.json") else { return vec![] };
    let strings: Vec<String> = serde_json::from_str(&text).unwrap();
    assert_eq!(strings.len(), 515);
    strings
}

/// `text`, if a field of 1 to `limit` characters can hold it.
pub(super) fn fitting(text: &str, limit: usize) -> Option<&str> {
    (1..=limit).contains(&text.chars().count()).then_some(text)
}

/// A member that applied with this text wherever it fits.
fn join(fixture: &Fixture, text: &str) -> Author {
    let client = &fixture.client;
    let key = fresh_key();
    let name = fitting(text, 100).unwrap_or("plain");
    let contact = fitting(text, 200).unwrap_or("plain");
    let application = key.sign(Application {
        name: Name::parse(name).unwrap(),
        contact: Contact::parse(contact).unwrap(),
        lens: Lens::parse(text).unwrap(),
        public_key: key.public_key().to_string(),
    });
    let applied =
        client.post("/api/swarm/apply", &[], &signed_text(&application)).expect(201).json();
    let id = applied["memberId"].as_str().unwrap();
    client.operate("/activate", &json!({ "memberId": id })).expect(200);
    let member = client.get(&format!("/api/swarm/members/{id}")).expect(200).json();
    assert_eq!((&member["name"], &member["lens"]), (&json!(name), &json!(text)));
    let headers = [("x-admin-token", ADMIN)];
    let path = "/api/swarm/admin/applications?state=approved";
    let read = client.send("GET", path, &headers, b"").expect(200).json();
    assert_eq!(read["applications"][0]["contact"], contact);
    let id = MemberId::parse(id).unwrap();
    let token = Author::claim(client, &id, &key).expect(201).json()["token"].clone();
    Author { id, key, token: token.as_str().unwrap().to_owned() }
}

/// A subject with this text wherever it fits, and a session on it; the subject's id.
fn convene(fixture: &Fixture, text: &str) -> String {
    let id = fitting(text, 100).map_or_else(fresh_nonce, str::to_owned);
    let mut subject = json!({
        "id": id, "status": text, "name": text, "operator": text, "homepage": text,
        "xHandle": text, "thesisBlurb": text, "wallets": [{ text: text }],
        "nftContracts": [{ "note": [text] }], "source": text, "recommendationType": text,
        "linkedMemberId": text, "structuralNotes": [text, text],
    });
    let written = fixture.client.operate("/subjects", &subject);
    assert!(matches!(written.status, 200 | 201), "{written:?}");
    subject["lastReviewed"] = Value::Null;
    let path = utf8_percent_encode(&id, NON_ALPHANUMERIC);
    let read = fixture.client.get(&format!("/api/swarm/subjects/{path}")).expect(200);
    assert_eq!(read.json(), subject);
    let session = json!({ "date": DATE, "subjectId": id });
    let convened = fixture.client.operate("/sessions", &session).expect(201).json();
    assert_eq!(convened["session"]["subjectId"], *id);
    id
}

#[test]
fn naughty_strings_are_stored_unchanged_and_escaped_in_pages() {
    let fixture = Fixture::start();
    let strings = naughty();
    for text in &strings {
        let author = join(&fixture, text);
        let subject = convene(&fixture, text);
        let own = |limit| fitting(text, limit).unwrap_or("plain");
        let fields = json!({
            "date": DATE, "subjectId": subject, "stance": own(100), "body": text, "nonce": own(200),
            "memoUrl": own(2_000), "weights": [{ "bucket": own(100), "weight": 1 }],
        });
        let filed =
            fixture.client.submit(&author, author.draft_of(fields.clone())).expect(201).json();
        let path = format!("/swarm/takes/{}", filed["recommendationId"]);
        let read = fixture.client.get(&format!("/api{path}")).expect(200).json();
        for (field, value) in fields.as_object().unwrap() {
            assert_eq!(read[field], *value, "{text:?}");
        }
        let page = fixture.client.get(&path).expect(200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let name = fitting(text, 100).unwrap_or("plain");
        check_page(&page.text, &fields, name);
    }
}

/// Memos, prompts, signals, subject snapshots, and the prompt assembled from them.
#[test]
fn naughty_strings_pass_through_memos_and_briefs_unchanged() {
    let fixture = Fixture::start();
    let author = fixture.author();
    let bearer = author.bearer();
    for (number, text) in (1..).zip(&naughty()) {
        let subject = convene(&fixture, text);
        let memo = json!({
            "title": fitting(text, 200).unwrap_or("plain"), "body": fitting(text, 100_000).unwrap_or("plain"),
            "subjectId": subject, "sessionId": number,
        });
        let headers = [("authorization", bearer.as_str())];
        fixture.client.post("/api/swarm/memos", &headers, &memo.to_string()).expect(201);
        let read = fixture.client.get(&format!("/api/swarm/memos/{number}")).expect(200).json();
        for (field, value) in memo.as_object().unwrap() {
            assert_eq!(read[field], *value, "{text:?}");
        }
        let page = parse(&fixture.client.get(&format!("/swarm/memos/{number}")).expect(200).text);
        check_harmless(&page);
        assert!(page.texts["bdi"].contains(&shown(memo["title"].as_str().unwrap())), "{text:?}");

        // A key of its own: a signal that is replaced is none of the newest.
        let (payload, key) = (json!({ text: [text] }), format!("{number} {text}"));
        let plain = number.to_string();
        let signal = json!({
            "signal_key": fitting(&key, 200).unwrap_or(&plain), "date": DATE, "payload": payload,
        });
        fixture.client.operate("/signals", &signal).expect(200);
        let path = format!("/sessions/{number}/brief");
        let prompt = json!({ "system": text, "user": text });
        // Every second brief has an assembled prompt.
        let own = number % 2 == 0;
        let fields = if own { json!({ "prompt": prompt }) } else { json!({}) };
        fixture.client.operate(&path, &fields).expect(201);
        let brief = format!("/api/swarm/brief?session={number}");
        let body = fixture.client.get(&brief).expect(200).json()["body"].clone();
        assert_eq!(body["subject"]["name"], *text);
        assert!(body["researchSignals"].as_array().unwrap().contains(&signal), "{text:?}");
        if own {
            assert_eq!(body["prompt"], prompt, "{text:?}");
        } else {
            let quoted = serde_json::to_string(text).unwrap();
            assert!(body["prompt"]["user"].as_str().unwrap().contains(&quoted), "{text:?}");
        }
    }
}

/// A page as a browser would tokenize it, for the HTML that the templates use: elements with quoted attributes,
/// and text.
struct Page {
    /// The name of each tag, with its attributes' names.
    tags: Vec<String>,
    /// The attributes, unescaped.
    attributes: Vec<(String, String)>,
    /// The texts in elements of each name, unescaped, in order.
    texts: HashMap<String, Vec<String>>,
}

fn parse(html: &str) -> Page {
    let mut page = Page { tags: vec![], attributes: vec![], texts: HashMap::new() };
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("a tag ends");
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut shape = name.to_owned();
        while let Some((key, value)) = attributes.trim_start().split_once("=\"") {
            let (value, others) = value.split_once('"').expect("a value ends");
            page.attributes.push((key.to_owned(), unescape(value)));
            shape = format!("{shape} {key}");
            attributes = others;
        }
        shape += attributes;
        page.tags.push(shape);
        let text = after.split('<').next().unwrap_or_default();
        page.texts.entry(name.to_owned()).or_default().push(unescape(text));
        rest = after;
    }
    page
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain += before;
        let (name, after) = after.split_once(';').unwrap_or_else(|| panic!("a bare & in {text}"));
        plain.push(match name {
            "lt" | "#60" => '<',
            "gt" | "#62" => '>',
            "amp" | "#38" => '&',
            "quot" | "#34" => '"',
            "#39" | "#x27" => '\'',
            "nbsp" => '\u{a0}',
            other => {
                let letter = other.strip_prefix('#').and_then(|code| code.parse().ok());
                letter.and_then(char::from_u32).unwrap_or_else(|| panic!("&{other}; in {text}"))
            }
        });
        rest = after;
    }
    plain + rest
}

/// Checks that the page of a take shows all fields, and is harmless.
fn check_page(html: &str, fields: &Value, author: &str) {
    let page = parse(html);
    check_harmless(&page);
    let text = |field: &str| fields[field].as_str().unwrap();
    let within = |tag: &str| page.texts.get(tag).map_or(&[][..], Vec::as_slice);
    let signed = serde_json::to_string(text("body")).unwrap();
    let note = |text: &String| text.starts_with("The character \u{fffd}");
    assert_eq!(within("dd").iter().any(note), printable(&signed) != signed, "{html}");
    assert!(
        within("pre").iter().any(|canonical| canonical.contains(&printable(&signed))),
        "{html}"
    );
    let bucket = fields["weights"][0]["bucket"].as_str().unwrap();
    for part in [text("stance"), author, text("memoUrl"), bucket] {
        assert!(within("bdi").contains(&shown(part)), "{part:?} in {html}");
    }
}

/// Text outside of the signed payload, without bidirectional control characters.
fn shown(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    printable(text).replace(turns, "")
}

/// Characters that HTML does not allow are shown as U+FFFD.
fn printable(text: &str) -> String {
    let odd =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || u32::from(c) & 0xfffe == 0xfffe;
    text.replace(odd, "\u{fffd}")
}

/// Checks that there are only passive elements, internal links, and external links marked as such, besides the search of the
/// site, which is on each page once.
fn check_harmless(page: &Page) {
    const ELEMENTS: &str = "!doctypehtml a article bdi blockquote body br circle code dd del details div dl dt \
        em footer h1 h2 h3 h4 h5 h6 head header hr html li line link main meta nav ol p path pre rect \
        section span strong summary svg table tbody td text th thead time title tr ul";
    const SEARCH: [&str; 5] = [
        "form role aria-label method action",
        "input type name maxlength aria-label placeholder",
        "button type",
        "/button",
        "/form",
    ];
    let count = |wanted: &str| page.tags.iter().filter(|tag| *tag == wanted).count();
    assert!(SEARCH.iter().all(|tag| count(tag) == 1));
    for tag in page.tags.iter().filter(|tag| !SEARCH.contains(&tag.as_str())) {
        let name = tag.split(' ').next().unwrap().trim_matches('/');
        assert!(ELEMENTS.split_whitespace().any(|known| known == name), "<{tag}>");
    }
    for (name, value) in &page.attributes {
        assert!(!name.starts_with("on") && name != "style" && name != "src", "{name}={value}");
        if name == "href" {
            let ours = value.starts_with('/') && !value.starts_with("//") || value.starts_with('#');
            let web = ["http://", "https://"].iter().any(|web| {
                value.get(..web.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(web))
            });
            assert!(ours || web, "{name}={value}");
        }
    }
}

#[test]
fn scripts_never_become_links() {
    let fixture = Fixture::start();
    let author = fixture.author();
    for memo in [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "javascript://memo.example/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "//memo.example/",
        "/swarm/takes/1",
        "https:memo.example",
        "\u{1}https://a/",
        " https://memo.example/",
        "https//memo.example",
        "file:///etc/passwd",
        "ftp://memo.example/",
        "https\u{ff1a}//memo.example/",
        "\nhttp://a/",
    ] {
        let subject = fresh_nonce();
        fixture.convene(DATE, &subject);
        let fields = json!({ "date": DATE, "subjectId": subject, "memoUrl": memo });
        let filed = fixture.client.submit(&author, author.draft_of(fields)).expect(201).json();
        let page = fixture.client.get(&format!("/swarm/takes/{}", filed["recommendationId"]));
        let page = parse(&page.expect(200).text);
        check_harmless(&page);
        let link = |(name, value): &(String, String)| name == "href" && value == memo;
        assert!(!page.attributes.iter().any(link), "{memo:?} became a link");
    }
    for memo in ["http://memo.example/a?b=\"c\"&d=<e>'", "HTTPS://memo.example/"] {
        let subject = fresh_nonce();
        fixture.convene(DATE, &subject);
        let fields = json!({ "date": DATE, "subjectId": subject, "memoUrl": memo });
        let filed = fixture.client.submit(&author, author.draft_of(fields)).expect(201).json();
        let page = fixture.client.get(&format!("/swarm/takes/{}", filed["recommendationId"]));
        let page = parse(&page.expect(200).text);
        let link = |(name, value): &(String, String)| name == "href" && value == memo;
        assert!(page.attributes.iter().any(link), "{memo}");
        let stranger = |(name, value): &(String, String)| {
            name == "rel" && value.contains("noopener") && value.contains("nofollow")
        };
        assert!(page.attributes.iter().any(stranger), "{memo}");
    }
}

/// Neither when the take is filed nor when it is read.
#[test]
fn urls_in_takes_are_never_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let memo = format!("http://{}/memo", listener.local_addr().unwrap());
    let fixture = Fixture::start();
    let author = fixture.author();
    fixture.client.convene(DATE, "aurora");
    let fields = json!({ "date": DATE, "subjectId": "aurora", "memoUrl": memo });
    fixture.client.submit(&author, author.draft_of(fields)).expect(201);
    for path in ["/api/swarm/takes/1", "/swarm/takes/1", "/swarm/sessions/1"] {
        fixture.client.get(path).expect(200);
    }
    let fetched = listener.accept().map(|(_, address)| address);
    assert_eq!(fetched.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
