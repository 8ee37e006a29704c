//! Generates, reads and checks admin tokens.

use std::env::{self, VarError};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::hex;
use swarm_core::{Entropy, SystemEntropy};

use crate::arguments::HashTokenOptions;
use crate::failure::full_path;
use crate::text_file::{read_text, trimmed};
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

/// The operator's token of a single tenant, and where it was given.
pub(crate) struct GivenToken {
    pub(crate) source: String,
    pub(crate) token: String,
}

/// The operator's token of a single tenant, from the environment or the file that it names, not yet checked. A variable
/// that is empty is not given.
pub(crate) fn admin_token() -> Result<Option<GivenToken>, Failure> {
    const TOKEN: &str = "SWARM_ADMIN_TOKEN";
    const FILE: &str = "SWARM_ADMIN_TOKEN_FILE";
    let token = match env::var(TOKEN) {
        Ok(token) => Some(token).filter(|token| !token.is_empty()),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) => return Err(format!("{TOKEN} is not UTF-8").into()),
    };
    let file = env::var_os(FILE).filter(|file| !file.is_empty());
    let (source, token) = match (token, file) {
        (Some(_), Some(_)) => {
            return Err(format!("{TOKEN} and {FILE} are both set: set one").into());
        }
        (Some(token), None) => (TOKEN.to_owned(), trimmed(&token).to_owned()),
        (None, Some(file)) => {
            let path = Path::new(&file);
            let token = read_secret(path).map_err(|error| format!("{FILE}: {error}"))?;
            (format!("{FILE}: {}", path.display()), token)
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(GivenToken { source, token }))
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

/// The token on standard input.
fn token_from_input() -> Result<String, Failure> {
    let text = read_text(io::stdin()).map_err(|error| format!("standard input: {error}"))?;
    Ok(trimmed(&text).to_owned())
}

/// The secret in a file.
///
/// # Errors
/// If the file cannot be read, or users may read it who may not know the secret.
pub(crate) fn read_secret(path: &Path) -> Result<String, Failure> {
    let path = full_path(path);
    let name = path.display();
    let fault = |error: io::Error| format!("{name}: {error}");
    let file = File::open(&path).map_err(fault)?;
    let metadata = file.metadata().map_err(fault)?;
    if metadata.is_dir() {
        return Err(format!("{name}: is a directory").into());
    }
    match others(metadata.mode(), metadata.uid()) {
        None => {}
        Some(Others::All) => {
            return Err(format!(
                "{name}: readable by other users: chmod 600 {name}, on the host if it is mounted, and give it to the user that runs swarm; a secret of Kubernetes wants `defaultMode: 0440`"
            )
            .into());
        }
        Some(Others::Group) => {
            let owner = metadata.uid();
            return Err(format!(
                "{name}: belongs to user {owner} and is readable by its group: give it to root or to the user that runs swarm, or chmod 600 {name}"
            )
            .into());
        }
    }
    let text = read_text(file).map_err(fault)?;
    Ok(trimmed(&text).to_owned())
}

/// Who may read a secret, and should not.
#[derive(Debug, PartialEq, Eq)]
enum Others {
    /// Every user of the machine.
    All,
    /// The group of a file that neither root nor this user gave it to.
    Group,
}

/// Returns which users can read or write a file of this mode and owner, and should not. Its owner may, and its group if the owner is
/// root or this user: Kubernetes and systemd hand over secrets in this way.
fn others(mode: u32, owner: u32) -> Option<Others> {
    let is_given = owner == 0 || owner == rustix::process::geteuid().as_raw();
    match (mode & 0o070, mode & 0o007) {
        (_, 1..) => Some(Others::All),
        (1.., 0) if !is_given => Some(Others::Group),
        _ => None,
    }
}

/// Whether a text is in quotation marks, as files for environment variables have texts that are not read by a shell.
pub(crate) fn is_quoted(text: &str) -> bool {
    ['"', '\''].iter().any(|mark| text.starts_with(*mark) && text.ends_with(*mark))
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
    } else if !token.is_ascii() {
        "has a character outside ASCII, perhaps an invisible one: most clients cannot send it"
    } else if is_quoted(token) {
        "is in quotation marks, which would be part of it"
    } else if token.len() < MIN_LENGTH {
        "has fewer than 16 characters"
    } else {
        return Ok(());
    };
    Err(format!("{name} {fault}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_root_and_of_this_user_may_be_read_by_their_group() {
        let me = rustix::process::geteuid().as_raw();
        for (mode, owner, expected) in [
            (0o100_600, me, None),
            (0o400, me + 1, None),
            (0o440, me, None),
            (0o640, me, None),
            (0o440, 0, None),
            // Kubernetes makes 0600 so for fsGroup.
            (0o660, me, None),
            (0o660, 0, None),
            (0o640, me + 1, Some(Others::Group)),
            (0o660, me + 1, Some(Others::Group)),
            (0o444, 0, Some(Others::All)),
            (0o644, me, Some(Others::All)),
            (0o604, me, Some(Others::All)),
            (0o602, me, Some(Others::All)),
            (0o664, me + 1, Some(Others::All)),
        ] {
            assert_eq!(others(mode, owner), expected, "{mode:o} of {owner}");
        }
    }
}
