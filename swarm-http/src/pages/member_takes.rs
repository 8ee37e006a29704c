//! A member's takes in some sessions: as quoted in the snapshot, else loaded from the session.

use std::sync::Arc;

use futures_util::future::try_join_all;
use swarm_core::domain::{Body, Confidence, Quote, Stance};
use swarm_core::{Error, MemberId, Session, TakeId, Tenant};

use super::lists::uncounted;

/// Maximum number of sessions whose takes are loaded because their snapshot does not quote the member.
const MAX_LOADED: usize = 12;

/// The member's latest take in a session.
pub(super) struct MemberTake {
    pub(super) session: Arc<Session>,
    pub(super) take: TakeId,
    pub(super) stance: Stance,
    pub(super) confidence: Confidence,
    pub(super) body: Body,
    /// Why it is not counted, if it is not.
    pub(super) remark: Option<&'static str>,
}

/// The member's takes in these sessions, those of the newest session first.
pub(super) async fn find(
    tenant: &Tenant,
    member: &MemberId,
    sessions: &[Arc<Session>],
) -> Result<Vec<MemberTake>, Error> {
    let unquoted = sessions.iter().filter(|session| quote(session, member).is_none());
    let loaded = unquoted.take(MAX_LOADED).map(|session| tenant.session(session.id));
    let loaded = try_join_all(loaded).await?;
    let on_file = loaded.iter().flat_map(|(session, takes)| {
        let own = takes.iter().find(|take| take.draft().member_id == *member);
        own.map(|take| MemberTake {
            session: Arc::clone(session),
            take: take.id,
            stance: take.draft().stance.clone(),
            confidence: take.draft().confidence,
            body: take.draft().body.clone(),
            remark: uncounted(take, session.snapshot.as_deref()),
        })
    });
    let quoted = sessions.iter().filter_map(|session| {
        let own = quote(session, member)?;
        Some(MemberTake {
            session: Arc::clone(session),
            take: own.take_id,
            stance: own.stance.clone(),
            confidence: own.confidence,
            body: own.body.clone(),
            remark: None,
        })
    });
    let mut takes: Vec<_> = on_file.chain(quoted).collect();
    takes.sort_by_key(|take| std::cmp::Reverse((take.session.date, take.session.id)));
    Ok(takes)
}

/// The quote of a member in the snapshot of a session.
fn quote<'a>(session: &'a Session, member: &MemberId) -> Option<&'a Quote> {
    session.snapshot.as_deref()?.quotes.iter().find(|quote| quote.member_id == *member)
}
