//! A subject in a list: its score now and what it changed by, the scores before it, spread, value, and what is next.

use std::cmp::Reverse;

use swarm_core::domain::{SessionSummary, Subject};
use swarm_core::rules::{Needle, Stage};
use swarm_core::service::{ResultPoint, SubjectTrend};

use super::charts::{Spark, shown, signed, sparkline};
use super::markup::{Markup, clipped, escape, named};
use super::result::ResultView;
use super::time_text::{TimeFormatter, day_number};
use super::{links, stage_text, stance};

/// Longest name, longest excerpt of a thesis, and longest status, in letters.
const MAX_NAME: usize = 100;
const MAX_THESIS: usize = 110;
const MAX_STATUS: usize = 20;

/// The status that goes without saying.
const ACTIVE: &str = "active";

/// A subject in a list.
pub(super) struct SubjectCard {
    pub(super) href: String,
    pub(super) name: String,
    pub(super) thesis: String,
    /// The status, unless it is `active`.
    pub(super) status: Option<String>,
    pub(super) spark: Option<Markup>,
    /// The latest result: the path of its session, its score and its stance.
    pub(super) score: Option<(String, Markup)>,
    /// In place of a score: `no result yet`, `quorum missed`.
    pub(super) no_score: String,
    /// `26 Nov: +0.34 since 23 Nov`
    pub(super) change: Option<Markup>,
    /// `9 of 11 agree`, `spread 0.84`, `value $4.36 M, +2.1 % since 8 Nov`
    pub(super) facts: Vec<Markup>,
    /// The session that comes next: its path, its day, and how far it is.
    pub(super) next: Option<(String, Markup, Markup)>,
}

impl SubjectCard {
    pub(super) fn new(trend: &SubjectTrend, times: TimeFormatter) -> Self {
        let next = next(trend, times).map(|session| {
            let deadline = stage_text::deadline_in_row(session, times);
            (links::session(session.id), times.day(session.date), deadline)
        });
        let agreement = trend.latest()[0].and_then(|point| {
            let result = ResultView::of(&point.figures)?;
            let sides = format!("{}#sides", links::session(point.session));
            Some(Markup(format!("<a href=\"{sides}\">{}</a>", escape(&result.agreement))))
        });
        let spread = trend.latest()[0].and_then(ResultPoint::spread);
        let spread = spread.map(|spread| Markup(format!("spread {spread:.2}")));
        Self {
            href: links::subject(&trend.id),
            name: clipped(&named(&trend.name, trend.id.as_str()), MAX_NAME),
            thesis: clipped(trend.thesis.as_deref().unwrap_or_default(), MAX_THESIS),
            status: (trend.status != ACTIVE).then(|| clipped(&trend.status, MAX_STATUS)),
            spark: spark(trend, times),
            score: score(trend),
            no_score: trend
                .results
                .last()
                .map_or_else(no_result, |point| ResultView::headline(&point.figures)),
            change: change(trend, times),
            facts: agreement.into_iter().chain(spread).chain(value(trend, times)).collect(),
            next,
        }
    }

    /// A subject without results.
    pub(super) fn of_subject(subject: &Subject) -> Self {
        Self {
            href: links::subject(&subject.id),
            name: clipped(&named(&subject.name, subject.id.as_str()), MAX_NAME),
            thesis: clipped(subject.thesis_blurb.as_deref().unwrap_or_default(), MAX_THESIS),
            status: (subject.status != ACTIVE).then(|| clipped(&subject.status, MAX_STATUS)),
            spark: None,
            score: None,
            no_score: no_result(),
            change: None,
            facts: Vec::new(),
            next: None,
        }
    }
}

fn no_result() -> String {
    "no result yet".to_owned()
}

/// Whether the name, the id or the thesis of a subject contains the text.
pub(super) fn is_in(needle: &Needle, trend: &SubjectTrend) -> bool {
    let thesis = trend.thesis.as_deref().unwrap_or_default();
    [&trend.name, trend.id.as_str(), thesis].into_iter().any(|text| needle.is_in(text))
}

/// The session that comes next: first of those that accept takes the one that closes first, then the newest that awaits its
/// result.
pub(super) fn next(trend: &SubjectTrend, times: TimeFormatter) -> Option<&SessionSummary> {
    let order = |session: &&SessionSummary| match stage_text::stage_of(session, times) {
        Stage::AwaitingResult => (1, true, None, Reverse(session.id)),
        _ => {
            let deadline = session.window_closes_at;
            (0, deadline.is_none(), deadline, Reverse(session.id))
        }
    };
    trend.pending.iter().map(AsRef::as_ref).min_by_key(order)
}

/// The change of the score on the scale of the service, on which subjects compare.
pub(super) fn normalized_difference(trend: &SubjectTrend) -> Option<f64> {
    let scale = trend.latest()[0]?.figures.stances.scale();
    Some(scale.normalized_distance(difference(trend)?))
}

/// The change of the score, as readers compute it from the figures shown.
fn difference(trend: &SubjectTrend) -> Option<f64> {
    let [Some(now), Some(before)] = trend.latest() else { return None };
    if !now.has_scale_of(before) {
        return None;
    }
    Some(shown(now.score()?) - shown(before.score()?))
}

fn score(trend: &SubjectTrend) -> Option<(String, Markup)> {
    let point = trend.latest()[0]?;
    let consensus = point.figures.consensus.as_ref()?;
    let stance = stance::of_consensus(&point.figures, consensus);
    let score = signed(consensus.score);
    Some((links::session(point.session), Markup(format!("<strong>{score}</strong> {stance}"))))
}

fn change(trend: &SubjectTrend, times: TimeFormatter) -> Option<Markup> {
    let text = match trend.latest() {
        [Some(now), Some(before)] => {
            let by = match signed(difference(trend)?) {
                by if by == signed(0.0) => "unchanged".to_owned(),
                by => by,
            };
            let (on, since) = (times.day(now.date), times.day(before.date));
            format!("{on}: {by} since {since}")
        }
        [Some(now), None] => format!("{}: first result", times.day(now.date)),
        [None, _] => return None,
    };
    Some(Markup(text))
}

fn value(trend: &SubjectTrend, times: TimeFormatter) -> Option<Markup> {
    let (day, usd) = trend.values.last()?;
    let text = dollars(*usd);
    let change = match trend.values.as_slice() {
        [(since, before), _] if *before > 0.0 => {
            let by = (usd / before - 1.0) * 100.0;
            // A change of thousands of percent is a correction, not a change.
            let sign = if by < 0.0 { '−' } else { '+' };
            (by.abs() < 1_000.0)
                .then(|| format!(", {sign}{:.1} % since {}", by.abs(), times.day(*since)))
        }
        _ => None,
    };
    Some(Markup(format!("value {text} on {}{}", times.day(*day), change.unwrap_or_default())))
}

fn spark(trend: &SubjectTrend, times: TimeFormatter) -> Option<Markup> {
    let point = |point: &ResultPoint| {
        let score = point.score()?;
        let day = times.day_text(point.date);
        let is_hollow = point.missed_quorum();
        let missed = if is_hollow { ", quorum missed" } else { "" };
        let title = format!("{day}: {}{missed}", signed(score));
        let (day, score) = (day_number(point.date)?, point.normalized_score()?);
        Some(Spark { day, score, is_hollow, title })
    };
    let sparks: Vec<_> = trend.results.iter().filter_map(point).collect();
    let (first, last) = (sparks.first()?, sparks.last()?);
    let label = match sparks.len() {
        1 => format!("Score, {}", last.title),
        count => format!("Scores of {count} sessions, {} to {}", first.title, last.title),
    };
    Some(sparkline(&sparks, &label))
}

/// A short amount: `$1.24 M`.
pub(super) fn dollars(amount: f64) -> String {
    let size = amount.abs();
    let (part, unit) = match size {
        size if size >= 1e15 => return format!("${amount:.2e}"),
        size if size >= 1e12 => (1e12, " T"),
        size if size >= 1e9 => (1e9, " B"),
        size if size >= 1e6 => (1e6, " M"),
        size if size >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let sign = if amount < 0.0 { "−" } else { "" };
    format!("{sign}${:.2}{unit}", size / part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (amount, text) in [
            (0.0, "$0.00"),
            (9_999.5, "$9999.50"),
            (12_345.0, "$12.35 k"),
            (-1_240_000.0, "−$1.24 M"),
            (7.5e9, "$7.50 B"),
            (1e300, "$1.00e300"),
        ] {
            assert_eq!(dollars(amount), text);
        }
    }
}
