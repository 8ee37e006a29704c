//! The digests that the log has of takes, in place of texts that are withheld.

use std::collections::HashMap;

use super::bundle::Bundle;
use crate::domain::json::{Json, Object};
use crate::domain::{Digest, LogEntry, LogLine, TakeContent, TakeId};

/// The digests that entries of a log have of takes.
#[derive(Debug, Default)]
pub(super) struct LoggedDigests(HashMap<TakeId, Digest>);

impl LoggedDigests {
    /// Reads the digests from the entries of a bundle. Entries that cannot be read are reported elsewhere.
    pub(super) fn of(bundle: &Bundle<'_>) -> Self {
        let mut digests = HashMap::new();
        for entry in bundle.entries() {
            let text = entry.to_object().text("entry").unwrap_or_default();
            match LogLine::read(&text).map(|line| line.entry) {
                Ok(LogEntry::Take(entry)) => {
                    if let TakeContent::Open { digest, .. } = entry.content {
                        digests.insert(entry.id, digest);
                    }
                }
                Ok(LogEntry::Opening(entry)) => {
                    digests.insert(entry.id, entry.digest);
                }
                _ => {}
            }
        }
        Self(digests)
    }

    /// Adds to a take whose texts are withheld the digest that the log has of it. Of one that is not in the log it is
    /// another one.
    pub(super) fn complete(&self, take: &mut Object) {
        let id = take.clone().whole_if_any("id").ok().flatten().map(TakeId);
        let digest = id.and_then(|id| self.0.get(&id).copied());
        complete(take, digest);
    }
}

/// Adds a digest to a take whose texts are withheld.
pub(super) fn complete(take: &mut Object, digest: Option<Digest>) {
    if take.has("withheld") && !take.has("body") {
        let digest = digest.unwrap_or_else(|| Digest::of(b"")).to_string();
        take.set("digest", Json::Text(digest));
    }
}
