//! Submitted takes, before verification.

use std::sync::Arc;

use crate::domain::json::{Document, Fields, Json, Object};
use crate::domain::{Invalid, Signature, Signed, TakeDraft};

/// A submitted take: its fields are valid, its signature is not yet verified.
#[derive(Clone, Debug)]
pub struct Submission(pub(super) Arc<Signed<TakeDraft>>);

impl Submission {
    /// A submission of a signed take.
    pub fn new(signed: Signed<TakeDraft>) -> Self {
        Self(Arc::new(signed))
    }

    /// Reads a submission.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut dyn Fields) -> Result<Self, Invalid> {
        let payload = TakeDraft::read(fields)?;
        let signature = Signature::parse(fields.text("signature")?)?;
        Ok(Self::new(Signed { payload, signature }))
    }

    /// Parses a submission from JSON, strictly.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule, or `body` when the text is not
    /// JSON.
    pub fn from_json(text: &[u8]) -> Result<Self, Invalid> {
        let json = Document::read(text);
        let mut document = json.map_err(|_| Invalid::new("body", "must be JSON"))?;
        Self::read(&mut document.members())
    }

    /// The fields.
    pub fn draft(&self) -> &TakeDraft {
        &self.0.payload
    }

    /// The fields and their signature.
    pub fn signed(&self) -> &Arc<Signed<TakeDraft>> {
        &self.0
    }
}

/// The input of a preflight. Each invalid field is recorded and replaced by a valid value, so that
/// the other rules can be checked too.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The submission, with valid values in place of the invalid ones.
    pub submission: Submission,
    /// The errors of the invalid fields, in the order in which the fields are read.
    pub invalid: Vec<Invalid>,
}

impl Draft {
    /// Reads a submission with any number of invalid fields.
    ///
    /// # Errors
    /// [`Invalid`] when a field cannot be replaced. This does not happen with the fields of a take.
    pub fn read(mut fields: Object) -> Result<Self, Invalid> {
        let mut invalid: Vec<Invalid> = Vec::new();
        loop {
            let fault = match Submission::read(&mut fields.clone()) {
                Ok(submission) => return Ok(Self { submission, invalid }),
                Err(fault) => fault,
            };
            if invalid.iter().any(|known| known.field == fault.field) {
                return Err(fault);
            }
            match fault.field {
                "bucket" | "weight" | "weights" => fields.set("weights", Json::Null),
                "confidence" => fields.set("confidence", 0.0.into()),
                "date" => fields.set("date", "0001-01-01".into()),
                other => fields.set(other, "-".into()),
            }
            invalid.push(fault);
        }
    }

    /// Whether this field was replaced because it was invalid.
    pub(super) fn was_replaced(&self, field: &str) -> bool {
        self.invalid.iter().any(|fault| fault.field == field)
    }
}
