//! The takes that a member keeps: what it sent, the service's receipt, the salt of a seal, and the proof that the take is in the
//! log. With these the member can show what it filed, and what the service said, without the service.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_core::audit::{Check, LogKey, ReceivedAnswer, SentRequest, Verdict, audit_receipt};
use swarm_core::domain::{Digest, PublicKey, Salt, Seq};
use swarm_core::json::{self, Json};
use swarm_core::proof::{canonical, hex};
use swarm_core::{Submission, TakeId};

use crate::command::{read_private_json, read_private_object, replace_private};
use crate::failure::CommandError;

/// The path that takes are sent to, at the root of a service.
const SUBMIT: &str = "/api/swarm/submit";

/// A take that is kept in a file of its own.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptTake {
    /// The file.
    #[serde(skip)]
    pub(super) path: PathBuf,
    /// The id that the service gave the take.
    #[serde(rename = "takeId")]
    pub(super) id: TakeId,
    /// The exact text that was sent.
    pub(super) sent: String,
    /// The path that it was sent to, unless that is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_to: Option<String>,
    /// The key that it was signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public_key: Option<PublicKey>,
    /// The salt of its seal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) salt: Option<Salt>,
    /// The number of its entry in the log whose key signed the receipt, as the service said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<Seq>,
    /// The service's answer, if it was signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
    /// The proof that it is in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<String>,
}

/// What the service's receipt shows.
#[derive(Debug)]
pub(super) enum Receipt {
    /// The log's key signed that this take was accepted, or stands.
    Holds,
    /// There is none.
    Absent,
    /// It does not show that.
    Fails(String),
}

impl KeptTake {
    /// The take with this id that was sent as this text. What else is kept of it already stays.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn of(folder: &Path, id: TakeId, sent: &str) -> Result<Self, CommandError> {
        let digest = Digest::of(sent.as_bytes());
        let (start, _) = digest.as_bytes().split_at(8);
        let path = folder.join(format!("take-{id}-{}.json", hex(start)));
        let kept: Option<Self> = read_private_json(&path)?;
        let new = Self {
            path,
            id,
            sent: sent.to_owned(),
            sent_to: None,
            public_key: None,
            salt: None,
            entry: None,
            receipt: None,
            proof: None,
        };
        Ok(match kept {
            Some(kept) => Self { path: new.path, id: new.id, sent: new.sent, ..kept },
            None => new,
        })
    }

    /// All that are kept in a folder, by their ids.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>, CommandError> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("take-") && name.ends_with(".json") {
                let take: Option<Self> = read_private_json(&path)?;
                kept.extend(take.map(|take| Self { path, ..take }));
            }
        }
        kept.sort_by_cached_key(|take| (take.id, take.path.clone()));
        Ok(kept)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self) -> Result<(), CommandError> {
        // What another version keeps in the file stays.
        let mut fields = read_private_object(&self.path)?.unwrap_or_default();
        let content = Json::read(json::write(self).as_bytes());
        for (name, value) in content.unwrap_or(Json::Null).into_object().members() {
            fields.set(name, value.clone());
        }
        replace_private(&self.path, &json::write(&fields))
    }

    /// Keeps the receipt, unless one that holds is kept already: the answer to a replay says less than the first one.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn set_receipt(&mut self, receipt: &str, key: &LogKey) -> Result<(), CommandError> {
        if !matches!(self.receipt(key)?, Receipt::Holds) {
            self.receipt = Some(receipt.to_owned());
        }
        Ok(())
    }

    /// Keeps what is known of a take that is on file: its key, the path that it was sent to, the salt of its seal, and the
    /// number of its entry.
    pub(super) fn set_filed(
        &mut self,
        public_key: PublicKey,
        base_path: &str,
        salt: Option<Salt>,
        entry: Option<Seq>,
    ) {
        self.public_key = Some(public_key);
        if !base_path.is_empty() {
            self.sent_to = Some(format!("{base_path}{SUBMIT}"));
        }
        // The answer to a replay may say less than the first one.
        self.salt = salt.or(self.salt);
        self.entry = entry.or(self.entry);
    }

    /// What the receipt shows, checked with the log's key.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn receipt(&self, key: &LogKey) -> Result<Receipt, CommandError> {
        let Some(receipt) = &self.receipt else { return Ok(Receipt::Absent) };
        Ok(match self.receipt_fault(receipt, key)? {
            None => Receipt::Holds,
            Some(fault) => Receipt::Fails(fault),
        })
    }

    fn receipt_fault(&self, receipt: &str, key: &LogKey) -> Result<Option<String>, CommandError> {
        let path = self.sent_to.as_deref().unwrap_or(SUBMIT);
        let sent = self.sent.as_bytes().to_vec();
        let request = SentRequest::parse(&format!("POST {path}"), Some(sent))?;
        let answer = match ReceivedAnswer::parse(receipt.as_bytes()) {
            Ok(answer) => answer,
            Err(error) => return Ok(Some(error.to_string())),
        };
        // Nothing that ties the answer to the take may be unproven.
        let is_fault = |finding: &&swarm_core::audit::Finding| match finding.verdict {
            Verdict::Holds => false,
            Verdict::Unproven => matches!(finding.check, Check::Receipt | Check::Content),
            _ => true,
        };
        let findings = audit_receipt(&answer, &request, key);
        if let Some(finding) = findings.iter().find(is_fault) {
            return Ok(Some(finding.text.clone()));
        }
        let body = receipt.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        let named = Json::read(body.as_bytes()).unwrap_or(Json::Null).into_object();
        let named = named.clone().whole_if_any("recommendationId").ok().flatten();
        let id = self.id;
        Ok((named != Some(id.0)).then(|| format!("it is not about take {id}")))
    }

    /// Why an entry of the log is not that of this take; `None` if it is.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn entry_fault(&self, entry: &Json) -> Result<Option<String>, CommandError> {
        let submission = Submission::from_json(self.sent.as_bytes())?;
        let signed = submission.signed();
        let mut expected = vec![
            ("kind", Json::from("take")),
            ("id", Json::from(self.id.0 as f64)),
            ("memberId", Json::from(signed.payload.member_id.as_str())),
        ];
        match &self.salt {
            Some(salt) => {
                let seal = salt.seal(signed);
                expected.push(("sealed", Json::from(&*seal.to_string())));
            }
            None => {
                let digest = Digest::of(canonical(&signed.payload).as_bytes());
                expected.push(("digest", Json::from(&*digest.to_string())));
                expected.push(("signature", Json::from(signed.signature.as_str())));
            }
        }
        let fields = entry.clone().into_object();
        if self.salt.is_none() && fields.has("sealed") && !fields.has("digest") {
            // Without the salt, nothing shows whether it is of this take.
            expected.truncate(3);
        }
        let is_other = |(name, expected): &&(&str, Json)| {
            fields.get(name).is_none_or(|value| json::write(value) != json::write(expected))
        };
        let other = expected.iter().find(is_other);
        Ok(other.map(|(name, _)| format!("the log's entry has another {name}")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    /// A file as 0.3.0 wrote it, and a field of a later version.
    #[test]
    fn file_of_another_version_is_read_and_keeps_what_it_has() {
        const KEPT: &str = r#"{"takeId":7,"sent":"{}","sentTo":"/desk/api/swarm/submit","publicKey":"gTl3Dqh9F19Wo1Rmw0x+zMuNipG07jeiXfYPW4/Js5Q=","salt":"MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA=","entry":9,"receipt":"HTTP/1.1 201 Created","later":{"a":[1.50]}}"#;
        let folder = tempfile::tempdir().unwrap();
        replace_private(&folder.path().join("take-7-0011223344556677.json"), KEPT).unwrap();
        let [mut take] = <[_; 1]>::try_from(KeptTake::all(folder.path()).unwrap()).ok().unwrap();
        assert_eq!((take.id, &*take.sent, &take.proof), (TakeId(7), "{}", &None));
        assert!(take.public_key.is_some() && take.salt.is_some());
        take.proof = Some("a proof".to_owned());
        take.write().unwrap();
        let written = std::fs::read_to_string(&take.path).unwrap();
        let expected = KEPT.strip_suffix('}').unwrap().to_owned() + r#","proof":"a proof"}"#;
        assert_eq!(written.trim_end(), expected);

        replace_private(&take.path, r#"{"takeId":7}"#).unwrap();
        let error = KeptTake::all(folder.path()).err().unwrap().to_string();
        assert!(error.ends_with("take-7-0011223344556677.json: sent is missing"), "{error}");
    }
}
