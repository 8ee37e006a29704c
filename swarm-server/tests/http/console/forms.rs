//! Refused forms, and times.

use serde_json::json;

use swarm_http::Site;
use swarm_store_memory::MemoryStore;

use super::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Server, fresh_key, services, tenant};
use crate::quotas::application_of;
use crate::routes;

#[test]
fn deadline_of_an_opened_session_is_not_offered_to_be_moved() {
    let server = Server::start();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &session).expect(201);
    client.convene("2026-11-22", "aurora");
    let visitor = Visitor::signed_in(&client);
    let offers = |session: u64| {
        let forms = visitor.get(&format!("/operate/sessions/{session}")).expect(200).forms();
        forms.iter().any(|form| form.action.ends_with("/deadline"))
    };
    assert!(offers(1) && offers(2));
    for session in [1, 2] {
        for state in ["window_closed", "aggregated"] {
            let path = format!("/sessions/{session}/state");
            client.operate(&path, &json!({ "state": state })).expect(200);
        }
    }
    assert!(!offers(1), "it was opened by its aggregation");
    assert!(offers(2));
}

#[test]
fn form_says_so_where_nothing_is_chosen() {
    let server = Server::start();
    let visitor = Visitor::signed_in(&server.client());
    for act in ["activate", "reject"] {
        let refused = visitor.post(&format!("/operate/applications/{act}"), &[]).expect(400);
        refused.says("Nothing was changed: nothing is chosen.");
    }
}

#[test]
fn refused_form_comes_back_with_what_was_typed() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in(&client);
    let hostile = "<script>\"'&é\n</textarea>";
    let fields = [
        ("id", ""),
        ("name", "A & B <i>"),
        ("thesisBlurb", hostile),
        ("wallets-more[]", "no json"),
        ("lastReviewed", "2026-02-31"),
    ];
    let seen = visitor.fill_in("/operate/subjects", "/operate/subjects", &fields).expect(400);
    assert_eq!(seen.header("swarm-error"), Some("invalid-request"));
    // Each fault is at its field, all at once, and once; the first of them has the focus.
    for (fault, field) in [
        ("Id is missing.", "form1-id"),
        ("Wallets must hold objects.", "form1-wallets"),
        ("Last reviewed must be a day of the calendar, YYYY-MM-DD.", "form1-lastReviewed"),
    ] {
        assert_eq!(seen.text.matches(fault).count(), 1, "{fault}: {}", seen.text);
        seen.says(&format!("<a href=\"#{field}\">"));
        assert!(seen.text.contains(&format!("id=\"{field}\"")), "{field}");
    }
    assert_eq!(seen.text.matches("role=\"alert\"").count(), 1);
    assert_eq!(seen.text.matches(" autofocus").count(), 1);
    let first = seen.text.split(" autofocus").next().unwrap();
    assert!(first.rsplit("<input ").next().unwrap().contains("name=\"id\""));
    assert_eq!(seen.text.matches("aria-invalid=\"true\"").count(), 2, "but rows");
    let form = seen.form("/operate/subjects");
    for (name, value) in fields {
        assert!(form.fields.contains(&(name.to_owned(), value.to_owned())), "{name} in {form:?}");
    }
    // It can be sent again.
    let rest = [("id", "b"), ("wallets-more[]", ""), ("lastReviewed", "")];
    visitor.submit(&form, &rest).expect(303);
    assert_eq!(client.get("/api/swarm/subjects/b").json()["thesisBlurb"], hostile);
    // A choice and boxes come back too.
    let members = ["Ada", "Bo"].map(|name| Author::join(&client, name).id);
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    let fields = [("state", "scheduled"), ("rosterKind", "listed"), ("quorum", "many")];
    let mut form = form;
    form.fields.retain(|(_, value)| value != members[0].as_str());
    let seen = visitor.submit(&form, &fields).expect(400);
    seen.says("Quorum must be");
    let form = seen.form("/operate/convene");
    for (name, value) in fields.into_iter().chain([("roster", members[1].as_str())]).take(4) {
        if name != "quorum" {
            assert!(
                form.fields.contains(&(name.to_owned(), value.to_owned())),
                "{name} in {form:?}"
            );
        }
    }
    assert!(!form.fields.iter().any(|(_, value)| value == members[0].as_str()), "{form:?}");
}

#[test]
fn refusals_of_the_rules_have_their_status() {
    let server = Server::start();
    let client = server.client();
    let id = client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let visitor = Visitor::signed_in(&client);
    let page = format!("/operate/sessions/{id}");
    let publish = visitor.post(&format!("{page}/publish"), &[]).expect(409);
    assert_eq!(publish.header("swarm-error"), Some("session-state"));
    let withdrawn = visitor.post(&format!("{page}/withdraw"), &[("note", "a mistake")]).expect(409);
    assert_eq!(withdrawn.header("swarm-error"), Some("takes-on-file"));
    visitor.post("/operate/sessions/99/close", &[]).expect(404);
    visitor.post("/operate/members/nobody/activate", &[]).expect(404);
    let long = "x".repeat(501);
    let fields = [("quorum", "2"), ("note", &*long)];
    visitor
        .fill_in(&page, &format!("{page}/quorum"), &fields)
        .expect(400)
        .says("Note in the public log must");
    visitor.fill_in(&page, &format!("{page}/deadline"), &[("windowClosesAt", "")]).expect(400);
    assert_eq!(
        client.get(&format!("/api/swarm/sessions/{id}")).json()["session"]["windowClosesAt"],
        json!(null)
    );
}

#[test]
fn earlier_deadline_asks_for_the_token_and_a_later_one_does_not() {
    let server = Server::start();
    let client = server.client();
    let id = client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in(&client);
    let page = format!("/operate/sessions/{id}");
    let path = format!("{page}/deadline");
    let closes = || {
        let session = client.get(&format!("/api/swarm/sessions/{id}")).json()["session"].clone();
        session["windowClosesAt"].as_str().map(str::to_owned)
    };
    let send =
        |time: &str| visitor.fill_in(&page, &path, &[("windowClosesAt", time), ("note", "n")]);
    // The first deadline is not asked about while nobody has filed.
    send("2099-01-02T00:00").expect(303);
    assert_eq!(closes().as_deref(), Some("2099-01-02T00:00:00.000Z"));
    send("2099-01-03T00:00").expect(303);
    let asked = send("2099-01-02T00:00").expect(200);
    asked.says("2 Jan 2099, 00:00 UTC");
    // A confirmation of what has changed meanwhile is stale.
    let lifted = visitor.fill_in(&page, &format!("{page}/no-deadline"), &[]);
    visitor.follow(&lifted);
    visitor.submit(&asked.form(&path), &[("token", ADMIN)]).expect(409);
    assert_eq!(closes(), None);
    // One that the rules refuse is refused at once.
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    assert_eq!(send("2001-01-01T00:00").expect(409).header("swarm-error"), Some("filed-later"));
}

#[test]
fn field_that_nobody_touched_changes_nothing() {
    let server = Server::start();
    let client = server.client();
    let notes = json!(["a", " lead", "two\nlines"]);
    let address = json!([{ "chain": " base\n", "address": "\u{202e}0x1" }]);
    let subject = json!({ "id": "aurora", "name": "Aurora", "structuralNotes": notes,
        "wallets": address });
    client.operate("/subjects", &subject).expect(201);
    let first = json!({
        "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2098-12-31T22:45:56.789Z",
        "question": "Higher?", "resolution": "By the close.", "resolvesAt": "2099-11-30T12:34:56.789Z",
        "buckets": [" lead", "two\nlines"],
        "stances": [{ "name": " down", "rank": -1 }, { "name": "up\nwards", "rank": 1.5 }],
    });
    client.operate("/sessions", &first).expect(201);
    let session =
        |id: u64| client.get(&format!("/api/swarm/sessions/{id}")).json()["session"].clone();
    let visitor = Visitor::signed_in(&client);
    let page = "/operate/sessions/1";
    let fields = [("question", "Much higher?")];
    visitor.fill_in(page, &format!("{page}/question"), &fields).expect(303);
    assert_eq!(session(1)["question"], "Much higher?");
    let entries = client.log_entries().len();
    visitor.fill_in(page, &format!("{page}/deadline"), &[]).expect(303);
    assert_eq!(client.log_entries().len(), entries, "nothing is logged");
    for field in ["windowClosesAt", "resolvesAt", "resolution"] {
        assert_eq!(session(1)[field], first[field], "{field}");
    }
    visitor.fill_in(page, &format!("{page}/deadline"), &[("windowClosesAt", "2099-01-02T03:04")]);
    assert_eq!(session(1)["windowClosesAt"], "2099-01-02T03:04:00.000Z");

    let own = "/operate/subjects/aurora";
    visitor.fill_in(own, own, &[("name", "Aurora, north")]).expect(303);
    let record = client.get("/api/swarm/subjects/aurora").json();
    assert_eq!(record["name"], "Aurora, north");
    assert_eq!((&record["structuralNotes"], &record["wallets"]), (&notes, &address));

    // The confirmation keeps what the form had.
    Author::join(&client, "Ada");
    let path = "/operate/convene";
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form(path);
    let fields = [("rosterKind", "listed"), ("quorum", "5"), ("resolvesAt", "2099-11-30T12:34")];
    let asked = visitor.submit(&form, &fields).expect(200);
    visitor.submit(&asked.form(path), &[]).expect(303);
    for field in ["buckets", "stances"] {
        assert_eq!(session(2)[field], first[field], "{field}");
    }
    assert_eq!(session(2)["resolvesAt"], "2099-11-30T12:34:00.000Z");
}

/// Another session of the same day would get the takes.
#[test]
fn next_session_is_filled_in_for_a_day_that_has_none() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let first = json!({
        "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2026-11-21T18:00:30Z",
        "question": "Higher?", "resolution": "By the close.", "resolvesAt": "2026-11-28T12:00:00Z",
    });
    client.operate("/sessions", &first).expect(201);
    let visitor = Visitor::signed_in(client);
    let path = "/operate/convene?subject=aurora";
    let page = || visitor.get(path).expect(200);
    let filled = |name: &str| {
        let fields = page().form("/operate/convene").fields;
        fields.into_iter().find(|(other, _)| other == name).unwrap().1
    };
    let convene = || visitor.fill_in(path, "/operate/convene", &[]).expect(303);
    assert_eq!(
        ["date", "windowClosesAt", "question", "resolution", "resolvesAt"].map(filled),
        ["2026-11-22", "2026-11-22T18:00", "Higher?", "By the close.", "2026-11-29T12:00"]
    );
    page().says("go to <a href=\"/operate/sessions/1\"><bdi>session 1</bdi></a> (open, until");
    convene();
    assert_eq!(filled("date"), "2026-11-23");
    page().says("<bdi>session 2</bdi></a> (open, until");

    // Days without a session are passed over, but for those whose deadline has passed.
    fixture.clock.move_by(3 * 24 * 60 * 60 * 1_000);
    assert_eq!(["date", "windowClosesAt"].map(filled), ["2026-11-24", "2026-11-24T18:00"]);
    page().is_silent_on("Once another session is convened");
    fixture.clock.move_by(7 * 60 * 60 * 1_000);
    let moved = ["date", "windowClosesAt", "resolvesAt"];
    assert_eq!(moved.map(filled), ["2026-11-25", "2026-11-25T18:00", "2026-12-02T12:00"]);
    // The day of a void session is free.
    convene();
    convene();
    assert_eq!(filled("date"), "2026-11-27");
    for state in ["window_closed", "aggregated"] {
        client.operate("/sessions/3/state", &json!({ "state": state })).expect(200);
    }
    client.operate("/sessions/3/void", &json!({ "note": "wrong prices" })).expect(200);
    assert_eq!(moved.map(filled), ["2026-11-25", "2026-11-25T18:00", "2026-12-02T12:00"]);
    // Without a deadline it is the time of the outcome that has not passed.
    let open = json!({
        "date": "2026-11-23", "subjectId": "aurora", "question": "Higher?",
        "resolution": "By the close.", "resolvesAt": "2026-11-23T12:00:00Z",
    });
    client.operate("/sessions", &open).expect(201);
    assert_eq!(moved.map(filled), ["2026-11-25", "", "2026-11-25T12:00"]);
}

#[test]
fn forms_for_new_things_replace_nothing_and_shut_nobody_out() {
    let server = Server::start();
    let client = server.client();
    let subject = json!({ "id": "aurora", "name": "Aurora", "structuralNotes": ["a note"] });
    client.operate("/subjects", &subject).expect(201);
    let visitor = Visitor::signed_in(&client);
    let page = "/operate/subjects";
    let seen = visitor.fill_in(page, page, &[("id", "aurora"), ("name", "Typo")]).expect(400);
    seen.says("is that of a subject already");
    assert_eq!(client.get("/api/swarm/subjects/aurora").json()["name"], "Aurora");
    visitor.fill_in(page, page, &[("id", "borealis"), ("name", "Borealis")]).expect(303);
    let page = "/operate/convene?subject=aurora";
    let seen = visitor.fill_in(page, "/operate/convene", &[("rosterKind", "listed")]).expect(400);
    seen.says("must have a member");
}

#[test]
fn several_applications_are_judged_one_by_one() {
    let server = Server::start();
    let client = server.client();
    let (ada, _) = Author::apply(&client, "Ada");
    let visitor = Visitor::signed_in(&client);
    let fields = [("memberId", ada.as_str()), ("memberId", "nobody")];
    let seen = visitor.post("/operate/applications/activate", &fields).expect(404);
    seen.says("1 of 2 done");
    let state = client.get(&format!("/api/swarm/apply/{}", ada.as_str())).json()["state"].clone();
    assert_eq!(state, "approved");
    visitor.post("/operate/applications/activate", &[]).expect(400);
}

/// A stranger has filled the quota. The operator ticks its applications, and others can apply again.
#[test]
fn applications_of_a_stranger_are_rejected_at_once() {
    const FLOOD: usize = 60;
    let mut config = tenant("default", ADMIN, &[]);
    config.quotas.pending_applications = FLOOD.try_into().unwrap();
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client = server.client();
    let flood: Vec<_> = (0..FLOOD).map(|_| Author::apply(&client, "Mallory").0).collect();
    let newcomer = application_of(&fresh_key());
    client.post("/api/swarm/apply", &[], &newcomer).expect(429);
    let visitor = Visitor::signed_in(&client);
    let ticked: Vec<_> = flood.iter().map(|id| ("memberId", id.as_str())).collect();
    visitor.follow(&visitor.post("/operate/applications/reject", &ticked));
    client.post("/api/swarm/apply", &[], &newcomer).expect(201);
    for id in flood {
        let status = client.get(&format!("/api/swarm/apply/{}", id.as_str())).expect(200).json();
        assert_eq!(status["state"], "rejected");
    }
}

/// Of every form of the console, each field is one of its act.
#[test]
fn every_field_of_an_ended_session_is_kept() {
    let (fixture, _) = Fixture::with_records();
    let visitor = Visitor::signed_in(&fixture.client);
    let signed_out = Visitor::new(&fixture.client);
    let pages = routes::all().filter(|route| route.is_of_console() && route.is_read());
    let mut kept = 0;
    for form in pages.flat_map(|route| visitor.get(&route.path).forms()) {
        let own = |name: &str| matches!(name, "form" | "seen" | "token" | "to");
        if form.action == "/operate/sign-out" {
            continue;
        }
        let fields: Vec<_> = form.own.iter().filter(|(name, _)| !own(name)).collect();
        let asked = signed_out.submit(&form, &[]).expect(401).form(&form.action);
        for field in fields {
            kept += 1;
            assert!(asked.fields.contains(field), "{}: {field:?} in {asked:?}", form.action);
        }
    }
    assert!(kept > 50, "{kept}");
}

#[test]
fn form_of_an_ended_session_comes_back_after_signing_in() {
    let server = Server::start();
    let client = server.client();
    let mut visitor = Visitor::signed_in(&client);
    let path = "/operate/subjects";
    let form = visitor.get(path).expect(200).form(path);
    visitor.post("/operate/sign-out", &[]).expect(303);
    let typed = [("id", "aurora"), ("name", "A & \"B\""), ("thesisBlurb", "two\nlines")];
    let seen = visitor.submit(&form, &typed).expect(401);
    assert_eq!(seen.header("swarm-error"), Some("signed-out"));
    let seen = visitor.submit(&seen.form(path), &[("token", "wrong")]).expect(401);
    assert!(seen.header("set-cookie").is_none());
    // A wrong token waits here too.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let seen = visitor.submit(&seen.form(path), &[("token", ADMIN)]).expect(200);
    seen.says("Nothing was changed");
    client.get("/api/swarm/subjects/aurora").expect(404);
    visitor.keep(&seen);
    let form = seen.form(path);
    for (name, value) in typed {
        assert!(form.fields.contains(&(name.to_owned(), value.to_owned())), "{name} in {form:?}");
    }
    visitor.submit(&form, &[]).expect(303);
    assert_eq!(client.get("/api/swarm/subjects/aurora").json()["thesisBlurb"], "two\nlines");
}

#[test]
fn error_of_the_sign_in_is_told_once() {
    let server = Server::start();
    let seen = Visitor::new(&server.client()).sign_in("wrong").expect(401);
    assert_eq!(seen.text.matches("This token is not one of an operator.").count(), 1);
    seen.says("aria-invalid=\"true\"");
}

#[test]
fn boxes_of_the_roster_are_set_and_cleared_together() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let members = ["Ada", "Bo"].map(|name| Author::join(&client, name).id);
    let visitor = Visitor::signed_in(&client);
    let chosen = |seen: &super::visitor::Seen, path: &str| {
        let fields = seen.form(path).fields;
        fields.into_iter().filter(|(name, _)| name == "roster").count()
    };
    for (page, path) in [
        ("/operate/convene?subject=aurora", "/operate/convene"),
        ("/operate/sessions/1", "/operate/sessions/1/roster"),
    ] {
        let form = visitor.get(page).expect(200).form(path);
        let none = visitor.submit(&form, &[("choose", "none"), ("note", "typed")]).expect(200);
        assert_eq!(chosen(&none, path), 0, "{path}");
        assert!(none.form(path).fields.contains(&("note".to_owned(), "typed".to_owned())));
        none.is_silent_on("role=\"alert\"");
        let all = visitor.submit(&none.form(path), &[("choose", "all")]).expect(200);
        assert_eq!(chosen(&all, path), members.len(), "{path}");
    }
    let session = client.get("/api/swarm/sessions/1").json()["session"].clone();
    assert_eq!(session["roster"], json!(null));
    assert_eq!(client.get("/api/swarm/sessions").json()["sessions"].as_array().unwrap().len(), 1);
}

/// It is too long for the boxes and for the lines of a form.
#[test]
fn long_roster_is_kept_for_the_next_session() {
    const MEMBERS: usize = 302;
    let fixture = Fixture::start();
    let client = &fixture.client;
    let members: Vec<_> = (0..MEMBERS).map(|_| fixture.author().id).collect();
    let roster: Vec<_> = members.iter().map(|id| json!({ "memberId": id.as_str() })).collect();
    client.convene("2026-11-20", "aurora");
    let draft = json!({ "date": "2026-11-21", "subjectId": "aurora", "roster": roster });
    client.operate("/sessions", &draft).expect(201);
    client.operate("/deactivate", &json!({ "memberId": members[0].as_str() })).expect(200);
    let visitor = Visitor::signed_in(client);
    let page = visitor.get("/operate/convene?subject=aurora").expect(200);
    page.says("As in session 2: those of its 302 members that are active");
    assert!(page.text.len() < 50 * 1024, "{} bytes", page.text.len());
    let form = page.form("/operate/convene");
    let seen = visitor.submit(&form, &[("date", "2026-11-22")]);
    visitor.follow(&seen).says("The session is convened.");
    let session = client.get("/api/swarm/sessions/3").expect(200).json()["session"].clone();
    let listed = session["roster"].as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|entry| entry["memberId"].as_str().unwrap()).collect();
    assert_eq!(listed, members[1..].iter().map(|id| id.as_str()).collect::<Vec<_>>());

    // Another choice stands, and a session that is not there is refused.
    let form =
        || visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    visitor.submit(&form(), &[("date", "2026-11-23"), ("rosterKind", "")]).expect(303);
    let session = client.get("/api/swarm/sessions/4").expect(200).json()["session"].clone();
    assert_eq!(session["roster"], json!(null));
    let kept = [("date", "2026-11-24"), ("rosterKind", "kept"), ("rosterOf", "99")];
    visitor.submit(&form(), &kept).expect(404);
}

#[test]
fn rows_of_wallets_and_positions_become_lists() {
    let server = Server::start();
    let client = server.client();
    let wallets =
        json!([{ "label": "cold", "address": "0x1", "share": 1.5 }, { "address": "0x2" }]);
    let subject =
        json!({ "id": "aurora", "name": "Aurora", "status": "paused", "wallets": wallets });
    client.operate("/subjects", &subject).expect(201);
    let visitor = Visitor::signed_in(&client);
    let record = "/operate/subjects/aurora";
    let read = || client.get("/api/swarm/subjects/aurora").json();
    // The status is a choice, which has the one of the record; what is not touched stays as it is.
    visitor.fill_in(record, record, &[("thesisBlurb", "A thesis.")]).expect(303);
    assert_eq!((&read()["status"], &read()["wallets"]), (&json!("paused"), &wallets));
    let mut form = visitor.get(record).expect(200).form(record);
    let place = |name: &str, nth: usize| {
        let places = form.fields.iter().enumerate().filter(|(_, field)| field.0 == name);
        places.map(|(at, _)| at).nth(nth).unwrap()
    };
    let (second, empty) = (place("wallets-address[]", 1), place("wallets-address[]", 2));
    let chain = place("wallets-chain[]", 2);
    form.fields[second].1.clear();
    form.fields[empty].1 = "0x3".to_owned();
    form.fields[chain].1 = "base".to_owned();
    visitor.submit(&form, &[("status", "inactive")]).expect(303);
    let wallets = json!([wallets[0], { "chain": "base", "address": "0x3" }]);
    assert_eq!((&read()["status"], &read()["wallets"]), (&json!("inactive"), &wallets));

    let snapshots = format!("{record}/snapshots");
    let fields = [
        ("positions-token[]", "ETH"),
        ("positions-valueUsd[]", "1200.50"),
        ("positions-pct[]", "12"),
    ];
    visitor.fill_in(record, &snapshots, &fields).expect(303);
    let kept = client.get("/api/swarm/subjects/aurora/snapshots").expect(200).json();
    let positions = &kept["snapshots"][0]["positions"];
    assert_eq!(
        (&positions[0]["token"], &positions[0]["valueUsd"]),
        (&json!("ETH"), &json!(1200.5))
    );
    assert_eq!(positions.as_array().unwrap().len(), 1);
    let fields = [("positions-token[]", "ETH"), ("positions-pct[]", "much")];
    let seen = visitor.fill_in(record, &snapshots, &fields).expect(400);
    seen.says("<a href=\"#");
    assert!(
        seen.form(&snapshots).fields.contains(&("positions-pct[]".to_owned(), "much".to_owned()))
    );
}

#[test]
fn what_is_kept_is_listed_with_its_acts() {
    let (fixture, _) = Fixture::with_records();
    let visitor = Visitor::signed_in(&fixture.client);
    let client = &fixture.client;
    let day = "2026-11-20";
    let regime =
        json!({ "date": day, "composite": 1.5, "regime": "calm", "composite_percentile": 12 });
    client.operate("/regime", &regime).expect(200);
    let signal = json!({ "signal_key": "a key", "date": day, "payload": { "a": 1.50 } });
    client.operate("/signals", &signal).expect(200);
    let page = visitor.get(&format!("/operate/records?day={day}")).expect(200);
    for text in ["calm", "a key", "/operate/records?regime=2026-11-20", "/swarm/memos/1"] {
        page.says(text);
    }
    // A row is changed where it stands.
    let path = "/operate/records/regime";
    let page = format!("/operate/records?regime={day}");
    visitor.fill_in(&page, path, &[("regime", "wild")]).expect(303);
    let signals = format!("/operate/records?day={day}&signal=a%20key");
    let form = visitor.get(&signals).expect(200).form("/operate/records/signal");
    assert!(form.fields.contains(&("payload".to_owned(), "{\"a\":1.5}".to_owned())), "{form:?}");
    // What is no JSON is refused at its field, and comes back as it was typed.
    for (page, path, field, typed, fault) in [
        (&*signals, "/operate/records/signal", "payload", "{\"a\": 1,}", "must be JSON"),
        (&*page, path, "more", "[1]", "must be a JSON object"),
        (&*page, path, "more", "{", "must be a JSON object"),
    ] {
        let refused = visitor.fill_in(page, path, &[(field, typed)]).expect(400);
        refused.says(fault);
        refused.says(&format!("{field}\""));
        let fields = refused.form(path).fields;
        assert!(fields.contains(&(field.to_owned(), typed.to_owned())), "{fields:?}");
        assert!(!refused.text.contains("must be a day"), "the day is not at fault");
    }
    let kept = client.get(&format!("/api/swarm/signals/{day}")).text;
    assert!(!kept.contains("1,}"), "{kept}");
    visitor.get(&page).expect(200).says("wild");
    let form = visitor.get(&page).expect(200).form(path);
    assert!(form.fields.iter().any(|(name, value)| name == "more" && value.contains("12")));
    // A memo is retracted in its row, once that was confirmed.
    let retract = "/operate/records/retract";
    let asked = visitor.fill_in("/operate/records", retract, &[]).expect(200);
    asked.says("reads 404");
    client.get("/api/swarm/memos/1").expect(200);
    visitor.submit(&asked.form(retract), &[]).expect(303);
    client.get("/api/swarm/memos/1").expect(404);
}

#[test]
fn messages_have_their_acts_in_the_row() {
    let server = Server::start();
    let client = server.client();
    for name in ["Ada", "Bo"] {
        Author::join(&client, name);
    }
    let visitor = Visitor::signed_in(&client);
    let page = visitor.get("/operate/outbox").expect(200);
    let forms: Vec<_> =
        page.forms().into_iter().filter(|it| it.action.ends_with("/cancel")).collect();
    assert_eq!(forms.len(), 2, "one in each row");
    // Both are sent from one page: they are two forms.
    for form in &forms {
        visitor.submit(form, &[]).expect(303);
    }
    let messages = client.send("GET", "/api/swarm/admin/outbox", &[("x-admin-token", ADMIN)], b"");
    let messages = messages.expect(200).json();
    let states = messages["messages"].as_array().unwrap().iter().map(|it| it["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["cancelled", "cancelled"]);
}
