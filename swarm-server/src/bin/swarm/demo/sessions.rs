//! The sessions of the demonstration.

use swarm_client::new_key;
use swarm_core::domain::SessionState::{Aggregated, Published, Scheduled, WindowClosed};
use swarm_core::domain::{Day, Note, Noted, SessionDraft, SessionPatch};
use swarm_core::{SessionId, TakeId};

use super::author::{Author, Opinion};
use super::desk::Desk;
use super::requests::{
    convene, convene_practice, excused, finish, has_buckets, session, snapshot, subject,
};
use super::words::{
    ANALYSTS, APPLICANTS, BUCKETS, DAYS, FOUNDERS, JOINED, LONG, MEMOS, STANCES, THEMES, Theme,
    WRITER, prose, pseudo_random,
};
use super::year::{BEGINS, daily_value, outcome};
use crate::Failure;

const DAY: i64 = 24 * 60;

/// Minutes before the current time of day at which a past session convenes.
const CONVENES: i64 = 12 * 60;

/// How many days ago a session was blind.
pub(super) const BLIND: i64 = 4;

/// Minutes from convening to the deadline, and from there to aggregation.
const OPEN: i64 = 390;
const AGGREGATED: i64 = 34;

/// Adds the subjects and the founding members, the day before the first session.
pub(super) fn begin(desk: &mut Desk) -> Result<(), Failure> {
    desk.at((BEGINS + 1) * DAY + CONVENES);
    for theme in &THEMES {
        subject(desk, theme, None)?;
    }
    join(desk, 0..FOUNDERS, (BEGINS + 1) * DAY + CONVENES - 10)?;
    // The first subject is run by the first member.
    let linked = desk.members.first().map(|author| author.id.clone());
    THEMES.first().map_or(Ok(()), |theme| subject(desk, theme, linked))
}

/// Lets these analysts join, one every seven minutes.
fn join(desk: &mut Desk, which: std::ops::Range<usize>, start: i64) -> Result<(), Failure> {
    for (nth, analyst) in (0..).zip(ANALYSTS.get(which).unwrap_or_default()) {
        desk.at(start - 7 * nth);
        let author = Author::join(&desk.client, analyst, |id| {
            Ok(desk.operator().activate(id).map(drop)?)
        })?;
        desk.members.push(author);
    }
    Ok(())
}

/// Runs the session of a past day, up to its publication, and records the outcome of the one of the day before. Returns
/// its id.
pub(super) fn past(
    desk: &mut Desk,
    days_ago: i64,
    before: Option<SessionId>,
) -> Result<SessionId, Failure> {
    let start = days_ago * DAY + CONVENES;
    if days_ago == JOINED {
        join(desk, FOUNDERS..ANALYSTS.len(), start + 200)?;
    }
    let theme = theme(days_ago);
    let convened = desk.at(start);
    snapshot(desk, theme, days_ago, convened.day())?;
    let deadline = convened.plus_millis(OPEN * 60_000);
    let session = SessionDraft {
        blind: days_ago == BLIND,
        ..session(desk, theme, convened.day(), deadline, days_ago)?
    };
    let id = convene(desk, session)?;
    let moved = days_ago % 7 == 3;
    // One session is aggregated before its deadline: later takes are not counted.
    let early = days_ago == 5;
    for (nth, author) in (0..).zip(&desk.members) {
        if is_absent(days_ago, nth) {
            continue;
        }
        desk.at(start - 30 - 13 * nth);
        if early && nth == 8 {
            finish(desk, id, &[WindowClosed, Aggregated])?;
        }
        author.file(&desk.client, &opinion(author, theme, days_ago, nth, convened.day(), 0))?;
    }
    desk.at(start - 360);
    if moved {
        let deadline = convened.plus_millis((OPEN + 30) * 60_000);
        let note = "two members could not reach their data until a quarter of an hour ago";
        let request =
            SessionPatch { window_closes_at: Some(Some(deadline)), ..SessionPatch::default() };
        desk.operator().amend_session(id, Noted { note: Some(Note::parse(note)?), request })?;
    }
    for (nth, author) in (0..).zip(&desk.members) {
        if !early && pseudo_random(days_ago, nth + 50) < 12 && !is_absent(days_ago, nth) {
            let again = opinion(author, theme, days_ago, nth, convened.day(), 1);
            author.file(&desk.client, &again)?;
        }
    }
    memos(desk, days_ago)?;
    desk.at(start - OPEN - AGGREGATED);
    let states = if early { &[Published][..] } else { &[WindowClosed, Aggregated, Published] };
    finish(desk, id, states)?;
    if let Some(before) = before {
        let yesterday = days_ago + 1;
        outcome(desk, before, daily_value(self::theme(yesterday), yesterday))?;
    }
    Ok(id)
}

/// Leaves applications for the operator to review.
pub(super) fn applications(desk: &Desk) -> Result<(), Failure> {
    for (minutes_ago, (name, lens)) in [3, 1].into_iter().zip(APPLICANTS) {
        desk.at(minutes_ago);
        desk.client.apply(&new_key()?, name, "agent@demo.example", lens)?;
    }
    Ok(())
}

/// Runs two sessions of today that are over: one is aggregated and not published, one only closed.
pub(super) fn pending(desk: &Desk) -> Result<(), Failure> {
    let [first, _, third] = &THEMES;
    for (theme, start, seed, states) in
        [(first, 900, -1, &[WindowClosed, Aggregated][..]), (third, 600, -2, &[WindowClosed][..])]
    {
        let convened = desk.at(start);
        let date = desk.end.day();
        let deadline = convened.plus_millis(290 * 60_000);
        let id = convene(desk, session(desk, theme, date, deadline, 0)?)?;
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

/// Convenes a blind session on tomorrow, in which some members file, and one amends its take. Returns its id.
pub(super) fn sealed(desk: &Desk) -> Result<SessionId, Failure> {
    let convened = desk.at(5 * 60);
    let [_, _, theme] = &THEMES;
    let date = desk.end.plus_millis(DAY * 60_000).day();
    let deadline = convened.plus_millis((5 * 60 + 380) * 60_000);
    let session = SessionDraft { blind: true, ..session(desk, theme, date, deadline, 0)? };
    let id = convene(desk, session)?;
    for (nth, author) in (0..).zip(desk.members.iter().take(9)) {
        desk.at(290 - 5 * nth);
        author.file(&desk.client, &opinion(author, theme, 0, nth, date, 0))?;
    }
    desk.at(245);
    let author = desk.members.first().ok_or("no members")?;
    author.file(&desk.client, &opinion(author, theme, 0, 0, date, 1))?;
    Ok(id)
}

/// Convenes a session for practice, which stays open for a week, and lets a member file in it. Returns its id.
pub(super) fn practice(desk: &Desk) -> Result<SessionId, Failure> {
    let convened = desk.at(306);
    let deadline = convened.plus_millis(7 * DAY * 60_000);
    let id = convene_practice(desk, desk.end.day(), deadline)?;
    desk.at(303);
    let author = desk.members.last().ok_or("no members")?;
    let take = Opinion {
        date: desk.end.day(),
        subject: "practice",
        stance: "neutral",
        confidence: 0.5,
        body: "A first take, to see that everything works.".to_owned(),
        weights: Vec::new(),
    };
    author.file(&desk.client, &take)?;
    Ok(id)
}

/// Convenes a session on tomorrow that counts and expects nobody, so that a member that joins now may file in it. It stays open
/// for a day. Returns its id.
pub(super) fn without_roster(desk: &Desk) -> Result<SessionId, Failure> {
    desk.at(330);
    let [_, theme, _] = &THEMES;
    let deadline = desk.end.plus_millis(DAY * 60_000);
    let date = deadline.day();
    let session = SessionDraft { roster: None, ..session(desk, theme, date, deadline, 0)? };
    let id = convene(desk, session)?;
    for (nth, author) in (0..).zip(desk.members.iter().take(4)) {
        desk.at(325 - 4 * nth);
        author.file(&desk.client, &opinion(author, theme, 0, nth, date, 0))?;
    }
    Ok(id)
}

/// Runs today's session: fourteen members file, one of them twice. Returns the ids of its two takes.
pub(super) fn open(desk: &Desk) -> Result<[TakeId; 2], Failure> {
    let convened = desk.at(4 * 60);
    let [tomorrows, theme, _] = &THEMES;
    let date = desk.end.day();
    snapshot(desk, theme, 0, date)?;
    let deadline = convened.plus_millis((4 * 60 + 192) * 60_000);
    convene(desk, session(desk, theme, date, deadline, 0)?)?;
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
    let scheduled = SessionDraft {
        state: Scheduled,
        ..session(desk, tomorrows, tomorrow.day(), tomorrow.plus_millis(OPEN * 60_000), 0)?
    };
    desk.operator().convene(scheduled)?;
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

/// A member's opinion on a day; `revision` 1 is its amendment.
fn opinion<'a>(
    author: &Author,
    theme: &'a Theme,
    days_ago: i64,
    nth: i64,
    date: Day,
    revision: i64,
) -> Opinion<'a> {
    let mood = (pseudo_random(days_ago, nth * 3 + revision) - 50) / 20;
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

fn theme(days_ago: i64) -> &'static Theme {
    let [first, second, third] = &THEMES;
    match days_ago % 3 {
        1 => first,
        2 => third,
        _ => second,
    }
}

/// Whether a member does not file that day: it is excused, or misses the session.
fn is_absent(days_ago: i64, nth: i64) -> bool {
    nth == excused(days_ago) || pseudo_random(days_ago * 13, nth) < 14
}
