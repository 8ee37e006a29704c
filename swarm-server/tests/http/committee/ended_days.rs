//! Closed sessions, withdrawn and regenerated days, and inactive members.

use serde_json::{Value, json};
use swarm_core::{CommitteeSettings, Committees, SystemEntropy, TenantId};

use crate::backend::{Backend, on_every_store};
use crate::committee_fixture::{BRIEF, KEY, chair, insert_member, records, submit, take};
use crate::fixture::{Fixture, now};
use crate::harness::ADMIN;

on_every_store! {
    session_with_published_takes_stays_closed,
    schedule_does_not_reopen_a_session_with_published_takes,
    schedule_reopens_a_session_without_takes,
    withdrawn_day_keeps_its_submissions,
    briefs_do_not_quote_a_withdrawn_day,
    briefs_quote_only_takes_since_the_last_generation,
    inactive_member_has_no_brief,
    unmodified_brief_is_304,
    members_are_listed_for_their_operator,
}

const SESSION: &str = "/api/ic/sessions/2026-11-21";

/// From noon to the time of the schedule.
const UNTIL_THE_SCHEDULE: i64 = (10 * 60 + 45) * 60 * 1_000;

fn fixture(backend: &Backend) -> Fixture {
    let fixture = Fixture::on(backend);
    insert_member(&fixture.committee(), "m", KEY);
    fixture.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    fixture
}

/// Runs the schedule; returns the number of briefs generated, if any.
fn tick(fixture: &Fixture) -> Option<usize> {
    let committees = Committees::new(fixture.store.clone(), SystemEntropy);
    let tenant = TenantId::parse("default").unwrap();
    let committee = committees.tenant(&tenant, CommitteeSettings::default());
    now(committee.generate_if_due()).unwrap().map(|made| made.briefs)
}

fn session_with_published_takes_stays_closed(backend: &Backend) {
    let fixture = fixture(backend);
    let until = |millis: i64| {
        chair(&fixture.client, "/briefs", &json!({ "deadline_utc": fixture.clock.after(millis) }))
    };
    until(-1).expect(201);
    // Nothing was filed, so nothing was published.
    until(1_000).expect(201);
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
    until(500).expect(201);
    until(1_000).expect(201);
    fixture.clock.move_by(1_001);
    let read = || fixture.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    let shown = read();
    assert_eq!(shown["takes"].as_array().map(Vec::len), Some(1));
    for later in [0, 60_000] {
        until(later).unread(409, "submission window closed");
    }
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    assert_eq!(read(), shown);
    submit(&fixture.client, KEY, &take("bullish")).unread(409, "submission window closed");
}

fn schedule_does_not_reopen_a_session_with_published_takes(backend: &Backend) {
    let fixture = fixture(backend);
    let order = json!({ "deadline_utc": fixture.clock.after(1_000) });
    chair(&fixture.client, "/briefs", &order).expect(201);
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
    fixture.clock.move_by(UNTIL_THE_SCHEDULE);
    let shown = fixture.client.get(SESSION).expect(200).text;
    let brief = fixture.client.get(BRIEF).expect(200).text;
    assert_eq!(tick(&fixture), None);
    assert_eq!(fixture.client.get(SESSION).expect(200).text, shown);
    assert_eq!(fixture.client.get(BRIEF).expect(200).text, brief);
    submit(&fixture.client, KEY, &take("bullish")).unread(409, "submission window closed");
}

fn schedule_reopens_a_session_without_takes(backend: &Backend) {
    let fixture = fixture(backend);
    let order = json!({ "deadline_utc": fixture.clock.after(1_000) });
    chair(&fixture.client, "/briefs", &order).expect(201);
    fixture.clock.move_by(UNTIL_THE_SCHEDULE);
    assert_eq!((tick(&fixture), tick(&fixture)), (Some(1), None));
    let session = fixture.client.get(SESSION).expect(200).json();
    assert_eq!(session["deadline_utc"], "2026-11-21T23:25:00.000Z");
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
}

/// The schedule then treats the day as not generated.
fn withdrawn_day_keeps_its_submissions(backend: &Backend) {
    let fixture = fixture(backend);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
    let synthesis = json!({ "date": "2026-11-21", "synthesis": "Calm." });
    chair(&fixture.client, "/synthesis", &synthesis).expect(200);
    let submitted = records(&fixture.committee());
    assert_eq!(submitted.len(), 1);
    chair(&fixture.client, "/day/withdraw", &json!({ "date": "2026-11-21" })).expect(200);
    assert_eq!(records(&fixture.committee()), submitted);
    fixture.client.get(SESSION).unread(404, "no such session");
    let refused = submit(&fixture.client, KEY, &take("bullish"));
    refused.unread(409, "no brief published yet for today");
    assert_eq!(tick(&fixture), None, "it is noon");
    fixture.clock.move_by(UNTIL_THE_SCHEDULE);
    assert_eq!(tick(&fixture), Some(1));
    let session = fixture.client.get(SESSION).expect(200).json();
    assert_eq!((&session["synthesis"], &session["takes"]), (&Value::Null, &json!([])));
    fixture.clock.move_by(60 * 60 * 1_000);
    let session = fixture.client.get(SESSION).expect(200).json();
    assert_eq!(session["takes"], json!([]), "what was submitted before does not count");
    assert_eq!(records(&fixture.committee()), submitted);
}

fn briefs_do_not_quote_a_withdrawn_day(backend: &Backend) {
    let fixture = fixture(backend);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    submit(&fixture.client, KEY, &take("bullish")).expect(200);
    chair(&fixture.client, "/day/withdraw", &json!({ "date": "2026-11-21" })).expect(200);
    fixture.clock.move_by(24 * 60 * 60 * 1_000);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    let brief = fixture.client.get(BRIEF).expect(200).json();
    assert_eq!(brief["recent_sessions"], json!([]));
    assert_eq!(brief["your_recent_takes"], json!([]));
}

fn briefs_quote_only_takes_since_the_last_generation(backend: &Backend) {
    let fixture = fixture(backend);
    fixture.client.operate("/subjects", &json!({ "id": "borealis", "name": "B" })).expect(201);
    for (subject, stance) in [("aurora", "bullish"), ("borealis", "bearish")] {
        chair(&fixture.client, "/day/withdraw", &json!({ "date": "2026-11-21" }));
        chair(&fixture.client, "/briefs", &json!({ "subject_id": subject })).expect(201);
        submit(&fixture.client, KEY, &take(stance)).expect(200);
    }
    fixture.clock.move_by(24 * 60 * 60 * 1_000);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    let brief = fixture.client.get(BRIEF).expect(200).json();
    let recalled = brief["your_recent_takes"].as_array().unwrap();
    assert_eq!(recalled.len(), 1);
    assert_eq!(recalled[0]["stance"], "bearish");
}

fn inactive_member_has_no_brief(backend: &Backend) {
    let fixture = fixture(backend);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    let brief = fixture.client.get(BRIEF).expect(200).text;
    let status = |status: &str| {
        chair(&fixture.client, "/members/m/status", &json!({ "status": status })).expect(200);
    };
    status("inactive");
    fixture.client.get(BRIEF).unread(404, "no such brief");
    status("active");
    assert_eq!(fixture.client.get(BRIEF).expect(200).text, brief);
}

fn unmodified_brief_is_304(backend: &Backend) {
    let fixture = fixture(backend);
    chair(&fixture.client, "/briefs", &json!({})).expect(201);
    let get = |headers: &[(&str, &str)]| fixture.client.send("GET", BRIEF, headers, b"");
    let brief = get(&[]).expect(200);
    assert_eq!(brief.header("cache-control"), Some("no-cache"));
    let (modified, tag) = (brief.header("last-modified").unwrap(), brief.header("etag").unwrap());
    assert_eq!(modified, "Sat, 21 Nov 2026 12:00:00 GMT");
    for since in [modified, "Sat, 21 Nov 2026 12:00:01 GMT", "Saturday, 21-Nov-26 12:00:00 GMT"] {
        assert_eq!(get(&[("if-modified-since", since)]).expect(304).text, "", "{since}");
    }
    for since in ["Sat, 21 Nov 2026 11:59:59 GMT", "2026-11-21T12:00:00Z", "yesterday", ""] {
        get(&[("if-modified-since", since)]).expect(200);
    }
    // The tag takes precedence over the date.
    get(&[("if-none-match", "\"other\""), ("if-modified-since", modified)]).expect(200);
    get(&[("if-none-match", tag), ("if-modified-since", "Sat, 21 Nov 2026 11:59:59 GMT")])
        .expect(304);
    // Generated again, in the same second and later.
    let mut modified = modified.to_owned();
    for millis in [0, 999, 1, 1_000] {
        fixture.clock.move_by(millis);
        chair(&fixture.client, "/briefs", &json!({})).expect(201);
        let again = get(&[("if-modified-since", &modified)]).expect(200);
        modified = again.header("last-modified").unwrap().to_owned();
        get(&[("if-modified-since", &modified)]).expect(304);
    }
}

fn members_are_listed_for_their_operator(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let path = "/api/ic/admin/members";
    let list = || fixture.client.send("GET", path, &[("x-admin-token", ADMIN)], b"").expect(200);
    assert_eq!(list().json(), json!({ "members": [] }));
    let zoe = json!({ "id": "zoe", "name": "Zoë", "lens": "Flows.", "voice": "Terse." });
    let ada = json!({ "id": "ada", "name": "Ada" });
    for member in [&zoe, &ada] {
        chair(&fixture.client, "/members", member).expect(201);
    }
    chair(&fixture.client, "/members/zoe/status", &json!({ "status": "inactive" })).expect(200);
    let shown = |member: &Value, status: &str| {
        let text = |field: &str| member[field].as_str().unwrap_or_default().to_owned();
        json!({
            "id": text("id"), "name": text("name"), "lens": text("lens"), "voice": text("voice"),
            "status": status,
        })
    };
    let members = json!([shown(&ada, "active"), shown(&zoe, "inactive")]);
    let listed = list();
    assert_eq!(listed.json(), json!({ "members": members }));
    assert_eq!(listed.header("cache-control"), Some("no-store"));
    fixture.client.get(path).unread(401, "admin token required");
}
