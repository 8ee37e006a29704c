//! Errors of the calls.

use swarm_core::Invalid;
use swarm_core::json::{Mismatch, Object, printable};

/// The error of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused the request.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// The outcome is unknown: there was no answer, or a 408 or 5xx. The same take may be sent again at any
    /// time.
    #[error("{0}")]
    NoAnswer(String),
    /// The certificate of the server is not accepted. Nothing was sent, and another attempt would end the same way.
    #[error("{0}")]
    Untrusted(String),
    /// The answer does not have the expected form.
    #[error("not understood: {0}")]
    Unreadable(String),
    /// The challenge names another service than the one that was asked.
    #[error(
        "the challenge is for {}, not for {expected}: nothing was signed",
        printable(.named)
    )]
    OtherService {
        /// The origin that it names; empty if it names none.
        named: String,
        /// The origin of the service that was asked.
        expected: String,
    },
    /// A field to be sent breaks a rule, or a variable of the environment that names a proxy.
    #[error("{0}")]
    Invalid(#[from] Invalid),
    /// The URL is one of `https`, the client is built with `tls` and without `ring`, and the program has installed no cryptography
    /// provider in rustls.
    #[error("no cryptography provider is installed in rustls")]
    NoProvider,
    /// The operating system has no randomness for a key or a nonce.
    #[error("no randomness from the system")]
    NoEntropy,
}

/// A refusal by the service.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The status, 300 to 499.
    pub status: u16,
    /// The code of the error (header `Swarm-Error`): stable, unlike the text.
    pub code: Option<String>,
    /// The hint (header `Swarm-Hint`).
    pub hint: Option<String>,
    /// The seconds after which to try again (header `Retry-After`), where the service says so.
    pub retry_after: Option<u64>,
    /// The text.
    pub error: String,
    /// The whole body, when it is a JSON object.
    pub body: Object,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, printable(&self.error))?;
        match &self.hint {
            Some(hint) => write!(f, " ({})", printable(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}

/// Not the URL of a service: `http` or `https`, a host in ASCII, optionally a port and a path, nothing else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an http or https URL without user, query and fragment, with a port from 1 to 65535 if any; an international domain is written xn--…"
)]
pub struct InvalidUrl;

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::Unreadable(mismatch.to_string())
    }
}

/// A field of an answer that is missing or has another type.
pub(crate) fn unreadable(invalid: Invalid) -> Error {
    Error::Unreadable(invalid.to_string())
}
