//! Members: `version state token key json`.

use std::sync::Arc;

use swarm_core::MemberId;
use swarm_core::domain::{
    Challenge, ChallengeSeed, Contact, Lens, Member, MemberState, Name, Version,
};
use swarm_core::json::{self, Json};
use swarm_core::store::Versioned;

use super::{
    Corrupt, Decoded, Words, decode_hash, decode_public_key, encode_hash, text_or_null,
    timestamp_if_any, timestamp_in,
};

/// What stands for a word that is not there.
const NONE: &str = "-";

pub(crate) fn encode_member(version: Version, member: &Member) -> String {
    let token = encode_token(member).unwrap_or_else(|| NONE.to_owned());
    let key = member.public_key.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string);
    let rest = Json::from([
        ("id", Json::from(member.id.as_str())),
        ("name", Json::from(member.name.as_str())),
        ("contact", Json::from(member.contact.as_str())),
        ("lens", Json::from(member.lens.as_str())),
        ("appliedAt", text_or_null(Some(member.applied_at))),
        ("reviewedAt", text_or_null(member.reviewed_at)),
        ("joinedAt", text_or_null(member.joined_at)),
        ("claimedAt", text_or_null(member.claimed_at)),
    ]);
    format!("{version} {} {token} {key} {}", member.state, json::write(&rest))
}

pub(crate) fn decode_member(row: &str) -> Decoded<Versioned<Member>> {
    let mut words = Words(row);
    let version = words.version()?;
    let state = MemberState::parse(words.next()?).ok_or_else(|| Corrupt::new("no state"))?;
    let token = present(words.next()?).map(decode_hash).transpose()?;
    let public_key = present(words.next()?).map(decode_public_key).transpose()?;
    let mut fields = words.object()?;
    let member = Member {
        id: MemberId::parse(fields.text("id")?)?,
        name: Name::parse(fields.text("name")?)?,
        contact: Contact::parse(fields.text("contact")?)?,
        lens: Lens::parse(fields.text("lens")?)?,
        public_key,
        state,
        applied_at: timestamp_in(&mut fields, "appliedAt")?,
        reviewed_at: timestamp_if_any(&mut fields, "reviewedAt")?,
        joined_at: timestamp_if_any(&mut fields, "joinedAt")?,
        claimed_at: timestamp_if_any(&mut fields, "claimedAt")?,
        token,
    };
    Ok(Versioned { version, record: Arc::new(member) })
}

/// How the index of tokens names the member's.
pub(crate) fn encode_token(member: &Member) -> Option<String> {
    member.token.as_ref().map(encode_hash)
}

/// A challenge: `stands-until expiry seed`.
pub(crate) fn encode_challenge(challenge: &Challenge) -> String {
    let Challenge { seed, stands_until, expires_at } = challenge;
    format!("{} {} {seed}", stands_until.millis(), expires_at.millis())
}

pub(crate) fn decode_challenge(row: &str) -> Decoded<Challenge> {
    let mut words = Words(row);
    let (stands_until, expires_at) = (words.timestamp()?, words.timestamp()?);
    Ok(Challenge { seed: ChallengeSeed::parse(words.rest())?, stands_until, expires_at })
}

fn present(word: &str) -> Option<&str> {
    Some(word).filter(|word| *word != NONE)
}
