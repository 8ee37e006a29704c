//! The check of a token of RFC 3161, by the program `openssl`: its rules are the ones that authorities are made for, and no
//! verification of CMS and X.509 is ours.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use swarm_core::audit::{CheckedToken, TimestampedCheckpoint};
use swarm_core::domain::Timestamp;
use swarm_core::{Entropy as _, SystemEntropy};

use crate::Failure;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Checks that the token is of the checkpoint, and by an authority that the certificates in this PEM file lead to: directly, or
/// by certificates in the token. Certificates are checked at the time of the token, so that it outlives them.
///
/// # Errors
/// If the file has no certificate, or there is no program `openssl`.
pub(crate) fn checked(
    stamped: &TimestampedCheckpoint,
    authorities: &Path,
) -> Result<CheckedToken, Failure> {
    let readable = openssl(&["x509", "-noout", "-in"], authorities, &[])?;
    if !readable.status.success() {
        return Err(format!("{}: no certificate in PEM", authorities.display()).into());
    }
    let token = TokenFile::write(stamped.token())?;
    let shown = openssl(&["ts", "-reply", "-token_in", "-text", "-in"], &token.0, &[])?;
    let text = String::from_utf8_lossy(&shown.stdout);
    let Some(at) = field(&text, "Time stamp: ").and_then(time).filter(|_| shown.status.success())
    else {
        return Ok(CheckedToken::Invalid("it is no token of RFC 3161".to_owned()));
    };
    let (seconds, digest) = ((at.millis() / 1_000).to_string(), stamped.digest().to_string());
    let digest = digest.strip_prefix("sha256:").unwrap_or_default();
    let rules = ["-digest", digest, "-attime", &seconds, "-partial_chain", "-CAfile"];
    let arguments = [&["ts", "-verify", "-token_in"], &rules[..]].concat();
    let verified = openssl(&arguments, authorities, &[Path::new("-in"), &token.0])?;
    if !verified.status.success() {
        return Ok(CheckedToken::Invalid(reason(&verified)));
    }
    let by = field(&text, "TSA: ").filter(|name| *name != "unspecified");
    let by = by.map(|name| name.strip_prefix("DirName:").unwrap_or(name).to_owned());
    Ok(CheckedToken::Valid { at, by })
}

/// Runs `openssl` with these arguments, then a file, then more.
fn openssl(arguments: &[&str], file: &Path, more: &[&Path]) -> Result<Output, Failure> {
    let mut command = Command::new("openssl");
    let command = command.args(arguments).arg(file).args(more).stdin(Stdio::null());
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "timestamps are checked by the program openssl, which is not installed".into()
        }
        _ => Failure::from(format!("openssl: {error}")),
    })
}

/// What follows this name on its line.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Reads a time such as `Nov 27 19:51:09.009 2026 GMT`.
fn time(text: &str) -> Option<Timestamp> {
    let mut parts = text.split_ascii_whitespace();
    let (month, day, time, year) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    if parts.next() != Some("GMT") || parts.next().is_some() {
        return None;
    }
    Timestamp::parse("time", &format!("{year:0>4}-{month:02}-{day:0>2}T{time}Z")).ok()
}

/// The reason why a token was refused, from the line that names it.
fn reason(verified: &Output) -> String {
    let said = String::from_utf8_lossy(&verified.stderr);
    // <thread>:error:<code>:<library>:<function>:<reason>:<file>:<line>:<detail>
    let fields = said.lines().find_map(|line| line.split_once(":error:").map(|(_, rest)| rest));
    let fields: Vec<_> = fields.unwrap_or_default().split(':').collect();
    let reason = fields.get(3).map_or("it is not valid", |reason| *reason);
    let detail = fields.get(6..).unwrap_or_default().join(":");
    match detail.trim() {
        "" => reason.to_owned(),
        detail => format!("{reason}: {detail}"),
    }
}

/// A file with a token, which is removed when this is dropped.
struct TokenFile(PathBuf);

impl TokenFile {
    fn write(token: &[u8]) -> Result<Self, Failure> {
        let mut name = [0; 8];
        SystemEntropy.fill(&mut name)?;
        let name = format!("swarm-token-{:016x}", u64::from_be_bytes(name));
        let file = Self(std::env::temp_dir().join(name));
        let written = File::create_new(&file.0).and_then(|mut it| it.write_all(token));
        written.map_err(|error| format!("{}: {error}", file.0.display()))?;
        Ok(file)
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_tokens_are_read() {
        let shown = |text| time(text).map(|time| time.to_string());
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(shown("Nov 27 19:51:09.009 2026 GMT"), at("2026-11-27T19:51:09.009Z"));
        assert_eq!(shown("Mar  7 09:01:02 2031 GMT"), at("2031-03-07T09:01:02.000Z"));
        for wrong in ["", "Foo 7 09:01:02 2031 GMT", "Mar 7 09:01:02 2031", "Mar 7 9 2031 GMT"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
