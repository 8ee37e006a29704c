//! Bundles: one session with everything needed to verify it (API.md, 11.8).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::signed_log::SignedLog;
use super::{Error, Tenant, log_rows};
use crate::audit::{ProvenEntry, SessionBundle};
use crate::domain::{
    LogEntry, LogRow, Logged, MemberId, Seq, Session, SessionId, StoredTake, Take, TakeId,
    TakeMarkAct, TakeOnFile,
};
use crate::proof::log_line;
use crate::rules::{Refusal, logged};
use crate::store::{Result, TakeQuery};

/// Maximum number of reads of a session that changes while it is read.
const MAX_ATTEMPTS: usize = 5;

/// The number of rows of the log that are read at once.
const BATCH: usize = 256;

impl Tenant {
    /// Returns the bundle of a session, under the last checkpoint of its log. `None` until a checkpoint
    /// covers all entries about the session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such session; [`Refusal::SessionSealed`] when it is blind and
    /// not opened yet.
    pub async fn session_bundle(
        &self,
        id: SessionId,
        log: &SignedLog,
    ) -> Result<Option<SessionBundle>, Error> {
        let mut last_read = None;
        for _ in 0..MAX_ATTEMPTS {
            let (session, takes) = self.session_takes(&TakeQuery::all(id)).await?;
            if session.is_sealed() {
                return Err(Refusal::SessionSealed.into());
            }
            let takes: Vec<_> = takes.iter().filter_map(StoredTake::whole).cloned().collect();
            let acts = self.store.acts_on(id).await?;
            // Session and takes were read at one position; an act after it shows here. Where there is no
            // new act, the store disagrees with its log: verifying the bundle reports that.
            let last = acts.last().map(|act| act.seq);
            let is_current = leads_to(&acts, &session) && lead_to_marks(&acts, &takes);
            if !is_current && last_read.replace(last) != Some(last) {
                continue;
            }
            let rows = self.rows_of(acts, &takes).await?;
            let seqs: Vec<_> = rows.iter().map(|row| row.seq).collect();
            let Some(proofs) = log.proofs(&seqs).await? else { return Ok(None) };
            let Some(checkpoint) = proofs.first().map(|proof| proof.checkpoint.clone()) else {
                return Ok(None);
            };
            let timestamp = log.timestamp_of(&rows, &checkpoint).await?;
            let entries = rows.iter().zip(proofs).map(|(row, proof)| ProvenEntry {
                entry: log_line(row).text(),
                index: proof.index,
                proof: proof.hashes,
            });
            let entries = entries.collect();
            return Ok(Some(SessionBundle {
                session,
                takes: on_file(&takes),
                entries,
                checkpoint,
                timestamp,
            }));
        }
        Ok(None)
    }

    /// The rows of these acts and takes, and those between them with which operators accepted a clock.
    async fn rows_of(&self, acts: Vec<LogRow>, takes: &[Arc<Take>]) -> Result<Vec<LogRow>> {
        let begin = acts.first().map(|act| act.seq).unwrap_or_default();
        let opened = acts.iter().find(|act| log_rows::opens_session(act)).map(|act| act.seq);
        let mut rows = acts;
        rows.extend(self.rows_of_takes(begin, takes).await?);
        if let Some(opened) = opened {
            rows.extend(self.openings(opened).await?);
        }
        let end = rows.iter().map(|row| row.seq).max().unwrap_or_default();
        let clocks = self.store.accepted_clocks(begin).await?;
        rows.extend(clocks.into_iter().filter(|row| row.seq < end));
        rows.sort_unstable_by_key(|row| row.seq);
        rows.dedup_by_key(|row| row.seq);
        Ok(rows)
    }

    /// The rows of takes, which are in the order of their ids, after this one. There is no index for them, but
    /// each take has a row: so between two takes there are at least as many rows as ids, and those are
    /// skipped. A take without a row is left out, and a row that cannot be read.
    async fn rows_of_takes(&self, begin: Seq, takes: &[Arc<Take>]) -> Result<Vec<LogRow>> {
        let mut wanted: VecDeque<TakeId> = takes.iter().map(|take| take.id).collect();
        let (mut rows, mut after, mut last) = (Vec::new(), begin, (TakeId(0), Seq(0)));
        while let Some(next) = wanted.front() {
            let skipped = last.1.0 + (next.0 - last.0.0).saturating_sub(1);
            after = after.max(Seq(skipped));
            let batch = log_rows::rows(&self.store, after, BATCH).await?;
            let Some(end) = batch.last() else { break };
            after = log_rows::seq(end);
            for row in batch.into_iter().flatten() {
                let Logged::Take(take) = &row.logged else { continue };
                last = (take.id(), row.seq);
                let is_wanted = wanted.binary_search(&take.id()).is_ok();
                while wanted.front().is_some_and(|id| *id <= take.id()) {
                    wanted.pop_front();
                }
                if is_wanted {
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    /// The entries that open the takes of a session. They follow the act that opened it.
    async fn openings(&self, opened: Seq) -> Result<Vec<LogRow>> {
        let (mut rows, mut after) = (Vec::new(), opened);
        loop {
            let batch = log_rows::rows(&self.store, after, BATCH).await?;
            let is_last = batch.len() < BATCH;
            after = batch.last().map_or(after, log_rows::seq);
            for row in batch {
                match row {
                    Ok(row) if log_rows::opened_take(&row).is_some() => rows.push(row),
                    Ok(_) => return Ok(rows),
                    Err(_) => {}
                }
            }
            if is_last {
                return Ok(rows);
            }
        }
    }
}

/// Whether the last act on the session is the one that made this record. The marks of its takes change none of it.
fn leads_to(acts: &[LogRow], session: &Session) -> bool {
    let entry = acts.iter().rev().find_map(|row| match &row.logged {
        Logged::Entry(entry) => Some(entry),
        _ => None,
    });
    let Some(entry) = entry else { return false };
    matches!(&**entry, LogEntry::Session(act) if act.session == logged(session))
}

/// Whether the last acts on the texts of these takes are those that made their marks.
fn lead_to_marks(acts: &[LogRow], takes: &[Arc<Take>]) -> bool {
    let mut withheld: HashMap<TakeId, bool> = HashMap::new();
    for row in acts {
        if let Logged::TakeMark(_, entry) = &row.logged
            && let LogEntry::TakeMark(mark) = &**entry
        {
            withheld.insert(mark.id, mark.act == TakeMarkAct::Withheld);
        }
    }
    let is_withheld = |take: &Take| withheld.get(&take.id).copied().unwrap_or_default();
    takes.iter().all(|take| take.withheld.is_some() == is_withheld(take))
}

/// Takes with the ids of those that superseded them.
fn on_file(takes: &[Arc<Take>]) -> Vec<TakeOnFile> {
    let mut next: HashMap<&MemberId, TakeId> = HashMap::new();
    let mut on_file: Vec<_> = takes
        .iter()
        .rev()
        .map(|take| TakeOnFile {
            superseded_by: next.insert(&take.draft().member_id, take.id),
            take: take.shown(),
        })
        .collect();
    on_file.reverse();
    on_file
}
