//! What nobody can guess.

use swarm_core::proof::hex;
use swarm_core::{Entropy, SystemEntropy};

use crate::Failure;

/// A token that nobody can guess: `adm_` and 256 random bits in hexadecimal digits.
pub(crate) fn mint_token() -> Result<String, Failure> {
    Ok(format!("adm_{}", hex(&random_bytes()?)))
}

pub(crate) fn random_bytes() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    SystemEntropy.fill(&mut random)?;
    Ok(random)
}
