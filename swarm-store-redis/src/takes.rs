//! Takes.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::TakeOnFile;
use swarm_core::rules::Filing;
use swarm_core::store::{Basis, BasisQuery, Filed, Result, TakeQuery, Takes};
use swarm_core::{SessionId, StoreError, Take, TakeId};

use crate::codec::{self, Context};
use crate::connection::client::bounded;
use crate::keys::sessions_on;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::TenantStore;

/// How many takes of a session are read at a time: commits get their turn in between.
const PAGE: usize = 500;

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
        let script = self.tell_seen(script);
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
        let outcome = bounded("file", self.commit_take(filing)).await?;
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

    async fn takes(&self, session: SessionId) -> Result<Vec<Arc<Take>>> {
        bounded("takes", async {
            let mut takes = Vec::new();
            // Takes are only appended, so pages read one after another are consistent.
            loop {
                let page = self.page(session, takes.len()).await?;
                let is_last = page.len() < PAGE;
                takes.extend(page);
                if is_last {
                    return Ok(takes);
                }
            }
        })
        .await
    }

    async fn latest_takes(&self, query: &TakeQuery) -> Result<Vec<Arc<Take>>> {
        bounded("latest takes", async {
            let (mut takes, mut after) = (Vec::new(), Some(query.after));
            while let Some(position) = after.filter(|_| takes.len() < query.limit) {
                let (page, next) = self.latest_page(query.session, position).await?;
                takes.extend(page);
                after = next;
            }
            takes.truncate(query.limit);
            Ok(takes)
        })
        .await
    }
}

impl TenantStore {
    /// Those of the next takes after this one that are not superseded, and the id up to which takes
    /// were examined, where there may be more.
    async fn latest_page(
        &self,
        session: SessionId,
        after: TakeId,
    ) -> Result<(Vec<Arc<Take>>, Option<TakeId>)> {
        const OP: &str = "latest takes";
        let keys = [self.keys.takes(), self.keys.session_takes(session)];
        let mut script = ScriptCall::of(&scripts::LATEST_TAKES, keys);
        script.arg(after.0).arg(PAGE);
        let rows: Vec<String> = self.read_bulk(OP, &script).await?;
        let (next, rows) =
            rows.split_first().ok_or_else(|| StoreError::corrupt(OP, "no answer"))?;
        let next = Some(next.as_str()).filter(|next| !next.is_empty());
        let takes = codec::decode_each(rows, codec::decode_take).context(OP)?;
        Ok((takes, next.map(codec::decode_take_id).transpose().context(OP)?))
    }

    /// The takes of a session from this position on.
    async fn page(&self, session: SessionId, first: usize) -> Result<Vec<Arc<Take>>> {
        let keys = [self.keys.takes(), self.keys.session_takes(session)];
        let mut script = ScriptCall::of(&scripts::TAKES, keys);
        script.arg(first).arg(first.saturating_add(PAGE - 1));
        let rows: Vec<String> = self.read_bulk("takes", &script).await?;
        codec::decode_each(&rows, codec::decode_take).context("takes")
    }
}
