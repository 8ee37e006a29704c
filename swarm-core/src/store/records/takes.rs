//! The records of takes.

use std::borrow::Cow;
use std::sync::Arc;

use super::fields::{key_if_any, present, revision, time, whole};
use super::{Record, Unreadable};
use crate::domain::json::{self, Object};
use crate::domain::{Invalid, Salt, SessionId, Signature, Signed, Take, TakeDraft, TakeId};

impl Record for Take {
    fn to_text(&self) -> String {
        json::write(self)
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let payload = TakeDraft::read(fields)?;
        let signature = Signature::parse(fields.text("signature")?)?;
        Ok(Self {
            id: TakeId(whole(fields, "id")?),
            session_id: SessionId(whole(fields, "sessionId")?),
            revision: revision(fields)?,
            filed_at: time(fields, "filedAt")?,
            signed: Arc::new(Signed { payload, signature }),
            public_key: present("publicKey", key_if_any(fields)?)?,
            salt: fields.text_if_any("salt")?.map(Salt::parse).transpose()?,
        })
    }
}

/// The proof of a take as one word: its signature, then, if it has a seal, a dot and the salt of the seal. A
/// verified signature is base64, so it contains no dot.
pub fn proof_text(take: &Take) -> Cow<'_, str> {
    let signature = take.signed.signature.as_str();
    match &take.salt {
        Some(salt) => Cow::Owned(format!("{signature}.{salt}")),
        None => Cow::Borrowed(signature),
    }
}

/// Reads what [`proof_text`] wrote.
///
/// # Errors
/// [`Invalid`] for any other text.
pub fn read_proof(text: &str) -> Result<(Signature, Option<Salt>), Invalid> {
    match text.split_once('.') {
        Some((signature, salt)) => Ok((Signature::parse(signature)?, Some(Salt::parse(salt)?))),
        None => Ok((Signature::parse(text)?, None)),
    }
}
