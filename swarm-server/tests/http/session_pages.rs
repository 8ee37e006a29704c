//! The pages of sessions: who disagrees, who moved, in which order, and in which words (MANUAL.md, 10).

use serde_json::{Value, json};

use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{Author, Client, Server};

const DAY: &str = "2026-11-21";
const FAR: &str = "2999-01-01T00:00:00Z";

fn html(client: &Client, path: &str) -> String {
    client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
}

/// Convenes a session on aurora, with a far deadline and these terms.
fn convene(client: &Client, day: &str, more: &Value) -> u64 {
    let mut body = json!({ "date": day, "subjectId": "aurora", "windowClosesAt": FAR });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    client.operate("/sessions", &body).expect(201).json()["session"]["id"].as_u64().unwrap()
}

fn file(
    client: &Client,
    author: &Author,
    day: &str,
    (stance, confidence, body): (&str, f64, &str),
) {
    let take = json!({ "date": day, "subjectId": "aurora", "stance": stance,
        "confidence": confidence, "body": body });
    client.submit(author, author.draft_of(take)).expect(201);
}

fn finish(client: &Client, session: u64) {
    for state in ["window_closed", "aggregated", "published"] {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    }
}

fn started() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    (server, client)
}

/// The part of a page below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let found = page.split("<section>").find(|part| part.trim_start().starts_with(heading));
    found.unwrap_or_else(|| panic!("{heading} in {page}"))
}

/// The order of texts in a page.
fn places<const N: usize>(page: &str, texts: [&str; N]) -> [usize; N] {
    texts.map(|text| page.find(text).unwrap_or_else(|| panic!("{text} in {page}")))
}

#[test]
fn session_says_who_is_for_and_against_and_who_moved() {
    let (_server, client) = started();
    let [ada, grace, hedy, lise] =
        ["Ada", "Grace", "Hedy", "Lise"].map(|name| Author::join(&client, name));
    convene(&client, DAY, &json!({}));
    for (author, take) in [
        (&ada, ("cautious", 0.5, "Depth is thin.")),
        (&grace, ("bullish", 0.5, "Fees are up.")),
        (&hedy, ("neutral", 0.5, "Wait.")),
    ] {
        file(&client, author, DAY, take);
    }
    finish(&client, 1);
    let day = "2026-11-28";
    convene(&client, day, &json!({}));
    for (author, take) in [
        (&ada, ("bullish", 0.9, "The unlock is behind us; supply is known, and more.")),
        (&grace, ("bullish", 0.5, "The unlock IS behind us: supply may fall.")),
        (&hedy, ("constructive", 0.4, "<b>Fees</b> cover it.")),
        (&lise, ("bearish", 0.7, "")),
    ] {
        file(&client, author, day, take);
    }
    for is_over in [false, true] {
        if is_over {
            finish(&client, 2);
        }
        let page = html(&client, "/swarm/sessions/2");
        let sides = section(&page, "<h2>For and against");
        places(sides, ["3 members", "The unlock is behind us", "cover it.", "1 member", "No text"]);
        // Grace's text begins like Ada's, which is surer.
        assert!(sides.contains("1 other text begins alike"), "{sides}");
        assert!(!sides.contains("supply may fall") && !sides.contains("<b>"), "{sides}");
        let moves = section(&page, "<h2>Since the session of");
        places(moves, ["Changed sides", ">Ada<", "Moved", ">Hedy<", "1 of 3 that filed both"]);
        assert_eq!(moves.contains("<dt>Score</dt>"), is_over, "{moves}");
        assert!(section(&page, "<h2>Takes").contains("2 of 3 texts begin like another"));
    }
}

#[test]
fn take_of_an_excused_member_is_marked_and_left_out_of_the_figures() {
    let (_server, client) = started();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    let roster = json!([{ "memberId": ada.id }, { "memberId": grace.id }]);
    convene(&client, DAY, &json!({ "roster": roster }));
    file(&client, &ada, DAY, ("bullish", 0.5, "Fees are up."));
    file(&client, &grace, DAY, ("bearish", 0.9, "Depth is thin."));
    const MARK: &str = "excused: counts for nothing";
    let visitor = Visitor::signed_in(&client);
    let console = || visitor.get("/operate/sessions/1").expect(200);
    console().says("<dt>Filed</dt><dd>2 of 2 expected members</dd>");
    let page = html(&client, "/swarm/sessions/1");
    assert!(section(&page, "<h2>Stances").contains(">Grace<") && !page.contains(MARK), "{page}");
    assert!(section(&page, "<h2>Takes").contains(">Against <span class=\"quiet\">1<"), "{page}");
    assert!(!html(&client, "/swarm/takes/2").contains(MARK));
    let files = ["/swarm/sessions/1.json", "/api/swarm/takes?session=1"];
    let files = || files.map(|path| client.get(path).text);
    let before = files();

    let excuse = json!({ "memberId": grace.id, "excused": true });
    client.operate("/sessions/1/roster/excuse", &excuse).expect(200);
    let page = html(&client, "/swarm/sessions/1");
    let stances = section(&page, "<h2>Stances");
    assert!(stances.contains(">Ada<") && !stances.contains("Grace"), "{stances}");
    assert!(section(&page, "<h2>For and against").contains("nobody"), "{page}");
    let takes = section(&page, "<h2>Takes");
    assert_eq!(takes.matches(MARK).count(), 1, "{page}");
    let headings = [">For <span class=\"quiet\">1<", ">Against <span class=\"quiet\">0<"];
    places(takes, headings);
    let marked =
        ["/swarm/takes/1", "/swarm/takes/2"].map(|path| html(&client, path).contains(MARK));
    assert_eq!(marked, [false, true]);
    let home = html(&client, "/");
    let (_, open) = home.split_once("href=\"/swarm/sessions/1\"").unwrap();
    let open = open.split("</li>").next().unwrap();
    assert!(open.contains("1 of 1 filed") && !open.contains("Grace"), "{open}");
    let seen = console();
    seen.says(
        "1 of 1 expected members; 1 take of a member that is not expected counts for nothing",
    );
    assert_eq!(seen.text.matches(MARK).count(), 1);
    assert_eq!(files(), before, "files and the API stay as they are");
}

#[test]
fn picture_is_of_the_takes_that_count() {
    let (_server, client) = started();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    let roster = json!([{ "memberId": ada.id }, { "memberId": grace.id }]);
    convene(&client, DAY, &json!({ "roster": roster }));
    let excuse = |excused: bool| {
        let excuse = json!({ "memberId": grace.id, "excused": excused });
        client.operate("/sessions/1/roster/excuse", &excuse).expect(200);
    };
    let picture = || {
        let picture = client.send("HEAD", "/swarm/sessions/1/picture.png", &[], b"").expect(200);
        picture.header("etag").unwrap().to_owned()
    };
    excuse(true);
    let without_takes = picture();
    excuse(false);
    file(&client, &grace, DAY, ("bearish", 0.9, "Depth is thin."));
    assert_ne!(picture(), without_takes);
    excuse(true);
    assert_eq!(picture(), without_takes);
}

#[test]
fn takes_are_listed_by_side_by_confidence_or_newest_first() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    for (name, stance, confidence) in
        [("Ada", "cautious", 0.9), ("Grace", "neutral", 1.0), ("Hedy", "bullish", 0.1)]
    {
        let author = Author::join(&client, name);
        file(&client, &author, DAY, (stance, confidence, &format!("It is {stance}, says {name}.")));
    }
    let order = |query: &str| {
        let page = html(&client, &format!("/swarm/sessions/1{query}"));
        let takes = section(&page, "<h2>Takes").to_owned();
        let mut names = ["Ada", "Grace", "Hedy"];
        let at = |name: &str| takes.find(&format!("says {name}.")).unwrap();
        names.sort_by_key(|name| at(name));
        (names, takes)
    };
    let (by_side, takes) = order("");
    assert_eq!(by_side, ["Hedy", "Ada", "Grace"]);
    places(&takes, ["<strong>by side</strong>", ">For ", ">Against ", ">Neutral "]);
    assert_eq!(order("?sort=confidence").0, ["Grace", "Ada", "Hedy"]);
    let (newest, takes) = order("?sort=newest");
    assert_eq!(newest, ["Hedy", "Grace", "Ada"]);
    assert!(!takes.contains(">For "), "{takes}");
    client.get("/swarm/sessions/1?sort=mood").expect(400);
    client.get("/swarm/sessions/1?from=x").expect(400);
}

#[test]
fn first_page_has_as_many_takes_as_fit_and_the_next_one_the_others() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    for nth in 0..51 {
        let author = Author::join(&client, &format!("Member {nth}"));
        let stance = ["bullish", "cautious", "neutral"][nth % 3];
        let confidence = f64::from(u32::try_from(nth).unwrap()) / 60.0;
        file(&client, &author, DAY, (stance, confidence, &"Fees cover it. ".repeat(20)));
    }
    let page = html(&client, "/swarm/sessions/1");
    let count = |page: &str| page.matches("<article").count();
    let shown = count(&page);
    assert!((30..=50).contains(&shown) && page.len() <= 50 << 10, "{shown}: {}", page.len());
    for order in ["", "sort=confidence&", "sort=newest&"] {
        let first = html(&client, &format!("/swarm/sessions/1?{order}"));
        let next = first.split("rel=\"next\" href=\"").map(|end| end.split('"').next().unwrap());
        let next = next.filter(|next| next.starts_with("/swarm/sessions/1?")).last().unwrap();
        let rest = html(&client, &next.replace("&#38;", "&"));
        assert_eq!(count(&first) + count(&rest), 51, "{order}");
    }
    let oldest = html(&client, "/swarm/sessions/1?before=2");
    assert_eq!(count(&oldest), 1);
}

#[test]
fn sealed_takes_are_on_no_side() {
    let (_server, client) = started();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    convene(&client, DAY, &json!({ "blind": true }));
    for (author, stance) in [(&ada, "bullish"), (&grace, "bearish")] {
        file(&client, author, DAY, (stance, 0.5, "It is so."));
    }
    let plain = html(&client, "/swarm/sessions/1");
    assert!(plain.contains(">open, sealed</span>"), "{plain}");
    for text in ["For and against", "by side", "begin like", "Since the session"] {
        assert!(!plain.contains(text), "{text} in {plain}");
    }
    assert_eq!(html(&client, "/swarm/sessions/1?sort=confidence"), plain);
    let list = html(&client, "/swarm/sessions");
    assert!(list.contains("open, sealed"), "{list}");
}

#[test]
fn without_a_quorum_nothing_is_called_a_consensus() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada");
    convene(&client, DAY, &json!({ "quorum": 2 }));
    file(&client, &ada, DAY, ("bullish", 0.5, "Up."));
    finish(&client, 1);
    let page = html(&client, "/swarm/sessions/1");
    assert!(page.contains(">published, no quorum</span>"), "{page}");
    let chart = section(&page, "<h2>Stances");
    assert!(chart.contains("mean of those filed +2.00") && !chart.contains("consensus +"));
    assert!(chart.contains("class=\"mean open\"") && !chart.contains("class=\"mean\""), "{chart}");
}

#[test]
fn result_without_a_score_says_why() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada");
    convene(&client, DAY, &json!({}));
    finish(&client, 1);
    convene(&client, "2026-11-28", &json!({}));
    file(&client, &ada, "2026-11-28", ("a stance without a rank", 0.5, "Up."));
    finish(&client, 2);
    for (id, why) in [(1, "no takes"), (2, "no consensus")] {
        let page = html(&client, &format!("/swarm/sessions/{id}"));
        assert!(page.contains(&format!("<dd>{why}</dd>")), "{page}");
        assert!(!page.contains("The score is"), "{page}");
        for path in ["/swarm/sessions", "/swarm/subjects/aurora"] {
            let list = html(&client, path);
            assert!(list.contains(&format!("published, {why}")), "{path}: {list}");
        }
        let card = html(&client, &format!("/swarm/sessions/{id}/card"));
        assert!(card.contains(why), "{card}");
    }
}

#[test]
fn closed_session_awaits_no_takes() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    let promise = "Takes are shown as soon as they are filed.";
    assert!(html(&client, "/swarm/sessions/1").contains(promise));
    convene(&client, "2026-11-28", &json!({ "windowClosesAt": "2026-01-01T00:00:00Z" }));
    client.operate("/sessions/2/state", &json!({ "state": "window_closed" })).expect(200);
    let page = html(&client, "/swarm/sessions/2");
    assert!(page.contains("No takes were filed.") && !page.contains(promise), "{page}");
}

#[test]
fn withdrawn_session_says_so() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    let note = json!({ "note": "Wrong day." });
    client.operate("/sessions/1/withdraw", &note).expect(200);
    let path = "/swarm/sessions/1";
    let gone = client.send("GET", path, &[("accept", "text/html")], b"").expect(404);
    for text in ["Session 1 was withdrawn", ">Aurora<", "Wrong day."] {
        assert!(gone.text.contains(text), "{text} in {}", gone.text);
    }
    assert_eq!(gone.header("swarm-error"), Some("not-found"));
    client
        .send("GET", path, &[("accept", "application/json")], b"")
        .refused(404, "no such session");
    let never = client.send("GET", "/swarm/sessions/2", &[("accept", "text/html")], b"");
    assert!(!never.expect(404).text.contains("withdrawn"));
    assert!(html(&client, "/swarm/sessions/1/history").contains("Wrong day."));
}

#[test]
fn session_leads_to_its_roster_and_its_history() {
    let (_server, client) = started();
    let [ada, grace, hedy] = ["Ada", "Grace", "Hedy"].map(|name| Author::join(&client, name));
    let roster = json!([
        { "memberId": ada.id }, { "memberId": grace.id }, { "memberId": hedy.id, "excused": true },
    ]);
    convene(&client, DAY, &json!({ "roster": roster }));
    for stance in ["bullish", "cautious"] {
        file(&client, &ada, DAY, (stance, 0.5, "It is so."));
    }
    let headers = [("x-admin-token", crate::harness::ADMIN), ("content-type", "application/json")];
    for quorum in 1..=9 {
        let change = json!({ "quorum": quorum }).to_string();
        let path = "/api/swarm/admin/sessions/1";
        client.send("PATCH", path, &headers, change.as_bytes()).expect(200);
    }
    let page = html(&client, "/swarm/sessions/1");
    let history = section(&page, "<h2>History");
    assert!(history.contains("href=\"/swarm/sessions/1/history\">2 more acts"), "{history}");
    assert_eq!(history.matches("<li><span class=\"when\">").count(), 8, "{history}");
    // The newest first, as on the page of all of them; the one that convened it is never left out.
    let order = ["quorum set to 9", "quorum set to 3", "2 more acts", "convened"];
    assert!(places(history, order).is_sorted(), "{history}");
    assert!(section(&page, "<h2>Roster").contains("href=\"/swarm/sessions/1/roster\""));
    let history = html(&client, "/swarm/sessions/1/history");
    assert_eq!(history.matches("<li><span class=\"when\">").count(), 10, "{history}");
    let later = html(&client, "/swarm/sessions/1/history?from=10");
    assert_eq!(later.matches("<li><span class=\"when\">").count(), 1, "{later}");
    let roster = html(&client, "/swarm/sessions/1/roster");
    assert!(roster.contains("1 of 2 expected members filed"), "{roster}");
    for (name, standing, takes) in
        [("Ada", "filed", 2), ("Grace", "not filed", 0), ("Hedy", "excused", 0)]
    {
        let row = roster.split("<tr>").find(|row| row.contains(&format!("<bdi>{name}</bdi>")));
        let row = row.unwrap_or_else(|| panic!("{name} in {roster}"));
        assert!(row.contains(&format!("<td>{standing}</td>")), "{row}");
        assert_eq!(row.matches("href=\"/swarm/takes/").count(), takes, "{row}");
    }
    client.get("/swarm/sessions/9/roster").expect(404);
    client.get("/swarm/sessions/9/history").expect(404);
}

#[test]
fn lists_of_sessions_name_their_order_and_all_segments_of_their_strips() {
    let (_server, client) = started();
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    for (day, stance, has_other) in [(DAY, "neutral", false), ("2026-11-22", "moon", true)] {
        let id = convene(&client, day, &json!({}));
        file(&client, &ada, day, ("bullish", 0.5, "Up."));
        file(&client, &grace, day, (stance, 0.5, "So."));
        finish(&client, id);
        for path in ["/swarm/sessions", "/swarm/subjects/aurora"] {
            let page = html(&client, path);
            assert!(page.contains("Newest convened first."), "{page}");
            assert_eq!(page.contains("<span class=\"other\">other</span>"), has_other, "{page}");
        }
    }
}

#[test]
fn session_that_is_closed_says_whom_it_waits_for() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada");
    convene(&client, DAY, &json!({}));
    file(&client, &ada, DAY, ("bullish", 0.5, "Up."));
    let stances = || section(&html(&client, "/swarm/sessions/1"), "<h2>Stances").to_owned();
    assert!(stances().contains("the score is computed when the session is over"), "{}", stances());
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    assert!(stances().contains("waits for the operator, or for the schedule"), "{}", stances());
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    assert!(!stances().contains("waits for"), "{}", stances());
}

/// Also of a day that was convened after a later one.
#[test]
fn session_leads_to_those_before_and_after_it_by_day() {
    let (_server, client) = started();
    for day in ["2026-11-21", "2026-11-28", "2026-11-24", "2026-11-24"] {
        convene(&client, day, &json!({}));
    }
    let of_day = [1, 3, 4, 2];
    for (nth, session) in of_day.into_iter().enumerate() {
        let page = html(&client, &format!("/swarm/sessions/{session}"));
        let linked = |rel: &str| {
            let (_, link) =
                page.split_once(&format!("<a rel=\"{rel}\" href=\"/swarm/sessions/"))?;
            link.split('"').next()?.parse::<u64>().ok()
        };
        let before = nth.checked_sub(1).map(|nth| of_day[nth]);
        assert_eq!(linked("prev"), before, "session {session}");
        assert_eq!(linked("next"), of_day.get(nth + 1).copied(), "session {session}");
    }
}

#[test]
fn pages_after_the_first_have_takes_alone() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    for nth in 0..2 {
        let author = Author::join(&client, &format!("Member {nth}"));
        file(&client, &author, DAY, ("bullish", 0.5, "It is so."));
    }
    let first = html(&client, "/swarm/sessions/1");
    let second = html(&client, "/swarm/sessions/1?from=2");
    for heading in ["<h2>Stances", "<h2>For and against", "<h2>Roster", "<h2>History"] {
        assert!(first.contains(heading) && !second.contains(heading), "{heading}");
    }
    assert_eq!(second.matches("<article").count(), 1, "{second}");
}

#[test]
fn canonical_text_of_a_take_is_a_file() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada");
    convene(&client, DAY, &json!({}));
    let long = "It is <so> & 'so'. ".repeat(300);
    file(&client, &ada, DAY, ("bullish", 0.5, &long));
    let page = html(&client, "/swarm/takes/1");
    assert!(page.contains("href=\"/swarm/takes/1/canonical.txt\""), "{page}");
    assert!(!page.contains("<dt>Canonical text</dt><dd><pre>"), "{page}");
    let file = client.get("/swarm/takes/1/canonical.txt").expect(200);
    let record = client.get("/api/swarm/takes/1").expect(200).json();
    let signed: Value = serde_json::from_str(&file.text).unwrap();
    assert_eq!((&signed["body"], &signed["nonce"]), (&record["body"], &record["nonce"]));
    assert!(file.text.starts_with('{') && file.text.contains(&long));
    client.get("/swarm/takes/9/canonical.txt").expect(404);
    convene(&client, "2026-11-28", &json!({ "blind": true }));
    self::file(&client, &ada, "2026-11-28", ("bullish", 0.5, "Sealed."));
    client.get("/swarm/takes/2/canonical.txt").expect(404);
}

#[test]
fn filtered_and_paged_lists_keep_their_place_in_the_navigation() {
    let (_server, client) = started();
    for (path, section) in [
        ("/swarm/takes?stance=bullish", "/swarm/takes"),
        ("/swarm/takes?before=9", "/swarm/takes"),
        ("/swarm/sessions?state=open", "/swarm/sessions"),
        ("/swarm/members?q=x", "/swarm/members"),
        ("/swarm/log?before=9", "/swarm/log"),
    ] {
        let page = html(&client, path);
        let current = format!("<a href=\"{section}\" aria-current=\"true\">");
        assert!(page.contains(&current), "{path}: {page}");
        assert!(!page.contains("All takes,"), "{path}: {page}");
    }
}

#[test]
fn unknown_stage_is_refused() {
    let (_server, client) = started();
    convene(&client, DAY, &json!({}));
    for accept in ["text/html", "application/json"] {
        let path = "/swarm/sessions?state=foo";
        let answer = client.send("GET", path, &[("accept", accept)], b"").expect(400);
        assert!(answer.header("content-type").unwrap().starts_with(accept), "{answer:?}");
    }
    for (state, is_listed) in [("open", true), ("closed", false), ("result", false), ("", true)] {
        let list = html(&client, &format!("/swarm/sessions?state={state}"));
        assert_eq!(list.contains("/swarm/sessions/1\""), is_listed, "{state}");
    }
    // Links from before the pages had one vocabulary.
    for state in ["scheduled", "closing", "awaiting%20result", "aggregated"] {
        html(&client, &format!("/swarm/sessions?state={state}"));
    }
}

#[test]
fn superseded_take_never_looks_current() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada");
    convene(&client, DAY, &json!({}));
    file(&client, &ada, DAY, ("bullish", 0.5, "The unlock is near."));
    file(&client, &ada, DAY, ("cautious", 0.75, "Depth fell by half since."));
    let listed = |query: &str, id: u64| {
        html(&client, &format!("/swarm/takes{query}")).contains(&format!("/swarm/takes/{id}\""))
    };
    for (query, first) in [("", false), ("?q=unlock", false), ("?superseded=true&q=unlock", true)] {
        assert_eq!(listed(query, 1), first, "{query}");
    }
    assert!(listed("", 2));
    let all = html(&client, "/swarm/takes?superseded=true");
    let old = all.split("<article").find(|take| take.contains("unlock")).unwrap();
    places(old, ["superseded", "Revised", "later to", "/swarm/takes/2", "cautious", "0.75"]);
    assert!(!html(&client, "/").contains("unlock"));
    let page = html(&client, "/swarm/takes/1");
    places(&page, ["Superseded: revised", "/swarm/takes/2", "cautious"]);
    // The texts share too little for marks.
    let page = html(&client, "/swarm/takes/2");
    places(&page, ["<h3>Before</h3>", "unlock is near", "<h3>After</h3>", "Depth fell"]);
    assert!(!page.contains("<del>"), "{page}");
}

#[test]
fn names_and_weights_are_told_whole() {
    let (_server, client) = started();
    let kim = Author::join(&client, "Kim, Esq.");
    let ada = Author::join(&client, "Ada");
    let roster = json!([{ "memberId": kim.id }, { "memberId": ada.id }]);
    convene(&client, DAY, &json!({ "roster": roster, "buckets": ["one", "two"] }));
    let take = json!({ "date": DAY, "subjectId": "aurora", "stance": "bullish", "confidence": 0.5,
        "body": "Up.", "weights": [{ "bucket": "one", "weight": 1 }, { "bucket": "two", "weight": 3 }] });
    client.submit(&ada, ada.draft_of(take)).expect(201);
    let page = html(&client, "/swarm/sessions/1");
    assert!(page.contains("Kim, Esq.</bdi></a></p>"), "{page}");
    assert!(page.contains("1 take carries weights of buckets"), "{page}");
    let take = html(&client, "/swarm/takes/1");
    places(&take, ["Share", "Weight, as signed", "75.0 %</td><td class=\"num\">3</td>"]);
}

#[test]
fn opened_blind_session_says_so_first() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({ "date": DAY, "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &session).expect(201);
    let ada = Author::join(client, "Ada");
    file(client, &ada, DAY, ("bullish", 0.5, "Up."));
    for state in ["window_closed", "aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    let page = html(client, "/swarm/sessions/1");
    places(&page, ["every take was sealed", "were opened together", "<dl class=\"facts\">"]);
    assert!(page.contains(">published</span>"), "{page}");
}

#[test]
fn session_is_cited_embedded_and_found_by_oembed() {
    let (_server, client) = started();
    let ada = Author::join(&client, "Ada} \\input{x}");
    convene(&client, DAY, &json!({ "quorum": 1 }));
    file(&client, &ada, DAY, ("bullish", 0.5, "Up."));
    finish(&client, 1);
    let page = client.send("GET", "/swarm/sessions/1", &[("accept", "text/html")], b"").expect(200);
    let entry = client.get("/api/swarm/log?after=0&limit=500").expect(200).json();
    let last = entry["entries"].as_array().unwrap().last().unwrap()["seq"].clone();
    for text in ["@misc{swarm-sessions-1,", "class=\"printed\"", "/swarm/sessions/1/card"] {
        assert!(page.text.contains(text), "{text} in {}", page.text);
    }
    let named = format!("/swarm/sessions/1, log entry {last} of <time");
    assert!(page.text.contains(&named), "{named} in {}", page.text);
    let subject = html(&client, "/swarm/subjects/aurora");
    let named = "/swarm/subjects/aurora, sessions as of <time";
    assert!(subject.contains(named), "{named} in {subject}");
    // It stays the same, and its tag with it, while the log has entries of others.
    client.operate("/subjects", &json!({ "id": "borealis", "name": "Borealis" })).expect(201);
    assert_eq!(html(&client, "/swarm/subjects/aurora"), subject);
    let take = html(&client, "/swarm/takes/1");
    let author = r"author = {{Ada\textbraceright{} \textbackslash{}input\textbraceleft{}x\textbraceright{}}}";
    assert!(take.contains(author), "{take}");

    let card = client.get("/swarm/sessions/1/card").expect(200);
    places(&card.text, ["Aurora", "+2.00", "bullish", "published"]);
    // It is part of the page of the session, which it names as its address.
    let link = |rel: &str| format!("{rel}=\"{}/swarm/sessions/1\">", client.url());
    for text in [link("<link rel=\"canonical\" href"), link("<meta property=\"og:url\" content")] {
        assert!(card.text.contains(&text), "{text} in {}", card.text);
    }
    assert!(card.text.contains("<meta property=\"og:title\" content=\"Aurora, 2026-11-21"));
    let policy = |answer: &crate::harness::Answer| {
        answer.header("content-security-policy").unwrap().to_owned()
    };
    assert!(policy(&card).contains("frame-ancestors *"), "{card:?}");
    assert!(policy(&page).contains("frame-ancestors 'none'"), "{page:?}");
    client.get("/swarm/sessions/9/card").expect(404);

    let address = page.text.split("href=\"").find(|part| part.contains("/oembed?url=")).unwrap();
    let path = address.split('"').next().unwrap().split_once("/oembed").unwrap().1;
    let embed = client.get(&format!("/oembed{path}")).expect(200).json();
    assert_eq!((&embed["type"], &embed["version"]), (&json!("rich"), &json!("1.0")));
    assert!(embed["html"].as_str().unwrap().contains("/swarm/sessions/1/card\""), "{embed}");
    assert_eq!(embed["title"], "Aurora, 2026-11-21: +2.00 bullish");
    client.get("/oembed?url=https%3A%2F%2Felsewhere.example%2Fswarm%2Fsessions%2F1").expect(404);
    client.get(&format!("/oembed{path}&format=xml")).expect(400);
    let small =
        client.get(&format!("/oembed{path}&maxwidth=200&maxheight=1000")).expect(200).json();
    assert_eq!((&small["width"], &small["height"]), (&json!(200), &json!(260)));
    assert!(small["html"].as_str().unwrap().contains("width=\"200\""), "{small}");
    for same in ["%2F", "%3Futm_source%3Dx", "%23takes", "%2Fcard", "%2Fcard%2F"] {
        let same = client.get(&format!("/oembed{path}{same}")).expect(200).json();
        assert_eq!(same, embed);
    }
    client.get(&format!("/oembed{path}%2Froster")).expect(404);
}
