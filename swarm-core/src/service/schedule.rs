//! Following a schedule: sessions convene, are briefed, aggregated and published by themselves.

use std::sync::Arc;

use super::{Commit, Error, Round, Tenant};
use crate::domain::{
    Attribution, MemberState, Schedule, Session, SessionId, SessionState, Timestamp,
};
use crate::rules::{self, Occasion, Refusal, Resource};
use crate::store::{Collection, MemberQuery, SessionQuery, StoreError};

/// The most sessions of one state, the newest first, among which a round looks for those to move on.
const MAX_SESSIONS: usize = 1_000;

/// What a round of the schedule did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ScheduleRound {
    /// What was committed, in order.
    pub steps: Vec<(SessionId, ScheduleStep)>,
    /// The occasions whose session could not be convened, and why. They are tried again in the next round,
    /// while their window is open.
    pub skipped: Vec<(String, Refusal)>,
    /// When the next is due.
    pub round: Round,
}

/// One commit of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleStep {
    /// The session was convened.
    Convened,
    /// Its brief was published.
    Brief,
    /// It was aggregated.
    Aggregated,
    /// It was published.
    Published,
}

impl Tenant {
    /// Does what the schedule has due now (API.md, 7.7). Any number of servers may call this at any time:
    /// each step is committed once.
    ///
    /// # Errors
    /// [`Error::Store`]. What was not done by then is done by the next round.
    pub async fn follow(&self, schedule: &Schedule) -> Result<ScheduleRound, Error> {
        let now = self.store.now().await?;
        let mut did = ScheduleRound::default();
        for occasion in rules::open_occasions(schedule, now) {
            match self.attend(&occasion, &mut did).await {
                Err(Error::Refused(refusal)) => did.skipped.push((occasion.name(), refusal)),
                attended => attended?,
            }
        }
        self.move_on(schedule, now, &mut did).await?;
        did.round.done = did.steps.len();
        did.round.wait_for(rules::next_opening(schedule, now), now);
        Ok(did)
    }

    /// Convenes the session of an open window, and publishes its brief.
    async fn attend(&self, occasion: &Occasion<'_>, did: &mut ScheduleRound) -> Result<(), Error> {
        let session = match self.session_for(occasion).await? {
            Some(id) => id,
            None => match self.convene_for(occasion).await? {
                Some(session) => {
                    did.steps.push((session.id, ScheduleStep::Convened));
                    session.id
                }
                // Another server was quicker, and publishes the brief.
                None => return Ok(()),
            },
        };
        let key = session.to_string();
        if !occasion.entry.brief || self.store.document(Collection::Briefs, &key).await?.is_some() {
            return Ok(());
        }
        let published = self.publish_brief(session, None, &Attribution::SCHEDULE).await;
        if done(published)? {
            did.steps.push((session, ScheduleStep::Brief));
        }
        Ok(())
    }

    /// The session that was convened for an occasion. It may have been withdrawn since.
    async fn session_for(&self, occasion: &Occasion<'_>) -> Result<Option<SessionId>, Error> {
        let claim = self.store.document(Collection::Occasions, &occasion.name()).await?;
        let Some(claim) = claim else { return Ok(None) };
        let id = claim.json.parse().map_err(|_| StoreError::corrupt("occasion", claim.json));
        Ok(Some(SessionId(id?)))
    }

    async fn convene_for(&self, occasion: &Occasion<'_>) -> Result<Option<Arc<Session>>, Error> {
        let states = [MemberState::Approved, MemberState::Claimed];
        let active = match occasion.entry.roster {
            Some(_) => self.store.members(&MemberQuery::in_states(&states)).await?,
            None => Vec::new(),
        };
        let draft = occasion.draft(&active);
        self.subject(&draft.subject_id).await?;
        self.check_roster(draft.roster.as_ref(), "roster").await?;
        let convocation = rules::convene(&draft, &Attribution::SCHEDULE);
        let convened = self.store.convene_once(&occasion.name(), &convocation).await?;
        if let Some(session) = &convened {
            self.observer.tell(Commit::Session(session));
        }
        Ok(convened)
    }

    /// Aggregates and publishes the sessions that the schedule convened.
    async fn move_on(
        &self,
        schedule: &Schedule,
        now: Timestamp,
        did: &mut ScheduleRound,
    ) -> Result<(), Error> {
        use SessionState::{Aggregated, WindowClosed};
        let wants = |state| match state {
            WindowClosed => schedule.entries().iter().any(|entry| entry.aggregate),
            _ => schedule.entries().iter().any(|entry| entry.publish),
        };
        // In this order: what is aggregated here is published here.
        for state in [WindowClosed, Aggregated].into_iter().filter(|state| wants(*state)) {
            for session in self.in_state(state).await? {
                let Some(occasion) = self.occasion_of(schedule, &session).await? else { continue };
                if let Some(to) = rules::next_state(occasion.entry, &session, now) {
                    if done(self.advance(session.id, to, &Attribution::SCHEDULE).await)? {
                        did.steps.push((session.id, ScheduleStep::entering(to)));
                    }
                } else if let Some(deadline) = session.window_closes_at {
                    // An operator closed the window early: takes may still come.
                    let after = deadline.plus_millis(1);
                    did.round.wait_for((after > now).then_some(after), now);
                }
            }
        }
        Ok(())
    }

    async fn in_state(&self, state: SessionState) -> Result<Vec<Arc<Session>>, Error> {
        let (state, limit, without_snapshots) = (Some(state), MAX_SESSIONS, true);
        let query = SessionQuery { state, limit, without_snapshots, ..SessionQuery::default() };
        Ok(self.store.sessions(&query).await?)
    }

    /// The occasion that a session was convened for; `None` when an operator convened it, or when the entry
    /// is no longer in the schedule.
    async fn occasion_of<'a>(
        &self,
        schedule: &'a Schedule,
        session: &Session,
    ) -> Result<Option<Occasion<'a>>, Error> {
        for occasion in rules::occasions_of(schedule, session) {
            if self.session_for(&occasion).await? == Some(session.id) {
                return Ok(Some(occasion));
            }
        }
        Ok(None)
    }
}

impl ScheduleStep {
    /// What it did, for a log line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Convened => "convened",
            Self::Brief => "brief published",
            Self::Aggregated => "aggregated",
            Self::Published => "published",
        }
    }

    fn entering(state: SessionState) -> Self {
        if state == SessionState::Published { Self::Published } else { Self::Aggregated }
    }
}

/// Whether this call committed a step; false when another server or an operator did it before, or withdrew the
/// session.
fn done<T>(result: Result<T, Error>) -> Result<bool, Error> {
    use Refusal::{AlreadyAggregated, BriefPublished, NotFound, SessionIs};
    match result {
        Ok(_) => Ok(true),
        Err(Error::Refused(
            AlreadyAggregated | BriefPublished | SessionIs(_) | NotFound(Resource::Session),
        )) => Ok(false),
        Err(error) => Err(error),
    }
}
