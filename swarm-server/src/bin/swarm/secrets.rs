//! Generates, reads and checks admin tokens.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::hex;
use swarm_core::{Entropy, SystemEntropy};

use crate::arguments::HashTokenOptions;
use crate::{Failure, console};

/// A random token: `adm_` and 256 random bits in hexadecimal.
pub(crate) fn mint_token() -> Result<String, Failure> {
    Ok(format!("adm_{}", hex(&random_bytes()?)))
}

pub(crate) fn random_bytes() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    SystemEntropy.fill(&mut random)?;
    Ok(random)
}

/// `swarm hash-token`: prints the hash of a token for the configuration; with `--new`, of a generated
/// token, which is printed first.
pub(crate) fn hash_token(options: &HashTokenOptions) -> Result<(), Failure> {
    let token = if options.new { mint_token()? } else { token_from_input()? };
    check_token("token", &token)?;
    if options.new {
        console::print(&token)?;
    }
    console::print(&format!("sha256:{}", hex(AdminTokenHash::of(token.as_bytes()).as_bytes())))?;
    Ok(())
}

/// The token on standard input, without the line end.
fn token_from_input() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
    Ok(without_line_end(&text).to_owned())
}

/// The secret in a file, without its line end.
///
/// # Errors
/// If the file cannot be read, or users other than its owner may read it.
pub(crate) fn read_secret(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let fault = |error: io::Error| format!("{name}: {error}");
    let file = File::open(path).map_err(fault)?;
    let mode = file.metadata().map_err(fault)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("{name}: readable by other users: chmod 600 {name}").into());
    }
    let text = io::read_to_string(file).map_err(fault)?;
    Ok(without_line_end(&text).to_owned())
}

fn without_line_end(text: &str) -> &str {
    let line = text.strip_suffix('\n').unwrap_or(text);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Checks that a token can be sent in a header, and is long enough not to be guessed.
pub(crate) fn check_token(name: &str, token: &str) -> Result<(), Failure> {
    const MIN_LENGTH: usize = 16;
    let fault = if token.is_empty() {
        "is empty"
    } else if token.trim() != token {
        "begins or ends with white space"
    } else if token.chars().any(char::is_control) {
        "has control characters"
    } else if token.chars().count() < MIN_LENGTH {
        "has fewer than 16 characters"
    } else {
        return Ok(());
    };
    Err(format!("{name} {fault}").into())
}
