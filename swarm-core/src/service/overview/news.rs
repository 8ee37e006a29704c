//! What happened after an entry of the log, a subject at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::board::{ResultPoint, SubjectTrend};
use super::recent::{Recent, What};
use crate::domain::{Seq, SessionAct, SessionId, SessionState, SubjectId};

/// What happened after an entry of the log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct News {
    /// The entry after which it happened.
    pub after: Seq,
    /// The last entry.
    pub end: Seq,
    /// Whether entries after the one asked for are left out, because there are too many.
    pub is_cut: bool,
    /// The subjects about which there is something, that with the newest entry first.
    pub subjects: Vec<SubjectNews>,
    /// The number of members that joined.
    pub joined: usize,
    /// The number of memos that were published.
    pub memos: usize,
}

/// What happened to a subject: in sessions that count, and those that were voided. Of sessions for practice nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubjectNews {
    /// The subject.
    pub subject: SubjectId,
    /// Its latest results; `None` if there is no such subject.
    pub trend: Option<Arc<SubjectTrend>>,
    /// The sessions that were aggregated.
    pub results: BTreeSet<SessionId>,
    /// The sessions that were convened, and not withdrawn again.
    pub convened: BTreeSet<SessionId>,
    /// The sessions that were voided.
    pub voided: BTreeSet<SessionId>,
    /// The outcomes that were recorded, or recorded anew, by session.
    pub outcomes: BTreeMap<SessionId, OutcomeNews>,
    /// The number of members that filed, once for each session.
    pub filed: usize,
    /// The number of takes that revise an earlier one.
    pub revised: usize,
    /// The newest entry.
    newest: Seq,
}

/// An outcome that was recorded. A value is `None` where the outcome was annulled.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutcomeNews {
    /// The value before; `None` where there was none, or it is not known any more.
    pub before: Option<Option<f64>>,
    /// The value now.
    pub now: Option<f64>,
}

impl News {
    pub(super) fn of(recent: &Recent, asked: Seq) -> Self {
        let after = asked.max(recent.start());
        let (mut subjects, mut members) = (BTreeMap::new(), BTreeSet::new());
        let mut memos = 0;
        let outcomes = recent.outcomes_until(after);
        for row in recent.after(after) {
            let (id, is_void) = match &row.what {
                What::Member { id, is_new } => {
                    members.extend(is_new.then_some(id));
                    continue;
                }
                What::MemoPublished => {
                    memos += 1;
                    continue;
                }
                What::Subject(_) => continue,
                What::Take { session, .. } => (*session, false),
                What::Session { id, act, .. } => (*id, *act == SessionAct::Void),
            };
            let Some(about) = recent.session(id).filter(|about| about.counts || is_void) else {
                continue;
            };
            let news: &mut SubjectNews = subjects
                .entry(&about.subject)
                .or_insert_with(|| SubjectNews::of(about.subject.clone()));
            news.newest = row.seq;
            match row.what {
                What::Take { is_revision: true, .. } => news.revised += 1,
                What::Take { .. } => news.filed += 1,
                What::Session { act: SessionAct::Outcome, outcome: Some(now), .. } => {
                    let before = outcomes.get(&id).copied();
                    news.outcomes.insert(id, OutcomeNews { before, now });
                }
                What::Session { act, state, .. } => news.add(id, act, state),
                _ => {}
            }
        }
        let mut subjects: Vec<_> =
            subjects.into_values().filter(|subject| !subject.is_empty()).collect();
        subjects.sort_by_key(|subject| std::cmp::Reverse(subject.newest));
        let is_cut = asked < after;
        Self { after, end: recent.end(), is_cut, subjects, joined: members.len(), memos }
    }
}

impl SubjectNews {
    fn of(subject: SubjectId) -> Self {
        Self {
            subject,
            trend: None,
            results: BTreeSet::new(),
            convened: BTreeSet::new(),
            voided: BTreeSet::new(),
            outcomes: BTreeMap::new(),
            filed: 0,
            revised: 0,
            newest: Seq(0),
        }
    }

    fn add(&mut self, id: SessionId, act: SessionAct, state: SessionState) {
        match act {
            SessionAct::Convened => {
                self.convened.insert(id);
            }
            SessionAct::Withdrawn => {
                self.convened.remove(&id);
            }
            SessionAct::State if state == SessionState::Aggregated => {
                self.results.insert(id);
            }
            SessionAct::Void => {
                self.voided.insert(id);
            }
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.results.is_empty()
            && self.convened.is_empty()
            && self.voided.is_empty()
            && self.outcomes.is_empty()
            && self.filed == 0
            && self.revised == 0
    }

    /// Returns the latest result before, of those that count now, and the latest one. Those without a consensus, or whose
    /// quorum was missed, are left out.
    pub fn then_and_now(&self) -> [Option<&ResultPoint>; 2] {
        let Some(trend) = &self.trend else { return [None, None] };
        let is_old = |point: &&ResultPoint| !self.results.contains(&point.session);
        let mut results = trend.results.iter().rev().filter(|point| point.is_result());
        [results.clone().find(is_old), results.next()]
    }

    /// Returns the last two of the new results that are results and count now, where there is none before the new ones.
    pub fn last_two(&self) -> Option<[&ResultPoint; 2]> {
        let [None, Some(_)] = self.then_and_now() else { return None };
        let [Some(latest), Some(before)] = self.trend.as_deref()?.latest() else { return None };
        Some([before, latest])
    }
}
