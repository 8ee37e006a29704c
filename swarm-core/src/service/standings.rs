//! What a member owes: the sessions that accept takes, and whether it may file there (API.md, 4.6).

use std::sync::Arc;

use super::{Error, MAX_ACCEPTING, Tenant};
use crate::domain::{Member, Nonce, Session};
use crate::rules::{self, Refusal, Standing};
use crate::store::{BasisQuery, Caller, Collection};

/// A member, and its standing in each session that accepts takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemberStandings {
    /// The member.
    pub member: Arc<Member>,
    /// The sessions, the soonest deadline first, and those without one last.
    pub sessions: Vec<StandingInSession>,
}

/// The standing of a member in a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StandingInSession {
    /// The session.
    pub session: Arc<Session>,
    /// Whether its brief is published.
    pub has_brief: bool,
    /// Whether the member may file there.
    pub standing: Standing,
}

impl Tenant {
    /// Returns the member that calls, and its standing in the sessions that
    /// [accept takes](Self::accepting_sessions), the soonest deadline first, at most [`MAX_ACCEPTING`] of them.
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when the caller is no active member.
    pub async fn standings(
        &self,
        caller: impl Into<Caller<'_>> + Send,
    ) -> Result<MemberStandings, Error> {
        let caller = caller.into();
        let member = self.calling(caller).await?;
        let mut sessions = Vec::new();
        for session in self.accepting_soonest(MAX_ACCEPTING).await? {
            if let Some(found) = self.standing_in(caller, session).await? {
                sessions.push(found);
            }
        }
        Ok(MemberStandings { member, sessions })
    }

    /// The standing in this session; `None` if it was withdrawn meanwhile, or a newer one of its day and subject was
    /// convened.
    async fn standing_in(
        &self,
        caller: Caller<'_>,
        session: Arc<Session>,
    ) -> Result<Option<StandingInSession>, Error> {
        // Any nonce will do: the standing does not depend on it.
        let nonce = Nonce::parse("standing").map_err(Refusal::InvalidSubmission)?;
        let (date, subject_id) = (session.date, &session.subject_id);
        let query = BasisQuery { caller, date, subject_id, nonce: &nonce };
        let basis = self.store.basis(&query).await?;
        if basis.session.as_ref().is_none_or(|newest| newest.record.id != session.id) {
            return Ok(None);
        }
        let brief = self.store.document(Collection::Briefs, &session.id.to_string()).await?;
        let mut standing = rules::standing(&basis);
        if standing.refusal.is_none() {
            standing.refusal = self.check_policy(&basis, (date, subject_id), None).await.err();
        }
        Ok(Some(StandingInSession { has_brief: brief.is_some(), standing, session }))
    }
}
