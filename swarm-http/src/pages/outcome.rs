//! What sessions ask, what came of them, and how near members were, on the pages of sessions and members.

use swarm_core::Session;
use swarm_core::domain::{Outcome, Question, SessionSummary, StanceScale};
use swarm_core::rules::{
    CalibrationBin, MIN_SCORED, MemberRecord, Score, ScoreFigures, counted_outcome, scores,
};

use super::charts::{range, signed};
use super::links;
use super::markup::Markup;
use super::people::{People, Person};
use super::time_text::{TimeFormatter, span};

/// What a session asks.
pub(super) struct QuestionView {
    pub(super) text: Option<String>,
    pub(super) resolution: Option<String>,
    pub(super) resolves_at: Option<Markup>,
}

impl QuestionView {
    pub(super) fn of(question: &Question, times: TimeFormatter) -> Option<Self> {
        (!question.is_empty()).then(|| Self {
            text: question.text.as_ref().map(|text| text.as_str().to_owned()),
            resolution: question.resolution.as_ref().map(|text| text.as_str().to_owned()),
            resolves_at: question.resolves_at.map(|time| times.time(time)),
        })
    }
}

/// What came of a session.
pub(super) struct OutcomeView {
    /// `+1 after 7 days`
    pub(super) outcome: String,
    pub(super) recorded: Markup,
    pub(super) source: Option<String>,
    /// The scores, if the session counts and somebody had a known stance.
    pub(super) scores: Option<ScoresView>,
}

/// How near the members of a session were to its outcome.
pub(super) struct ScoresView {
    /// What the crowd said, on the scale of stances.
    pub(super) crowd: String,
    /// The lowest and the highest rank.
    pub(super) range: String,
    /// The middle of the ranks.
    pub(super) neutral: String,
    pub(super) crowd_loss: String,
    pub(super) neutral_loss: String,
    pub(super) rows: Vec<ScoreRow>,
    /// The number of members that are not listed.
    pub(super) more: usize,
}

pub(super) struct ScoreRow {
    pub(super) who: Person,
    pub(super) take: String,
    /// What the member said, on the scale of stances.
    pub(super) said: String,
    pub(super) loss: String,
    pub(super) skill: String,
}

impl OutcomeView {
    /// The outcome of a session, with the scores of `most` members; `None` until one is recorded.
    pub(super) fn of(
        session: &Session,
        most: usize,
        people: &People,
        times: TimeFormatter,
    ) -> Option<Self> {
        let outcome = session.outcome.as_ref()?;
        Some(Self {
            outcome: outcome_text(session, outcome),
            recorded: times.time(outcome.recorded_at),
            source: outcome.source.as_ref().map(|source| source.as_str().to_owned()),
            scores: ScoresView::of(session, most, people),
        })
    }
}

impl ScoresView {
    fn of(session: &Session, most: usize, people: &People) -> Option<Self> {
        let quotes = &session.snapshot.as_ref()?.quotes;
        let scale = session.declaration.scale();
        let found = scores(session.id, scale, counted_outcome(session)?, quotes);
        let crowd = found.crowd?;
        let row = |score: &Score| ScoreRow {
            who: people.person(&score.member_id),
            take: links::take(score.take_id),
            said: on_scale(scale, score.forecast.forecast),
            loss: figure(score.forecast.loss),
            skill: signed_figure(score.skill),
        };
        Some(Self {
            crowd: on_scale(scale, crowd.forecast),
            range: range(scale),
            neutral: on_scale(scale, 0.5),
            crowd_loss: figure(crowd.loss),
            neutral_loss: figure(found.neutral.loss),
            rows: found.scores.iter().take(most).map(row).collect(),
            more: found.scores.len().saturating_sub(most),
        })
    }
}

/// `+1 after 7 days`: after the deadline, when the outcome was to be known, or was recorded.
fn outcome_text(session: &Session, outcome: &Outcome) -> String {
    let Some(value) = outcome.value else { return "Annulled".to_owned() };
    let resolves_at = session.question.resolves_at.unwrap_or(outcome.recorded_at);
    let known = resolves_at.min(outcome.recorded_at);
    let after = session.window_closes_at.map(|deadline| known.millis() - deadline.millis());
    let after = after.filter(|after| *after > 0).map(|after| format!(" after {}", span(after)));
    value_text(value.get()) + &after.unwrap_or_default()
}

/// The outcome of a session in a list: `+1.68`; `None` if it has none that counts.
pub(super) fn listed(session: &SessionSummary) -> Option<String> {
    let outcome = session.outcome.as_ref().filter(|_| session.counts())?;
    Some(value_text(outcome.value?.get()))
}

/// An outcome with its sign: `+1`, `−0.5`, `0`.
pub(super) fn value_text(value: f64) -> String {
    let text = signed(value);
    if text == signed(0.0) {
        return "0".to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A forecast on the scale of the stances of its session, −2 to 2 unless it declares others.
fn on_scale(scale: &StanceScale, forecast: f64) -> String {
    signed((scale.highest() - scale.lowest()) * forecast + scale.lowest())
}

/// A loss: `0.023`.
pub(super) fn figure(figure: f64) -> String {
    format!("{figure:.3}")
}

/// A skill with its sign: `+0.012`.
pub(super) fn signed_figure(skill: f64) -> String {
    let text = format!("{:.3}", skill.abs());
    match text.chars().all(|digit| matches!(digit, '0' | '.')) {
        true => text,
        false if skill < 0.0 => format!("−{text}"),
        false => format!("+{text}"),
    }
}

/// The interval of a skill: `−0.004 to +0.028`.
pub(super) fn interval(figures: &ScoreFigures) -> Option<String> {
    let (low, high) = figures.low.zip(figures.high)?;
    Some(format!("{} to {}", signed_figure(low), signed_figure(high)))
}

/// The record of a member.
pub(super) struct RecordView {
    /// Labels and figures.
    pub(super) figures: Vec<(String, String)>,
    /// Rows of the table of calibration: the range, how many, and both means.
    pub(super) calibration: Vec<[String; 4]>,
    pub(super) scored: usize,
    /// Whether there are too few sessions to say anything.
    pub(super) too_few: bool,
}

impl RecordView {
    /// The record over all sessions; `None` without scored ones.
    pub(super) fn of(record: &MemberRecord) -> Option<Self> {
        let MemberRecord { figures, right, calibration } = record;
        let scored = figures.scored;
        let (loss, skill) = figures.loss.zip(figures.skill)?;
        let too_few = scored < MIN_SCORED;
        let mut shown = vec![("sessions with an outcome".to_owned(), scored.to_string())];
        if too_few {
            let label = format!("skill; a place takes {MIN_SCORED} sessions");
            shown.push((label, "too few to say".to_owned()));
        } else {
            let label = match interval(figures) {
                Some(interval) => format!("skill (95 %: {interval})"),
                None => "skill".to_owned(),
            };
            shown.push((label, signed_figure(skill)));
            shown.push(("mean loss, 0–1".to_owned(), figure(loss)));
            shown.push((
                "on the side of the outcome".to_owned(),
                format!("{} of {}", right.n, right.of),
            ));
        }
        let calibration = match too_few {
            true => Vec::new(),
            false => calibration.iter().map(calibration_row).collect(),
        };
        Some(Self { figures: shown, calibration, scored, too_few })
    }
}

/// Forecasts of sessions with different stances are on the scale of the service.
fn calibration_row(bin: &CalibrationBin) -> [String; 4] {
    let shown = |forecast: f64| on_scale(StanceScale::of_service(), forecast);
    let mean = |mean: Option<f64>| mean.map_or_else(|| "–".to_owned(), shown);
    [
        format!("{} to {}", shown(bin.from), shown(bin.to)),
        bin.n.to_string(),
        mean(bin.forecast),
        mean(bin.outcome),
    ]
}
