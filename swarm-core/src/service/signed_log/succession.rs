//! The log before a log that an operator began by accepting the store: its last checkpoint stays, with a note, signed by
//! its key, that names the log after it (API.md, 11.6). Both are a document, so that dumps have them.

use super::signing::{BATCH, unsignable};
use super::{LastSigned, SignedCheckpoint, SignedLog};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Invalid, LogBefore, LogEntry, Logged, Operation, Seq};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::succession::Succession;
use crate::service::{Error, log_rows, stored_document};
use crate::store::{Collection, DocumentDraft};

/// A log that ended when an operator accepted the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedLog {
    /// Its last checkpoint.
    pub last: SignedNote,
    /// The note, signed by its key, that names the log after it: a [`Succession`].
    pub succession: SignedNote,
}

impl EndedLog {
    /// Reads what [`text`](Self::text) wrote.
    pub(in crate::service) fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let last = SignedNote::parse(&fields.text("last")?)?;
        let succession = SignedNote::parse(&fields.text("succession")?)?;
        if Succession::parse(succession.text())?.last != Checkpoint::parse(last.text())? {
            return Err(Invalid::new("succession", "must name the last checkpoint"));
        }
        Ok(Self { last, succession })
    }

    /// The stored form.
    fn text(&self) -> String {
        json::write(&Json::from([
            ("last", Json::Text(self.last.to_string())),
            ("succession", Json::Text(self.succession.to_string())),
        ]))
    }
}

impl SignedLog {
    /// Returns the log of this origin, if it ended, as far as this server's key signed it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn ended(&self, origin: &str) -> Result<Option<EndedLog>, Error> {
        let Some(document) = self.store.document(Collection::EndedLogs, origin).await? else {
            return Ok(None);
        };
        Ok(Some(stored_document::read(&document, EndedLog::read)?))
    }

    /// Stores a log that ended, before which the one with this number is signed the first time.
    pub(super) async fn keep_ended(&self, ended: &EndedLog, log: u64) -> Result<(), Error> {
        let last = Checkpoint::parse(ended.last.text()).map_err(unsignable)?;
        let draft = DocumentDraft {
            held_until: None,
            key: Some(last.origin),
            group: self.origin(log),
            json: ended.text(),
            replace: false,
            guard: None,
            quota: None,
            act: None,
        };
        // It exists if another server stored it meanwhile.
        let _ = self.store.put_document(Collection::EndedLogs, &draft).await?;
        Ok(())
    }

    /// The log before the one with this number, if that is to be stored with the next checkpoint. `None` if it is stored
    /// already, or if nothing shows that this server's key signed its last checkpoint: then nothing is signed in its name,
    /// whatever the store says.
    pub(super) async fn log_before(
        &self,
        log: u64,
        stored: Option<&SignedCheckpoint>,
        in_store: Option<&LastSigned>,
        remembered: Option<&LastSigned>,
    ) -> Result<Option<EndedLog>, Error> {
        let known = [in_store, remembered].into_iter().flatten().filter(|last| last.log < log);
        let known: Vec<_> = known.collect();
        if known.is_empty() {
            return Ok(None);
        }
        let origin = self.origin(log);
        if !self.store.documents(Collection::EndedLogs, Some(&origin)).await?.is_empty() {
            return Ok(None);
        }
        let Some(before) = self.accepted_before(log).await? else { return Ok(None) };
        let is_before = |last: &&&LastSigned| {
            before.origin.as_ref() == Some(&self.origin(last.log))
                && before.size == last.size
                && before.root == Some(last.root.to_string())
        };
        let Some(last) = known.iter().find(is_before) else { return Ok(None) };
        let key = self.key(last.log).map_err(unsignable)?;
        let checkpoint =
            Checkpoint { origin: self.origin(last.log), size: last.size.0, root: last.root };
        let stored = stored.filter(|stored| stored.checkpoint.origin == checkpoint.origin);
        if stored.is_some_and(|stored| !stored.note.is_signed_by(key.verifier())) {
            return Ok(None);
        }
        let last = match stored.filter(|stored| stored.checkpoint == checkpoint) {
            // With the signatures of witnesses.
            Some(stored) => stored.note.clone(),
            None if remembered == Some(last) => checkpoint.sign(&key),
            None => return Ok(None),
        };
        let successor = self.key(log).map_err(unsignable)?.verifier().clone();
        let succession = Succession { last: checkpoint, successor }.sign(&key);
        Ok(Some(EndedLog { last, succession }))
    }

    /// What the entry that began the log with this number says of the log before it.
    async fn accepted_before(&self, log: u64) -> Result<Option<LogBefore>, Error> {
        let mut end = self.store.log_position().await?.size.0;
        // It is among the last entries, unless signing has waited for long.
        while end > 0 {
            let first = end.saturating_sub(BATCH as u64);
            let number = usize::try_from(end - first).unwrap_or(BATCH);
            let rows = log_rows::rows(&*self.store, Seq(first), number).await?;
            let before = rows.iter().flatten().rev().find_map(|row| match &row.logged {
                Logged::Entry(entry) => match &**entry {
                    LogEntry::Operation(Operation::StoreAccepted {
                        log: number, before, ..
                    }) if *number == log => Some(before.clone()),
                    _ => None,
                },
                _ => None,
            });
            if before.is_some() {
                return Ok(before);
            }
            end = first;
        }
        Ok(None)
    }
}
