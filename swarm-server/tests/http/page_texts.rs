//! What pages say: results, stages, what changed, lists with filters, retracted memos (MANUAL.md, 10).

use serde_json::json;
use swarm_http::{PublicOrigin, Site};
use swarm_store_memory::MemoryStore;

use crate::console::visitor::unescaped;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, Server, services, tenant};

const DAY: &str = "2026-11-21";

fn html(client: &Client, path: &str) -> String {
    client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
}

fn file(client: &Client, author: &Author, subject: &str, stance: &str) {
    let take = json!({
        "date": DAY, "subjectId": subject, "stance": stance, "confidence": 0.5,
        "body": format!("{stance} it is, as was said"),
    });
    client.submit(author, author.draft_of(take)).expect(201);
}

fn advance(client: &Client, session: u64, states: &[&str]) {
    for state in states {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    }
}

fn quorum(client: &Client, session: u64, quorum: u32) {
    amend(client, session, &json!({ "quorum": quorum }));
}

fn amend(client: &Client, session: u64, change: &serde_json::Value) {
    let (path, body) = (format!("/api/swarm/admin/sessions/{session}"), change.to_string());
    let headers = [("x-admin-token", crate::harness::ADMIN), ("content-type", "application/json")];
    client.send("PATCH", &path, &headers, body.as_bytes()).expect(200);
}

#[test]
fn result_is_shown_with_score_and_split_and_set_apart_without_quorum() {
    let server = Server::start();
    let client = server.client();
    let [ada, grace, hedy] = ["Ada", "Grace", "Hedy"].map(|name| Author::join(&client, name));
    for (session, subject, needed) in [(1, "aurora", 2), (2, "borealis", 9)] {
        assert_eq!(client.convene(DAY, subject), session);
        quorum(&client, session, needed);
        for (author, stance) in [(&ada, "bullish"), (&grace, "cautious"), (&hedy, "constructive")] {
            file(&client, author, subject, stance);
        }
    }
    advance(&client, 1, &["window_closed", "aggregated", "published"]);
    advance(&client, 2, &["window_closed", "aggregated", "published"]);
    let (met, missed) = (html(&client, "/swarm/sessions/1"), html(&client, "/swarm/sessions/2"));
    for text in ["+0.67", "2 of 3 agree", "quorum met", "3 of 2 needed"] {
        assert!(met.contains(text), "{text} in {met}");
    }
    for text in ["(+0.67)", "quorum missed", "without a quorum it is no result"] {
        assert!(missed.contains(text), "{text} in {missed}");
    }
    let list = html(&client, "/swarm/sessions");
    assert!(list.contains("quorum missed: 3 of 9") && list.contains("<strong>+0.67</strong>"));
    let feed = client.get("/feed.xml").expect(200).text;
    for title in
        [format!("aurora, {DAY}: +0.67 constructive"), format!("borealis, {DAY}: quorum missed")]
    {
        assert!(feed.contains(&format!("<title>{title}</title>")), "{feed}");
    }
    let member = html(&client, &format!("/swarm/members/{}", grace.id));
    assert!(member.contains("against the consensus in 1 of 1"), "{member}");
}

#[test]
fn closed_session_awaits_its_result_on_the_home_page_with_its_takes() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    file(&client, &ada, "aurora", "bullish");
    let filed_at = client.get("/api/swarm/takes/1").expect(200).json()["filedAt"].clone();
    amend(&client, 1, &json!({ "windowClosesAt": filed_at }));
    advance(&client, 1, &["window_closed"]);
    let home = html(&client, "/");
    assert!(home.contains("<h2>Closed</h2>") && home.contains("bullish it is"), "{home}");
    assert!(home.contains("No session is open"), "{home}");
    advance(&client, 1, &["aggregated"]);
    let home = html(&client, "/");
    assert!(!home.contains("<h2>Closed</h2>") && home.contains("+2.00"), "{home}");
    let session = html(&client, "/swarm/sessions/1");
    assert!(session.contains(">result</span>") && !session.contains("closes "), "{session}");
}

#[test]
fn session_behind_a_newer_one_of_its_day_and_subject_is_not_open_on_the_home_page() {
    let server = Server::start();
    let client = server.client();
    for (day, subject) in [(DAY, "aurora"), (DAY, "aurora"), (DAY, "borealis")] {
        client.convene(day, subject);
    }
    let open = || {
        let home = html(&client, "/");
        let list = home.split("<h2>Open now</h2>").nth(1).unwrap().split("</section>").next();
        let links = list.unwrap().split("href=\"/swarm/sessions/").skip(1);
        links.map(|it| it.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(open(), ["2", "3"]);
    // Takes still go to the newest one.
    advance(&client, 2, &["window_closed", "aggregated"]);
    assert_eq!(open(), ["3"]);
}

/// Until then takes are accepted, although they do not count.
#[test]
fn deadline_ahead_is_shown_after_the_aggregation() {
    let server = Server::start();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session =
        json!({ "date": DAY, "subjectId": "aurora", "windowClosesAt": "2999-03-04T05:06:00Z" });
    client.operate("/sessions", &session).expect(201);
    for state in ["window_closed", "aggregated", "published"] {
        advance(&client, 1, &[state]);
        let page = html(&client, "/swarm/sessions/1");
        let lead = page.split("<p class=\"lead\">").nth(1).unwrap().split("</p>").next().unwrap();
        assert!(lead.contains("2999-03-04T05:06:00.000Z"), "{state}: {lead}");
        assert_eq!(lead.contains("do not count"), state != "window_closed", "{lead}");
    }
}

#[test]
fn takes_are_found_by_text_subject_member_and_stance() {
    let server = Server::start();
    let client = server.client();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    for (at, subject) in ["aurora", "borealis"].into_iter().enumerate() {
        client.convene(DAY, subject);
        file(&client, &ada, subject, ["bullish", "cautious"][at]);
    }
    file(&client, &grace, "aurora", "neutral");
    let found = |query: &str| {
        let page = html(&client, &format!("/swarm/takes{query}"));
        let ids = [1, 2, 3].into_iter();
        ids.filter(|id| page.contains(&format!("/swarm/takes/{id}\""))).collect::<Vec<_>>()
    };
    assert_eq!(found(""), [1, 2, 3]);
    assert_eq!(found("?q=BULLISH+it"), [1]);
    assert_eq!(found("?subject=aurora"), [1, 3]);
    assert_eq!(found(&format!("?member={}", ada.id)), [1, 2]);
    assert_eq!(found("?stance=neutral&subject=aurora"), [3]);
    assert!(found("?q=%3Cscript%3E").is_empty());
    assert!(html(&client, "/swarm/sessions?subject=aurora").contains("/swarm/sessions/1\""));
    assert!(!html(&client, "/swarm/sessions?subject=aurora").contains("/swarm/sessions/2\""));
    assert!(!html(&client, "/swarm/sessions?state=published").contains("/swarm/sessions/1\""));
    assert!(html(&client, "/swarm/members?q=grac").contains(">Grace<"));
    assert!(!html(&client, "/swarm/members?q=grac").contains(">Ada<"));
    let typed = html(&client, "/swarm/takes?q=%22%3E%3Cscript%3E");
    assert!(typed.contains("value=\"&#34;&#62;&#60;script&#62;\""), "{typed}");
}

#[test]
fn retracted_memo_is_a_page_that_says_so() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    let bearer = ada.bearer();
    let memo = json!({ "title": "Depth", "body": "secret text" }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo).expect(201);
    assert!(html(&client, "/swarm/memos?q=depth").contains("/swarm/memos/1\""));
    client.operate("/memos/1/retract", &json!({})).expect(200);
    let gone = client.send("GET", "/swarm/memos/1", &[("accept", "text/html")], b"").expect(404);
    assert_eq!(gone.header("swarm-error"), Some("memo-retracted"));
    assert!(gone.text.contains("was retracted") && !gone.text.contains("secret"), "{}", gone.text);
    client.send("GET", "/swarm/memos/1", &[("accept", "application/json")], b"").expect(404);
    assert!(!html(&client, "/swarm/memos").contains("/swarm/memos/1\""));
    client.send("GET", "/swarm/memos/2", &[("accept", "text/html")], b"").expect(404);
}

#[test]
fn feeds_of_subject_and_member_keep_the_id_of_an_amended_take() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    let feeds = [
        "/swarm/subjects/aurora/feed.xml".to_owned(),
        format!("/swarm/members/{}/feed.xml", ada.id),
    ];
    let read = |stance: &str| {
        file(&client, &ada, "aurora", stance);
        feeds.each_ref().map(|path| client.get(path).expect(200).text)
    };
    let (before, after) = (read("bullish"), read("cautious"));
    let id = format!("/swarm/sessions/1#{}</id>", ada.id);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((before.matches(&id).count(), after.matches(&id).count()), (1, 1), "{after}");
        assert!(before.contains("bullish 0.50") && after.contains("cautious 0.50"), "{after}");
        assert!(after.contains("/swarm/takes/2\"") && !after.contains("/swarm/takes/1\""));
    }
    client.get("/swarm/subjects/nothing/feed.xml").expect(404);
}

#[test]
fn files_have_a_header_and_a_row_for_each_take_or_session() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "=Ada");
    client.convene(DAY, "aurora.csv");
    file(&client, &ada, "aurora.csv", "bullish");
    let csv = client.get("/swarm/sessions/1.csv").expect(200);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    let header = "takeId,memberId,memberName,revision,stance,confidence,filedAt,counted,body\r\n1,";
    assert!(csv.text.starts_with(header), "{}", csv.text);
    assert!(csv.text.contains(",\"'=Ada\",1,\"bullish\",0.5,"), "{}", csv.text);
    let rows = client.get("/swarm/sessions/1.json").expect(200).json();
    assert_eq!(rows[0]["memberName"], "=Ada");
    let of_member = client.get(&format!("/swarm/members/{}.json", ada.id)).expect(200).json();
    assert_eq!((&of_member[0]["takeId"], &of_member[0]["sessionId"]), (&json!(1), &json!(1)));
    let of_subject = client.get("/swarm/subjects/aurora.csv.csv").expect(200).text;
    assert!(of_subject.starts_with("sessionId,date,stage,"), "{of_subject}");
    assert!(of_subject.contains("\r\n1,\"2026-11-21\",\"open\","), "{of_subject}");
    // A subject whose id ends like a file has its page all the same.
    assert!(html(&client, "/swarm/subjects/aurora.csv").contains("<main id=\"content\">"));
}

#[test]
fn session_has_a_picture_and_a_description_for_previews() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    file(&client, &ada, "aurora", "bullish");
    let page = html(&client, "/swarm/sessions/1");
    for text in ["og:description", "/swarm/sessions/1/picture.png\">", "summary_large_image"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let path = "/swarm/sessions/1/picture.png";
    let picture = client.send("HEAD", path, &[], b"").expect(200);
    assert_eq!(picture.header("content-type"), Some("image/png"));
    let tag = picture.header("etag").unwrap().to_owned();
    client.send("GET", path, &[("if-none-match", &tag)], b"").expect(304);
    // The words on it follow the record of the subject.
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Borealis" })).expect(200);
    let renamed = client.send("HEAD", path, &[], b"").expect(200);
    assert_ne!(renamed.header("etag"), Some(&*tag));
    client.get("/swarm/sessions/9/picture.png").expect(404);
}

#[test]
fn take_shows_what_changed_since_the_revision_before_and_leads_to_the_next() {
    let server = Server::start();
    let client = server.client();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    client.convene(DAY, "aurora");
    file(&client, &ada, "aurora", "bullish");
    file(&client, &ada, "aurora", "cautious");
    file(&client, &grace, "aurora", "neutral");
    let amended = html(&client, "/swarm/takes/2");
    for text in ["stance: bullish, now cautious", "<del>bullish </del><ins>cautious </ins>it is"] {
        assert!(amended.contains(text), "{text} in {amended}");
    }
    assert!(amended.contains("<a rel=\"next\" href=\"/swarm/takes/3\">"), "{amended}");
    assert!(!html(&client, "/swarm/takes/1").contains("Changed since"));
}

#[test]
fn chapters_of_the_reference_are_short_and_linked() {
    let server = Server::start();
    let client = server.client();
    let index = html(&client, "/docs");
    let chapters: Vec<_> = index.split("href=\"/docs/").skip(1).collect();
    let chapters = chapters.iter().filter_map(|rest| rest.split(['"', '#']).next());
    let chapters: std::collections::BTreeSet<_> = chapters.collect();
    assert!(chapters.len() > 15, "{chapters:?}");
    for chapter in chapters {
        let page = html(&client, &format!("/docs/{chapter}"));
        assert!(page.len() < 30 << 10, "{chapter} has {} bytes", page.len());
    }
    client.send("GET", "/docs/nothing", &[("accept", "text/html")], b"").expect(404);
    for accept in ["text/html", "application/json"] {
        let unknown = client.send("GET", "/nothing", &[("accept", accept)], b"").expect(404);
        assert_eq!(unknown.header("vary"), Some("Accept"));
        assert!(unknown.header("content-type").unwrap().starts_with(accept), "{unknown:?}");
    }
}

#[test]
fn take_is_verified_by_the_commands_that_its_page_shows() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    let body = "it's <b>\"so\"</b> & 'not': $HOME `id` \\n\nend";
    let take = json!({ "date": DAY, "subjectId": "aurora", "body": body });
    client.submit(&ada, ada.draft_of(take)).expect(201);
    let page = html(&client, "/swarm/takes/1");
    let blocks = page.split("<pre>").skip(1).filter_map(|rest| rest.split("</pre>").next());
    let commands = blocks.last().map(unescaped).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let verify = |commands: &str| {
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", commands]).current_dir(&folder).output().unwrap();
        ran.status.success()
    };
    assert!(verify(&commands), "{commands}");
    assert!(!verify(&commands.replace("so", "no")), "{commands}");
}

/// The first character that counts for a spreadsheet is not always the first one of the text.
#[test]
fn no_text_of_a_file_becomes_a_formula() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "\u{feff}=Ada");
    client.convene(DAY, "aurora");
    for start in ["\0=", "\u{200b}+", "\u{a0}-", "\u{1b}@", "\u{ff1d}"] {
        let take = json!({
            "date": DAY, "subjectId": "aurora", "stance": format!("{start}s"), "confidence": 0.5,
            "body": format!("{start}1+1"),
        });
        client.submit(&ada, ada.draft_of(take)).expect(201);
        for path in ["/swarm/sessions/1.csv".to_owned(), format!("/swarm/members/{}.csv", ada.id)] {
            let csv = client.get(&path).expect(200).text;
            assert!(csv.contains(&format!("\"'{start}s\"")), "{start:?} {path}: {csv}");
            let has_body = path.contains("sessions");
            assert!(!has_body || csv.contains(&format!("\"'{start}1+1\"")), "{start:?}: {csv}");
            assert!(!has_body || csv.contains("\"'\u{feff}=Ada\""), "{csv}");
        }
    }
}

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const AXIOS: &str = "application/json, text/plain, */*";

#[test]
fn errors_of_pages_are_pages_for_browsers() {
    let server = Server::start();
    let client = server.client();
    for (path, status) in [
        ("/docs/nope", 404),
        ("/swarm/takes?before=abc", 400),
        ("/swarm/memos?before=abc", 400),
        ("/swarm/sessions?before=abc", 400),
        ("/swarm/sessions/9", 404),
        ("/swarm/sessions/9.csv", 404),
        ("/swarm/members/nobody.json", 404),
        ("/swarm/members/nobody/feed.xml", 404),
        ("/swarm/sessions/999/picture.png", 404),
        ("/swarm/log/tile/0/999", 404),
        ("/swarm/log/zz/checkpoint", 404),
        ("/oembed?url=x", 404),
        ("/data/committee/briefs/today/zz.json", 404),
        ("/openapi.json?audience=nope", 400),
        ("/swarm/find?kind=zz", 400),
        ("/nope", 404),
        // A rule of a proxy for `/operate` would not know it.
        ("/%6fperate", 404),
    ] {
        let answer = client.send("GET", path, &[("accept", BROWSER)], b"").expect(status);
        let kind = answer.header("content-type").unwrap();
        assert!(kind.starts_with("text/html"), "{path}: {answer:?}");
        assert!(answer.text.contains("href=\"/\""), "{path}: {answer:?}");
        assert!(answer.header("swarm-error").is_some(), "{path}");
        assert_eq!(answer.header("vary"), Some("Accept"), "{path}");
        let answer = client.send("GET", path, &[("accept", AXIOS)], b"").expect(status);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
    let wrong = client.send("DELETE", "/swarm/sessions/4", &[("accept", BROWSER)], b"").expect(405);
    assert!(wrong.header("content-type").unwrap().starts_with("text/html"), "{wrong:?}");
    assert_eq!(wrong.header("allow"), Some("GET, HEAD, OPTIONS"));
    // The API answers everybody in JSON.
    for path in ["/api/swarm/takes/9", "/api/swarm/takes?before=abc"] {
        let answer = client.send("GET", path, &[("accept", BROWSER)], b"");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
    // Without a preference, a page that has no JSON beside it answers the error as ever.
    for path in ["/docs/nope", "/swarm/sessions/9.csv", "/nope"] {
        let answer = client.send("GET", path, &[("accept", "*/*")], b"").expect(404);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
}

#[test]
fn clients_that_name_json_first_get_json() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    file(&client, &ada, "aurora", "bullish");
    for path in ["/", "/swarm/takes/1", "/swarm/sessions", "/swarm/sessions/1", "/swarm/members"] {
        let kind = |accept: &str| {
            let answer = client.send("GET", path, &[("accept", accept)], b"").expect(200);
            answer.header("content-type").unwrap().split(';').next().unwrap().to_owned()
        };
        for json in [AXIOS, "application/json, */*;q=0.1", "*/*, application/json"] {
            assert_eq!(kind(json), "application/json", "{path} for {json}");
        }
        for html in [BROWSER, "*/*", "text/html, */*", "text/html, application/json"] {
            assert_eq!(kind(html), "text/html", "{path} for {html}");
        }
    }
}

#[test]
fn deadlines_are_a_calendar_whose_events_move() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    for (subject, name) in [("aurora", "Aurora, north; \u{202e}lights"), ("other", "Other")] {
        client.operate("/subjects", &json!({ "id": subject, "name": name })).expect(201);
        let session = json!({ "date": DAY, "subjectId": subject,
            "windowClosesAt": "2030-01-02T03:04:05.000Z" });
        client.operate("/sessions", &session).expect(201);
    }
    fixture.convene("2026-11-22", "aurora");
    let lines = |path: &str| -> Vec<String> {
        let answer = client.get(path).expect(200);
        assert_eq!(answer.header("content-type"), Some("text/calendar; charset=utf-8"));
        assert!(answer.text.ends_with("END:VCALENDAR\r\n"), "{}", answer.text);
        // A long line is continued on the next one.
        answer.text.replace("\r\n ", "").split("\r\n").map(str::to_owned).collect()
    };
    let events = |lines: &[String]| lines.iter().filter(|line| *line == "BEGIN:VEVENT").count();
    let (all, one) = (lines("/deadlines.ics"), lines("/swarm/subjects/aurora/deadlines.ics"));
    assert_eq!((events(&all), events(&one)), (2, 1));
    let summary = "SUMMARY:Aurora\\, north\\; lights\\, 2026-11-21: takes are due";
    for line in [
        "DTSTART:20300102T030405Z",
        summary,
        "TRANSP:TRANSPARENT",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        "X-PUBLISHED-TTL:PT1H",
    ] {
        assert!(one.iter().any(|it| it == line), "{line}: {one:?}");
    }
    let page = html(client, "/swarm/subjects/aurora");
    assert!(page.contains("href=\"/swarm/subjects/aurora/deadlines.ics\""), "{page}");
    // An end has to come later than the start (RFC 5545, 3.8.2.2).
    assert!(!one.iter().any(|line| line.starts_with("DTEND")), "{one:?}");
    let id = |lines: &[String]| lines.iter().find(|it| it.starts_with("UID:")).cloned().unwrap();
    let elsewhere = client.at("desk.example:8443");
    let elsewhere = elsewhere.get("/swarm/subjects/aurora/deadlines.ics").expect(200);
    assert!(elsewhere.text.contains("//desk.example:8443/swarm/sessions/1"), "{}", elsewhere.text);
    assert!(elsewhere.text.contains(&id(&one)), "{}", elsewhere.text);
    let body = json!({ "windowClosesAt": "2030-01-03T00:00:00Z" }).to_string();
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let path = "/api/swarm/admin/sessions/1";
    client.send("PATCH", path, &headers, body.as_bytes()).expect(200);
    let moved = lines("/swarm/subjects/aurora/deadlines.ics");
    assert!(moved.iter().any(|it| it == "DTSTART:20300103T000000Z"), "{moved:?}");
    assert_eq!(id(&moved), id(&one));
    // A client that has the event takes the newer one.
    let sequence = |lines: &[String]| {
        let sequence = lines.iter().find_map(|line| line.strip_prefix("SEQUENCE:"));
        sequence.and_then(|it| it.parse::<u32>().ok()).unwrap_or_else(|| panic!("{lines:?}"))
    };
    assert!(sequence(&moved) > sequence(&one), "{moved:?}");
    client.get("/swarm/subjects/nothing/deadlines.ics").refused(404, "no such subject");
}

#[test]
fn names_in_calendars_are_escaped() {
    let fixture = Fixture::start();
    let name = "Na,me; a\\b\r\nEND:VCALENDAR\rBEGIN:VEVENT\nUID:evil";
    let subject = json!({ "id": "ev", "name": name });
    fixture.client.operate("/subjects", &subject).expect(201);
    let session =
        json!({ "date": DAY, "subjectId": "ev", "windowClosesAt": "2030-01-02T03:04:05Z" });
    fixture.client.operate("/sessions", &session).expect(201);
    let text = fixture.client.get("/swarm/subjects/ev/deadlines.ics").expect(200).text;
    let lines = text.replace("\r\n ", "");
    let lines: Vec<_> = lines.split("\r\n").collect();
    assert!(lines.iter().all(|line| !line.contains(['\r', '\n'])), "{lines:?}");
    for line in ["END:VCALENDAR", "BEGIN:VEVENT"] {
        assert_eq!(lines.iter().filter(|it| **it == line).count(), 1, "{line}: {lines:?}");
    }
    let escaped = "Na\\,me\\; a\\\\b\\nEND:VCALENDAR\\nBEGIN:VEVENT\\nUID:evil";
    let named = |property: &str| {
        let value = lines.iter().find_map(|line| line.strip_prefix(property));
        value.unwrap_or_else(|| panic!("{property}: {lines:?}"))
    };
    assert!(named("NAME;VALUE=TEXT:").ends_with(&format!(": {escaped}")), "{lines:?}");
    assert!(named("X-WR-CALNAME:").ends_with(&format!(": {escaped}")), "{lines:?}");
    assert_eq!(named("SUMMARY:"), format!("{escaped}\\, {DAY}: takes are due"));
}

/// It has a component that no client shows: RFC 5545 wants one.
#[test]
fn calendar_without_events_has_a_time_zone() {
    let fixture = Fixture::start();
    let text = fixture.client.get("/deadlines.ics").expect(200).text;
    assert!(!text.contains("VEVENT"), "{text}");
    assert!(text.contains("\r\nBEGIN:VTIMEZONE\r\nTZID:UTC\r\n"), "{text}");
    assert!(text.ends_with("\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n"), "{text}");
}

/// As `/api/swarm/open-sessions`, but that what has no deadline is no event.
#[test]
fn calendars_have_the_sessions_that_accept_takes() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let convene = |date: &str, closes: &str| {
        let session = json!({ "date": date, "subjectId": "aurora", "windowClosesAt": closes });
        client.operate("/sessions", &session).expect(201);
    };
    let ahead = "2030-01-02T03:04:05.000Z";
    convene("2026-11-21", ahead);
    convene("2026-11-21", ahead);
    convene("2026-11-22", ahead);
    convene("2026-11-23", "2020-01-02T03:04:05.000Z");
    convene("2026-11-24", ahead);
    let advance = |session: u64, state: &str| {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    };
    advance(3, "window_closed");
    advance(5, "aggregated");
    let open = client.get("/api/swarm/open-sessions").expect(200).json();
    let open = open["sessions"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap());
    assert_eq!(open.collect::<Vec<_>>(), [3, 2]);
    for path in ["/deadlines.ics", "/swarm/subjects/aurora/deadlines.ics"] {
        let text = client.get(path).expect(200).text;
        for session in 1..=5 {
            let has = text.contains(&format!("UID:session-{session}-"));
            assert_eq!(has, [2, 3].contains(&session), "{path}: session {session}: {text}");
        }
    }
    for session in 1..=5 {
        let page = html(client, &format!("/swarm/sessions/{session}"));
        let says_so = page.contains("Takes go to <a href=\"/swarm/sessions/2\">session 2</a>");
        assert_eq!(says_so, session == 1, "session {session}");
    }
}

/// Also where many newer sessions are open, and once the deadline has moved.
#[test]
fn home_and_members_pages_show_the_soonest_deadlines() {
    let fixture = Fixture::start();
    let (client, ada) = (&fixture.client, fixture.author());
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for nth in 0..25 {
        let date = format!("2027-01-{:02}", nth + 1);
        let closes = format!("2030-01-{:02}T00:00:00.000Z", nth + 1);
        let session = json!({
            "date": date, "subjectId": "aurora", "windowClosesAt": closes,
            "roster": [{ "memberId": ada.id.as_str() }],
        });
        client.operate("/sessions", &session).expect(201);
    }
    let first_link = |path: &str| {
        let page = html(client, path);
        let open = page.split("<main").nth(1).unwrap();
        let id = open.split("href=\"/swarm/sessions/").nth(1).unwrap();
        id.split('"').next().unwrap().to_owned()
    };
    let member = format!("/swarm/members/{}", ada.id);
    for path in ["/", &member] {
        assert_eq!(first_link(path), "1", "{path}");
    }
    amend(client, 1, &json!({ "windowClosesAt": "2031-01-01T00:00:00.000Z" }));
    for path in ["/", &member] {
        assert_eq!(first_link(path), "2", "{path}");
    }
}

#[test]
fn calendars_have_the_soonest_deadlines_of_many() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    for subject in ["aurora", "other"] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
    }
    let convene = |date: &str, subject: &str, closes: &str| {
        let session = json!({ "date": date, "subjectId": subject, "windowClosesAt": closes });
        client.operate("/sessions", &session).expect(201);
    };
    convene(DAY, "aurora", "2030-01-02T03:04:05.000Z");
    for nth in 0..501 {
        let date = format!("{}-{:02}-{:02}", 2027 + nth / 336, 1 + nth / 28 % 12, 1 + nth % 28);
        convene(&date, "other", "2031-01-02T03:04:05.000Z");
    }
    let ids = |path: &str| -> Vec<String> {
        let text = client.get(path).expect(200).text;
        let ids = text.split("UID:session-").skip(1).map(|rest| rest.split('-').next().unwrap());
        ids.map(str::to_owned).collect()
    };
    assert_eq!(ids("/swarm/subjects/aurora/deadlines.ics"), ["1"]);
    let all = ids("/deadlines.ics");
    assert_eq!((all.len(), &*all[0]), (500, "1"));
}

/// The ids of a feed, of which readers remember what they have shown.
#[test]
fn ids_of_feeds_are_of_the_public_origin() {
    let mut acme = tenant("default", ADMIN, &[]);
    acme.public_origin = Some(PublicOrigin::parse("https://acme.example").unwrap());
    let site = Site::single(services(&MemoryStore::new()), acme).trust_forwarded(true);
    let server = Server::of(site);
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.convene(DAY, "aurora");
    file(&client, &ada, "aurora", "bullish");
    advance(&client, 1, &["window_closed", "aggregated", "published"]);
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &ada.bearer())], &memo).expect(201);
    let member = format!("/swarm/members/{}/feed.xml", ada.id);
    for path in ["/feed.xml", "/swarm/subjects/aurora/feed.xml", &member] {
        let ids = |headers: &[(&str, &str)]| {
            let text = client.send("GET", path, headers, b"").expect(200).text;
            let ids = text.split("<id>").skip(1).map(|rest| rest.split('<').next().unwrap());
            ids.map(str::to_owned).collect::<Vec<_>>()
        };
        let plain = ids(&[]);
        assert!(plain.len() >= 2, "{path}: {plain:?}");
        assert!(plain.iter().all(|id| id.starts_with("https://acme.example/")), "{plain:?}");
        let other = [("x-forwarded-host", "other.example"), ("x-forwarded-proto", "https")];
        assert_eq!(ids(&other), plain, "{path}");
    }
}

/// Search engines keep one address of a page, whatever the host and the order that it is read in.
#[test]
fn canonical_address_is_of_the_public_origin_and_names_no_order() {
    let mut acme = tenant("default", ADMIN, &[]);
    acme.public_origin = Some(PublicOrigin::parse("https://acme.example").unwrap());
    let server = Server::of(Site::single(services(&MemoryStore::new()), acme));
    let client = server.client();
    client.convene(DAY, "aurora");
    for (path, canonical) in [
        ("/", "/"),
        ("/swarm/sessions/1", "/swarm/sessions/1"),
        ("/swarm/sessions/1/card", "/swarm/sessions/1"),
        ("/swarm/sessions/1?sort=newest", "/swarm/sessions/1"),
        ("/swarm/subjects?q=aurora&sort=name", "/swarm/subjects?q=aurora"),
        ("/swarm/members?sort=none", "/swarm/members"),
        // Another order has other rows there.
        ("/swarm/members?sort=last&from=2", "/swarm/members?sort=last&#38;from=2"),
    ] {
        let page = html(&client, path);
        for tag in ["<link rel=\"canonical\" href=", "<meta property=\"og:url\" content="] {
            let tag = format!("{tag}\"https://acme.example{canonical}\">");
            assert!(page.contains(&tag), "{tag} in {page}");
        }
    }
    let card = html(&client, "/swarm/sessions/1/card");
    assert!(card.contains(&format!("<a href=\"{}/swarm/sessions/1\"", client.url())), "{card}");
}

/// The address of a session may come from a browser, from a link or from a person who typed it.
#[test]
fn oembed_finds_a_session_by_equivalent_addresses() {
    let mut acme = tenant("acme", ADMIN, &["desk.example", "Other.example"]);
    acme.public_origin = Some(PublicOrigin::parse("https://acme.example/opinions").unwrap());
    let server = Server::of(Site::by_host(services(&MemoryStore::new()), [acme]).unwrap());
    let client = server.client().at("desk.example:8443").below("/opinions");
    client.convene(DAY, "aurora");
    for (origin, status) in [
        ("http://desk.example:8443", 200),
        ("HTTPS://DESK.example:8443", 200),
        ("https://acme.example", 200),
        ("https://acme.example:443", 200),
        ("Http://Acme.Example:80", 200),
        ("http://other.example", 200),
        ("https://acme.example:80", 404),
        ("https://elsewhere.example", 404),
        ("ftp://acme.example", 404),
        ("//acme.example", 404),
    ] {
        let url = format!("{origin}/opinions/swarm/sessions/1");
        let url = url.replace(':', "%3A").replace('/', "%2F");
        assert_eq!(client.get(&format!("/oembed?url={url}")).status, status, "{origin}");
    }
    for path in ["/swarm/sessions/1", "/opinions/swarm/sessions/2", "/opinionsx/swarm/sessions/1"] {
        let url = format!("https%3A%2F%2Facme.example{}", path.replace('/', "%2F"));
        client.get(&format!("/oembed?url={url}")).expect(404);
    }
}
