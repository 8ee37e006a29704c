//! The sessions of the demonstration.

use serde::Serialize;
use swarm_core::domain::Day;
use swarm_core::json::Object;
use swarm_core::{MemberId, SessionId, TakeId, Timestamp};

use super::author::{Author, Opinion};
use super::desk::Desk;
use super::words::{
    ANALYSTS, BUCKETS, DAYS, FOUNDERS, JOINED, LONG, MEMOS, STANCES, THEMES, Theme, WRITER, prose,
    pseudo_random,
};
use crate::Failure;

const DAY: i64 = 24 * 60;

/// Minutes before the current time of day at which a past session convenes.
const CONVENES: i64 = 12 * 60;

/// Minutes from convening to the deadline, and from there to aggregation.
const OPEN: i64 = 390;
const AGGREGATED: i64 = 34;

/// Adds the subjects and the founding members, the day before the first session.
pub(super) fn begin(desk: &mut Desk) -> Result<(), Failure> {
    desk.at((DAYS + 1) * DAY + CONVENES);
    for theme in &THEMES {
        subject(desk, theme, None)?;
    }
    join(desk, 0..FOUNDERS, (DAYS + 1) * DAY + CONVENES - 10)?;
    // The first subject is run by the first member.
    let linked = desk.members.first().map(|author| author.id.clone());
    THEMES.first().map_or(Ok(()), |theme| subject(desk, theme, linked))
}

/// Lets these analysts join, one every seven minutes.
fn join(desk: &mut Desk, which: std::ops::Range<usize>, start: i64) -> Result<(), Failure> {
    for (nth, analyst) in (0..).zip(ANALYSTS.get(which).unwrap_or_default()) {
        desk.at(start - 7 * nth);
        let author = Author::join(&desk.client, analyst, |id| desk.activate(id))?;
        desk.members.push(author);
    }
    Ok(())
}

fn subject(
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

/// Runs the session of a past day, up to its publication.
pub(super) fn past(desk: &mut Desk, days_ago: i64) -> Result<(), Failure> {
    let start = days_ago * DAY + CONVENES;
    if days_ago == JOINED {
        join(desk, FOUNDERS..ANALYSTS.len(), start + 200)?;
    }
    let theme = theme(days_ago);
    let convened = desk.at(start);
    snapshot(desk, theme, days_ago, convened.day())?;
    let id = convene(desk, theme, convened, days_ago, OPEN)?;
    let moved = days_ago % 7 == 3;
    // One session is aggregated before its deadline: later takes are not counted.
    let early = days_ago == 5;
    for (nth, author) in (0..).zip(&desk.members) {
        if is_absent(days_ago, nth) {
            continue;
        }
        desk.at(start - 30 - 13 * nth);
        if early && nth == 8 {
            finish(desk, id, &["window_closed", "aggregated"])?;
        }
        author.file(&desk.client, &opinion(author, theme, days_ago, nth, convened.day(), 0))?;
    }
    desk.at(start - 360);
    if moved {
        let deadline = convened.plus_millis((OPEN + 30) * 60_000);
        let note = "two members could not reach their data until a quarter of an hour ago";
        let path = format!("/api/swarm/admin/sessions/{id}");
        let patch = Deadline { window_closes_at: deadline, note };
        desk.client.operate(&desk.admin_token, "PATCH", &path, &patch)?;
    }
    for (nth, author) in (0..).zip(&desk.members) {
        if !early && pseudo_random(days_ago, nth + 50) < 12 && !is_absent(days_ago, nth) {
            let again = opinion(author, theme, days_ago, nth, convened.day(), 1);
            author.file(&desk.client, &again)?;
        }
    }
    memos(desk, days_ago)?;
    desk.at(start - OPEN - AGGREGATED);
    let states =
        if early { &["published"][..] } else { &["window_closed", "aggregated", "published"] };
    finish(desk, id, states)
}

/// Runs two sessions of today that are over: one is aggregated and not published, one only closed.
pub(super) fn pending(desk: &Desk) -> Result<(), Failure> {
    let [first, _, third] = &THEMES;
    for (theme, start, seed, states) in [
        (first, 900, -1, &["window_closed", "aggregated"][..]),
        (third, 600, -2, &["window_closed"][..]),
    ] {
        let convened = desk.at(start);
        let date = desk.end.day();
        let id = convene_on(desk, theme, date, convened.plus_millis(290 * 60_000), 0)?;
        for (nth, author) in (0..).zip(&desk.members) {
            if !is_absent(seed, nth) && nth != excused(0) {
                desk.at(start - 5 - 11 * nth);
                author.file(&desk.client, &opinion(author, theme, seed, nth, date, 0))?;
            }
        }
        desk.at(start - 292);
        finish(desk, id, states)?;
    }
    Ok(())
}

/// Runs today's session: fourteen members file, one of them twice. Returns the ids of its two takes.
pub(super) fn open(desk: &Desk) -> Result<[TakeId; 2], Failure> {
    let convened = desk.at(4 * 60);
    let [tomorrows, theme, _] = &THEMES;
    let date = desk.end.day();
    snapshot(desk, theme, 0, date)?;
    let deadline = convened.plus_millis((4 * 60 + 192) * 60_000);
    convene_on(desk, theme, date, deadline, 0)?;
    let mut first = None;
    for (nth, author) in (0..).zip(desk.members.iter().take(15)) {
        if nth == excused(0) {
            continue;
        }
        desk.at(200 - 13 * nth);
        let filed = author.file(&desk.client, &opinion(author, theme, 0, nth, date, 0))?;
        if nth == 0 {
            first = Some(filed);
        }
    }
    let tomorrow = desk.at(10).plus_millis(DAY * 60_000);
    let scheduled = Session {
        state: "scheduled",
        ..session(desk, tomorrows, tomorrow.day(), tomorrow.plus_millis(OPEN * 60_000), 0)
    };
    operate(desk, "/sessions", &scheduled)?;
    desk.at(4);
    let author = desk.members.first().ok_or("no members")?;
    let second = Opinion {
        stance: "constructive",
        confidence: 0.65,
        body: "Second look: volume confirms what the spread said.".to_owned(),
        ..opinion(author, theme, 0, 0, date, 1)
    };
    let amended = author.file(&desk.client, &second)?;
    Ok([first.ok_or("no takes")?, amended])
}

fn convene(
    desk: &Desk,
    theme: &Theme,
    convened: Timestamp,
    days_ago: i64,
    minutes: i64,
) -> Result<SessionId, Failure> {
    let deadline = convened.plus_millis(minutes * 60_000);
    convene_on(desk, theme, convened.day(), deadline, days_ago)
}

/// Convenes a session that expects all members but one, and publishes its brief.
fn convene_on(
    desk: &Desk,
    theme: &Theme,
    date: Day,
    deadline: Timestamp,
    days_ago: i64,
) -> Result<SessionId, Failure> {
    let session = session(desk, theme, date, deadline, days_ago);
    let mut answer = operate(desk, "/sessions", &session)?;
    let session = answer.take("session").ok_or("the answer has no session")?;
    let id = session.into_object().whole_if_any("id")?.ok_or("the session has no id")?;
    operate(desk, &format!("/sessions/{id}/brief"), &Nothing {})?;
    Ok(SessionId(id))
}

fn session(
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
    }
}

fn finish(desk: &Desk, session: SessionId, states: &[&'static str]) -> Result<(), Failure> {
    for state in states {
        operate(desk, &format!("/sessions/{session}/state"), &State { state })?;
    }
    Ok(())
}

/// A member's opinion on a day; `revision` 1 is its amendment.
fn opinion<'a>(
    author: &Author,
    theme: &'a Theme,
    days_ago: i64,
    nth: i64,
    date: Day,
    revision: i64,
) -> Opinion<'a> {
    let mood = (pseudo_random(days_ago, nth * 3 + revision) - 50) / 28;
    let drift = theme.drift * (DAYS - days_ago) / 14;
    let place = (author.analyst.leaning + drift + mood + 2).clamp(0, 4);
    let place = usize::try_from(place).unwrap_or_default();
    let percent = |of: i64| f64::from(i32::try_from(of).unwrap_or_default()) / 100.0;
    let weight = |(at, bucket): (i64, &&'static str)| {
        (*bucket, percent(5 + pseudo_random(days_ago + at, nth)))
    };
    Opinion {
        date,
        subject: theme.id,
        stance: STANCES.get(place).copied().unwrap_or("neutral"),
        confidence: percent(20 + pseudo_random(days_ago * 31, nth * 17 + revision) * 7 / 10),
        body: match prose(place, pseudo_random(days_ago, nth + 7 + revision)) {
            short if author.analyst.name == WRITER => format!("{short}\n\n{LONG}"),
            short => short,
        },
        weights: if has_buckets(theme) {
            (0..).zip(&BUCKETS).map(weight).collect()
        } else {
            Vec::new()
        },
    }
}

/// Adds a snapshot of the subject for that day.
fn snapshot(desk: &Desk, theme: &Theme, days_ago: i64, date: Day) -> Result<(), Failure> {
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

fn memos(desk: &Desk, days_ago: i64) -> Result<(), Failure> {
    for (author, when, theme, title, body) in MEMOS {
        if let (true, Some(author), Some(theme)) =
            (when == days_ago, desk.members.get(author), THEMES.get(theme))
        {
            author.publish(&desk.client, title, body, theme.id)?;
        }
    }
    Ok(())
}

fn operate(desk: &Desk, path: &str, body: &impl Serialize) -> Result<Object, Failure> {
    desk.operate(&format!("/api/swarm/admin{path}"), body)
}

fn theme(days_ago: i64) -> &'static Theme {
    let [first, second, third] = &THEMES;
    match days_ago % 3 {
        1 => first,
        2 => third,
        _ => second,
    }
}

/// Whether sessions on this subject have buckets.
fn has_buckets(theme: &Theme) -> bool {
    theme.id == "cygnus"
}

/// The member that is excused that day.
fn excused(days_ago: i64) -> i64 {
    (days_ago * 5 + 11) % 12
}

/// Whether a member does not file that day: it is excused, or misses the session.
fn is_absent(days_ago: i64, nth: i64) -> bool {
    nth == excused(days_ago) || pseudo_random(days_ago * 13, nth) < 14
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
struct Session<'a> {
    date: Day,
    subject_id: &'a str,
    state: &'a str,
    window_closes_at: Timestamp,
    quorum: u32,
    buckets: Option<[&'a str; 4]>,
    roster: Vec<Expected>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    member_id: MemberId,
    excused: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deadline<'a> {
    window_closes_at: Timestamp,
    note: &'a str,
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
