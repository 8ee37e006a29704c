//! What can come instead of an answer.

use swarm_core::Invalid;
use swarm_core::json::Object;
use swarm_core::store::records::Unreadable;

use crate::verify::printable;

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service said no.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// Whether what was sent arrived is not known: there was no answer, or a 408 or 5xx. A take may be sent
    /// again as it is, any time.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// What came back is not what this asks for.
    #[error("not understood: {0}")]
    Unreadable(String),
    /// The challenge names another service than the one that was asked.
    #[error(
        "the challenge is for {:?}, not for {expected}: nothing was signed",
        printable(.named)
    )]
    OtherService {
        /// The origin that it names; empty where it names none.
        named: String,
        /// The origin of the service that was asked.
        expected: String,
    },
    /// What was to be sent breaks a rule.
    #[error("{0}")]
    Invalid(#[from] Invalid),
    /// The system gave no randomness for a key or a nonce.
    #[error("no randomness from the system")]
    NoEntropy,
}

/// A refusal, as the service told it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The status, 300 to 499.
    pub status: u16,
    /// The word of the header `Swarm-Error`, which stays as it is whatever the text becomes.
    pub code: Option<String>,
    /// The line of the header `Swarm-Hint`.
    pub hint: Option<String>,
    /// The text.
    pub error: String,
    /// All of the body, where it is a JSON object.
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

/// No address of a service: `http` or `https`, a host, perhaps a port and a path, nothing else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an http or https URL")]
pub struct InvalidUrl;

impl From<Unreadable> for Error {
    fn from(error: Unreadable) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// A field of an answer that is missing or is something else.
pub(crate) fn unreadable(invalid: Invalid) -> Error {
    Error::Unreadable(invalid.to_string())
}
