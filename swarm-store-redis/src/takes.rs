//! Implements [`Takes`]: filing, and reading takes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::domain::TakeOnFile;
use swarm_core::rules::Filing;
use swarm_core::store::records::expecting;
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberTake, MemberTakeQuery, Result, Revisions, SessionTakes,
    TakeContext, TakeQuery, Takes,
};
use swarm_core::{StoreError, Take, TakeId};
use tokio::time::sleep;

use crate::codec::{self, Context};
use crate::connection::client::bounded;
use crate::keys::{end_of, filed_by, sessions_on};
use crate::rows::{limit_arg, optional};
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::snapshots::until_unchanged;
use crate::tenant::TenantStore;

/// The number of takes read per call, so that commits can run in between.
const PAGE: usize = 500;

/// How long a take that is held back waits before it is retried.
const HOLD_RETRY_DELAY: Duration = Duration::from_millis(5);

/// The facts as a script returns them: the time, the rows of member and session, the latest
/// revision, and the row of the take that spent the nonce.
type Facts = (String, Option<String>, Option<String>, Option<String>, Option<String>);

#[async_trait]
impl Takes for TenantStore {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        let keys = [self.keys.tokens(), self.keys.members(), self.keys.sessions()];
        let mut script = self.call(&scripts::BASIS, keys);
        script.arg(codec::encode_hash(query.token));
        script.arg(sessions_on(&query.date.to_string(), query.subject_id.as_str()));
        script.arg(query.nonce.as_str());
        let script = self.with_position(script);
        let facts = bounded("basis", async {
            let facts: Facts = self.seen.note(self.read("basis", &script).await)?;
            if facts.4.is_none() || self.client.replicas() == 0 {
                return Ok(facts);
            }
            // A retried take is acknowledged again, but not before it is on the replicas.
            self.client.commit("basis", &script, &self.keys).await
        });
        let (now, member, session, latest, spent) = facts.await?;
        Ok(Basis {
            now: codec::decode_timestamp(&now).context("basis")?,
            member: codec::decode_optional(member.as_ref(), codec::decode_member)
                .context("basis")?,
            session: codec::decode_optional(session.as_ref(), codec::decode_terms)
                .context("basis")?,
            latest: codec::decode_optional(latest.as_ref(), codec::decode_revision)
                .context("basis")?,
            spent: codec::decode_optional(spent.as_ref(), codec::decode_take).context("basis")?,
        })
    }

    async fn file(&self, filing: &Filing) -> Result<Filed> {
        let outcome = bounded("file", self.commit_when_released(filing)).await?;
        match outcome.as_str() {
            "stale" => return Ok(Filed::Stale),
            "late" => return Ok(Filed::Late),
            "nonce used" => return Ok(Filed::NonceUsed),
            "revision taken" => return Ok(Filed::RevisionTaken),
            _ => {}
        }
        let take = match outcome.split_once(' ') {
            Some(("filed", filed)) => codec::decode_filed(filed, filing),
            Some(("again", row)) => codec::decode_take(row),
            _ => return Err(StoreError::corrupt("file", "odd answer")),
        };
        take.map(Filed::Filed).context("file")
    }

    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>> {
        let mut script = ScriptCall::of(&scripts::TAKE, [self.keys.takes()]);
        script.arg(id.0);
        let (row, next): (Option<String>, Option<String>) = self.read("take", &script).await?;
        let superseded_by =
            next.as_deref().map(codec::decode_take_id).transpose().context("take")?;
        let take = codec::decode_optional(row.as_ref(), codec::decode_take).context("take")?;
        Ok(take.map(|take| TakeOnFile { take, superseded_by }))
    }

    /// A take never changes, so it is read first: its session and member are in the keys of the others.
    async fn take_context(&self, id: TakeId) -> Result<Option<TakeContext>> {
        const OP: &str = "take context";
        let Some(shown) = self.take(id).await? else { return Ok(None) };
        let Take { session_id, .. } = *shown.take;
        let keys = [self.keys.takes(), self.keys.session_takes(session_id)];
        let mut script = ScriptCall::of(&scripts::TAKE_CONTEXT, keys);
        script.arg(id.0).arg(format!("latest:{session_id}:{}", shown.take.draft().member_id));
        let rows: Vec<String> = self.read_bulk(OP, &script).await?;
        Ok(TakeContext::of(id, codec::decode_each(&rows, codec::decode_take).context(OP)?))
    }

    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        const OP: &str = "session takes";
        until_unchanged(OP, || async {
            let Page { session, up_to, mut takes, mut next } = self.page(query, None).await?;
            let Some(mut session) = session else { return Ok(Some(None)) };
            if !self.complete(OP, &mut session).await? {
                return Ok(None);
            }
            let session = codec::decode_session(&session).context(OP)?;
            while let Some(after) = next.filter(|_| takes.len() < query.limit) {
                let page = self.page(&TakeQuery { after, ..*query }, Some(up_to)).await?;
                takes.extend(page.takes);
                next = page.next;
            }
            takes.truncate(query.limit);
            Ok(Some(Some(SessionTakes { session, takes })))
        })
        .await
    }

    async fn member_takes(&self, query: &MemberTakeQuery) -> Result<Vec<MemberTake>> {
        const OP: &str = "member takes";
        let keys = [self.keys.takes(), self.keys.takes_index(), self.keys.sessions()];
        let listing = filed_by(query.member.as_str());
        let mut script = ScriptCall::of(&scripts::MEMBER_TAKES, keys);
        script.arg(&listing).arg(end_of(&listing, query.before.map(|id| id.0)));
        script.arg(limit_arg(query.limit)).arg(query.member.as_str()).arg(expecting(&query.member));
        let texts: Vec<String> = self.read_bulk(OP, &script).await?;
        let takes = texts.chunks(3).map(codec::decode_member_take);
        takes.collect::<std::result::Result<_, _>>().context(OP)
    }
}

/// A page of the takes of a session.
struct Page {
    /// The row of the session; only with the first page.
    session: Option<String>,
    /// The last take of the tenant when the first page was read: pages contain no later take.
    up_to: TakeId,
    takes: Vec<Arc<Take>>,
    /// The take before the next page, if there may be more.
    next: Option<TakeId>,
}

/// A page as a script returns it: the row of the session, the last take, the take before the next page,
/// and the rows of the takes.
type PageRows = (Option<String>, String, String, Vec<String>);

impl TenantStore {
    /// Reads a page of takes; without `up_to`, the first page.
    async fn page(&self, query: &TakeQuery, up_to: Option<TakeId>) -> Result<Page> {
        const OP: &str = "session takes";
        let (takes, of_session) = (self.keys.takes(), self.keys.session_takes(query.session));
        let keys = [takes, of_session, self.keys.sessions()];
        let mut script = ScriptCall::of(&scripts::SESSION_TAKES, keys);
        script.arg(query.session.0).arg(query.after.0).arg(PAGE).arg(optional(up_to));
        script.arg(if query.revisions == Revisions::All { "all" } else { "latest" });
        let (session, up_to, next, takes): PageRows = self.read_bulk(OP, &script).await?;
        let next = Some(next.as_str()).filter(|next| !next.is_empty());
        Ok(Page {
            session,
            up_to: codec::decode_take_id(&up_to).context(OP)?,
            takes: codec::decode_each(&takes, codec::decode_take).context(OP)?,
            next: next.map(codec::decode_take_id).transpose().context(OP)?,
        })
    }

    /// Commits a take, retrying while it is held back.
    async fn commit_when_released(&self, filing: &Filing) -> Result<String> {
        loop {
            let outcome = self.commit_take(filing).await?;
            if outcome != "held" {
                return Ok(outcome);
            }
            sleep(HOLD_RETRY_DELAY).await;
        }
    }
}
