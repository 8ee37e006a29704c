//! A year of weekly sessions with outcomes: one member is calibrated, one is loud, and the others are as most are.

use swarm_core::SessionId;
use swarm_core::domain::SessionState::{Aggregated, Published, WindowClosed};
use swarm_core::domain::{OutcomeDraft, OutcomeSource, OutcomeValue, SessionDraft};

use super::author::{Author, Opinion};
use super::desk::Desk;
use super::requests::{convene, finish, question, session};
use super::words::{DAYS, FOUNDERS, STANCES, THEMES, Theme, prose, pseudo_random};
use crate::Failure;

const DAY: i64 = 24 * 60;

/// The number of weekly sessions before the daily ones.
const WEEKS: i64 = 52;

/// How many days before the end the first weekly session is convened.
pub(super) const BEGINS: i64 = DAYS + 1 + 7 * WEEKS;

/// The founder whose confidence is as high as it is often right.
const CALIBRATED: i64 = 5;

/// The founder that is always sure.
const LOUD: i64 = 7;

/// Runs the weekly sessions, and records the outcome of each a week later.
pub(super) fn run(desk: &Desk) -> Result<(), Failure> {
    let mut before: Option<(SessionId, i64)> = None;
    for week in (1..=WEEKS).rev() {
        let start = (DAYS + 1 + 7 * week) * DAY;
        let convened = desk.at(start);
        let theme = theme(week);
        let deadline = convened.plus_millis(6 * 60 * 60_000);
        let known = deadline.plus_millis(7 * DAY * 60_000);
        let weekly = SessionDraft {
            quorum: Some(5),
            buckets: None,
            question: question(theme, "a week from now", known)?,
            ..session(desk, theme, convened.day(), deadline, week)?
        };
        let id = convene(desk, weekly)?;
        for (nth, author) in (0..).zip(desk.members.iter().take(FOUNDERS)) {
            if pseudo_random(week, nth + 70) < 15 || nth == super::requests::excused(week) {
                continue;
            }
            desk.at(start - 20 - 9 * nth);
            author.file(&desk.client, &opinion(author, theme, week, nth, convened.day()))?;
        }
        desk.at(start - 6 * 60 - 30);
        finish(desk, id, &[WindowClosed, Aggregated, Published])?;
        if let Some((id, week)) = before {
            outcome(desk, id, value(week))?;
        }
        before = Some((id, week));
    }
    desk.at((DAYS + 1) * DAY - 6 * 60 - 30);
    before.map_or(Ok(()), |(id, week)| outcome(desk, id, value(week)))
}

/// Records what came of a session.
pub(super) fn outcome(desk: &Desk, session: SessionId, value: f64) -> Result<(), Failure> {
    let outcome = OutcomeDraft {
        value: Some(OutcomeValue::parse(value)?),
        source: Some(OutcomeSource::parse("the closing price, prices.example")?),
    };
    desk.operator().record_outcome(session, outcome)?;
    Ok(())
}

/// The outcome of a daily session.
pub(super) fn daily_value(theme: &Theme, days_ago: i64) -> f64 {
    let turn = pseudo_random(days_ago, 61) - 50 + 20 * theme.drift;
    whole(turn.clamp(-50, 50)) / 25.0
}

fn theme(week: i64) -> &'static Theme {
    let [first, second, third] = &THEMES;
    match week % 3 {
        0 => first,
        1 => second,
        _ => third,
    }
}

/// The chance, in percent, that the value rises in a week.
fn chance(week: i64) -> i64 {
    10 + pseudo_random(week, 80) * 8 / 10
}

/// What came of a week: from −2 to 2.
fn value(week: i64) -> f64 {
    let size = if pseudo_random(week, 81) < 50 { 1.0 } else { 2.0 };
    if pseudo_random(week, 82) < chance(week) { size } else { -size }
}

fn opinion<'a>(
    author: &Author,
    theme: &'a Theme,
    week: i64,
    nth: i64,
    date: swarm_core::domain::Day,
) -> Opinion<'a> {
    // From −50, surely down, to 50, surely up.
    let noise = match nth {
        CALIBRATED => pseudo_random(week, nth) / 10 - 5,
        // Most hope.
        _ => pseudo_random(week, nth) * 8 / 10 - 20 + 4 * author.analyst.leaning,
    };
    let expected = (chance(week) - 50 + noise).clamp(-50, 50);
    let (up, size) = (expected >= 0, whole(expected.abs()) / 50.0);
    let confidence = match nth {
        LOUD => 0.97,
        // The mean size of an outcome is three quarters of the scale.
        CALIBRATED => size * 0.75,
        _ => (size * 0.6 + 0.3).min(1.0),
    };
    let strong = matches!(nth, LOUD | CALIBRATED) || size > 0.4;
    let place = match (up, strong) {
        (true, true) => 4,
        (true, false) => 3,
        (false, false) => 1,
        (false, true) => 0,
    };
    Opinion {
        date,
        subject: theme.id,
        stance: STANCES.get(place).copied().unwrap_or("neutral"),
        confidence: (confidence * 100.0).round() / 100.0,
        body: prose(place, pseudo_random(week, nth + 90)),
        weights: Vec::new(),
    }
}

fn whole(number: i64) -> f64 {
    f64::from(i32::try_from(number).unwrap_or_default())
}
