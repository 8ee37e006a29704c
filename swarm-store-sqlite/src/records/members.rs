//! Members.

use swarm_core::MemberId;
use swarm_core::domain::{Contact, Lens, Member, MemberState, Name, PublicKey};
use swarm_core::json::{self, Json};

use super::{hash, hash_text, object, text, timestamp_if_any, timestamp_in};
use crate::failure::{Failure, Outcome};

pub(crate) fn member_text(member: &Member) -> String {
    json::write(&Json::from([
        ("id", Json::from(member.id.as_str())),
        ("name", Json::from(member.name.as_str())),
        ("contact", Json::from(member.contact.as_str())),
        ("lens", Json::from(member.lens.as_str())),
        ("publicKey", text(member.public_key.as_ref())),
        ("state", Json::from(member.state.as_str())),
        ("appliedAt", text(Some(member.applied_at))),
        ("reviewedAt", text(member.reviewed_at)),
        ("joinedAt", text(member.joined_at)),
        ("claimedAt", text(member.claimed_at)),
        ("token", text(member.token.as_ref().map(hash_text))),
    ]))
}

pub(crate) fn member(text: &str) -> Outcome<Member> {
    let mut fields = object(text)?;
    let state = MemberState::parse(&fields.text("state")?);
    Ok(Member {
        id: MemberId::parse(fields.text("id")?)?,
        name: Name::parse(fields.text("name")?)?,
        contact: Contact::parse(fields.text("contact")?)?,
        lens: Lens::parse(fields.text("lens")?)?,
        public_key: fields
            .text_if_any("publicKey")?
            .map(|key| PublicKey::parse(&key))
            .transpose()?,
        state: state.ok_or_else(|| Failure::garbled("no state"))?,
        applied_at: timestamp_in(&mut fields, "appliedAt")?,
        reviewed_at: timestamp_if_any(&mut fields, "reviewedAt")?,
        joined_at: timestamp_if_any(&mut fields, "joinedAt")?,
        claimed_at: timestamp_if_any(&mut fields, "claimedAt")?,
        token: fields.text_if_any("token")?.map(|token| hash(&token)).transpose()?,
    })
}
