//! Acts on sessions.

use swarm_core::Invalid;
use swarm_core::json::Json;

use super::super::body::Body;
use super::super::form::FormData;
use super::super::page_id::PageId::{self, Session, Sessions};
use super::{Act, BodyFn};

const SESSION_ROUTE: &str = "/api/swarm/admin/sessions/{id}";
const STATE_ROUTE: &str = "/api/swarm/admin/sessions/{id}/state";
const OUTCOME_ROUTE: &str = "/api/swarm/admin/sessions/{id}/outcome";
const EXCUSE_ROUTE: &str = "/api/swarm/admin/sessions/{id}/roster/excuse";

const fn patch(path: &'static str, verb: &'static str, body: BodyFn) -> Act {
    Act::new(path, ("PATCH", SESSION_ROUTE), Session).by(verb).with_body(body)
}

fn convened(_: &[String], sent: &FormData) -> Json {
    let body = Body::noted(sent).texts(&["date", "subjectId", "state"]).time("windowClosesAt");
    let body = body.texts(&["question", "resolution"]).time("resolvesAt");
    let body = body.value("quorum").lines("buckets");
    let body = body.ranked("stances").value("maxRevisions").text("method");
    let given = ["blind", "practice", "finish"].into_iter().filter(|name| sent.has(name));
    let body = given.fold(body, Body::flag);
    match sent.text("rosterKind") {
        "listed" => body.set("roster", listed(sent)).json(),
        _ => body.json(),
    }
}

/// The rows of a roster: the chosen members, or those whose ids stand on the lines of the field.
fn listed(sent: &FormData) -> Json {
    let ids = sent.all("roster").flat_map(str::lines).map(str::trim).filter(|id| !id.is_empty());
    ids.map(|id| Json::from([("memberId", Json::from(id))])).collect()
}

/// An outcome is typed. The API, which annuls one without a number, would say what number it must be.
fn check_outcome(sent: &FormData) -> Result<(), Invalid> {
    if sent.text("value").is_empty() { Err(Invalid::missing("value")) } else { Ok(()) }
}

/// A roster without members is frozen like any other, and nobody could file.
fn check_roster(sent: &FormData) -> Result<(), Invalid> {
    let is_empty = || matches!(listed(sent), Json::List(rows) if rows.is_empty());
    match sent.text("rosterKind") == "listed" && is_empty() {
        true => Err(Invalid::new("roster", "must have a member")),
        false => Ok(()),
    }
}

fn excused(sent: &FormData, excused: bool) -> Json {
    Body::noted(sent).text("memberId").set("excused", Json::Bool(excused)).json()
}

/// The body with the prompt of a brief, if one is typed.
fn prompted(body: Body<'_>, sent: &FormData) -> Json {
    let prompt = Body::of(sent).texts(&["system", "user"]).json();
    match prompt == Json::from([]) {
        true => body.json(),
        false => body.set("prompt", prompt).json(),
    }
}

pub(in crate::pages::console) static CONVENE: Act =
    Act::post("/operate/convene", "/api/swarm/admin/sessions", PageId::Convene)
        .with_body(convened)
        .checked(check_roster)
        .followed_by(Session)
        .then("publishBrief", &PUBLISH_BRIEF)
        .with_fields(&[
            "publishBrief",
            "note",
            "date",
            "subjectId",
            "state",
            "windowClosesAt",
            "quorum",
            "buckets",
            "stances",
            "maxRevisions",
            "method",
            "blind",
            "practice",
            "finish",
            "question",
            "resolution",
            "resolvesAt",
            "rosterKind",
            "rosterOf",
            "roster",
        ]);

pub(in crate::pages::console) static OPEN: Act =
    Act::post("/operate/sessions/{id}/open", STATE_ROUTE, Session).by("open");

pub(in crate::pages::console) static CLOSE: Act =
    Act::post("/operate/sessions/{id}/close", STATE_ROUTE, Session).by("close");

pub(in crate::pages::console) static AGGREGATE: Act =
    Act::post("/operate/sessions/{id}/aggregate", STATE_ROUTE, Session).by("aggregate");

pub(in crate::pages::console) static PUBLISH: Act =
    Act::post("/operate/sessions/{id}/publish", STATE_ROUTE, Session).by("publish");

pub(in crate::pages::console) static MOVE_DEADLINE: Act =
    patch("/operate/sessions/{id}/deadline", "deadline", |_, sent| {
        let body = Body::noted(sent).time("windowClosesAt");
        // An empty field does not lift the deadline: another form does.
        if sent.text("windowClosesAt").is_empty() {
            return body.set("windowClosesAt", Json::from("")).json();
        }
        body.json()
    })
    .with_fields(&["note", "windowClosesAt"]);

pub(in crate::pages::console) static CLEAR_DEADLINE: Act =
    patch("/operate/sessions/{id}/no-deadline", "deadline", |_, sent| {
        Body::noted(sent).set("windowClosesAt", Json::Null).json()
    })
    .saying("Lift the deadline", "The session has no deadline")
    .with_fields(&["note"]);

pub(in crate::pages::console) static SET_QUORUM: Act =
    patch("/operate/sessions/{id}/quorum", "quorum", |_, sent| {
        Body::noted(sent).set("quorum", Json::Null).value("quorum").json()
    })
    .with_fields(&["note", "quorum"]);

pub(in crate::pages::console) static SET_QUESTION: Act =
    patch("/operate/sessions/{id}/question", "question", |_, sent| {
        let body = ["question", "resolution", "resolvesAt"]
            .into_iter()
            .fold(Body::noted(sent), |body, field| body.set(field, Json::Null));
        body.texts(&["question", "resolution"]).time("resolvesAt").json()
    })
    .with_fields(&["note", "question", "resolution", "resolvesAt"]);

pub(in crate::pages::console) static RECORD_OUTCOME: Act =
    Act::post("/operate/sessions/{id}/outcome", OUTCOME_ROUTE, Session)
        .with_body(|_, sent| {
            // An empty field does not annul the outcome: another form does.
            let empty = Body::noted(sent).set("value", Json::from(""));
            empty.value("value").text("source").json()
        })
        .checked(check_outcome)
        .with_fields(&["note", "value", "source"]);

pub(in crate::pages::console) static ANNUL_OUTCOME: Act =
    Act::post("/operate/sessions/{id}/annul", OUTCOME_ROUTE, Session)
        .saying("Annul the outcome", "The session is not scored")
        .with_body(|_, sent| Body::noted(sent).set("value", Json::Null).text("source").json())
        .destructive()
        .with_fields(&["note", "source"]);

pub(in crate::pages::console) static FREEZE_ROSTER: Act =
    Act::post("/operate/sessions/{id}/roster", "/api/swarm/admin/sessions/{id}/roster", Session)
        .with_body(|_, sent| Body::noted(sent).set("members", listed(sent)).json())
        .with_fields(&["note", "roster"]);

pub(in crate::pages::console) static EXCUSE: Act =
    Act::post("/operate/sessions/{id}/excuse", EXCUSE_ROUTE, Session)
        .with_body(|_, sent| excused(sent, true))
        .in_rows("memberId")
        .with_fields(&["note", "memberId"]);

pub(in crate::pages::console) static UNEXCUSE: Act =
    Act::post("/operate/sessions/{id}/expect", EXCUSE_ROUTE, Session)
        .saying("Expect again", "The member is expected again")
        .with_body(|_, sent| excused(sent, false))
        .in_rows("memberId")
        .with_fields(&["note", "memberId"]);

pub(in crate::pages::console) static PUBLISH_BRIEF: Act =
    Act::post("/operate/sessions/{id}/brief", "/api/swarm/admin/sessions/{id}/brief", Session)
        .with_body(|_, sent| prompted(Body::noted(sent), sent))
        .with_fields(&["note", "system", "user"]);

pub(in crate::pages::console) static REPLACE_BRIEF: Act = Act::post(
    "/operate/sessions/{id}/replace-brief",
    "/api/swarm/admin/sessions/{id}/brief",
    Session,
)
.saying("Replace the brief", "The brief is replaced")
.with_body(|_, sent| prompted(Body::noted(sent).set("replaces", Json::Bool(true)), sent))
.with_fields(&["note", "system", "user"]);

pub(in crate::pages::console) static WITHDRAW: Act = Act::post(
    "/operate/sessions/{id}/withdraw",
    "/api/swarm/admin/sessions/{id}/withdraw",
    Session,
)
.followed_by(Sessions);

pub(in crate::pages::console) static VOID: Act =
    Act::post("/operate/sessions/{id}/void", "/api/swarm/admin/sessions/{id}/void", Session);

pub(super) static SESSION_ACTS: &[&Act] = &[
    &CONVENE,
    &OPEN,
    &CLOSE,
    &AGGREGATE,
    &PUBLISH,
    &MOVE_DEADLINE,
    &CLEAR_DEADLINE,
    &SET_QUORUM,
    &SET_QUESTION,
    &RECORD_OUTCOME,
    &ANNUL_OUTCOME,
    &FREEZE_ROSTER,
    &EXCUSE,
    &UNEXCUSE,
    &PUBLISH_BRIEF,
    &REPLACE_BRIEF,
    &WITHDRAW,
    &VOID,
];
