//! Following a schedule: sessions are convened, briefed, aggregated and published without an operator.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::documents::convened_session;
use super::{Commit, Error, Round, Tenant};
use crate::domain::{
    Attribution, MemberState, Schedule, Session, SessionDraft, SessionId, SessionState, Timestamp,
};
use crate::rules::{self, Refusal, Resource, ScheduledWindow, Steps};
use crate::store::{Collection, DocumentQuery, MemberQuery, Records, SessionQuery};

/// The most sessions of one state, the newest first, among which a round looks for those that are due, and how many of them are read
/// at a time.
const MAX_IN_STATE: usize = 10_000;
const SESSIONS_AT_ONCE: usize = 1_000;

/// How many claims of windows are read at a time.
const PAGE: usize = 1_000;

/// The maximum size of the claims in a page, in bytes. A claim is an id.
const PAGE_BYTES: usize = 1 << 20;

/// What a round of the schedule did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ScheduleRound {
    /// What was committed, in order.
    pub steps: Vec<(SessionId, ScheduleStep)>,
    /// The [names](ScheduledWindow::name) of the windows whose session could not be convened, and why. They are tried
    /// again in the next round, while they are open.
    pub skipped: Vec<(String, Refusal)>,
    /// When the next step is due.
    pub round: Round,
}

/// One commit of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleStep {
    /// The session was convened.
    Convened,
    /// Its brief was published.
    Brief,
    /// The session was aggregated.
    Aggregated,
    /// The session was published.
    Published,
}

/// What a server knows of the windows that are open. Claims and briefs are never removed, so each is read once, and
/// the windows of a schedule for which all is done cost a round nothing.
#[derive(Clone, Debug, Default)]
pub struct ConvenedWindows {
    /// The number of the log in which they were found: when another begins, records may be missing.
    log: u64,
    /// By the name of the window.
    windows: BTreeMap<String, ConvenedWindow>,
    /// Those of whose skipping webhooks were told.
    skipped: BTreeSet<String>,
}

/// An open window for which a session was convened.
#[derive(Clone, Copy, Debug)]
struct ConvenedWindow {
    session: SessionId,
    /// Whether there is nothing left to be done about its brief.
    is_briefed: bool,
}

impl Tenant {
    /// Does what the schedule has due now (API.md, 7.7). `known` is kept from one round to the next. Any number of
    /// servers may call this at any time: each step is committed once.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`]. What was not done by then is done by the next round.
    pub async fn run_schedule(
        &self,
        schedule: &Schedule,
        known: &mut ConvenedWindows,
    ) -> Result<ScheduleRound, Error> {
        let now = self.store.now().await?;
        let open = rules::open_windows(schedule, now);
        self.find_convened(&open, known).await?;
        let (convened, missing): (Vec<_>, Vec<_>) =
            open.iter().partition(|window| known.windows.contains_key(&window.name()));
        let mut did = ScheduleRound::default();
        // Those without a session first: then even a server that is killed early in each round makes progress.
        for window in missing.into_iter().chain(convened) {
            match self.attend(window, known, &mut did).await {
                Err(Error::Refused(refusal)) => {
                    if known.skipped.insert(window.name()) {
                        let notice = rules::schedule_skipped(window, &refusal.to_string());
                        self.note(notice).await?;
                    }
                    did.skipped.push((window.name(), refusal));
                }
                attended => attended?,
            }
        }
        self.advance_due(schedule, now, &mut did).await?;
        did.round.done = did.steps.len();
        did.round.wait_for(rules::next_opening(schedule, now), now);
        Ok(did)
    }

    /// Reads for which of the open windows a session was convened, unless all are known, and forgets those that are
    /// over.
    async fn find_convened(
        &self,
        open: &[ScheduledWindow<'_>],
        known: &mut ConvenedWindows,
    ) -> Result<(), Error> {
        let log = self.store.log_position().await?.log;
        if known.log != log {
            *known = ConvenedWindows { log, ..ConvenedWindows::default() };
        }
        let names: BTreeSet<_> = open.iter().map(ScheduledWindow::name).collect();
        known.windows.retain(|name, _| names.contains(name));
        known.skipped.retain(|name| names.contains(name));
        let missing = || open.iter().filter(|window| !known.windows.contains_key(&window.name()));
        let Some(first) = missing().map(|window| window.opens).min() else { return Ok(()) };
        // Names begin with the time of opening.
        let mut after = first.to_string();
        loop {
            let query = DocumentQuery {
                after: Some(after),
                limit: PAGE,
                bytes: PAGE_BYTES,
                without_texts: false,
            };
            let page = self.store.document_page(Collection::Occasions, &query).await?;
            for claim in page.documents.iter().filter(|claim| names.contains(&claim.key)) {
                // The session of a claim that cannot be read is unknown, but its window is taken.
                let Ok(session) = convened_session(claim) else { continue };
                let found = ConvenedWindow { session, is_briefed: false };
                known.windows.entry(claim.key.clone()).or_insert(found);
            }
            let last = page.documents.last().filter(|_| page.more);
            let Some(last) = last else { return Ok(()) };
            after = last.key.clone();
        }
    }

    /// Convenes the session of an open window, and publishes its brief.
    async fn attend(
        &self,
        window: &ScheduledWindow<'_>,
        known: &mut ConvenedWindows,
        did: &mut ScheduleRound,
    ) -> Result<(), Error> {
        let name = window.name();
        if !known.windows.contains_key(&name) {
            // If another server was quicker, it publishes the brief.
            let Some(session) = self.convene_for(window).await? else { return Ok(()) };
            did.steps.push((session.id, ScheduleStep::Convened));
            let convened = ConvenedWindow { session: session.id, is_briefed: false };
            known.windows.insert(name.clone(), convened);
        }
        let Some(ConvenedWindow { session, is_briefed }) = known.windows.get_mut(&name) else {
            return Ok(());
        };
        if !window.entry.brief || *is_briefed {
            return Ok(());
        }
        let key = session.to_string();
        if self.store.document(Collection::Briefs, &key).await?.is_none() {
            let published = self.publish_brief(*session, None, &Attribution::SCHEDULE).await;
            if done(published)? {
                did.steps.push((*session, ScheduleStep::Brief));
            }
        }
        *is_briefed = true;
        Ok(())
    }

    async fn convene_for(
        &self,
        window: &ScheduledWindow<'_>,
    ) -> Result<Option<Arc<Session>>, Error> {
        let draft = self.draft_for(window).await?;
        let convocation = rules::convene(&draft, &Attribution::SCHEDULE);
        let name = window.name();
        let convened = |store: Records| async move {
            Ok((store.convene_once(&name, &convocation).await?, convocation))
        };
        let (session, _) = self
            .observer
            .commit(&self.store, convened, |(convened, convocation)| {
                convened.as_deref().map(|session| Commit::convened(session, convocation))
            })
            .await?;
        Ok(session)
    }

    /// The session to convene for a window.
    pub(super) async fn draft_for(
        &self,
        window: &ScheduledWindow<'_>,
    ) -> Result<SessionDraft, Error> {
        let states = [MemberState::Approved, MemberState::Claimed];
        let active = match window.entry.roster {
            Some(_) => self.store.members(&MemberQuery::in_states(&states)).await?,
            None => Vec::new(),
        };
        let draft = window.draft(&active);
        self.check_draft(&draft).await?;
        Ok(draft)
    }

    /// Aggregates and publishes the sessions that the schedule convened, and those that the server finishes, as far as
    /// that is due.
    async fn advance_due(
        &self,
        schedule: &Schedule,
        now: Timestamp,
        did: &mut ScheduleRound,
    ) -> Result<(), Error> {
        use SessionState::{Aggregated, WindowClosed};
        // In this order: what is aggregated here is published here.
        for state in [WindowClosed, Aggregated] {
            for session in self.in_state(state).await? {
                let steps = self.steps(schedule, &session).await?;
                if !steps.is_any() {
                    continue;
                }
                if let Some(to) = rules::next_state(steps, &session, now) {
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

    /// The newest sessions in a state, up to [`MAX_IN_STATE`], by id in descending order.
    pub(super) async fn in_state(&self, state: SessionState) -> Result<Vec<Arc<Session>>, Error> {
        let (state, limit, without_snapshots) = (Some(state), SESSIONS_AT_ONCE, true);
        let mut query = SessionQuery { state, limit, without_snapshots, ..SessionQuery::default() };
        let mut all = Vec::new();
        loop {
            let page = self.store.sessions(&query).await?;
            let is_last = page.len() < limit;
            all.extend(page);
            query.before = all.last().map(|session| session.id);
            if is_last || all.len() >= MAX_IN_STATE {
                return Ok(all);
            }
        }
    }

    /// Returns what the server does with a session once its window has closed.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn steps(&self, schedule: &Schedule, session: &Session) -> Result<Steps, Error> {
        let window = match session.finish {
            true => None,
            false => self.window_of(schedule, session).await?,
        };
        Ok(rules::steps(session, window.map(|window| window.entry)))
    }

    /// The window that a session was convened for; `None` if an operator convened it, or if the entry is no longer in
    /// the schedule.
    async fn window_of<'a>(
        &self,
        schedule: &'a Schedule,
        session: &Session,
    ) -> Result<Option<ScheduledWindow<'a>>, Error> {
        for window in rules::windows_of(schedule, session) {
            let claim = self.store.document(Collection::Occasions, &window.name()).await?;
            let convened = claim.and_then(|claim| convened_session(&claim).ok());
            if convened == Some(session.id) {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }
}

impl ScheduleStep {
    /// Its name in log lines.
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

/// Returns whether this call committed a step: false when another server or an operator committed it before, or withdrew
/// the session.
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
