//! A desk's week through forms alone.

use serde_json::json;

use super::visitor::Visitor;
use crate::harness::{ADMIN, Author, Client, Server};

fn session(client: &Client, id: u64) -> serde_json::Value {
    client.get(&format!("/api/swarm/sessions/{id}")).json()["session"].clone()
}

#[test]
fn week_of_a_desk_needs_no_terminal() {
    let server = Server::start();
    let client = server.client();
    let visitor = Visitor::signed_in(&client);
    // A subject.
    let fields = [("id", "aurora"), ("name", "Aurora"), ("structuralNotes", "one\r\ntwo")];
    let seen = visitor.fill_in("/operate/subjects", "/operate/subjects", &fields);
    visitor.follow(&seen).says("The subject is created.");
    let subject = client.get("/api/swarm/subjects/aurora").json();
    assert_eq!(subject["structuralNotes"], json!(["one", "two"]));
    let record = "/operate/subjects/aurora";
    let fields =
        [("wallets-chain[]", "base"), ("wallets-address[]", "0x1"), ("thesisBlurb", "A thesis.")];
    let seen = visitor.fill_in(record, record, &fields);
    visitor.follow(&seen).says("The record is saved.");
    let subject = client.get("/api/swarm/subjects/aurora").json();
    assert_eq!(subject["wallets"], json!([{ "chain": "base", "address": "0x1" }]));
    assert_eq!(subject["structuralNotes"], json!(["one", "two"]), "the rest stays");
    let fields = [("date", "2026-11-21"), ("totalValueUsd", "12.5"), ("notable", "a remark")];
    visitor.fill_in(record, &format!("{record}/snapshots"), &fields).expect(303);
    // Applications, two at once.
    let [(ada, key), (bo, _), (cy, _)] =
        ["Ada", "Bo", "Cy"].map(|name| Author::apply(&client, name));
    visitor.get("/operate").expect(200).says("3 applications wait for a review.");
    let form =
        visitor.get("/operate/applications").expect(200).form("/operate/applications/activate");
    visitor.get("/operate/applications").says("Reject: Who applied is turned down");
    let mut form = form;
    form.fields.extend([&ada, &bo].map(|id| ("memberId".to_owned(), id.as_str().to_owned())));
    let seen = visitor.submit(&form, &[]);
    visitor.follow(&seen).says("Activated: 2.");
    let state = |id: &swarm_core::MemberId| {
        client.get(&format!("/api/swarm/apply/{}", id.as_str())).json()["state"].clone()
    };
    assert_eq!([&ada, &bo, &cy].map(state), ["approved", "approved", "applied"]);
    let mut form =
        visitor.get("/operate/applications").expect(200).form("/operate/applications/activate");
    form.action = "/operate/applications/reject".to_owned();
    form.fields.push(("memberId".to_owned(), cy.as_str().to_owned()));
    visitor.submit(&form, &[]).expect(303);
    assert_eq!(state(&cy), "rejected");
    // A session, with a roster and a note.
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    let listed = form.fields.iter().filter(|(name, _)| name == "roster").count();
    assert_eq!(listed, 2, "{form:?}");
    let fields = [
        ("date", "2026-11-21"),
        ("windowClosesAt", "2099-01-02T03:04"),
        ("rosterKind", "listed"),
        ("quorum", "1"),
        ("note", "the first"),
    ];
    let seen = visitor.submit(&form, &fields);
    visitor.follow(&seen).says("The session is convened.");
    assert_eq!(session(&client, 1)["windowClosesAt"], "2099-01-02T03:04:00.000Z");
    assert_eq!(session(&client, 1)["roster"].as_array().unwrap().len(), 2);
    let page = "/operate/sessions/1";
    let act = |act: &str, fields: &[(&str, &str)]| {
        let seen = visitor.fill_in(page, &format!("{page}/{act}"), fields);
        assert_eq!(seen.status, 303, "{act}: {seen:?}");
    };
    let missing = || {
        let page = visitor.get("/operate").expect(200).text;
        let named = page.split("Not filed: ").nth(1).and_then(|it| it.split("</p>").next());
        ["Ada", "Bo"].map(|name| named.unwrap_or_default().contains(&format!("<bdi>{name}</bdi>")))
    };
    assert_eq!(missing(), [true, true]);
    act("excuse", &[("memberId", bo.as_str()), ("note", "ill")]);
    assert_eq!(missing(), [true, false]);
    act("expect", &[("memberId", bo.as_str())]);
    act("excuse", &[("memberId", bo.as_str())]);
    act("brief", &[]);
    let brief = || client.get("/api/swarm/brief?session=1").expect(200).json();
    let first = brief();
    act("replace-brief", &[("system", "s"), ("user", "the right one"), ("note", "wrong prices")]);
    assert_eq!(
        (&brief()["id"], brief()["body"]["prompt"]["user"].as_str()),
        (&first["id"], Some("the right one"))
    );
    for sentence in ["If fewer members count, there is no consensus.", "it can be expected again."]
    {
        visitor.get(page).expect(200).says(sentence);
    }
    act("quorum", &[("quorum", "")]);
    act("deadline", &[("windowClosesAt", "2099-01-03T00:00"), ("note", "a day more")]);
    let claimed = Author::claim(&client, &ada, &key).expect(201).json();
    let author = Author { id: ada, key, token: claimed["token"].as_str().unwrap().to_owned() };
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    assert!(!visitor.get(page).text.contains("/replace-brief"), "a take is on file");
    // The deadline lies ahead: what will change is shown, and the token asked for.
    let asks = |act: &str, note: &str| {
        visitor.fill_in(page, &format!("{page}/{act}"), &[("note", note)]).expect(200)
    };
    let confirm = |act: &str, note: &str| {
        let asked = asks(act, note).form(&format!("{page}/{act}"));
        visitor.submit(&asked, &[("token", ADMIN)]).expect(303);
    };
    asks("close", "").says("<strong><bdi>closed</bdi></strong>");
    confirm("close", "venue is down");
    let ended = session(&client, 1)["windowClosesAt"].clone();
    assert!(ended.as_str() < Some("2099"), "{ended}");
    act("deadline", &[("windowClosesAt", "2099-01-03T00:00"), ("note", "too early")]);
    assert_eq!(session(&client, 1)["state"], "collecting");
    let asked = asks("aggregate", "all is in");
    asked.says("<strong><bdi>result</bdi></strong>");
    asked.says("neutral");
    assert_eq!(session(&client, 1)["state"], "collecting");
    confirm("aggregate", "all is in");
    let publish = format!("{page}/publish");
    let asked = visitor.fill_in(page, &publish, &[]).expect(200);
    asked.says("<strong><bdi>published</bdi></strong>");
    assert_eq!(session(&client, 1)["state"], "aggregated");
    visitor.submit(&asked.form(&publish), &[]).expect(303);
    assert_eq!(session(&client, 1)["state"], "published");
    let void = format!("{page}/void");
    assert_eq!(visitor.get(page).text.matches(&format!("\"{void}\"")).count(), 1, "one form");
    visitor.fill_in(page, &void, &[]).expect(400);
    asks("void", "it was the wrong day").says("counts for nothing");
    confirm("void", "it was the wrong day");
    assert_eq!(session(&client, 1)["voided"]["note"], "it was the wrong day");
    let shown = visitor.get(page).expect(200);
    for row in [
        "<dt>Deadline</dt><dd><time ",
        "<dt>Result</dt><dd><bdi>",
        "<dt>Published</dt><dd><time ",
        "<dt>Void</dt><dd>since <time ",
    ] {
        shown.says(row);
    }
    let acts = visitor.get("/operate/acts/all").expect(200);
    acts.says(
        "<td>published</td><td><a href=\"/operate/sessions/1\"><bdi>session 1</bdi></a></td>",
    );
    acts.is_silent_on("session.");
    assert!(!visitor.get(page).text.contains("/operate/sessions/1/void"));
    // The log has each act with its note, under the name of the token.
    let log = visitor.get("/operate/acts?by=operator").expect(200);
    for text in [
        "the first",
        "ill",
        "wrong prices",
        "a day more",
        "venue is down",
        "too early",
        "all is in",
    ] {
        log.says(text);
    }
    visitor.get("/operate/acts?by=nobody").expect(200).says("None found.");
    // A session that was a mistake.
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    assert!(
        form.fields.contains(&("rosterKind".to_owned(), "listed".to_owned())),
        "as the last one"
    );
    visitor
        .submit(&form, &[("practice", "on")])
        .expect(400)
        .says("Listed members must not be given");
    let fields = [("practice", "on"), ("finish", "on"), ("rosterKind", ""), ("date", "2026-11-22")];
    visitor.submit(&form, &fields).expect(303);
    let [practice, finish] = ["practice", "finish"].map(|name| session(&client, 2)[name].clone());
    assert_eq!([practice, finish], [true, true]);
    visitor.get("/operate/sessions/2").says("open, practice, finished by the server");
    let page = "/operate/sessions/2";
    let withdraw = format!("{page}/withdraw");
    let asked = visitor.fill_in(page, &withdraw, &[("note", "a mistake")]).expect(200);
    asked.says("as if it had never been convened");
    client.get("/api/swarm/sessions/2").expect(200);
    let seen = visitor.submit(&asked.form(&withdraw), &[]);
    visitor.follow(&seen).says("The session is withdrawn.");
    assert_eq!(client.get("/api/swarm/sessions/2").status, 404);
}

#[test]
fn member_is_shut_out_and_erased() {
    let server = Server::start();
    let client = server.client();
    let author = Author::join(&client, "Ada");
    let visitor = Visitor::signed_in(&client);
    let page = format!("/operate/members/{}", author.id.as_str());
    let act = |act: &str| visitor.fill_in(&page, &format!("{page}/{act}"), &[]);
    // Each button has its consequence beside it.
    for sentence in ["Takes on file stay, and count. Activating", "claims another with its key"] {
        visitor.get(&page).expect(200).says(sentence);
    }
    act("reset-claim").expect(303);
    assert_eq!(
        visitor
            .get(&page)
            .expect(200)
            .forms()
            .iter()
            .filter(|form| form.action.ends_with("/erase"))
            .count(),
        0
    );
    act("deactivate").expect(303);
    act("activate").expect(303);
    act("deactivate").expect(303);
    let erase = format!("{page}/erase");
    let asked = act("erase").expect(200);
    asked.says("gone for good");
    asked.says("Ada@test.example");
    visitor.submit(&asked.form(&erase), &[]).expect(401);
    let member =
        || client.get(&format!("/api/swarm/members/{}", author.id.as_str())).json()["name"].clone();
    assert_eq!(member(), "Ada");
    let mut seen = visitor.submit(&asked.form(&erase), &[("token", ADMIN)]);
    if seen.status == 429 {
        std::thread::sleep(std::time::Duration::from_secs(2));
        seen = visitor.submit(&seen.form(&erase), &[("token", ADMIN)]);
    }
    seen.expect(303);
    assert_eq!(member(), "erased");
    visitor.get("/operate/members").expect(200).says("erased");
}

#[test]
fn committee_and_outbox_are_operated() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    Author::join(&client, "Ada");
    let visitor = Visitor::signed_in(&client);
    let page = "/operate/committee";
    let fields = [("id", "ada"), ("name", "Ada"), ("voice", "dry")];
    let seen = visitor.fill_in(page, "/operate/committee/members", &fields);
    let shown = visitor.follow(&seen);
    shown.says("Key for ada");
    shown.says("ic_ada_");
    let path = "/operate/committee/members/ada/rotate-key";
    let asked = visitor.fill_in(page, path, &[]).expect(200);
    let seen = visitor.submit(&asked.form(path), &[("token", ADMIN)]);
    let other = visitor.follow(&seen);
    other.says("ic_ada_");
    assert_ne!(shown.text, other.text);
    let act = |path: &str, fields: &[(&str, &str)]| visitor.fill_in(page, path, fields).expect(303);
    visitor.get(page).expect(200).says("To set it active undoes that.");
    act("/operate/committee/members/ada/inactive", &[]);
    act("/operate/committee/members/ada/active", &[]);
    act("/operate/committee/day", &[("subject_id", "aurora")]);
    let refused = visitor.fill_in(page, "/operate/committee/withdraw", &[("date", "2026-13-45")]);
    refused.expect(404).says("Day, UTC names nothing: no such session.");
    let today = visitor.get(page).expect(200).form("/operate/committee/withdraw").fields;
    let today = today.iter().find(|(name, _)| name == "date").unwrap().1.clone();
    // Late in the day the deadline is over, and the briefs are refused.
    let seen = visitor.fill_in(
        page,
        "/operate/committee/briefs",
        &[("deadline_utc", &format!("{today}T23:59"))],
    );
    assert!(matches!(seen.status, 303 | 400 | 409), "{seen:?}");
    if seen.status == 303 {
        act("/operate/committee/synthesis", &[("synthesis", "A text.")]);
        visitor.get(page).expect(200).says("A text.");
        let withdraw = "/operate/committee/withdraw";
        let asked = visitor.fill_in(page, withdraw, &[]).expect(200);
        visitor.submit(&asked.form(withdraw), &[]).expect(303);
    }
    // The outbox: the mail of the activation is queued, since nothing sends it.
    let page = "/operate/outbox";
    visitor.get(page).expect(200).says("Ada@test.example");
    visitor.fill_in(page, "/operate/outbox/cancel", &[]).expect(303);
    visitor.get("/operate/outbox?state=cancelled").expect(200).says("Ada@test.example");
    visitor.get("/operate").expect(200).is_silent_on("Ada@test.example");
    visitor.fill_in(page, "/operate/outbox/retry", &[]).expect(303);
    // Records, and what is no record.
    let page = "/operate/records";
    let regime = [("regime", "calm"), ("more", r#"{"composite_percentile": 12}"#)];
    visitor.fill_in(page, "/operate/records/regime", &regime).expect(303);
    visitor
        .fill_in(page, "/operate/records/signal", &[("signal_key", "k"), ("payload", "[1]")])
        .expect(303);
    visitor.post("/operate/records/retract", &[("memo", "9")]).expect(404);
    // The store is accepted only with the token.
    let path = "/operate/store/clock";
    let asked = visitor.fill_in("/operate/store", path, &[]).expect(200);
    let seen = visitor.submit(&asked.form(path), &[("token", ADMIN)]);
    visitor.follow(&seen).says("The clock is accepted.");
}

#[test]
fn question_is_changed_and_outcome_recorded_and_annulled() {
    let server = Server::start();
    let client = server.client();
    let mut visitor = Visitor::new(&client);
    visitor.sign_in(ADMIN).expect(303);
    client.convene("2026-11-21", "aurora");
    let page = "/operate/sessions/1";
    let fields = [("question", "Higher?"), ("resolvesAt", "2026-11-28T12:00"), ("note", "asked")];
    let seen = visitor.fill_in(page, &format!("{page}/question"), &fields);
    visitor.follow(&seen).says("The question is changed.");
    let asked = session(&client, 1);
    assert_eq!(
        (&asked["question"], &asked["resolvesAt"]),
        (&json!("Higher?"), &json!("2026-11-28T12:00:00.000Z"))
    );
    let seen = visitor.fill_in(page, &format!("{page}/question"), &[("question", "")]);
    visitor.follow(&seen).says("The question is changed.");
    assert_eq!(session(&client, 1).get("question"), None);
    assert!(session(&client, 1).get("resolvesAt").is_some(), "what the form shows stays");

    assert!(!visitor.get(page).expect(200).text.contains("/outcome\""), "its window is open");
    let over = json!({ "windowClosesAt": "2000-01-01T00:00:00Z" }).to_string();
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", "/api/swarm/admin/sessions/1", &headers, over.as_bytes()).expect(200);
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let outcome = format!("{page}/outcome");
    for wrong in ["", "3", "bullish"] {
        let refused = visitor.fill_in(page, &outcome, &[("value", wrong)]);
        assert_eq!(refused.status, 400, "{wrong:?}");
        let is_missing = refused.text.contains("Outcome is missing.");
        assert_eq!(is_missing, wrong.is_empty(), "{wrong:?}: {refused:?}");
    }
    let fields = [("value", "-0.5"), ("source", "prices.example"), ("note", "read at noon")];
    let confirmed = |path: &str, fields: &[(&str, &str)]| {
        let asked = visitor.fill_in(page, path, fields).expect(200);
        visitor.submit(&asked.form(path), &[])
    };
    visitor.fill_in(page, &outcome, &fields).expect(200).says("prices.example</bdi></strong>");
    let shown = visitor.follow(&confirmed(&outcome, &fields));
    shown.says("The outcome is recorded.");
    shown.says("−0.50");
    assert_eq!(session(&client, 1)["outcome"]["value"], json!(-0.5));
    visitor.get("/operate/acts?by=operator").expect(200).says("read at noon");
    let seen = confirmed(&format!("{page}/annul"), &[]);
    visitor.follow(&seen).says("The session is not scored.");
    let annulled = session(&client, 1)["outcome"].clone();
    assert_eq!((&annulled["value"], &annulled["source"]), (&json!(null), &json!("prices.example")));
}
