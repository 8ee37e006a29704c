//! Refusals of operators' requests to the committee.

use serde_json::{Value, json};

use crate::committee_fixture::{chair, submit, take};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer};

#[track_caller]
fn invalid(answer: Answer, field: &str) {
    let body = answer.expect(400).json();
    let detail = body["detail"].as_str().unwrap_or_else(|| panic!("no detail: {body}"));
    assert!(detail.starts_with(field), "{detail} does not name {field}");
    assert_eq!(body, json!({ "error": "invalid request", "detail": detail }));
}

/// A valid request, and invalid values for each of its fields.
struct Request {
    path: &'static str,
    right: Value,
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    required: bool,
    /// Its maximum length, in characters.
    limit: Option<usize>,
    wrong: Vec<Value>,
}

fn requests() -> Vec<Request> {
    let field = |name, required, limit, wrong: &[&str]| {
        let wrong = wrong.iter().map(|text| json!(text)).collect();
        Field { name, required, limit, wrong }
    };
    let not_days = ["", "2026-02-30", "2026-11-21T00:00:00Z", "2026-11-21\n", "20261121", "today"];
    let not_ids = ["", "Ada", "_ada", "a b", "a/b", "a\0", "\u{e4}", "ada\u{200b}", "\u{ff41}da"];
    let not_moments = ["", "soon", "2026-11-21", "2026-11-21T25:00:00Z", "2026-11-21T12:00:00"];
    vec![
        Request {
            path: "/members",
            right: json!({ "id": "ada", "name": "Ada", "lens": "l", "voice": "v" }),
            fields: vec![
                field("id", true, Some(100), &not_ids),
                field("name", true, Some(100), &[""]),
                field("lens", false, Some(2_000), &[]),
                field("voice", false, Some(20_000), &[]),
            ],
        },
        Request {
            path: "/members/m",
            right: json!({ "name": "Em", "lens": "l", "voice": "v" }),
            fields: vec![
                field("name", false, Some(100), &[""]),
                field("lens", false, Some(2_000), &[]),
                field("voice", false, Some(20_000), &[]),
            ],
        },
        Request {
            path: "/members/m/status",
            right: json!({ "status": "active" }),
            fields: vec![field("status", true, None, &["", "Active", "active ", "approved"])],
        },
        Request {
            path: "/day",
            right: json!({ "date": "2026-11-21", "subject_id": "aurora" }),
            fields: vec![
                field("date", true, None, &not_days),
                field("subject_id", true, Some(100), &[""]),
            ],
        },
        Request {
            path: "/briefs",
            right: json!({ "subject_id": "aurora", "deadline_utc": "2026-11-21T23:25:00Z" }),
            fields: vec![
                field("subject_id", false, Some(100), &[""]),
                field("deadline_utc", false, None, &not_moments),
            ],
        },
        Request {
            path: "/synthesis",
            right: json!({ "date": "2026-11-21", "synthesis": "Calm." }),
            fields: vec![
                field("date", true, None, &not_days),
                field("synthesis", true, Some(4_000), &[""]),
            ],
        },
    ]
}

#[test]
fn invalid_fields_are_named_and_change_nothing() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    for Request { path, right, fields } in requests() {
        let send = |name: &str, value: Value| {
            let mut body = right.clone();
            body[name] = value;
            chair(&fixture.client, path, &body)
        };
        for Field { name, required, limit, wrong } in fields {
            let others = [json!(1), json!(true), json!([]), json!({}), json!(["ada"])];
            let longer = limit.map(|limit| json!("\u{1f680}".repeat(limit + 1)));
            for value in others.into_iter().chain(wrong).chain(longer) {
                invalid(send(name, value), name);
            }
            if required {
                invalid(send(name, Value::Null), name);
                let mut absent = right.clone();
                absent.as_object_mut().unwrap().remove(name);
                invalid(chair(&fixture.client, path, &absent), name);
            }
        }
        for body in [json!([]), json!(null), json!("status"), json!(1), json!([right])] {
            invalid(chair(&fixture.client, path, &body), "body");
        }
        assert_eq!(fixture.print(), before, "{path}");
    }
}

/// The same requests with valid fields.
#[test]
fn valid_requests_are_accepted() {
    let (fixture, _) = Fixture::with_records();
    for Request { path, right, fields } in requests() {
        chair(&fixture.client, path, &right);
        for Field { name, limit, .. } in fields {
            // Text with special meanings elsewhere is kept as it is.
            let Some(limit) = limit.filter(|_| !name.ends_with("id")) else { continue };
            let mut body = right.clone();
            body[name] = json!("\0\u{1f680}</script>\u{202e}".repeat(limit / 12));
            if path == "/members" {
                body["id"] = json!(format!("ada-{name}"));
            }
            assert!(chair(&fixture.client, path, &body).status < 300, "{path} {name}");
        }
    }
    let brief = fixture.client.get("/data/committee/briefs/today/ada.json").expect(200).json();
    assert_eq!(brief["deadline_utc"], "2026-11-21T23:25:00.000Z");
    let session = fixture.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert!(session["synthesis"].as_str().unwrap().starts_with("\0\u{1f680}</script>"));
}

/// For example when the clock of the store was days ahead.
#[test]
fn member_is_changed_and_who_has_filed_is_shown() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let key = |id: &str| {
        let made = chair(client, "/members", &json!({ "id": id, "name": id })).expect(201).json();
        made["api_key"].as_str().unwrap().to_owned()
    };
    let (ada, _bob, gone) = (key("ada"), key("bob"), key("gone"));
    chair(client, "/members/gone/status", &json!({ "status": "inactive" })).expect(200);
    let changed = chair(client, "/members/ada", &json!({ "name": "Ada L.", "voice": "v" }));
    let expected = json!({ "ok": true, "member_id": "ada", "name": "Ada L.", "lens": "",
        "voice": "v", "status": "active" });
    assert_eq!(changed.expect(200).json(), expected);
    chair(client, "/members/nobody", &json!({ "name": "n" })).unread(404, "no such member");
    invalid(chair(client, "/members/ada", &json!({})), "body");
    let read = |day: &str| {
        let path = format!("/api/ic/admin/days/{day}");
        client.send("GET", &path, &[("x-admin-token", ADMIN)], b"")
    };
    let day = fixture.clock.now().day().to_string();
    read(&day).unread(404, "no such session");
    read("today").unread(404, "no such session");
    chair(client, "/briefs", &json!({})).expect(201);
    let filing = |day: &str| read(day).expect(200).json();
    assert_eq!(
        (&filing(&day)["filed"], &filing(&day)["missing"]),
        (&json!([]), &json!(["ada", "bob"]))
    );
    let take = take("neutral");
    submit(client, &ada, &take).expect(200);
    submit(client, &gone, &take);
    let filing = filing(&day);
    assert_eq!((&filing["filed"], &filing["missing"]), (&json!(["ada"]), &json!(["bob"])));
    assert_eq!(filing["subject_id"], "aurora");
    let status = client.send("GET", "/api/swarm/admin/status", &[("x-admin-token", ADMIN)], b"");
    let committee = status.expect(200).json()["committee"].clone();
    assert_eq!((&committee["filed"], &committee["missing"]), (&json!(1), &json!(["bob"])));
}

#[test]
fn day_generated_by_mistake_can_be_withdrawn() {
    let (fixture, _) = Fixture::with_records();
    let client = &fixture.client;
    let date = json!({ "date": "2026-11-21" });
    let statuses = || {
        ["/api/ic/sessions/2026-11-21", "/data/committee/briefs/today/m.json"]
            .map(|path| client.get(path).status)
    };
    let archived = json!({ "id": "basalt", "name": "Basalt", "status": "archived" });
    client.operate("/subjects", &archived).expect(201);
    chair(client, "/briefs", &json!({ "subject_id": "basalt" })).expect(201);
    assert_eq!(statuses(), [200, 200]);
    for wrong in [json!(null), json!(1), json!("today")] {
        invalid(chair(client, "/day/withdraw", &json!({ "date": wrong })), "date");
    }
    assert_eq!(chair(client, "/day/withdraw", &date).expect(200).json(), json!({ "ok": true }));
    assert_eq!(statuses(), [404, 404]);
    assert_eq!(client.get("/api/ic/sessions").expect(200).json(), json!({ "sessions": [] }));
    let last = client.log_entries().pop().unwrap();
    let said = ["kind", "act", "date", "subject_id"].map(|field| last[field].clone());
    assert_eq!(said, ["committee-day", "withdrawn", "2026-11-21", "basalt"].map(Value::from));
    chair(client, "/day/withdraw", &date).expect(404);
    let again = chair(client, "/briefs", &json!({})).expect(201).json();
    assert_eq!(again["subject_id"], "aurora", "the next subject in rotation");
    assert_eq!(statuses(), [200, 200]);
}

#[test]
fn unknown_records_are_404() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    let missing = |answer: Answer, thing: &str| {
        assert_eq!(answer.expect(404).json(), json!({ "error": format!("no such {thing}") }));
    };
    let long = "x".repeat(101);
    for id in ["n", "M", "m%00", "%6d%20", "m%2Fm", "..", "%E2%80%8Bm", "m.json", "*", &long] {
        let status = json!({ "status": "active" });
        missing(chair(&fixture.client, &format!("/members/{id}/status"), &status), "member");
        missing(
            chair(&fixture.client, &format!("/members/{id}/rotate-key"), &Value::Null),
            "member",
        );
        for file in [format!("{id}.json"), id.to_owned(), format!("{id}.json.json")] {
            let path = format!("/data/committee/briefs/today/{file}");
            if file != "m.json" {
                missing(fixture.client.get(&path), "brief");
            }
        }
    }
    for file in ["m", "m.JSON", ".json", "m.json%00", "m%2Ejson%2F", "M.json"] {
        missing(fixture.client.get(&format!("/data/committee/briefs/today/{file}")), "brief");
    }
    for subject in ["basalt", "Aurora", "aurora ", "\0", "../aurora"] {
        let day = json!({ "date": "2026-11-21", "subject_id": subject });
        missing(chair(&fixture.client, "/day", &day), "subject");
        missing(chair(&fixture.client, "/briefs", &json!({ "subject_id": subject })), "subject");
    }
    for date in ["2026-11-20", "2026-11-22", "0000-01-01", "9999-12-31"] {
        let synthesis = json!({ "date": date, "synthesis": "s" });
        missing(chair(&fixture.client, "/synthesis", &synthesis), "session");
        let withdrawal = json!({ "date": date });
        missing(chair(&fixture.client, "/day/withdraw", &withdrawal), "session");
        missing(fixture.client.get(&format!("/api/ic/sessions/{date}")), "session");
    }
    for date in ["2026-02-30", "today", "2026-11-21%20", "1", "2026-11-2%EF%BC%91", "%00"] {
        missing(fixture.client.get(&format!("/api/ic/sessions/{date}")), "session");
    }
    assert_eq!(fixture.print(), before);
}

#[test]
fn invalid_queries_are_refused() {
    let (fixture, _) = Fixture::with_records();
    let whole = fixture.client.get("/api/ic/sessions").expect(200).json();
    assert_eq!(whole["sessions"][0]["date"], "2026-11-21");
    for query in ["limit=1", "limit=500", "before=2026-11-22", "before=9999-99-99", "x=y", ""] {
        assert_eq!(
            fixture.client.get(&format!("/api/ic/sessions?{query}")).json(),
            whole,
            "{query}"
        );
    }
    let none = fixture.client.get("/api/ic/sessions?before=2026-11-21").expect(200).json();
    assert_eq!(none, json!({ "sessions": [] }));
    for name in ["limit", "before"] {
        for bad in ["", "x", "-1", "0", "1.0", "501", "01", "%2B1", "18446744073709551616", "%ff"] {
            let answer = fixture.client.get(&format!("/api/ic/sessions?{name}={bad}"));
            answer.unread(400, "invalid query");
        }
    }
}

#[test]
fn earlier_deadline_is_cautioned_of() {
    let (fixture, _) = Fixture::with_records();
    let codes = |deadline: &str| {
        let order = json!({ "deadline_utc": deadline });
        let judged = chair(&fixture.client, "/briefs?dry_run=true", &order).expect(201).json();
        let cautions = judged["cautions"].as_array().unwrap().clone();
        cautions.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes("2000-01-01T00:00:00Z"), ["deadline-earlier"]);
    let tomorrow = "2099-01-01T00:00:00Z";
    assert_eq!(codes(tomorrow), [""; 0]);
    chair(&fixture.client, "/briefs", &json!({ "deadline_utc": tomorrow })).expect(201);
    assert_eq!(codes("2098-01-01T00:00:00Z"), ["deadline-earlier"]);
}

/// A generation needs a subject.
#[test]
fn generation_without_an_active_subject_is_refused() {
    let fixture = Fixture::start();
    let refused = |answer: Answer| answer.unread(409, "no active subject");
    refused(chair(&fixture.client, "/briefs", &json!({})));
    let archived = json!({ "id": "aurora", "name": "Aurora", "status": "archived" });
    fixture.client.operate("/subjects", &archived).expect(201);
    refused(chair(&fixture.client, "/briefs", &json!({})));
    chair(&fixture.client, "/briefs", &json!({ "subject_id": "aurora" })).expect(201);
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let odd = [headers[0], ("content-type", "text/plain")];
    fixture.client.send("POST", "/api/ic/admin/briefs", &odd, b"{}").expect(415);
    let made = json!({
        "ok": true, "date": "2026-11-21", "subject_id": "aurora", "briefs": 0,
        "deadline_utc": "2026-11-21T23:25:00.000Z",
    });
    // Without a body: all fields are optional, and the earlier choices of the day are kept.
    for headers in [&headers[..1], &headers[..], &odd[..]] {
        let bare = fixture.client.send("POST", "/api/ic/admin/briefs", headers, b"");
        assert_eq!(bare.expect(201).json(), made);
    }
}

#[test]
fn member_ids_are_unique() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    let again = chair(&fixture.client, "/members", &json!({ "id": "m", "name": "Another" }));
    let taken = json!({ "error": "member id already taken", "detail": "m" });
    assert_eq!(again.expect(409).json(), taken);
    assert_eq!(fixture.print(), before);
}
