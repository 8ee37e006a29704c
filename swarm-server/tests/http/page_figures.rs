//! Every figure of the pages is that of the API: on all sessions, subjects and members of the demo, which has a year of outcomes.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::console::visitor::{Visitor, unescaped};
use crate::harness::{ADMIN, Client};
use crate::program::Program;

/// The stances of the service, in ascending order of their ranks.
const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];

fn html(client: &Client, path: &str) -> String {
    client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
}

fn json(client: &Client, path: &str) -> Value {
    client.get(path).expect(200).json()
}

/// A part of a page as people read it.
fn words(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
        text.push(' ');
    }
    let text = unescaped(&text).replace('\u{a0}', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The cells of the rows of the first table after a text.
fn table(page: &str, after: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(after).unwrap_or_else(|| panic!("{after} in {page}"));
    let (_, rest) = rest.split_once("<tbody>").unwrap();
    let (body, _) = rest.split_once("</tbody>").unwrap();
    let row = |row: &str| row.split("</td>").map(words).collect::<Vec<_>>();
    let mut rows: Vec<_> = body.split("</tr>").map(row).collect();
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    rows
}

/// The key figures after a text, by label.
fn facts(page: &str, after: &str) -> BTreeMap<String, String> {
    let (_, rest) = page.split_once(after).unwrap_or_else(|| panic!("{after} in {page}"));
    let (_, rest) = rest.split_once("<dl class=\"facts\">").unwrap();
    let (list, _) = rest.split_once("</dl>").unwrap();
    let pairs = list.split("<dt>").skip(1);
    pairs
        .map(|pair| {
            let (label, figure) = pair.split_once("</dt>").unwrap();
            (words(label), words(figure))
        })
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// `+0.75`, `−0.08`
fn signed(figure: f64) -> String {
    let sign = if figure < 0.0 { '−' } else { '+' };
    format!("{sign}{:.2}", figure.abs())
}

/// A skill: `+0.003`, `0.000`
fn skill(value: &Value) -> String {
    let figure = number(value);
    let text = format!("{:.3}", figure.abs());
    match (text.as_str(), figure < 0.0) {
        ("0.000", _) => text,
        (_, true) => format!("−{text}"),
        (_, false) => format!("+{text}"),
    }
}

fn loss(value: &Value) -> String {
    format!("{:.3}", number(value))
}

/// A forecast on the scale of stances.
fn said(forecast: &Value) -> String {
    match signed(4.0 * number(forecast) - 2.0).as_str() {
        "+0.00" | "−0.00" => "0.00".to_owned(),
        text => text.to_owned(),
    }
}

fn interval(scored: &Value) -> String {
    match scored["low"].is_null() {
        true => String::new(),
        false => format!("{} to {}", skill(&scored["low"]), skill(&scored["high"])),
    }
}

#[test]
fn figures_of_pages_are_those_of_the_api() {
    let (program, _) = Program::demo();
    let client = &program.client;
    let sessions = json(client, "/api/swarm/sessions?limit=200")["sessions"].clone();
    let sessions = sessions.as_array().unwrap();
    let ranking = json(client, "/api/swarm/ranking");
    ranking_has_its_figures(client, &ranking);
    members_have_their_figures(client, &ranking);
    let scored = sessions.iter().filter(|session| session_has_its_figures(client, session));
    assert!(scored.count() > 50, "a year of outcomes");
    lists_have_their_figures(client, sessions);
    home_has_its_figures(client, sessions, &ranking);
    news_have_their_figures(client);
    console_has_its_figures(client, ADMIN);
}

fn ranking_has_its_figures(client: &Client, ranking: &Value) {
    let page = html(client, "/swarm/ranking");
    let shown = table(&page, "Scored at least 20 times");
    let row = |member: &Value| {
        let place = member["place"].as_u64().map(|place| place.to_string());
        let figures = [
            words(member["name"].as_str().unwrap()),
            member["scored"].to_string(),
            skill(&member["skill"]),
            interval(member),
            loss(&member["loss"]),
        ];
        place.into_iter().chain(figures).collect::<Vec<_>>()
    };
    let trimmed = |row: &Vec<String>| row[..row.len() - 1].to_vec();
    let ranked: Vec<_> = ranking["ranking"].as_array().unwrap().iter().map(row).collect();
    let members = shown.iter().filter(|row| !row[0].is_empty());
    assert_eq!(members.map(trimmed).collect::<Vec<_>>(), ranked);
    for (name, baseline) in [("crowd", "crowd"), ("always neutral", "neutral")] {
        let row = shown.iter().find(|row| row[1] == name).unwrap();
        assert_eq!(row[2], ranking["sessions"].to_string());
        assert_eq!(row[5], loss(&ranking[baseline]["loss"]), "{name}");
    }
    let unranked: Vec<_> = ranking["unranked"].as_array().unwrap().iter().map(row).collect();
    // Too few to say: they have no skill there.
    let named = |row: &Vec<String>| row[..2].to_vec();
    let shown = table(&page, "Scored fewer than 20 times");
    assert_eq!(
        shown.iter().map(trimmed).collect::<Vec<_>>(),
        unranked.iter().map(named).collect::<Vec<_>>()
    );
    assert!(ranked.len() > 5 && unranked.len() > 5, "{ranked:?} {unranked:?}");
}

/// The pages of all members with scores, and their row in the list.
fn members_have_their_figures(client: &Client, ranking: &Value) {
    let list = table(&html(client, "/swarm/members"), "Active members");
    for member in ranking["ranking"].as_array().unwrap() {
        let id = member["memberId"].as_str().unwrap();
        let record = json(client, &format!("/api/swarm/members/{id}/record"));
        let page = html(client, &format!("/swarm/members/{id}"));
        let shown = facts(&page, "<h2>Record</h2>");
        let expected = BTreeMap::from([
            ("sessions with an outcome".to_owned(), record["scored"].to_string()),
            (format!("skill (95 %: {})", interval(&record)), skill(&record["skill"])),
            ("mean loss, 0–1".to_owned(), loss(&record["loss"])),
            (
                "on the side of the outcome".to_owned(),
                format!("{} of {}", record["right"]["n"], record["right"]["of"]),
            ),
        ]);
        assert_eq!(shown, expected, "{id}");
        let bins = record["calibration"].as_array().unwrap().iter();
        let mean = |mean: &Value| if mean.is_null() { "–".to_owned() } else { said(mean) };
        let bins =
            bins.map(|bin| [bin["n"].to_string(), mean(&bin["forecast"]), mean(&bin["outcome"])]);
        let rows = table(&page, "Calibration");
        let rows = rows.iter().map(|row| [&row[1], &row[2], &row[3]].map(String::clone));
        assert_eq!(rows.collect::<Vec<_>>(), bins.collect::<Vec<_>>(), "{id}");
        let name = words(member["name"].as_str().unwrap());
        let row = list.iter().find(|row| row[0].starts_with(&name)).unwrap();
        let place = format!("#{} · {}", member["place"], skill(&member["skill"]));
        assert!(row.contains(&place), "{place} in {row:?}");
        // The page compares it over the same results as the list.
        let shown = facts(&page, "<h2>Agreement, not accuracy</h2>");
        assert!(row[0].ends_with(&shown["filed when expected"]), "{shown:?}: {row:?}");
        assert_eq!(shown["mean distance from the others, 0–4"], row[1], "{id}");
        assert_eq!(shown["against the consensus"], row[2], "{id}");
    }
    for member in ranking["unranked"].as_array().unwrap() {
        let page =
            html(client, &format!("/swarm/members/{}", member["memberId"].as_str().unwrap()));
        let shown = facts(&page, "<h2>Record</h2>");
        assert_eq!(shown["sessions with an outcome"], member["scored"].to_string());
        assert_eq!(shown["skill; a place takes 20 sessions"], "too few to say");
    }
}

/// Returns whether the session is scored.
fn session_has_its_figures(client: &Client, session: &Value) -> bool {
    let id = &session["id"];
    let page = html(client, &format!("/swarm/sessions/{id}"));
    let shown = facts(&page, "<h1>");
    let filed = json(client, &format!("/api/swarm/sessions/{id}"))["takes"].clone();
    let filed = filed.as_array().unwrap();
    let roster = session["roster"].as_array();
    let expected = roster.map(|roster| roster.iter().filter(|it| it["excused"] == false).count());
    let of = |count: usize| expected.map_or(count.to_string(), |all| format!("{count} of {all}"));
    let snapshot = &session["snapshot"];
    if snapshot.is_null() {
        let labels = ["have filed", "filed"];
        let figure = labels.into_iter().find_map(|label| shown.get(label)).unwrap();
        assert_eq!(*figure, of(filed.len()), "session {id}");
        return false;
    }
    let (consensus, quorum) = (&snapshot["consensus"], &snapshot["quorum"]);
    let members = snapshot["participation"]["members"].as_u64().unwrap();
    let score = signed(number(&consensus["score"]));
    let is_result = quorum.is_null() || quorum["met"] == true;
    let (label, lead) = match is_result {
        true => {
            let stance = consensus["stance"].as_str().unwrap();
            ("score, from −2 to +2, and nearest stance", format!("{score} {stance}"))
        }
        false => ("score, from −2 to +2; without a quorum it is no result", format!("({score})")),
    };
    assert_eq!(shown[label], lead, "session {id}");
    let confidence = format!("{:.2}", number(&consensus["confidence"]));
    assert_eq!(shown["mean confidence, 0–1"], confidence, "session {id}");
    let counted = usize::try_from(members).unwrap();
    assert_eq!(shown["expected members filed"], of(counted), "session {id}");
    let label = if is_result { "quorum met" } else { "quorum missed" };
    assert_eq!(shown[label], format!("{members} of {} needed", quorum["required"]));
    let quotes = snapshot["quotes"].as_array().unwrap();
    let rows = table(&page, "Who, and how sure");
    let mut seen = 0;
    for stance in STANCES {
        let of_stance = quotes.iter().filter(|quote| quote["stance"] == stance);
        let sure: Vec<_> = of_stance.map(|quote| number(&quote["confidence"])).collect();
        assert_eq!(snapshot["stances"][stance], json!(sure.len()), "session {id}");
        let Some(row) = rows.iter().find(|row| row[0] == stance) else {
            assert!(sure.is_empty(), "{stance} of session {id}");
            continue;
        };
        seen += sure.len();
        assert_eq!(row[1], sure.len().to_string(), "{stance} of session {id}");
        let mean = sure.iter().sum::<f64>() / f64::from(u32::try_from(sure.len()).unwrap());
        let shown: f64 = row[2].parse().unwrap();
        assert!((shown - mean).abs() < 0.005 + 1e-9, "{stance} of session {id}: {row:?}");
    }
    assert_eq!(seen, counted, "session {id}");
    if session["outcome"].is_null() {
        return false;
    }
    let scores = json(client, &format!("/api/swarm/sessions/{id}/scores"));
    let (_, outcome) = page.split_once("<h2>Outcome</h2>").unwrap();
    let outcome = words(outcome.split_once("<details>").unwrap().0);
    let crowd = said(&scores["crowd"]["forecast"]);
    assert!(outcome.contains(&format!("the crowd said {crowd}")), "session {id}: {outcome}");
    let value: f64 = outcome
        .split(' ')
        .next()
        .unwrap()
        .replace('−', "-")
        .parse()
        .unwrap_or_else(|_| panic!("session {id}: {outcome}"));
    assert!((value - number(&scores["value"])).abs() < 0.005 + 1e-9, "session {id}: {outcome}");
    let rows = table(&page, "Who was near");
    let figures: Vec<_> =
        rows.iter().map(|row| [&row[1], &row[2], &row[3]].map(String::clone)).collect();
    let listed = scores["scores"].as_array().unwrap().iter().take(figures.len() - 2);
    let listed = listed.map(|it| [said(&it["forecast"]), loss(&it["loss"]), skill(&it["skill"])]);
    let baselines = [
        [crowd, loss(&scores["crowd"]["loss"]), "0.000".to_owned()],
        ["0.00".to_owned(), loss(&scores["neutral"]["loss"]), String::new()],
    ];
    assert_eq!(figures, listed.chain(baselines).collect::<Vec<_>>(), "session {id}");
    true
}

/// Rows of sessions, on the list and on the pages of subjects.
fn lists_have_their_figures(client: &Client, sessions: &[Value]) {
    let mut shown = HashMap::new();
    for path in ["/swarm/sessions", "/swarm/subjects/aurora", "/swarm/subjects/borealis"] {
        for row in html(client, path).split("<li>") {
            if !row.trim_start().starts_with("<span class=\"when\">") {
                continue;
            }
            let Some((_, rest)) = row.split_once("href=\"/swarm/sessions/") else { continue };
            let id = rest.split('"').next().unwrap().to_owned();
            shown.entry(id).or_insert_with(Vec::new).push(words(row));
        }
    }
    let mut compared = 0;
    for session in sessions.iter().filter(|session| !session["snapshot"].is_null()) {
        let snapshot = &session["snapshot"];
        let counts = STANCES.map(|stance| snapshot["stances"][stance].to_string()).join(" · ");
        let score = signed(number(&snapshot["consensus"]["score"]));
        for row in shown.get(&session["id"].to_string()).into_iter().flatten() {
            assert!(row.contains(&counts) && row.contains(&score), "{counts}, {score}: {row}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared} rows");
}

fn home_has_its_figures(client: &Client, sessions: &[Value], ranking: &Value) {
    let page = html(client, "/");
    let ranked = ranking["ranking"].as_array().unwrap();
    let better = ranked.iter().filter(|member| number(&member["low"]) > 0.0).count();
    let worse = ranked.iter().filter(|member| number(&member["high"]) < 0.0).count();
    let number_of = |count: usize| match count {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        count => format!("{count} are"),
    };
    let verdict = format!(
        "Of {} members with a place, {} surely better than the crowd and {} surely worse",
        ranked.len(),
        number_of(better),
        number_of(worse)
    );
    assert!(words(&page).contains(&verdict), "{verdict}: {page}");
    let is_open =
        |it: &&Value| ["scheduled", "collecting"].contains(&it["state"].as_str().unwrap());
    let mut open: Vec<_> = sessions.iter().filter(is_open).collect();
    open.sort_by_key(|session| session["windowClosesAt"].as_str().unwrap());
    // It shows the four that close first.
    assert!(open.len() > 4 && page.contains("All open sessions"), "{open:?}");
    for session in open.into_iter().take(4) {
        let path = format!("/swarm/sessions/{}", session["id"]);
        let (_, row) = page.split_once(&path).unwrap_or_else(|| panic!("{path}: {page}"));
        let row = words(row.split_once("</li>").unwrap().0);
        let filed = json(client, &format!("/api{path}"))["takes"].as_array().unwrap().len();
        let filed = match session["roster"].as_array() {
            Some(roster) => {
                let expected = roster.iter().filter(|it| it["excused"] == false).count();
                format!("{filed} of {expected} filed")
            }
            None => format!("{filed} members filed"),
        };
        assert!(row.contains(&filed), "{filed}: {row}");
    }
    let subjects = ["aurora", "borealis", "cygnus"];
    for subject in subjects {
        let is_result = |session: &&Value| {
            let snapshot = &session["snapshot"];
            session["subjectId"] == subject
                && !snapshot.is_null()
                && snapshot["quorum"]["met"] != false
        };
        let mut results = sessions.iter().filter(is_result);
        let [now, before] = [results.next().unwrap(), results.next().unwrap()];
        let [now, before] =
            [now, before].map(|it| signed(number(&it["snapshot"]["consensus"]["score"])));
        let figure = |text: &str| text.replace('−', "-").parse::<f64>().unwrap();
        // Readers subtract the figures shown.
        let change = signed(figure(&now) - figure(&before));
        for path in ["/", "/swarm/subjects"] {
            let page = html(client, path);
            let (_, rest) = page.split_once("class=\"card\"").unwrap();
            let card = rest.split("class=\"card\"");
            let link = format!("href=\"/swarm/subjects/{subject}\"");
            let card = words(card.into_iter().find(|card| card.contains(&link)).unwrap());
            let has = card.contains(&now) && card.contains(&format!("{change} since"));
            assert!(has, "{now}, {change} on {path}: {card}");
        }
    }
}

/// The page of what changed in the last week, beside the log.
fn news_have_their_figures(client: &Client) {
    let home = html(client, "/");
    let week = home.split("href=\"").find(|part| part.contains(">in the last week<")).unwrap();
    let path = week.split('"').next().unwrap();
    let page = html(client, path);
    let after: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
    let mut filed: HashMap<String, [usize; 3]> = HashMap::new();
    let mut subjects = HashMap::new();
    let mut next = 0;
    loop {
        let log = json(client, &format!("/api/swarm/log?after={next}&limit=1000"));
        for entry in log["entries"].as_array().unwrap() {
            if entry["kind"] == "session" {
                let subject = entry["session"]["subjectId"].as_str().unwrap().to_owned();
                subjects.insert(entry["session"]["id"].to_string(), subject);
            }
            if entry["seq"].as_u64().unwrap() <= after {
                continue;
            }
            let kind = match (entry["kind"].as_str().unwrap(), entry["act"].as_str()) {
                ("take", _) if entry["revision"] == 1 => 1,
                ("take", _) => 2,
                ("session", Some("state")) if entry["session"]["state"] == "aggregated" => 0,
                _ => continue,
            };
            let session = match kind {
                0 => entry["session"]["id"].to_string(),
                _ => entry["sessionId"].to_string(),
            };
            filed.entry(subjects[&session].clone()).or_default()[kind] += 1;
        }
        if log["more"] == false {
            break;
        }
        next = log["next"].as_u64().unwrap();
    }
    for subject in ["aurora", "borealis", "cygnus"] {
        let [results, filed, revised] = filed[subject];
        let link = format!("href=\"/swarm/subjects/{subject}\"");
        let row = words(page.split("class=\"card\"").find(|row| row.contains(&link)).unwrap());
        let many = |count: usize, word: &str| {
            if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
        };
        let parts = [
            (results, many(results, "result")),
            (filed, many(filed, "take") + " filed"),
            (revised, many(revised, "take") + " revised"),
        ];
        for (count, part) in parts {
            assert_eq!(row.contains(&part), count > 0, "{part} of {subject}: {row}");
        }
    }
}

/// The first page of the console, beside the status.
fn console_has_its_figures(client: &Client, token: &str) {
    let headers = [("x-admin-token", token)];
    let status = client.send("GET", "/api/swarm/admin/status", &headers, b"").expect(200).json();
    let page = words(&Visitor::signed_in_with(client, token).get("/operate").expect(200).text);
    let applications = format!("{} applications wait for a review", status["applications"]);
    assert!(page.contains(&applications), "{page}");
    let queued = format!("{} messages are not sent yet", status["mail"]["queued"]);
    assert!(page.contains(&queued), "{page}");
    let sessions = status["sessions"].as_array().unwrap();
    for session in sessions.iter().filter(|session| !session["expected"].is_null()) {
        let filed = format!("{} of {} have filed", session["filed"], session["expected"]);
        assert!(page.contains(&filed), "{filed}: {page}");
    }
    assert!(sessions.len() > 3, "{sessions:?}");
}
