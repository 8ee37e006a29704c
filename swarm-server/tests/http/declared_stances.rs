//! Sessions that declare their stances, how many takes a member may file, and the method of aggregation (API.md, 6.4).

use std::process::Command;

use serde_json::{Value, json};
use swarm_redis_testing::wait_until;

use crate::backend::{Backend, on_every_store};
use crate::clients::python;
use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, signed_text};
use crate::program::{Program, swarm};

on_every_store! {
    declaration_is_in_record_and_log_and_never_changes,
    takes_are_judged_by_the_declaration,
}

const DATE: &str = "2026-11-21";

/// A session on a subject with three stances, at most two takes of a member, and the weighted median.
fn declared(subject: &str) -> Value {
    json!({
        "date": DATE, "subjectId": subject,
        "stances": [
            { "name": "yes", "rank": 100 }, { "name": "no", "rank": 0 },
            { "name": "per <haps>", "rank": 62.5 },
        ],
        "maxRevisions": 2, "method": "weighted_median",
    })
}

fn convene(client: &Client, subject: &str) -> Value {
    // The first one creates the subject.
    client.convene("2026-11-20", subject);
    client.operate("/sessions", &declared(subject)).expect(201).json()["session"].clone()
}

fn take(author: &Author, subject: &str, stance: &str, confidence: f64) -> String {
    let fields = json!({
        "date": DATE, "subjectId": subject, "stance": stance, "confidence": confidence,
    });
    signed_text(&author.key.sign(author.draft_of(fields)))
}

fn file(client: &Client, author: &Author, subject: &str, stance: &str, confidence: f64) {
    client.submit_text(author, &take(author, subject, stance, confidence)).expect(201);
}

fn ranked() -> Value {
    json!([
        { "name": "no", "rank": 0 }, { "name": "per <haps>", "rank": 62.5 },
        { "name": "yes", "rank": 100 },
    ])
}

fn declaration_is_in_record_and_log_and_never_changes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let session = convene(client, "aurora");
    let id = session["id"].as_u64().unwrap();
    let is_declared = |record: &Value| {
        assert_eq!(record["stances"], ranked(), "in ascending order of rank");
        assert_eq!(
            (&record["maxRevisions"], &record["method"]),
            (&json!(2), &json!("weighted_median"))
        );
    };
    is_declared(&session);
    is_declared(&client.get(&format!("/api/swarm/sessions/{id}")).expect(200).json()["session"]);
    let summaries = client.get("/api/swarm/sessions?view=summary").expect(200).json();
    is_declared(&summaries["sessions"][0]);
    let silent = &summaries["sessions"][1];
    for field in ["stances", "maxRevisions", "method"] {
        assert_eq!(silent.get(field), None, "of a session that declares nothing");
        let change = json!({ field: declared("aurora")[field] });
        let path = format!("/api/swarm/admin/sessions/{id}");
        let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
        let answer = client.send("PATCH", &path, &headers, change.to_string().as_bytes());
        answer.expect(400);
    }
    let log = client.get(&format!("/api/swarm/log?session={id}")).expect(200).json();
    is_declared(&log["entries"][0]["session"]);

    let brief = client.operate(&format!("/sessions/{id}/brief"), &json!({})).expect(201).json();
    let body = &brief["brief"]["body"];
    let stances = &body["takeSchema"]["properties"]["stance"]["enum"];
    assert_eq!(*stances, json!(["no", "per <haps>", "yes"]));
    assert!(
        body["prompt"]["system"].as_str().unwrap().contains(r#"one of "no", "per <haps>", "yes""#)
    );

    for (field, value, detail) in [
        ("stances", json!([{ "name": "yes", "rank": 1 }]), "stances must name 2 to 20 stances"),
        (
            "stances",
            json!([{ "name": "yes", "rank": 1 }, { "name": "yes", "rank": 2 }]),
            "stances must name each stance once",
        ),
        (
            "stances",
            json!([{ "name": "yes", "rank": 1 }, { "name": "no", "rank": 1 }]),
            "stances must have a rank of its own each",
        ),
        (
            "stances",
            json!([{ "name": "yes", "rank": 1001 }, { "name": "no", "rank": 1 }]),
            "stances must have ranks from -1000 to 1000 with at most six decimals",
        ),
        ("maxRevisions", json!(6), "maxRevisions must be from 1 to 5"),
        ("method", json!("median"), "method must be mean or weighted_median"),
    ] {
        let mut draft = declared("aurora");
        draft[field] = value;
        let answer = client.operate("/sessions", &draft).expect(400).json();
        assert_eq!(
            (&answer["error"], &answer["detail"]),
            (&json!("invalid request"), &json!(detail))
        );
    }
}

fn takes_are_judged_by_the_declaration(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    convene(client, "aurora");
    let bearer = [("authorization", &*author.bearer())];
    let preflight =
        |take: &str| client.post("/api/swarm/preflight", &bearer, take).expect(200).json();

    let other = take(&author, "aurora", "bullish", 0.5);
    let found = preflight(&other);
    assert_eq!(found["findings"][0]["code"], "undeclared-stance");
    assert_eq!((&found["findings"][0]["status"], &found["warnings"]), (&json!(400), &json!([])));
    let refused = client.submit_text(&author, &other);
    assert_eq!(refused.header("swarm-error"), Some("undeclared-stance"));
    let hint = r#"stance: must be one of "no", "per <haps>", "yes", is "bullish""#;
    assert_eq!(refused.header("swarm-hint"), Some(hint));
    let body =
        json!({ "ok": false, "status": 400, "error": "stance not declared for this session" });
    assert_eq!(refused.expect(400).json(), body);

    let first = take(&author, "aurora", "yes", 0.5);
    assert_eq!(
        (&preflight(&first)["ok"], &preflight(&first)["takesLeft"]),
        (&json!(true), &json!(1))
    );
    client.submit_text(&author, &first).expect(201);
    file(client, &author, "aurora", "no", 0.5);
    let third = take(&author, "aurora", "yes", 0.9);
    assert_eq!(preflight(&third)["findings"][0]["code"], "cap-reached");
    let me = client.send("GET", "/api/swarm/me", &bearer, b"").expect(200).json();
    let standing = &me["sessions"].as_array().unwrap().iter().find(|it| it["date"] == DATE);
    assert_eq!(
        (&standing.unwrap()["takesLeft"], &standing.unwrap()["code"]),
        (&json!(0), &json!("cap-reached"))
    );
    let refused = client.submit_text(&author, &third);
    assert_eq!(refused.header("swarm-error"), Some("cap-reached"));
    refused.refused(409, "amendment cap reached (2 takes per member per session)");
}

/// The whole way, with the program: what third parties verify, and what people see.
#[test]
fn result_is_the_declared_one_and_both_verifiers_follow_it() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    let id = convene(client, "aurora")["id"].as_u64().unwrap();
    let [ada, grace, lin] = ["Ada", "Grace", "Lin"].map(|name| Author::join(client, name));
    file(client, &ada, "aurora", "yes", 0.9);
    file(client, &ada, "aurora", "yes", 0.3);
    file(client, &grace, "aurora", "no", 0.1);
    file(client, &lin, "aurora", "per <haps>", 0.2);
    let page = client.get(&format!("/swarm/sessions/{id}")).expect(200).text;
    assert!(page.contains("no (0), per &#60;haps&#62; (62.5), yes (100)"), "{page}");
    for part in ["at most 2, the first one included", "the lower median, weighted by confidence"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let takes = client.get(&format!("/api/swarm/sessions/{id}")).expect(200).json();
    let last = takes["takes"].as_array().unwrap().iter().map(|it| it["filedAt"].as_str()).max();
    let patch = json!({ "windowClosesAt": last.flatten() }).to_string();
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let path = format!("/api/swarm/admin/sessions/{id}");
    client.send("PATCH", &path, &headers, patch.as_bytes()).expect(200);
    for state in ["aggregated", "published"] {
        client.operate(&format!("/sessions/{id}/state"), &json!({ "state": state })).expect(200);
    }
    let session = client.get(&format!("/api/swarm/sessions/{id}")).expect(200).json();
    let snapshot = &session["session"]["snapshot"];
    assert_eq!(snapshot["stances"], json!({ "no": 1, "per <haps>": 1, "yes": 1 }));
    // Half of all confidence is at or below it.
    let consensus = json!({
        "stance": "per <haps>", "score": 62.5, "confidence": 0.2, "method": "weighted_median",
    });
    assert_eq!(snapshot["consensus"], consensus);

    let outcome =
        |value: f64| client.operate(&format!("/sessions/{id}/outcome"), &json!({ "value": value }));
    let detail = outcome(100.5).expect(400).json()["detail"].clone();
    assert_eq!(detail, "value must be a number from 0 to 100, or null");
    outcome(75.0).expect(200);
    let scores = client.get(&format!("/api/swarm/sessions/{id}/scores")).expect(200).json();
    assert_eq!(scores["value"], 75);
    let mut all = scores["scores"].as_array().unwrap().iter();
    let lin_score = all.find(|score| score["memberId"] == lin.id.as_str()).unwrap();
    // (1 + 0.25 × 0.2) ÷ 2, and the loss to ¾.
    assert_eq!((&lin_score["forecast"], &lin_score["loss"]), (&json!(0.525), &json!(0.050625)));

    // The form names the ends of the session's scale.
    let form = Visitor::signed_in(client).get(&format!("/operate/sessions/{id}")).expect(200);
    form.says("From 0 (no) to 100 (yes), such as 0.5.");
    let page = client.get(&format!("/swarm/sessions/{id}")).expect(200).text;
    assert!(page.contains(">per &lt;haps&gt;</text>") && page.contains(">62.5</text>"), "{page}");
    assert!(
        page.contains("The score is the lower median of the stances, from 0 (no) to 100 (yes)")
    );
    assert!(!page.contains("bullish</text>") && !page.contains("<haps>"), "{page}");
    client.get(&format!("/swarm/sessions/{id}/picture.png")).expect(200);
    for path in ["/swarm/sessions", "/swarm/subjects/aurora", "/swarm/ranking", "/", "/feed.xml"] {
        client.get(path).expect(200);
    }
    let member = client.get(&format!("/swarm/members/{}", lin.id)).expect(200).text;
    // All of the member's sessions on the subject have one scale.
    let words = member.contains(">yes</text>") && !member.contains(">highest</text>");
    assert!(member.contains("per &lt;haps&gt;") && words, "{member}");
    let subject = client.get("/swarm/subjects/aurora").expect(200).text;
    for words in [">0 no</text>", ">62.5 per &lt;haps&gt;</text>", ">100 yes</text>"] {
        assert!(subject.contains(words), "{words}: {subject}");
    }
    // The mark of a stance is that of its place in lists of several sessions too.
    for path in [
        "/",
        "/swarm/takes",
        "/swarm/find?q=aurora",
        "/swarm/takes/1",
        "/swarm/takes?superseded=true",
    ] {
        let page = client.get(path).expect(200).text;
        assert!(page.contains("mark bearish") || path == "/swarm/takes/1", "{path}: {page}");
        assert!(page.contains("mark bullish") && !page.contains("mark other"), "{path}: {page}");
    }
    let roster = client.get(&format!("/swarm/sessions/{id}/roster")).expect(200).text;
    assert!(roster.contains("mark bullish") && !roster.contains("mark other"), "{roster}");
    let rows = client.get("/swarm/subjects/aurora.json").expect(200).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["sessionId"] == id).unwrap();
    assert_eq!((&row["stances"], &row["neutral"]), (&snapshot["stances"], &json!(null)));
    // Distances are in points of the published score: the three members are 62.5, 0 and 37.5 points away from it.
    let spread = 100.0 / 3.0;
    assert!((row["dissent"].as_f64().unwrap() - spread).abs() < 1e-9, "{row}");
    for path in ["/", "/swarm/subjects"] {
        let page = client.get(path).expect(200).text;
        assert!(page.contains("+62.50") && page.contains("spread 33.33"), "{path}: {page}");
    }
    let csv = client.get("/swarm/subjects/aurora.csv").expect(200).text;
    assert!(csv.contains(r#""{""no"":1,""per <haps>"":1,""yes"":1}""#), "{csv}");

    let bundle = bundle(client, id);
    for (status, said) in verdicts(client, &bundle) {
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("holds: stance: each take has one of the 3 stances"), "{said}");
        assert!(said.contains("holds: outcome: 75; from the snapshot, 3 members scored"), "{said}");
    }
    let by_mean = bundle.replace(r#""score":62.5,"#, r#""score":70.833333333333,"#);
    assert_ne!(by_mean, bundle);
    for (status, said) in verdicts(client, &by_mean) {
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("fails: snapshot:"), "{said}");
    }
}

/// The bundle of a session, once a checkpoint has it.
fn bundle(client: &Client, id: u64) -> String {
    let path = format!("/api/swarm/sessions/{id}/bundle");
    wait_until("the checkpoint has it", || client.get(&path).status == 200);
    client.get(&path).expect(200).text
}

/// What both verifiers say of a bundle, and their exit statuses.
fn verdicts(client: &Client, bundle: &str) -> [(Option<i32>, String); 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.json");
    std::fs::write(&file, bundle).unwrap();
    let key = client.get("/.well-known/swarm.json").expect(200).json()["logKey"].clone();
    let arguments = ["verify", file.to_str().unwrap(), "--key", key.as_str().unwrap()];
    let rust = swarm(&arguments, &[]).output().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/python/verify_bundle.py");
    let python =
        Command::new(python()).args(["-B", script]).args(&arguments[1..]).output().unwrap();
    [rust, python].map(|output| (output.status.code(), String::from_utf8(output.stdout).unwrap()))
}

/// The doubles nearest to 0.1 and 0.3 are not equally far from that of 0.2, and half the sum of those of 0.1 and 0.7 is not that
/// of 0.4.
#[test]
fn ties_of_decimals_are_exact_for_every_verifier() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    let authors = ["Ada", "Grace"].map(|name| Author::join(client, name));
    for (subject, ranks, filed, stance, score) in [
        ("two", &[("low", 0.1), ("high", 0.3)][..], ["low", "high"], "low", 0.2),
        (
            "three",
            &[("low", 0.1), ("middle", 0.4), ("high", 0.7)],
            ["low", "middle"],
            "middle",
            0.25,
        ),
    ] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
        let ranked = |(name, rank): &(&str, f64)| json!({ "name": name, "rank": rank });
        let stances: Vec<_> = ranks.iter().map(ranked).collect();
        let draft = json!({ "date": DATE, "subjectId": subject, "stances": stances });
        let session = client.operate("/sessions", &draft).expect(201).json()["session"].clone();
        let id = session["id"].as_u64().unwrap();
        for (author, stance) in authors.iter().zip(filed) {
            file(client, author, subject, stance, 0.5);
        }
        let path = format!("/sessions/{id}/state");
        let aggregated = client.operate(&path, &json!({ "state": "aggregated" })).expect(200);
        let consensus = json!({ "stance": stance, "score": score, "confidence": 0.5 });
        assert_eq!(aggregated.json()["session"]["snapshot"]["consensus"], consensus);
        for (status, said) in verdicts(client, &bundle(client, id)) {
            assert_eq!(status, Some(0), "{said}");
            assert!(said.contains("holds: snapshot: "), "{said}");
        }
    }
}

/// Lists compare on one scale, and show each figure on that of its session.
#[test]
fn figures_are_on_the_scale_of_the_session_and_compare_on_that_of_the_service() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(client, name));
    let percents = json!([{ "name": "no", "rank": 0 }, { "name": "yes", "rank": 100 }]);
    for (subject, declared, stances) in [
        ("percents", json!({ "stances": percents }), ["yes", "no"]),
        ("service", json!({}), ["bullish", "bullish"]),
    ] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
        let mut draft = declared;
        draft["date"] = json!(DATE);
        draft["subjectId"] = json!(subject);
        let session = client.operate("/sessions", &draft).expect(201).json()["session"].clone();
        for (author, stance) in [&ada, &grace].into_iter().zip(stances) {
            file(client, author, subject, stance, 0.5);
        }
        for state in ["aggregated", "published"] {
            let path = format!("/sessions/{}/state", session["id"]);
            client.operate(&path, &json!({ "state": state })).expect(200);
        }
    }
    let rows = client.get(&format!("/swarm/members/{}.json", ada.id)).expect(200).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["subjectId"] == "percents").unwrap();
    assert_eq!(
        (&row["consensusScore"], &row["distanceFromOthers"]),
        (&json!(50), &json!(100)),
        "{row}"
    );
    // A legend is of the stances that the sessions of the page have.
    for (subject, has_legend) in [("percents", false), ("service", true)] {
        let page = client.get(&format!("/swarm/subjects/{subject}")).expect(200).text;
        assert_eq!(page.contains("class=\"legend\""), has_legend, "{subject}");
    }
    let first = |sort: &str| {
        let page = client.get(&format!("/swarm/subjects?sort={sort}")).expect(200).text;
        let [percents, service] = ["percents", "service"]
            .map(|subject| page.find(&format!("/swarm/subjects/{subject}\"")).unwrap());
        if percents < service { "percents" } else { "service" }
    };
    // A score of 50 of 100 is in the middle; one of 2 is the highest.
    assert_eq!((first("score"), first("spread")), ("service", "percents"));
}

/// An operator declares it on the command line, and in the console.
#[test]
fn commands_and_console_declare_stances() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    client.convene("2026-11-20", "aurora");
    let url = format!("http://{}", client.address);
    let convene = |more: &[&str]| {
        let arguments = ["admin", "--url", &url, "session", "convene", "--subject", "aurora"];
        swarm(&[&arguments, more].concat(), &[("SWARM_ADMIN_TOKEN", ADMIN)]).output().unwrap()
    };
    let stances = ["--stance", "sell=-1.5", "--stance", "a=b=2", "--max-revisions", "1"];
    let output = convene(&[&stances[..], &["--method", "weighted_median"]].concat());
    assert!(output.status.success(), "{output:?}");
    let session = client.get("/api/swarm/sessions/2").expect(200).json()["session"].clone();
    let expected = json!([{ "name": "sell", "rank": -1.5 }, { "name": "a=b", "rank": 2 }]);
    assert_eq!((&session["stances"], &session["maxRevisions"]), (&expected, &json!(1)));
    assert_eq!(session["method"], "weighted_median");
    for wrong in [&["--stance", "sell"][..], &["--stance", "sell=low"], &["--method", "median"]] {
        assert_eq!(convene(wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(convene(&["--stance", "sell=1"]).status.code(), Some(1), "refused by the service");

    // The form is filled in as the last one of the subject was.
    let visitor = Visitor::signed_in(client);
    let page = visitor.get("/operate/convene?subject=aurora").expect(200);
    page.says("-1.5 sell");
    let form = page.form("/operate/convene");
    let refused = visitor.submit(&form, &[("date", DATE), ("stances", "low sell\n1 buy")]);
    refused.expect(400).says("must be objects with a name and a rank: rank must be a number");
    let stances = [("date", DATE), ("stances", " -1 sell out\n\n+1.5 buy "), ("maxRevisions", "3")];
    visitor.follow(&visitor.submit(&form, &stances).expect(303)).expect(200);
    let session = client.get("/api/swarm/sessions/3").expect(200).json()["session"].clone();
    let expected = json!([{ "name": "sell out", "rank": -1 }, { "name": "buy", "rank": 1.5 }]);
    assert_eq!((&session["stances"], &session["maxRevisions"]), (&expected, &json!(3)));
    assert_eq!(session["method"], "weighted_median", "as the last one");
}
