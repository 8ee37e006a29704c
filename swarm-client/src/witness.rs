//! A witness of logs, which speaks C2SP `tlog-witness` (API.md, 11.6).

use crate::connection::Client;
use crate::error::{Error, InvalidUrl};

/// A witness, at its submission prefix.
#[derive(Clone, Debug)]
pub struct WitnessClient(Client);

impl WitnessClient {
    /// The witness at `url`, such as `https://witness.example/log`. It sends nothing yet.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it is an `http` or `https` URL.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Client::new(url).map(Self)
    }

    /// Sends the body of an `add-checkpoint` once, for at most 30 s, and returns status and body of the answer.
    ///
    /// # Errors
    /// [`Error::NoAnswer`]; [`Error::Unreadable`] for an answer over 64 KiB, or one that is not text.
    pub fn add_checkpoint(&self, body: &str) -> Result<(u16, String), Error> {
        self.0.post_text("/add-checkpoint", body)
    }
}
