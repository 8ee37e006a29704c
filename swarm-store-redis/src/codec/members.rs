//! Members: `version state token key record`, and challenges.

use std::sync::Arc;

use swarm_core::domain::{Challenge, ChallengeSeed, Member, Version};
use swarm_core::store::Versioned;
use swarm_core::store::records::Record as _;

use super::{Decoded, Words, encode_hash, text_or_null};

/// Written in place of an absent word.
const NONE: &str = "-";

pub(crate) fn encode_member(version: Version, member: &Member) -> String {
    let token = encode_token(member).unwrap_or_else(|| NONE.to_owned());
    let key = member.public_key.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string);
    format!("{version} {} {token} {key} {}", member.state, member.to_text())
}

/// The words in front take precedence over the record.
pub(crate) fn decode_member(row: &str) -> Decoded<Versioned<Member>> {
    let mut words = Words(row);
    let (version, state) = (words.version()?, words.next()?);
    let token = present(words.next()?).map(|digits| format!("sha256:{digits}"));
    let key = present(words.next()?);
    let mut fields = words.object()?;
    fields.set("state", state.into());
    fields.set("token", text_or_null(token));
    fields.set("publicKey", text_or_null(key));
    Ok(Versioned { version, record: Arc::new(Member::read(&mut fields)?) })
}

/// The member's entry in the index of tokens.
pub(crate) fn encode_token(member: &Member) -> Option<String> {
    member.token.as_ref().map(encode_hash)
}

/// Encodes a challenge: `reusable-until expiry seed`.
pub(crate) fn encode_challenge(challenge: &Challenge) -> String {
    let Challenge { seed, reusable_until, expires_at } = challenge;
    format!("{} {} {seed}", reusable_until.millis(), expires_at.millis())
}

pub(crate) fn decode_challenge(row: &str) -> Decoded<Challenge> {
    let mut words = Words(row);
    let (reusable_until, expires_at) = (words.timestamp()?, words.timestamp()?);
    Ok(Challenge { seed: ChallengeSeed::parse(words.rest())?, reusable_until, expires_at })
}

fn present(word: &str) -> Option<&str> {
    Some(word).filter(|word| *word != NONE)
}
