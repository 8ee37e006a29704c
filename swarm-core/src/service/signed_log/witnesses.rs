//! Witnesses: they cosign a checkpoint if it continues the last one that they cosigned, so that nobody can be
//! shown another log (API.md, 11.6).

use async_trait::async_trait;

use super::reading::checkpoint_of;
use super::signing::BATCH;
use super::{SignedCheckpoint, SignedLog};
use crate::domain::{LogEntry, LogRow, Logged, Seq, SessionAct, SessionState};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::{NoteSignature, SignedNote};
use crate::proof::witness::{WitnessKey, add_checkpoint, read_cosignatures, read_size};
use crate::service::{Error, log_rows};
use crate::store::{Saved, TreeChange, TreeState};

/// Maximum number of offers of one checkpoint to a witness that has cosigned another size than assumed.
const MAX_OFFERS: usize = 3;

/// A witness, which speaks C2SP `tlog-witness`.
#[async_trait]
pub trait Witness: Send + Sync + 'static {
    /// The key that it cosigns with.
    fn key(&self) -> &WitnessKey;

    /// Sends the body of an `add-checkpoint`.
    ///
    /// # Errors
    /// The reason why there was no answer, as a text for the log.
    async fn add_checkpoint(&self, body: String) -> Result<WitnessAnswer, String>;
}

/// What a witness answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// The outcome of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferOutcome {
    /// The witness cosigned the checkpoint, and the cosignature was stored with it.
    Cosigned,
    /// The witness cosigned the checkpoint, but another one was signed meanwhile.
    Superseded,
    /// The witness has cosigned this many entries of the log, which are more than the checkpoint has.
    Ahead(u64),
    /// The witness says that the checkpoint does not continue this many entries of the log that it has cosigned: a fork.
    Forked(u64),
    /// The witness did not cosign the checkpoint, for this reason.
    Refused(String),
}

impl SignedLog {
    /// Offers a checkpoint to a witness, and stores its cosignature with the checkpoint until the next one is
    /// signed. `known` is the size up to which the witness is known to have cosigned the log, 0 at first. This
    /// function updates it.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn offer(
        &self,
        signed: &SignedCheckpoint,
        witness: &dyn Witness,
        known: &mut u64,
    ) -> Result<OfferOutcome, Error> {
        let outcome = self.offered(signed, witness, known).await?;
        let dispute = match &outcome {
            OfferOutcome::Ahead(size) => Some(format!(
                "the witness {} has cosigned {size} entries of a log that has fewer now",
                witness.key().name()
            )),
            OfferOutcome::Forked(size) => Some(format!(
                "the witness {} has cosigned {size} other entries of the log: a fork",
                witness.key().name()
            )),
            // It says nothing of the log.
            OfferOutcome::Refused(_) => return Ok(outcome),
            OfferOutcome::Cosigned | OfferOutcome::Superseded => None,
        };
        let mut state = self.lock();
        state.disputes.retain(|(name, _)| name != witness.key().name());
        state.disputes.extend(dispute.map(|text| (witness.key().name().to_owned(), text)));
        drop(state);
        Ok(outcome)
    }

    /// Returns what witnesses have against the log: one sentence for each that has seen another one.
    pub fn disputes(&self) -> Vec<String> {
        self.lock().disputes.iter().map(|(_, text)| text.clone()).collect()
    }

    async fn offered(
        &self,
        signed: &SignedCheckpoint,
        witness: &dyn Witness,
        known: &mut u64,
    ) -> Result<OfferOutcome, Error> {
        let (key, size) = (witness.key(), signed.checkpoint.size);
        for _ in 0..MAX_OFFERS {
            if *known > size {
                return Ok(OfferOutcome::Ahead(*known));
            }
            let proof = self.consistency(Seq(*known), &signed.checkpoint).await?;
            let body = add_checkpoint(*known, &proof, &signed.note);
            let answer = match witness.add_checkpoint(body).await {
                Ok(answer) => answer,
                Err(error) => return Ok(OfferOutcome::Refused(error)),
            };
            match (answer.status, read_size(&answer.body)) {
                (200, _) => {
                    let Some(cosignature) = cosignature(&answer.body, signed, key) else {
                        let why = "its answer has no cosignature that its key made";
                        return Ok(OfferOutcome::Refused(why.to_owned()));
                    };
                    *known = size;
                    return self.keep(signed, key, cosignature).await;
                }
                (409, Some(other)) if other != *known => *known = other,
                (422, _) => return Ok(OfferOutcome::Forked(*known)),
                (status, _) => return Ok(OfferOutcome::Refused(format!("it answered {status}"))),
            }
        }
        Ok(OfferOutcome::Refused("it named another size each time".to_owned()))
    }

    /// Stores a cosignature with the checkpoint, in place of an earlier one by the same key. If another checkpoint was
    /// signed meanwhile, this one is stored as the last that was cosigned.
    async fn keep(
        &self,
        signed: &SignedCheckpoint,
        key: &WitnessKey,
        cosignature: NoteSignature,
    ) -> Result<OfferOutcome, Error> {
        loop {
            let stored = self.store.tree().await?;
            let last = checkpoint_of(stored.as_ref())?;
            let (Some(stored), Some(mut last)) = (stored, last) else {
                return Ok(OfferOutcome::Superseded);
            };
            let is_of_log = last.key == signed.key
                && last.checkpoint.origin == signed.checkpoint.origin
                && last.checkpoint.size >= signed.checkpoint.size;
            if !is_of_log {
                return Ok(OfferOutcome::Superseded);
            }
            let is_last = last.note.text() == signed.note.text();
            let outcome = if is_last { OfferOutcome::Cosigned } else { OfferOutcome::Superseded };
            let kept = match is_last {
                true => &mut last.note,
                false => match newer(last.last_cosigned(), signed) {
                    Some(newer) => last.cosigned.insert(newer),
                    None => return Ok(outcome),
                },
            };
            let before = key.cosigned_at(kept);
            kept.remove(|line| key.made(line));
            kept.push(cosignature.clone());
            if key.cosigned_at(kept) <= before {
                return Ok(outcome);
            }
            let state = TreeState {
                checkpoint: Some(last.text().into()),
                ..TreeState::clone(&stored.record)
            };
            if self.store.save_tree(&TreeChange::to(state, Some(&stored))).await? == Saved::Saved {
                return Ok(outcome);
            }
        }
    }

    /// Returns the last entry that closed a session, among those that this server signed.
    pub fn last_closing(&self) -> Option<Seq> {
        self.lock().closing
    }

    /// Records the entry if it changes what is published: it publishes or voids a session.
    pub(super) fn note_published(&self, row: &LogRow) {
        let Logged::Entry(entry) = &row.logged else { return };
        let LogEntry::Session(entry) = &**entry else { return };
        let publishes =
            entry.act == SessionAct::State && entry.session.state == SessionState::Published;
        if publishes || entry.act == SessionAct::Void {
            self.lock().published = Some(row.seq);
        }
    }

    /// Returns the last entry that closed a session, of those after `after` up to `end`, whichever server signed them.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn closing_between(&self, mut after: Seq, end: Seq) -> Result<Option<Seq>, Error> {
        let mut last = None;
        while after < end {
            let rows = log_rows::rows(&self.store, after, BATCH).await?;
            let Some(row) = rows.last() else { break };
            after = log_rows::seq(row);
            let closings = rows.iter().flatten().filter(|row| row.seq <= end && closes(row));
            last = closings.map(|row| row.seq).next_back().or(last);
        }
        Ok(last)
    }

    /// Records the entry if it closes a session.
    pub(super) fn note_closing(&self, row: &LogRow) {
        if closes(row) {
            self.lock().closing = Some(row.seq);
        }
    }
}

/// Whether the entry closes a session.
fn closes(row: &LogRow) -> bool {
    let Logged::Entry(entry) = &row.logged else { return false };
    let LogEntry::Session(entry) = &**entry else { return false };
    let is_open = matches!(entry.session.state, SessionState::Scheduled | SessionState::Collecting);
    entry.act == SessionAct::State && !is_open
}

/// The checkpoint to which a cosignature is added that came after the next checkpoint was signed: the one that other
/// witnesses cosigned, if it is the same. `None` if a later one was cosigned.
fn newer(cosigned: Option<&SignedNote>, signed: &SignedCheckpoint) -> Option<SignedNote> {
    let Some(cosigned) = cosigned else { return Some(signed.note.clone()) };
    if cosigned.text() == signed.note.text() {
        return Some(cosigned.clone());
    }
    let size = Checkpoint::parse(cosigned.text()).map_or(0, |checkpoint| checkpoint.size);
    (size < signed.checkpoint.size).then(|| signed.note.clone())
}

/// The cosignature of a checkpoint by this key, from the response of a witness.
fn cosignature(body: &str, signed: &SignedCheckpoint, key: &WitnessKey) -> Option<NoteSignature> {
    let lines = read_cosignatures(body).ok()?;
    lines.into_iter().find(|line| key.cosigned(signed.note.text(), line))
}
