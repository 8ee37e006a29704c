//! The requests of the demonstration's operator: subjects, sessions and their states.

use serde::Serialize;
use swarm_core::domain::Day;
use swarm_core::json::Object;
use swarm_core::{MemberId, SessionId, Timestamp};

use super::author::Author;
use super::desk::Desk;
use super::words::{BUCKETS, DAYS, Theme, pseudo_random};
use crate::Failure;

pub(super) fn subject(
    desk: &Desk,
    theme: &'static Theme,
    linked_member_id: Option<MemberId>,
) -> Result<(), Failure> {
    let wallet = |chain| Wallet { chain, address: theme.wallet };
    let subject = Subject {
        id: theme.id,
        name: theme.name,
        status: "active",
        operator: theme.operator,
        thesis_blurb: theme.thesis,
        homepage: format!("https://{}.example/", theme.id),
        structural_notes: ["Figures are taken from the chain at midnight, UTC."],
        wallets: [wallet("ethereum"), wallet("base")],
        nft_contracts: [wallet("ethereum")],
        linked_member_id,
    };
    operate(desk, "/subjects", &subject).map(drop)
}

/// Convenes a session, and publishes its brief.
pub(super) fn convene(desk: &Desk, session: &Session<'_>) -> Result<SessionId, Failure> {
    let mut answer = operate(desk, "/sessions", session)?;
    let session = answer.take("session").ok_or("the answer has no session")?;
    let id = session.into_object().whole_if_any("id")?.ok_or("the session has no id")?;
    operate(desk, &format!("/sessions/{id}/brief"), &Nothing {})?;
    Ok(SessionId(id))
}

/// Convenes a session for practice, on a subject of its own.
pub(super) fn convene_practice(
    desk: &Desk,
    date: Day,
    deadline: Timestamp,
) -> Result<SessionId, Failure> {
    const SUBJECT: &str = "practice";
    operate(desk, "/subjects", &PlainSubject { id: SUBJECT, name: "Practice" })?;
    let session =
        Practice { date, subject_id: SUBJECT, window_closes_at: deadline, practice: true };
    let mut answer = operate(desk, "/sessions", &session)?;
    let session = answer.take("session").ok_or("the answer has no session")?;
    let id = session.into_object().whole_if_any("id")?.ok_or("the session has no id")?;
    Ok(SessionId(id))
}

/// A session that expects all members but one.
pub(super) fn session(
    desk: &Desk,
    theme: &Theme,
    date: Day,
    deadline: Timestamp,
    days_ago: i64,
) -> Session<'static> {
    let expected = |(nth, author): (i64, &Author)| Expected {
        member_id: author.id.clone(),
        excused: nth == excused(days_ago),
    };
    Session {
        date,
        subject_id: theme.id,
        state: "collecting",
        window_closes_at: deadline,
        // One session misses its quorum: one of its twelve members is excused.
        quorum: if days_ago == 6 { 12 } else { 7 },
        buckets: has_buckets(theme).then_some(BUCKETS),
        roster: (0..).zip(&desk.members).map(expected).collect(),
        blind: false,
        question: format!("Is {} worth more a day from now?", theme.name),
        resolution: "By the closing price: 2 is a rise of a tenth or more, −2 a fall of a tenth or more.",
        resolves_at: deadline.plus_millis(24 * 60 * 60_000),
    }
}

/// Whether sessions on this subject have buckets.
pub(super) fn has_buckets(theme: &Theme) -> bool {
    theme.id == "cygnus"
}

/// The member that is excused that day.
pub(super) fn excused(days_ago: i64) -> i64 {
    (days_ago * 5 + 11) % 12
}

pub(super) fn finish(
    desk: &Desk,
    session: SessionId,
    states: &[&'static str],
) -> Result<(), Failure> {
    for state in states {
        operate(desk, &format!("/sessions/{session}/state"), &State { state })?;
    }
    Ok(())
}

/// Adds a snapshot of the subject for that day.
pub(super) fn snapshot(
    desk: &Desk,
    theme: &Theme,
    days_ago: i64,
    date: Day,
) -> Result<(), Failure> {
    let turn =
        f64::from(i32::try_from(pseudo_random(days_ago, theme.drift)).unwrap_or_default()) / 100.0;
    let passed = f64::from(i32::try_from(DAYS - days_ago).unwrap_or_default());
    let trend = f64::from(i32::try_from(theme.drift).unwrap_or_default()) * 0.012 * passed;
    let total = (theme.value * (1.0 + trend + (turn - 0.5) * 0.09)).round();
    let position = |token, chain, pct: f64| Position {
        token,
        chain,
        value_usd: (total * pct / 100.0).round(),
        pct,
    };
    let snapshot = Snapshot {
        date,
        total_value_usd: total,
        positions: [
            position("stETH", "ethereum", 46.0),
            position("USDC", "ethereum", 31.5),
            position("GOV", "base", 22.5),
        ],
        notable: ["No position moved by more than a tenth."],
    };
    operate(desk, &format!("/subjects/{}/snapshots", theme.id), &snapshot).map(drop)
}

pub(super) fn operate(desk: &Desk, path: &str, body: &impl Serialize) -> Result<Object, Failure> {
    desk.operate(&format!("/api/swarm/admin{path}"), body)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Subject<'a> {
    id: &'a str,
    name: &'a str,
    status: &'a str,
    operator: &'a str,
    thesis_blurb: &'a str,
    homepage: String,
    structural_notes: [&'a str; 1],
    wallets: [Wallet<'a>; 2],
    nft_contracts: [Wallet<'a>; 1],
    linked_member_id: Option<MemberId>,
}

#[derive(Serialize)]
struct Wallet<'a> {
    chain: &'a str,
    address: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session<'a> {
    pub(super) date: Day,
    pub(super) subject_id: &'a str,
    pub(super) state: &'a str,
    pub(super) window_closes_at: Timestamp,
    pub(super) quorum: u32,
    pub(super) buckets: Option<[&'a str; 4]>,
    pub(super) roster: Vec<Expected>,
    pub(super) blind: bool,
    pub(super) question: String,
    pub(super) resolution: &'a str,
    pub(super) resolves_at: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Expected {
    member_id: MemberId,
    excused: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deadline<'a> {
    pub(super) window_closes_at: Timestamp,
    pub(super) note: &'a str,
}

#[derive(Serialize)]
struct State {
    state: &'static str,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot<'a> {
    date: Day,
    total_value_usd: f64,
    positions: [Position<'a>; 3],
    notable: [&'a str; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Position<'a> {
    token: &'a str,
    chain: &'a str,
    value_usd: f64,
    pct: f64,
}

#[derive(Serialize)]
struct PlainSubject {
    id: &'static str,
    name: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Practice {
    date: Day,
    subject_id: &'static str,
    window_closes_at: Timestamp,
    practice: bool,
}
