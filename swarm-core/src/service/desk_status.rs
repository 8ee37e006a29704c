//! The state of a desk: what waits for an operator (API.md, 7.9).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Error, Tenant};
use crate::answers::{DeskStatus, LogStatus, MailStatus, MissingMember, SessionStatus};
use crate::domain::{
    MailState, Member, MemberId, MemberState, Schedule, Session, SessionState, Timestamp,
};
use crate::rules::{self, Steps};
use crate::store::{Countable, MemberQuery, SessionList};

/// The most sessions of a status.
const MAX_SESSIONS: usize = 300;

/// The most members that a session names.
const MAX_MISSING: usize = 1_000;

/// What a server knows besides the [`DeskStatus`].
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Whether the server is ready.
    pub ready: bool,
    /// Why it is not, or what it warns of.
    pub warnings: Vec<String>,
    /// When the certificate expires, if the server has one.
    pub certificate: Option<Timestamp>,
    /// Why the briefs of the committee could not be exported the last time.
    pub export_fault: Option<String>,
    /// Whether there is a mail server: without one, messages stay in the outbox.
    pub has_mail_server: bool,
    /// The log.
    pub log: LogStatus,
}

impl Tenant {
    /// Returns the state of the desk. At most 300 sessions are in it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn desk_status(&self, schedule: &Schedule) -> Result<DeskStatus, Error> {
        let now = self.now().await?;
        let mut members = 0;
        for state in MemberState::ALL.into_iter().filter(|state| state.is_active()) {
            members += self.count(Countable::Members(state)).await?;
        }
        Ok(DeskStatus {
            applications: self.count(Countable::Members(MemberState::Applied)).await?,
            members,
            sessions: self.unpublished(schedule, now).await?,
            mail: MailStatus {
                queued: self.count(Countable::Messages(MailState::Queued)).await?,
                failed: self.count(Countable::Messages(MailState::Failed)).await?,
                undeliverable: self.count(Countable::Messages(MailState::Undeliverable)).await?,
                oldest: self.queued(None).await?.first().map(|message| message.queued_at),
            },
            webhooks: self.webhook_status().await?,
            schedule: self.schedule_status(schedule).await?,
        })
    }

    /// The sessions that are not published.
    async fn unpublished(
        &self,
        schedule: &Schedule,
        now: Timestamp,
    ) -> Result<Vec<SessionStatus>, Error> {
        use SessionState::{Aggregated, Collecting, Scheduled, WindowClosed};
        let (mut shown, mut others) = (Vec::new(), Vec::new());
        for state in [Collecting, WindowClosed, Aggregated, Scheduled] {
            // A voided one waits for nothing.
            let list = SessionList::InState(state);
            let mut found = self.listed(list, |session| session.voided.is_none()).await?;
            found.sort_by_key(|session| session.by_deadline());
            // Many in one state do not hide those in another. Those that are only announced come last.
            let share = if state == Scheduled { 0 } else { MAX_SESSIONS / 3 };
            let rest = found.split_off(share.min(found.len()));
            shown.extend(found);
            others.push(rest);
        }
        let announced = others.pop().unwrap_or_default();
        let mut others = others.concat();
        others.sort_by_key(|session| session.by_deadline());
        let room = MAX_SESSIONS.saturating_sub(shown.len());
        shown.extend(others.into_iter().chain(announced).take(room));
        shown.sort_by_key(|session| session.by_deadline());
        let mut read = Vec::new();
        for session in shown {
            match self.session_authors(session.id).await {
                Ok((session, filed)) => {
                    let steps = self.steps(schedule, &session).await?;
                    read.push((session, filed, steps));
                }
                // It was withdrawn meanwhile.
                Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let missing = read.iter().flat_map(|(session, filed, _)| missing(session, filed)).cloned();
        let names = self.member_names(missing.collect()).await?;
        let status = |(session, filed, steps): &(Arc<Session>, HashSet<MemberId>, Steps)| {
            session_status(session, filed, &names, *steps, now)
        };
        Ok(read.iter().map(status).collect())
    }

    /// The names of these members, in any state.
    async fn member_names(
        &self,
        ids: HashSet<MemberId>,
    ) -> Result<HashMap<MemberId, String>, Error> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let ids = Some(ids.into_iter().collect());
        let query = MemberQuery { ids, ..MemberQuery::in_states(&MemberState::ALL) };
        let members = self.store.members(&query).await?;
        let name = |member: &Arc<Member>| (member.id.clone(), member.name.as_str().to_owned());
        Ok(members.iter().map(name).collect())
    }
}

/// The first [`MAX_MISSING`] expected members that have not filed.
fn missing<'a>(
    session: &'a Session,
    filed: &HashSet<MemberId>,
) -> impl Iterator<Item = &'a MemberId> + use<'a> {
    let missing = rules::missing(session, |member| filed.contains(member));
    missing.into_iter().take(MAX_MISSING)
}

fn session_status(
    session: &Session,
    filed: &HashSet<MemberId>,
    names: &HashMap<MemberId, String>,
    steps: Steps,
    now: Timestamp,
) -> SessionStatus {
    let named = |member_id: &MemberId| MissingMember {
        member_id: member_id.clone(),
        name: names.get(member_id).map_or(member_id.as_str(), String::as_str).to_owned(),
    };
    SessionStatus {
        id: session.id,
        date: session.date,
        subject_id: session.subject_id.clone(),
        state: session.state,
        window_closes_at: session.window_closes_at,
        filed: rules::filed(session, filed),
        expected: session.roster.as_ref().map(|roster| roster.expected().count()),
        missing: missing(session, filed).map(named).collect(),
        next: rules::next_step(steps, session, now),
        result_by: rules::result_by(steps, session),
    }
}
