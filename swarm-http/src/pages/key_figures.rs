//! The key figures at the top of a session's page.

use swarm_core::Session;
use swarm_core::domain::{Consensus, Figures};
use swarm_core::rules::{self, PublicTake, Stage};

use super::markup::Markup;
use super::result::ResultView;
use super::stage_text;
use super::stance;
use super::time_text::TimeFormatter;

/// The key figures: the largest first.
pub(super) struct KeyFigures {
    /// The largest figure and its label: of an open session the time left, of an aggregated one the score.
    pub(super) lead: Option<(Markup, Markup)>,
    /// Labels and figures.
    pub(super) rest: Vec<(String, Markup)>,
}

impl KeyFigures {
    /// The figures of a session, and of the latest takes in it.
    /// `is_hidden`: a newer session of its day takes the takes.
    pub(super) fn of(
        session: &Session,
        latest: &[PublicTake],
        is_hidden: bool,
        times: TimeFormatter,
    ) -> Self {
        match &session.snapshot {
            Some(_) if session.voided.is_some() => Self { lead: None, rest: Vec::new() },
            Some(snapshot) => Self::of_result(&snapshot.figures),
            None => Self::without_result(session, latest, is_hidden, times),
        }
    }

    fn of_result(figures: &Figures) -> Self {
        let mut rest = Vec::new();
        let consensus = figures.consensus.as_ref();
        if let Some((consensus, result)) = consensus.zip(ResultView::of(figures)) {
            rest.push(("members".to_owned(), Markup::text(&result.agreement)));
            let confidence = format!("{:.2}", consensus.confidence);
            rest.push(("mean confidence, 0–1".to_owned(), Markup::text(&confidence)));
        }
        let participation = &figures.participation;
        let label = match participation.expected {
            Some(_) => "expected members filed",
            None => "members filed",
        };
        let filed = of(participation.members, participation.expected);
        rest.push((label.to_owned(), Markup::text(&filed)));
        if let Some(quorum) = &figures.quorum {
            let label = if quorum.met { "quorum met" } else { "quorum missed" };
            let figure = format!("{} of {} needed", participation.members, quorum.required);
            rest.push((label.to_owned(), Markup::text(&figure)));
        }
        let lead = match consensus {
            Some(consensus) => score(consensus, figures),
            None => without_score(participation.members),
        };
        Self { lead: Some(lead), rest }
    }

    /// Before aggregation: no score is shown, only what is filed.
    fn without_result(
        session: &Session,
        latest: &[PublicTake],
        is_hidden: bool,
        times: TimeFormatter,
    ) -> Self {
        let roster = session.roster.as_ref();
        let expected = roster.map(|roster| roster.expected().count());
        let stage = stage_text::stage_of(&session.summary(), times);
        let takes_count = stage.takes_count() && !is_hidden;
        let filed = if takes_count { "have filed" } else { "filed" };
        let counted = rules::filed(session, latest.iter().map(PublicTake::member_id));
        let mut rest = vec![(filed.to_owned(), Markup::text(&of(counted, expected)))];
        if let Some(quorum) = session.quorum {
            rest.push(("needed for the quorum".to_owned(), Markup::text(&quorum.to_string())));
        }
        let deadline = session.window_closes_at;
        let left = deadline.and_then(|deadline| Some((times.left(deadline)?, deadline)));
        let lead = left.filter(|_| takes_count).map(|(left, deadline)| {
            let label = match stage {
                Stage::Closing => "until late takes are refused",
                _ => "left to file",
            };
            (Markup(left), Markup(format!("{label}, until {}", times.time(deadline))))
        });
        Self { lead, rest }
    }
}

/// Why there is no score.
fn without_score(members: usize) -> (Markup, Markup) {
    let (figure, label) = match members {
        0 => ("no takes", "so there is no score"),
        _ => ("no consensus", "no take that counts has a stance with a rank, so there is no score"),
    };
    (Markup::text(figure), Markup::text(label))
}

/// The score and the nearest stance, set apart where the quorum was missed.
fn score(consensus: &Consensus, figures: &Figures) -> (Markup, Markup) {
    let figure = super::charts::signed(consensus.score);
    let stance = stance::of_consensus(figures, consensus);
    let range = super::charts::range(figures.stances.scale());
    match &figures.quorum {
        Some(quorum) if !quorum.met => {
            let label = format!("score, from {range}; without a quorum it is no result");
            (Markup(format!("<span class=\"unmet\">({figure})</span>")), Markup::text(&label))
        }
        _ => (
            Markup(format!("{figure} {stance}")),
            Markup::text(&format!("score, from {range}, and nearest stance")),
        ),
    }
}

fn of(members: usize, expected: Option<usize>) -> String {
    expected.map_or(members.to_string(), |expected| format!("{members} of {expected}"))
}
