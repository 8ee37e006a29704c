//! The timestamp of a bundle: a token of RFC 3161, by which an authority says that a checkpoint of the log existed at a time.
//!
//! The token itself is checked by the program that asks for the audit, by OpenSSL's rules. What is checked here is that the
//! checkpoint which it is of has the entries of the bundle.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::bundle::Bundle;
use super::entries::{BundledEntry, Content};
use super::finding::{Check, Report, count};
use crate::domain::json::{Json, RawJson, printable};
use crate::domain::{Digest, Invalid, Timestamp};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::tree::{TreeHash, verify_consistency};

/// Maximum size of a token, in bytes.
pub const MAX_TOKEN: usize = 16 << 10;

/// Reads a token from base64.
///
/// # Errors
/// [`Invalid`] if it is not base64, empty, or longer than [`MAX_TOKEN`].
pub(crate) fn read_token(text: &str) -> Result<Vec<u8>, Invalid> {
    let token = STANDARD.decode(text).ok();
    let token = token.filter(|token| (1..=MAX_TOKEN).contains(&token.len()));
    token.ok_or_else(|| Invalid::new("token", "must be base64 of a token"))
}

/// What a check of a token found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedToken {
    /// The bundle has no token.
    Absent,
    /// The token is valid.
    Valid {
        /// The time that it says.
        at: Timestamp,
        /// The name of the authority, if the token has it.
        by: Option<String>,
    },
    /// The token is not one of the checkpoint by an authority that is trusted, for this reason.
    Invalid(String),
}

/// The timestamp in a bundle, of which the form alone is checked.
#[derive(Clone, Debug)]
pub struct TimestampedCheckpoint {
    text: String,
    checkpoint: Checkpoint,
    token: Vec<u8>,
    proof: Vec<TreeHash>,
}

impl TimestampedCheckpoint {
    fn read(json: RawJson<'_>) -> Result<Self, Invalid> {
        let mut fields = match json.to_json() {
            Json::Object(fields) => fields,
            _ => return Err(Invalid::new("timestamp", "must be an object")),
        };
        let text = SignedNote::parse(&fields.text("checkpoint")?)?.text().to_owned();
        let token = read_token(&fields.text("token")?);
        let proof = fields.texts("proof")?;
        Ok(Self {
            checkpoint: Checkpoint::parse(&text)?,
            text,
            token: token?,
            proof: proof.iter().map(|hash| TreeHash::parse(hash)).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the SHA-256 of the text of the checkpoint, of which the token has to be.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Returns the token, in DER.
    pub fn token(&self) -> &[u8] {
        &self.token
    }

    /// Whether the longer of two checkpoints of one log continues the other.
    fn is_of_the_log_of(&self, other: &Checkpoint) -> bool {
        let this = &self.checkpoint;
        let (old, new) = if this.size <= other.size { (this, other) } else { (other, this) };
        old.origin == new.origin
            && verify_consistency(old.size, &old.root, new.size, &new.root, &self.proof)
    }
}

impl Bundle<'_> {
    /// Returns the timestamp, if the bundle has one.
    ///
    /// # Errors
    /// [`Invalid`] if it has another form.
    pub fn timestamp(&self) -> Option<Result<TimestampedCheckpoint, Invalid>> {
        self.timestamp.map(TimestampedCheckpoint::read)
    }
}

/// Checks that the timestamp is of the log of the bundle's checkpoint, and reports what the check of its token found.
pub(super) fn check(
    bundle: &Bundle<'_>,
    entries: &[BundledEntry],
    token: Option<&CheckedToken>,
    report: &mut Report,
) {
    let stamped = match bundle.timestamp() {
        Some(Ok(stamped)) => stamped,
        Some(Err(error)) => return report.faults(Check::Timestamp, vec![error.to_string()]),
        None if token.is_some() => {
            return report.unproven(
                Check::Timestamp,
                "that a checkpoint of the log existed at a time: the bundle has no timestamp",
            );
        }
        None => return,
    };
    let of_bundle =
        SignedNote::parse(&bundle.checkpoint).and_then(|it| Checkpoint::parse(it.text()));
    // That it cannot be read is a finding on the checkpoint.
    let Ok(of_bundle) = of_bundle else { return };
    let size = stamped.checkpoint.size;
    let entries_of_log = count(usize::try_from(size).unwrap_or(usize::MAX), "entry", "entries");
    if !stamped.is_of_the_log_of(&of_bundle) {
        let fault = format!("its checkpoint of {entries_of_log} is not of the log of the bundle");
        return report.faults(Check::Timestamp, vec![fault]);
    }
    match token {
        None | Some(CheckedToken::Absent) => report.unproven(
            Check::Timestamp,
            format!(
                "that the checkpoint of {entries_of_log} existed at a time: there is a timestamp, and it was not checked, name \
                 the certificate of its authority with --timestamp-ca"
            ),
        ),
        Some(CheckedToken::Invalid(why)) => {
            let fault = format!("the token of the checkpoint of {entries_of_log}: {}", printable(why));
            report.faults(Check::Timestamp, vec![fault]);
        }
        Some(CheckedToken::Valid { at, by }) => {
            let by = by.as_deref().map_or("an authority that you named".to_owned(), printable);
            let covered = entries.iter().filter(|entry| entry.seq.0 <= size).count();
            let holds = format!(
                "the checkpoint of {entries_of_log} existed at {at} by {by}; it has {covered} of the {} of the bundle",
                count(entries.len(), "entry", "entries")
            );
            report.conclude(Check::Timestamp, Vec::new(), holds);
            let over = entries.iter().rfind(
                |entry| matches!(&entry.content, Content::Session(act) if act.aggregates()),
            );
            if let Some(over) = over.filter(|over| over.seq.0 > size) {
                let text = format!(
                    "that entry {}, by which the session was aggregated, existed then: it is after the checkpoint",
                    over.seq
                );
                report.unproven(Check::Timestamp, text);
            }
        }
    }
}
