//! The takes that a member keeps: what it sent, the service's receipt, the salt of a seal, and the proof that the take is in the
//! log. With these the member can show what it filed, and what the service said, without the service.

use std::fs;
use std::path::{Path, PathBuf};

use swarm_core::audit::{Check, LogKey, ReceivedAnswer, SentRequest, Verdict, audit_receipt};
use swarm_core::domain::{Digest, PublicKey, Salt, Seq};
use swarm_core::json::{self, Json, Object};
use swarm_core::proof::{canonical, hex};
use swarm_core::{Submission, TakeId};

use crate::command::{read_private, replace_private};
use crate::failure::CommandError;

/// The path that takes are sent to, at the root of a service.
const SUBMIT: &str = "/api/swarm/submit";

/// A take that is kept in a file of its own.
pub(super) struct KeptTake {
    path: PathBuf,
    fields: Object,
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
    /// The take with this id that was sent as this text. What is kept of it already stays.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn of(folder: &Path, id: TakeId, sent: &str) -> Result<Self, CommandError> {
        let digest = Digest::of(sent.as_bytes());
        let (start, _) = digest.as_bytes().split_at(8);
        let path = folder.join(format!("take-{id}-{}.json", hex(start)));
        let mut kept = Self::read(path)?;
        kept.fields.set("takeId", Json::from(id.0 as f64));
        kept.fields.set("sent", Json::from(sent));
        Ok(kept)
    }

    fn read(path: PathBuf) -> Result<Self, CommandError> {
        let broken = |error: &dyn std::fmt::Display| {
            CommandError::Refused(format!("{}: {error}", path.display()))
        };
        let fields = match read_private(&path)? {
            Some(text) => {
                Json::read(text.as_bytes()).map_err(|error| broken(&error))?.into_object()
            }
            None => Object::default(),
        };
        Ok(Self { path, fields })
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
                kept.push(Self::read(path)?);
            }
        }
        kept.sort_by_cached_key(|take| {
            (take.id().map(|id| id.0).unwrap_or_default(), take.path.clone())
        });
        Ok(kept)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self) -> Result<(), CommandError> {
        replace_private(&self.path, &json::write(&self.fields))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The id that the service gave the take.
    ///
    /// # Errors
    /// If the file does not have one.
    pub(super) fn id(&self) -> Result<TakeId, CommandError> {
        let id = self.fields.clone().whole_if_any("takeId")?;
        id.map(TakeId).ok_or_else(|| self.damaged("takeId"))
    }

    /// The exact text that was sent.
    ///
    /// # Errors
    /// If the file does not have it.
    pub(super) fn sent(&self) -> Result<String, CommandError> {
        self.text("sent")?.ok_or_else(|| self.damaged("sent"))
    }

    fn damaged(&self, field: &str) -> CommandError {
        CommandError::Refused(format!("{}: {field} is missing", self.path.display()))
    }

    fn text(&self, field: &'static str) -> Result<Option<String>, CommandError> {
        Ok(self.fields.clone().text_if_any(field)?)
    }

    /// Keeps the receipt, unless one that holds is kept already: the answer to a replay says less than the first one.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn set_receipt(&mut self, receipt: &str, key: &LogKey) -> Result<(), CommandError> {
        if !matches!(self.receipt(key)?, Receipt::Holds) {
            self.fields.set("receipt", Json::from(receipt));
        }
        Ok(())
    }

    /// The key that the take was signed with; `None` where it is not kept.
    pub(super) fn public_key(&self) -> Result<Option<PublicKey>, CommandError> {
        Ok(self.text("publicKey")?.map(|key| PublicKey::parse(&key)).transpose()?)
    }

    /// Keeps the path that the take was sent to, unless it is the usual one.
    pub(super) fn set_sent_to(&mut self, base_path: &str) {
        if !base_path.is_empty() {
            self.fields.set("sentTo", Json::from(&*format!("{base_path}{SUBMIT}")));
        }
    }

    pub(super) fn set_public_key(&mut self, key: &str) {
        self.fields.set("publicKey", Json::from(key));
    }

    pub(super) fn set_salt(&mut self, salt: &Salt) {
        self.fields.set("salt", Json::from(&*salt.to_string()));
    }

    pub(super) fn set_entry(&mut self, entry: Seq) {
        self.fields.set("entry", Json::from(entry.0 as f64));
    }

    pub(super) fn set_proof(&mut self, proof: &str) {
        self.fields.set("proof", Json::from(proof));
    }

    pub(super) fn proof(&self) -> Result<Option<String>, CommandError> {
        self.text("proof")
    }

    /// What the receipt shows, checked with the log's key.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn receipt(&self, key: &LogKey) -> Result<Receipt, CommandError> {
        let Some(receipt) = self.text("receipt")? else { return Ok(Receipt::Absent) };
        Ok(match self.receipt_fault(&receipt, key)? {
            None => Receipt::Holds,
            Some(fault) => Receipt::Fails(fault),
        })
    }

    fn receipt_fault(&self, receipt: &str, key: &LogKey) -> Result<Option<String>, CommandError> {
        let sent = self.sent()?;
        let path = self.text("sentTo")?.unwrap_or_else(|| SUBMIT.to_owned());
        let request = SentRequest::parse(&format!("POST {path}"), Some(sent.into_bytes()))?;
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
        let id = self.id()?;
        Ok((named != Some(id.0)).then(|| format!("it is not about take {id}")))
    }

    /// Why an entry of the log is not that of this take; `None` if it is.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub(super) fn entry_fault(&self, entry: &Json) -> Result<Option<String>, CommandError> {
        let submission = Submission::from_json(self.sent()?.as_bytes())?;
        let signed = submission.signed();
        let mut expected = vec![
            ("kind", Json::from("take")),
            ("id", Json::from(self.id()?.0 as f64)),
            ("memberId", Json::from(signed.payload.member_id.as_str())),
        ];
        match self.text("salt")? {
            Some(salt) => {
                let seal = Salt::parse(salt)?.seal(signed);
                expected.push(("sealed", Json::from(&*seal.to_string())));
            }
            None => {
                let digest = Digest::of(canonical(&signed.payload).as_bytes());
                expected.push(("digest", Json::from(&*digest.to_string())));
                expected.push(("signature", Json::from(signed.signature.as_str())));
            }
        }
        let fields = entry.clone().into_object();
        let value = |name: &str| fields.members().find(|(field, _)| *field == name);
        let written = |value: &Json| json::write(value);
        let is_other = |(name, expected): &&(&str, Json)| {
            value(name).is_none_or(|(_, value)| written(value) != written(expected))
        };
        let other = expected.iter().find(is_other);
        Ok(other.map(|(name, _)| format!("the log's entry has another {name}")))
    }
}
