//! Secret tokens.

use std::io::{self, Read as _};

use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::hex;
use swarm_core::{Entropy, SystemEntropy};

use crate::arguments::HashTokenOptions;
use crate::{Failure, console};

/// A random token: `adm_` and 256 random bits in hexadecimal digits.
pub(crate) fn mint_token() -> Result<String, Failure> {
    Ok(format!("adm_{}", hex(&random_bytes()?)))
}

pub(crate) fn random_bytes() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    SystemEntropy.fill(&mut random)?;
    Ok(random)
}

/// `swarm hash-token`: the line that a configuration has for a token; with `--new`, of one that is
/// minted, and printed before it.
pub(crate) fn hash_token(options: &HashTokenOptions) -> Result<(), Failure> {
    let token = if options.new { mint_token()? } else { token_from_input()? };
    check_token("token", &token)?;
    if options.new {
        console::print(&token)?;
    }
    console::print(&format!("sha256:{}", hex(AdminTokenHash::of(token.as_bytes()).as_bytes())))?;
    Ok(())
}

/// Standard input without its line end.
fn token_from_input() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Whether operators can send it in a header, and it is long enough not to be guessed.
pub(crate) fn check_token(name: &str, token: &str) -> Result<(), Failure> {
    const LEAST: usize = 16;
    let fault = if token.is_empty() {
        "is empty"
    } else if token.trim() != token {
        "begins or ends with white space"
    } else if token.chars().any(char::is_control) {
        "has control characters"
    } else if token.chars().count() < LEAST {
        "has fewer than 16 characters"
    } else {
        return Ok(());
    };
    Err(format!("{name} {fault}").into())
}
