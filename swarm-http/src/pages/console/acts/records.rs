//! Acts on subjects, regimes, signals, memos and the texts of takes.

use swarm_core::json::Json;

use super::super::body::{Body, nothing};
use super::super::form::FormData;
use super::super::page_id::PageId::{Records, Subject, Subjects, Take};
use super::Act;

const SUBJECT_FIELDS: &[&str] = &[
    "id",
    "name",
    "status",
    "operator",
    "homepage",
    "xHandle",
    "thesisBlurb",
    "source",
    "recommendationType",
    "linkedMemberId",
    "lastReviewed",
    "structuralNotes",
    "wallets",
    "nftContracts",
];

fn subject(parts: &[String], sent: &FormData) -> Json {
    let body = Body::of(sent).text("id");
    let body = match parts.first() {
        Some(id) => body.set("id", Json::from(id.as_str())),
        None => body,
    };
    body.texts(&["name", "status", "operator", "homepage", "xHandle", "thesisBlurb", "source"])
        .texts(&["recommendationType", "linkedMemberId", "lastReviewed"])
        .lines("structuralNotes")
        .value("wallets")
        .value("nftContracts")
        .json()
}

/// The fields of the form, and those of the JSON object beside them.
fn regime(_: &[String], sent: &FormData) -> Json {
    let body = Body::of(sent).text("date").value("composite");
    let body = body.texts(&["regime", "macro_regime", "onchain_regime"]);
    match Json::read(sent.text("more").as_bytes()) {
        Ok(Json::Object(more)) => {
            let fields = more.members();
            fields.fold(body, |body, (name, value)| body.set(name, value.clone())).json()
        }
        _ if sent.text("more").is_empty() => body.json(),
        // The API refuses the field, and names it.
        _ => body.set("date", Json::from("with more fields that are no JSON object")).json(),
    }
}

pub(in crate::pages::console) static CREATE_SUBJECT: Act = Act::post(
    "/operate/subjects",
    "/api/swarm/admin/subjects",
    subject,
    Subjects,
    ("Create the subject", "The subject is created"),
)
.with_fields(SUBJECT_FIELDS);

pub(in crate::pages::console) static REPLACE_SUBJECT: Act = Act::post(
    "/operate/subjects/{id}",
    "/api/swarm/admin/subjects",
    subject,
    Subject,
    ("Save the record", "The record is saved"),
)
.with_fields(SUBJECT_FIELDS);

pub(in crate::pages::console) static ADD_SNAPSHOT: Act = Act::post(
    "/operate/subjects/{id}/snapshots",
    "/api/swarm/admin/subjects/{id}/snapshots",
    |_, sent| {
        Body::of(sent)
            .text("date")
            .value("totalValueUsd")
            .lines("notable")
            .value("positions")
            .json()
    },
    Subject,
    ("Add the snapshot", "The snapshot is added"),
)
.with_fields(&["date", "totalValueUsd", "notable", "positions"]);

pub(in crate::pages::console) static PUT_REGIME: Act = Act::post(
    "/operate/records/regime",
    "/api/swarm/admin/regime",
    regime,
    Records,
    ("Save the regime", "The regime is saved"),
)
.with_fields(&["date", "composite", "regime", "macro_regime", "onchain_regime", "more"]);

pub(in crate::pages::console) static PUT_SIGNAL: Act = Act::post(
    "/operate/records/signal",
    "/api/swarm/admin/signals",
    |_, sent| Body::of(sent).texts(&["signal_key", "date"]).value("payload").json(),
    Records,
    ("Save the signal", "The signal is saved"),
)
.with_fields(&["signal_key", "date", "payload"]);

pub(in crate::pages::console) static RETRACT_MEMO: Act = Act::post(
    "/operate/records/retract",
    "/api/swarm/admin/memos/{id}/retract",
    nothing,
    Records,
    ("Retract the memo", "The memo is retracted"),
)
.with_path_field("memo");

pub(in crate::pages::console) static WITHHOLD_TAKE: Act = Act::post(
    "/operate/takes/{id}/withhold",
    "/api/swarm/admin/takes/{id}/withhold",
    |_, sent| Body::noted(sent).json(),
    Take,
    ("Withhold the texts", "The texts are withheld"),
)
.with_fields(&["note"]);

pub(in crate::pages::console) static RESTORE_TAKE: Act = Act::post(
    "/operate/takes/{id}/restore",
    "/api/swarm/admin/takes/{id}/restore",
    |_, sent| Body::noted(sent).json(),
    Take,
    ("Restore the texts", "The texts are shown again"),
)
.with_fields(&["note"]);
