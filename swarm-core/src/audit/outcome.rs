//! Question and outcome: that the question was fixed before the first take, that the outcome was recorded of a session
//! that was over and counts, and what each member lost by it.
//!
//! An outcome is the operator's word: a bundle shows what was recorded, when and by whom, and that it was replaced, not
//! that it is true.

use super::deadlines::Filed;
use super::finding::{Check, Report, count};
use super::history::ActOnSession;
use crate::domain::json::{printable, write};
use crate::domain::{Outcome, Session, SessionAct};
use crate::rules::{Score, SessionScores, counted_outcome, scores, takes_may_come};

/// The acts that changed the question once takes were on file.
pub(super) fn late_questions(filed: &Filed<'_>, acts: &[ActOnSession<'_>]) -> Vec<String> {
    let steps = acts.iter().zip(acts.iter().skip(1));
    let late = steps.filter_map(|(before, act)| {
        let on_file = filed.before(act.seq).len();
        let is_late = on_file > 0 && before.after().question != act.after().question;
        let takes = count(on_file, "take was", "takes were");
        is_late.then(|| format!("entry {} changes the question, when {takes} on file", act.seq))
    });
    late.collect()
}

/// Checks the acts that record an outcome, and computes the scores of the last one, unless one of them is at fault.
pub(super) fn check(session: &Session, acts: &[ActOnSession<'_>], report: &mut Report) {
    let (mut faults, mut replaced, mut last) = (Vec::new(), Vec::new(), None);
    for (before, act) in acts.iter().zip(acts.iter().skip(1)) {
        if act.entry.act != SessionAct::Outcome {
            continue;
        }
        let fault = |what: &str| format!("entry {} records the outcome {what}", act.seq);
        if takes_may_come(before.after().window_closes_at, act.at) {
            faults.push(fault("before its window was over"));
        }
        if before.after().practice {
            faults.push(fault("of a session for practice"));
        }
        if before.after().voided.is_some() {
            faults.push(fault("of a void session"));
        }
        let outcome = act.after().outcome.as_ref();
        let value = outcome.and_then(|outcome| outcome.value);
        let scale = act.after().declaration.scale();
        if value.is_some_and(|value| value.check(scale).is_err()) {
            faults.push(fault("with a value that is not on the scale of its stances"));
        }
        let recorded_at = outcome.map(|outcome| outcome.recorded_at);
        if recorded_at.is_some_and(|recorded_at| recorded_at > act.at) {
            faults.push(fault("with a later time than its own"));
        } else if let (Some(deadline), Some(recorded_at)) =
            (before.after().window_closes_at, recorded_at)
            && takes_may_come(Some(deadline), recorded_at)
        {
            faults.push(fault("with a time before its window was over"));
        }
        if let Some(earlier) = &before.after().outcome {
            let (from, to) = (text(Some(earlier)), text(outcome));
            replaced.push(format!("{}: the outcome {from} → {to}", act.named()));
        }
        last = Some(act);
    }
    let is_at_fault = !faults.is_empty();
    report.faults(Check::Outcome, faults);
    report.notable(Check::Outcome, replaced);
    if is_at_fault {
        return;
    }
    let (Some(act), Some(value)) = (last, counted_outcome(session)) else { return };
    let Some(snapshot) = &session.snapshot else { return };
    let scores = scores(session.id, session.declaration.scale(), value, &snapshot.quotes);
    for line in lines(&scores) {
        report.conclude(Check::Outcome, Vec::new(), line);
    }
    let source = session.outcome.as_ref().and_then(|outcome| outcome.source.as_ref());
    let source = source.map_or_else(String::new, |it| format!(", from {}", printable(it.as_str())));
    let by = printable(act.entry.by.as_str());
    let word = format!("that it is what came of it: entry {} is the word of {by}{source}", act.seq);
    report.unproven(Check::Outcome, word);
}

fn text(outcome: Option<&Outcome>) -> String {
    match outcome.map(|outcome| outcome.value) {
        Some(Some(value)) => write(&value.get()),
        Some(None) => "annulled".to_owned(),
        None => "none".to_owned(),
    }
}

/// A line on the crowd, and one for each member.
fn lines(scores: &SessionScores) -> Vec<String> {
    let value = write(&scores.value);
    let Some(crowd) = &scores.crowd else {
        return vec![format!("{value}; nobody had a known stance, so nothing is scored")];
    };
    let members = count(scores.scores.len(), "member", "members");
    let (crowd, neutral) = (write(&crowd.loss), write(&scores.neutral.loss));
    let first = format!(
        "{value}; from the snapshot, {members} scored, the crowd lost {crowd}, always neutral {neutral}"
    );
    let member = |score: &Score| {
        let (loss, skill) = (write(&score.forecast.loss), write(&score.skill));
        let (member, take) = (printable(score.member_id.as_str()), score.take_id);
        format!("{member} lost {loss} with take {take}, skill {skill}")
    };
    std::iter::once(first).chain(scores.scores.iter().map(member)).collect()
}
