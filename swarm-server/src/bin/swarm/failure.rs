//! Errors that end the program: how they are reported, and the exit statuses of commands (MANUAL.md, 13.3).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use swarm_client::{Error, printable};
use swarm_core::Invalid;
use swarm_core::json::Json;

/// An error that stops the program.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What names authorities to the stores and to mail.
pub(crate) const AUTHORITIES: &str =
    "SSL_CERT_FILE, or sslrootcert of an address of PostgreSQL, names the file of another";

/// The error with its causes. The address of a store, which may contain a password, is never part of
/// it.
pub(crate) fn with_causes(what: &str, error: &dyn std::error::Error) -> String {
    explained(format!("{what}: {}", swarm_core::service::with_causes(error)), AUTHORITIES)
}

/// The text of an error; if it is about a certificate that is refused, with what to do. `trusting` says how another authority is
/// trusted.
pub(crate) fn explained(text: String, trusting: &str) -> String {
    if text.contains("UnknownIssuer") && text.contains("sslrootcert") {
        return format!("{text}: none of them has signed it");
    }
    if text.contains("UnknownIssuer") {
        let named = named_authorities();
        return format!("{text}: no authority that is trusted has signed it; {trusting}{named}");
    }
    match text.contains("CaUsedAsEndEntity") {
        true => format!("{text}: {AUTHORITY}{}", named_authorities()),
        false => text,
    }
}

/// What to do about a server with the certificate of an authority.
const AUTHORITY: &str = "it is the certificate of an authority, which a server may not use: make one with \
                         `openssl req -x509 -addext basicConstraints=critical,CA:FALSE`, or sign one with the authority";

/// The path from the root, for errors: a relative one says nothing to a reader who does not know the working directory.
pub(crate) fn full_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Says that there is no folder for a file; `None` if there is one.
pub(crate) fn missing_folder(file: &Path) -> Option<String> {
    let file = full_path(file);
    let folder = file.parent().filter(|folder| !folder.is_dir())?;
    Some(format!("there is no folder {folder:?}"))
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The service refused, or the command itself did: exit status 1.
    Refused(String),
    /// Wrong use: exit status 2.
    Usage(String),
    /// The service was not reached, and the outcome may be unknown: exit status 3.
    Unreached(String),
    /// No token, or a wrong one: exit status 4.
    Credential(String),
}

impl CommandError {
    /// The exit status of the program.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Refused(_) => 1,
            Self::Usage(_) => 2,
            Self::Unreached(_) => 3,
            Self::Credential(_) => 4,
        })
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refused(text)
        | Self::Usage(text)
        | Self::Unreached(text)
        | Self::Credential(text)) = self;
        f.write_str(text)
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Refused(refused) => {
                let text = match refused.body.clone().take("detail") {
                    Some(Json::Text(detail)) => format!("{text}: {}", printable(&detail)),
                    _ => text,
                };
                if refused.status == 401 { Self::Credential(text) } else { Self::Refused(text) }
            }
            Error::Untrusted(_) => {
                Self::Unreached(explained(text, "--ca-file FILE trusts one more"))
            }
            Error::NoAnswer(_) | Error::Unreadable(_) => Self::Unreached(text),
            Error::Invalid(_) => Self::Usage(text),
            _ => Self::Refused(text),
        }
    }
}

/// Says where authorities are taken from in place of those of the system.
fn named_authorities() -> String {
    let named = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(|name| (name, std::env::var_os(name)));
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    named.map(|(name, path)| format!("; {name} is {}", path.display())).collect()
}

impl From<Invalid> for CommandError {
    fn from(error: Invalid) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure.to_string())
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}
