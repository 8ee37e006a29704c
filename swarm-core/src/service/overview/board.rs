//! The subjects with their latest results.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::{
    Day, Figures, SessionId, SessionState, SessionSummary, Subject, SubjectId, SubjectSnapshot,
};
use crate::rules::dissent;
use crate::service::{Error, Tenant};
use crate::store::SessionList;

/// Maximum number of subjects on a board: those with the lowest ids.
pub const MAX_BOARD: usize = 2_000;

/// Maximum number of results of a subject, and of its sessions without a result.
const MAX_POINTS: usize = 12;
const MAX_PENDING: usize = 4;

/// Number of subjects read at a time.
const SUBJECTS_AT_ONCE: usize = 100;

/// The subjects of a tenant, by id.
#[derive(Clone, Debug, Default)]
pub struct Board {
    subjects: BTreeMap<SubjectId, Arc<SubjectTrend>>,
    is_cut: bool,
}

/// A subject with its latest results.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubjectTrend {
    /// The id.
    pub id: SubjectId,
    /// The name.
    pub name: String,
    /// The status.
    pub status: String,
    /// The thesis about it.
    pub thesis: Option<String>,
    /// The latest results that count, by day.
    pub results: Vec<ResultPoint>,
    /// The latest sessions that count and have no result, by day: of each day the newest one.
    pub pending: Vec<Arc<SessionSummary>>,
    /// The latest two values in US dollars, by day.
    pub values: Vec<(Day, f64)>,
}

/// The result of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResultPoint {
    /// The session.
    pub session: SessionId,
    /// Its day.
    pub date: Day,
    /// Whether the session is published.
    pub is_published: bool,
    /// The figures.
    pub figures: Figures,
}

impl Board {
    /// Reads all subjects, up to [`MAX_BOARD`].
    pub(super) async fn read(tenant: &Tenant) -> Result<Self, Error> {
        let mut board = Self::default();
        let mut after: Option<SubjectId> = None;
        loop {
            let page = tenant.subjects(after.as_ref(), SUBJECTS_AT_ONCE).await?;
            for subject in page.subjects {
                let trend = trend_of(tenant, subject).await?;
                board.subjects.insert(trend.id.clone(), Arc::new(trend));
            }
            after = page.next_after;
            board.is_cut = after.is_some();
            if !board.is_cut || board.subjects.len() >= MAX_BOARD {
                return Ok(board);
            }
        }
    }

    /// Puts subjects in place of those with the same ids.
    pub(super) fn put(&mut self, trends: Vec<SubjectTrend>) {
        for trend in trends {
            self.subjects.insert(trend.id.clone(), Arc::new(trend));
        }
        while self.subjects.len() > MAX_BOARD {
            self.subjects.pop_last();
            self.is_cut = true;
        }
    }

    /// Returns the subject with this id.
    pub fn get(&self, id: &SubjectId) -> Option<&Arc<SubjectTrend>> {
        self.subjects.get(id)
    }

    /// Returns the subjects, by id.
    pub fn subjects(&self) -> impl DoubleEndedIterator<Item = &Arc<SubjectTrend>> {
        self.subjects.values()
    }

    /// Returns whether there are more subjects.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl SubjectTrend {
    /// Returns the latest result that is one: its quorum was met, if it had any, and it has a consensus; and that before it.
    pub fn latest(&self) -> [Option<&ResultPoint>; 2] {
        let mut met = self.results.iter().rev().filter(|point| point.is_result());
        [met.next(), met.next()]
    }
}

impl ResultPoint {
    fn of(session: &SessionSummary) -> Option<Self> {
        Some(Self {
            session: session.id,
            date: session.date,
            is_published: session.state == SessionState::Published,
            figures: session.figures.clone()?,
        })
    }

    /// Returns whether the quorum was missed.
    pub fn missed_quorum(&self) -> bool {
        self.figures.quorum.as_ref().is_some_and(|quorum| !quorum.met)
    }

    /// Returns the score; `None` without a consensus.
    pub fn score(&self) -> Option<f64> {
        Some(self.figures.consensus.as_ref()?.score)
    }

    /// Returns the score on the scale of the service, −2 to 2; `None` without a consensus.
    pub fn normalized_score(&self) -> Option<f64> {
        Some(self.figures.stances.scale().normalized(self.score()?))
    }

    /// Returns whether the scores of both are on one scale, so that their difference means something.
    pub fn has_scale_of(&self, other: &Self) -> bool {
        self.figures.stances.scale() == other.figures.stances.scale()
    }

    /// Returns the mean distance of the members from the score, on the scale of the session as the score is.
    pub fn spread(&self) -> Option<f64> {
        dissent(&self.figures.stances, self.score()?)
    }

    /// Returns the mean distance of the members from the score, on the scale of the service.
    pub fn normalized_spread(&self) -> Option<f64> {
        Some(self.figures.stances.scale().normalized_distance(self.spread()?))
    }

    /// Returns whether there is a consensus, and the quorum was met if one was set.
    pub fn is_result(&self) -> bool {
        self.figures.consensus.is_some() && !self.missed_quorum()
    }
}

/// The subjects with these ids, as they are now.
pub(super) async fn trends(tenant: &Tenant, ids: &[SubjectId]) -> Result<Vec<SubjectTrend>, Error> {
    let mut trends = Vec::new();
    for id in ids {
        trends.extend(trend(tenant, id).await?);
    }
    Ok(trends)
}

/// A subject as it is now; `None` if there is none with this id.
pub(super) async fn trend(tenant: &Tenant, id: &SubjectId) -> Result<Option<SubjectTrend>, Error> {
    match Error::if_any(tenant.subject(id).await)? {
        Some(subject) => trend_of(tenant, subject).await.map(Some),
        None => Ok(None),
    }
}

async fn trend_of(tenant: &Tenant, subject: Subject) -> Result<SubjectTrend, Error> {
    let list = SessionList::About(subject.id.clone());
    let limit = MAX_POINTS + MAX_PENDING;
    let found = tenant.summaries_where(list, None, limit, SessionSummary::counts).await?;
    let mut results: Vec<_> =
        found.sessions.iter().filter_map(|session| ResultPoint::of(session)).collect();
    results.truncate(MAX_POINTS);
    results.sort_by_key(|point| (point.date, point.session));
    let is_pending = |session: &&Arc<SessionSummary>| {
        session.figures.is_none() && session.is_newest_of_its_day(&found.sessions)
    };
    let pending = found.sessions.iter().filter(is_pending).take(MAX_PENDING);
    let mut pending: Vec<_> = pending.cloned().collect();
    pending.sort_by_key(|session| (session.date, session.id));
    let snapshots = tenant.snapshots(&subject.id).await?;
    let value =
        |snapshot: &SubjectSnapshot| Some((snapshot.draft.date, snapshot.draft.total_value_usd?));
    let mut values: Vec<_> = snapshots.iter().rev().filter_map(value).take(2).collect();
    values.reverse();
    let Subject { id, status, name, thesis_blurb: thesis, .. } = subject;
    Ok(SubjectTrend { id, name, status, thesis, results, pending, values })
}
