//! The records of members and their challenges.

use super::fields::{
    contact, contact_if_any, hash, hash_if_any, key_if_any, text, time, time_if_any,
};
use super::{Record, Unreadable};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Challenge, ChallengeSeed, Invalid, Lens, Member, MemberId, MemberState, Name};

impl Record for Member {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("id", Json::from(self.id.as_str())),
            ("name", Json::from(self.name.as_str())),
            ("contact", contact(&self.contact)),
            ("lens", text((!self.is_erased()).then_some(&self.lens))),
            ("publicKey", text(self.public_key.as_ref())),
            ("state", text(Some(self.state))),
            ("appliedAt", text(Some(self.applied_at))),
            ("reviewedAt", text(self.reviewed_at)),
            ("joinedAt", text(self.joined_at)),
            ("claimedAt", text(self.claimed_at)),
            ("token", hash(self.token.as_ref())),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let state = MemberState::parse(&fields.text("state")?);
        Ok(Self {
            id: MemberId::parse(fields.text("id")?)?,
            name: Name::parse(fields.text("name")?)?,
            contact: contact_if_any(fields, "contact")?,
            lens: Lens::parse(fields.text_if_any("lens")?.unwrap_or_default())?,
            public_key: key_if_any(fields)?,
            state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
            applied_at: time(fields, "appliedAt")?,
            reviewed_at: time_if_any(fields, "reviewedAt")?,
            joined_at: time_if_any(fields, "joinedAt")?,
            claimed_at: time_if_any(fields, "claimedAt")?,
            token: hash_if_any(fields, "token")?,
        })
    }
}

impl Record for Challenge {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("seed", text(Some(self.seed))),
            ("standsUntil", text(Some(self.reusable_until))),
            ("expiresAt", text(Some(self.expires_at))),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            seed: ChallengeSeed::parse(&fields.text("seed")?)?,
            reusable_until: time(fields, "standsUntil")?,
            expires_at: time(fields, "expiresAt")?,
        })
    }
}
