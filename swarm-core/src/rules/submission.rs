//! Submitted takes, before verification.

use std::sync::Arc;

use super::body_shape::shape_fault;
use crate::domain::json::{Fields, Json, JsonDocument, Object};
use crate::domain::{Described, FormSchema, Invalid, Signature, Signed, TakeDraft};

/// A submitted take: its fields are valid, its signature is not yet verified.
#[derive(Clone, Debug)]
pub struct Submission {
    pub(super) signed: Arc<Signed<TakeDraft>>,
    unknown_fields: Vec<String>,
}

impl Submission {
    /// The fields that a submission has.
    pub(super) const FIELDS: [&str; 10] = [
        "memberId",
        "date",
        "subjectId",
        "nonce",
        "stance",
        "confidence",
        "body",
        "memoUrl",
        "weights",
        "signature",
    ];

    /// Maximum number of unknown fields that are kept for warnings.
    const MAX_UNKNOWN: usize = 4;

    /// A submission of a signed take.
    pub fn new(signed: Signed<TakeDraft>) -> Self {
        Self { signed: Arc::new(signed), unknown_fields: Vec::new() }
    }

    /// Reads a submission.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut dyn Fields) -> Result<Self, Invalid> {
        let unknown_fields = fields.others(&Self::FIELDS, Self::MAX_UNKNOWN);
        Ok(Self { unknown_fields, ..Self::new(Signed::<TakeDraft>::read(fields)?) })
    }

    /// Parses a submission from JSON, strictly.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule, or `body` when the text is not
    /// JSON.
    pub fn from_json(text: &[u8]) -> Result<Self, Invalid> {
        let json = JsonDocument::read(text);
        let mut document = json.map_err(|_| Invalid::new("body", "must be JSON"))?;
        Self::read(&mut document.members())
    }

    /// Returns the JSON that [`from_json`](Self::from_json) reads, as a member sends it. It has no unknown fields.
    pub fn to_json(&self) -> String {
        self.signed.to_json()
    }

    /// Returns the fields.
    pub fn draft(&self) -> &TakeDraft {
        &self.signed.payload
    }

    /// Returns the fields and their signature.
    pub fn signed(&self) -> &Arc<Signed<TakeDraft>> {
        &self.signed
    }

    /// Returns the names of its first unknown fields.
    pub fn unknown_fields(&self) -> &[String] {
        &self.unknown_fields
    }
}

impl Described for Submission {
    const NAME: &'static str = "Submission";
    const TOPIC: &'static str = "takes";

    fn describe(schema: &mut FormSchema) {
        TakeDraft::describe(schema);
        schema.description = "A take with its signature.";
        schema.example = Signed::<TakeDraft>::EXAMPLE;
        schema.require_named("signature", Signature::OF_SUBMISSION);
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
    /// Why the body lacks all fields, if it does.
    shape: Option<Invalid>,
}

impl From<Submission> for Draft {
    fn from(submission: Submission) -> Self {
        Self { submission, invalid: Vec::new(), shape: None }
    }
}

impl Draft {
    /// Reads a submission with any number of invalid fields.
    ///
    /// # Errors
    /// [`Invalid`] when a field cannot be replaced. This does not happen with the fields of a take.
    pub fn read(fields: Object) -> Result<Self, Invalid> {
        let unknown_fields = fields.others(&Submission::FIELDS, Submission::MAX_UNKNOWN);
        let (signed, invalid) = Signed::<TakeDraft>::read_leniently(fields)?;
        let submission = Submission { unknown_fields, ..Submission::new(signed) };
        Ok(Self { submission, invalid, shape: None })
    }

    /// Reads a submission from any JSON. If it is no object with the fields at its top level, that is its only
    /// fault.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_body(body: Json) -> Result<Self, Invalid> {
        let shape = shape_fault(&body, "memberId");
        let mut draft = Self::read(body.into_object())?;
        if shape.is_some() {
            // The finding names the field that wraps the take, so a warning about it would repeat it.
            draft.submission.unknown_fields.clear();
        }
        Ok(Self { shape, ..draft })
    }

    /// Reads a submission from JSON as [`of_body`](Self::of_body) does, for a transport that has the bytes.
    ///
    /// # Errors
    /// [`Invalid`], naming `body`, when the text is not JSON; else as [`read`](Self::read).
    pub fn from_json(text: &[u8]) -> Result<Self, Invalid> {
        Self::of_body(Json::read(text).map_err(|_| Invalid::new("body", "must be JSON"))?)
    }

    /// The faults to report.
    pub(super) fn faults(&self) -> &[Invalid] {
        self.shape.as_ref().map_or(&self.invalid, std::slice::from_ref)
    }

    /// Whether this field was replaced because its value was invalid.
    pub(crate) fn was_replaced(&self, field: &str) -> bool {
        self.invalid.iter().any(|fault| fault.field == field)
    }
}
