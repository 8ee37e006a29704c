//! Timestamps (RFC 3161): an authority timestamps the last checkpoint when a session has closed (API.md, 11.6). A verifier
//! that trusts the authority need not trust the clock of the server.
//!
//! Tokens are stored as they were received, and are not parsed here. The [`TimestampAuthority`] returns only a token of the
//! digest that it was sent. Verifiers of bundles check the rest.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{SignedCheckpoint, SignedLog};
use crate::audit::{BundledTimestamp, MAX_TOKEN, read_token};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Digest, Invalid, LogEntry, LogRow, Logged, Seq, SessionAct, SessionState};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::tree::TreeHash;
use crate::service::{Error, stored_document};
use crate::store::{Collection, DocumentDraft, DocumentQuery};

/// A time-stamping authority (RFC 3161).
#[async_trait]
pub trait TimestampAuthority: Send + Sync + 'static {
    /// Requests a token of this SHA-256, and returns its DER, of at most [`MAX_TOKEN`] bytes.
    ///
    /// # Errors
    /// The reason why there is none, as a text for the log.
    async fn timestamp(&self, digest: Digest) -> Result<Vec<u8>, String>;
}

/// The outcome of a request for a timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StampOutcome {
    /// The token was stored with the checkpoint.
    Stored,
    /// There is none, for this reason.
    Missed(String),
}

/// A checkpoint with its token, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTimestamp {
    checkpoint: SignedNote,
    token: Vec<u8>,
}

impl StoredTimestamp {
    /// Reads what [`text`](Self::text) wrote.
    pub(in crate::service) fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let checkpoint = SignedNote::parse(&fields.text("checkpoint")?)?;
        Checkpoint::parse(checkpoint.text())?;
        Ok(Self { checkpoint, token: read_token(&fields.text("token")?)? })
    }

    /// The stored form.
    fn text(&self) -> String {
        json::write(&Json::from([
            ("checkpoint", Json::Text(self.checkpoint.to_string())),
            ("token", Json::Text(STANDARD.encode(&self.token))),
        ]))
    }
}

impl SignedLog {
    /// Requests a timestamp of a checkpoint, and stores it.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn timestamp(
        &self,
        signed: &SignedCheckpoint,
        authority: &dyn TimestampAuthority,
    ) -> Result<StampOutcome, Error> {
        let stamped = authority.timestamp(Digest::of(signed.note.text().as_bytes())).await;
        let outcome = match stamped {
            Ok(token) if token.is_empty() || token.len() > MAX_TOKEN => {
                StampOutcome::Missed(format!("a token of {} bytes", token.len()))
            }
            Ok(token) => {
                let stamped = StoredTimestamp { checkpoint: signed.own_note(), token };
                self.keep_timestamp(&signed.checkpoint, &stamped).await?;
                StampOutcome::Stored
            }
            Err(why) => StampOutcome::Missed(why),
        };
        self.lock().missed_timestamp = match &outcome {
            StampOutcome::Stored => None,
            // The reason may name the host of the authority, and the warning is public.
            StampOutcome::Missed(_) => Some(format!(
                "no timestamp of the checkpoint of {} entries: the log of the server says why",
                signed.checkpoint.size
            )),
        };
        Ok(outcome)
    }

    /// Returns the warning that the authority gave no timestamp of the last checkpoint that should have one; `None` if it has one.
    pub fn missed_timestamp(&self) -> Option<String> {
        self.lock().missed_timestamp.clone()
    }

    /// Forgets that a timestamp is missing: the tenant has no authority any more.
    pub fn needs_no_timestamp(&self) {
        self.lock().missed_timestamp = None;
    }

    /// Returns whether a checkpoint of the log of this origin with at least this many entries has a timestamp.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn has_timestamp(&self, origin: &str, size: Seq) -> Result<bool, Error> {
        Ok(self.first_timestamp(origin, size).await?.is_some())
    }

    /// The timestamp for the bundle of a session with these rows, under this checkpoint: the earliest one that covers the
    /// aggregation; without one, the earliest that covers the end of the window.
    pub(in crate::service) async fn timestamp_of(
        &self,
        rows: &[LogRow],
        checkpoint: &SignedNote,
    ) -> Result<Option<BundledTimestamp>, Error> {
        let Ok(of_bundle) = Checkpoint::parse(checkpoint.text()) else { return Ok(None) };
        let closings = rows.iter().filter(|row| closes(row)).map(|row| row.seq);
        let closings: Vec<_> = closings.collect();
        for closing in closings.into_iter().rev() {
            let Some(found) = self.first_timestamp(&of_bundle.origin, closing).await? else {
                continue;
            };
            let Ok(stamped) = Checkpoint::parse(found.checkpoint.text()) else { continue };
            let proof = self.proof_between(&stamped, &of_bundle).await?;
            let StoredTimestamp { checkpoint, token } = found;
            return Ok(Some(BundledTimestamp { checkpoint, token, proof }));
        }
        Ok(None)
    }

    /// The proof that the longer of two checkpoints continues the other.
    async fn proof_between(
        &self,
        one: &Checkpoint,
        other: &Checkpoint,
    ) -> Result<Vec<TreeHash>, Error> {
        let (old, new) = if one.size <= other.size { (one, other) } else { (other, one) };
        self.consistency(Seq(old.size), new).await
    }

    /// The stored timestamp of the smallest checkpoint with at least this many entries.
    async fn first_timestamp(
        &self,
        origin: &str,
        size: Seq,
    ) -> Result<Option<StoredTimestamp>, Error> {
        let after = Some(key(origin, size.0.saturating_sub(1)));
        let query = DocumentQuery { after, limit: 1, bytes: 2 * MAX_TOKEN, without_texts: false };
        let page = self.store.document_page(Collection::Timestamps, &query).await?;
        let prefix = format!("{origin} ");
        let first = page.documents.first().filter(|found| found.key.starts_with(&prefix));
        Ok(first.map(|found| stored_document::read(found, StoredTimestamp::read)).transpose()?)
    }

    async fn keep_timestamp(
        &self,
        checkpoint: &Checkpoint,
        stamped: &StoredTimestamp,
    ) -> Result<(), Error> {
        let draft = DocumentDraft {
            key: Some(key(&checkpoint.origin, checkpoint.size)),
            json: stamped.text(),
            ..DocumentDraft::default()
        };
        // It exists if another server stored one meanwhile.
        let _ = self.store.put_document(Collection::Timestamps, &draft).await?;
        Ok(())
    }
}

/// The key of a timestamp. Those of a log are in the order of their sizes.
fn key(origin: &str, size: u64) -> String {
    format!("{origin} {size:020}")
}

/// Whether the act ended the window of a session, or aggregated it.
fn closes(row: &LogRow) -> bool {
    let Logged::Entry(entry) = &row.logged else { return false };
    let LogEntry::Session(entry) = &**entry else { return false };
    let has_closed =
        matches!(entry.session.state, SessionState::WindowClosed | SessionState::Aggregated);
    entry.act == SessionAct::State && has_closed
}
