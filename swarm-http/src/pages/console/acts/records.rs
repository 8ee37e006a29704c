//! Acts on subjects, regimes, signals, memos and the texts of takes.

use swarm_core::Invalid;
use swarm_core::json::{Json, Object};

use super::super::body::Body;
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
    "wallets-chain[]",
    "wallets-address[]",
    "wallets-more[]",
    "wallets-was[]",
    "nftContracts",
    "nftContracts-chain[]",
    "nftContracts-address[]",
    "nftContracts-more[]",
    "nftContracts-was[]",
];

/// The columns of a field of rows: the name of each, and its label. What has no label is not shown.
pub(in crate::pages::console) type Columns<const N: usize> = [(&'static str, &'static str); N];

pub(in crate::pages::console) static WALLET_COLUMNS: Columns<4> = [
    ("wallets-chain[]", "Chain"),
    ("wallets-address[]", "Address"),
    ("wallets-more[]", "Other fields, JSON"),
    ("wallets-was[]", ""),
];

pub(in crate::pages::console) static CONTRACT_COLUMNS: Columns<4> = [
    ("nftContracts-chain[]", "Chain"),
    ("nftContracts-address[]", "Address"),
    ("nftContracts-more[]", "Other fields, JSON"),
    ("nftContracts-was[]", ""),
];

pub(in crate::pages::console) static POSITION_COLUMNS: Columns<4> = [
    ("positions-token[]", "Token"),
    ("positions-chain[]", "Chain"),
    ("positions-valueUsd[]", "Value, US dollars"),
    ("positions-pct[]", "Percent"),
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
        .objects("wallets", &WALLET_COLUMNS)
        .objects("nftContracts", &CONTRACT_COLUMNS)
        .json()
}

/// The fields of the form, and those of the JSON object beside them.
fn regime(_: &[String], sent: &FormData) -> Json {
    let body = Body::of(sent).text("date").value("composite");
    let body = body.texts(&["regime", "macro_regime", "onchain_regime"]);
    let more = more_fields(sent).unwrap_or_default();
    more.members().fold(body, |body, (name, value)| body.set(name, value.clone())).json()
}

/// The JSON object beside the fields of a regime.
fn more_fields(sent: &FormData) -> Result<Object, Invalid> {
    match sent.text("more") {
        "" => Ok(Object::default()),
        text => match Json::read(text.as_bytes()) {
            Ok(Json::Object(more)) => Ok(more),
            _ => Err(Invalid::new("more", "must be a JSON object")),
        },
    }
}

/// The payload of a signal is any JSON: a text that is typed without quotes is none.
fn check_payload(sent: &FormData) -> Result<(), Invalid> {
    match sent.text("payload") {
        // The API names what is missing.
        "" => Ok(()),
        text => match Json::read(text.as_bytes()) {
            Ok(_) => Ok(()),
            Err(_) => Err(Invalid::new("payload", "must be JSON")),
        },
    }
}

pub(in crate::pages::console) static CREATE_SUBJECT: Act =
    Act::post("/operate/subjects", "/api/swarm/admin/subjects", Subjects)
        .saying("Create the subject", "The subject is created")
        .with_body(subject)
        .with_fields(SUBJECT_FIELDS);

pub(in crate::pages::console) static REPLACE_SUBJECT: Act =
    Act::post("/operate/subjects/{id}", "/api/swarm/admin/subjects", Subject)
        .with_body(subject)
        .with_fields(SUBJECT_FIELDS);

pub(in crate::pages::console) static ADD_SNAPSHOT: Act = Act::post(
    "/operate/subjects/{id}/snapshots",
    "/api/swarm/admin/subjects/{id}/snapshots",
    Subject,
)
.with_body(|_, sent| {
    Body::of(sent)
        .text("date")
        .value("totalValueUsd")
        .lines("notable")
        .objects("positions", &POSITION_COLUMNS)
        .json()
})
.with_fields(&[
    "date",
    "totalValueUsd",
    "notable",
    "positions",
    "positions-token[]",
    "positions-chain[]",
    "positions-valueUsd[]",
    "positions-pct[]",
]);

pub(in crate::pages::console) static PUT_REGIME: Act =
    Act::post("/operate/records/regime", "/api/swarm/admin/regime", Records)
        .with_body(regime)
        .checked(|sent| more_fields(sent).map(drop))
        .with_fields(&["date", "composite", "regime", "macro_regime", "onchain_regime", "more"]);

pub(in crate::pages::console) static PUT_SIGNAL: Act =
    Act::post("/operate/records/signal", "/api/swarm/admin/signals", Records)
        .with_body(|_, sent| Body::of(sent).texts(&["signal_key", "date"]).value("payload").json())
        .checked(check_payload)
        .with_fields(&["signal_key", "date", "payload"]);

pub(in crate::pages::console) static RETRACT_MEMO: Act =
    Act::post("/operate/records/retract", "/api/swarm/admin/memos/{id}/retract", Records)
        .with_path_field("memo");

pub(in crate::pages::console) static WITHHOLD_TAKE: Act =
    Act::post("/operate/takes/{id}/withhold", "/api/swarm/admin/takes/{id}/withhold", Take);

pub(in crate::pages::console) static RESTORE_TAKE: Act =
    Act::post("/operate/takes/{id}/restore", "/api/swarm/admin/takes/{id}/restore", Take);

pub(super) static RECORD_ACTS: &[&Act] = &[
    &CREATE_SUBJECT,
    &REPLACE_SUBJECT,
    &ADD_SNAPSHOT,
    &PUT_REGIME,
    &PUT_SIGNAL,
    &RETRACT_MEMO,
    &WITHHOLD_TAKE,
    &RESTORE_TAKE,
];
