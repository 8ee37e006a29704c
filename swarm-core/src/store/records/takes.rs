//! The records of takes.

use std::sync::Arc;

use super::fields::{key_if_any, present, revision, time, whole};
use super::{Record, Unreadable};
use crate::domain::json::{self, Object};
use crate::domain::{SessionId, Signature, Signed, Take, TakeDraft, TakeId};

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
        })
    }
}
