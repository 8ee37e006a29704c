//! The source of randomness, which embedders supply.

/// A source of cryptographically secure random bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// [`NoEntropy`] when no random bytes are available.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy>;
}

/// No random bytes were available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no randomness available")]
pub struct NoEntropy;

/// The randomness of the operating system.
#[cfg(feature = "system-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

#[cfg(feature = "system-entropy")]
impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

/// The bytes of a dry run: what is made of them is neither kept nor shown.
#[cfg(feature = "service")]
pub(crate) struct Zeros;

#[cfg(feature = "service")]
impl Entropy for Zeros {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        bytes.fill(0);
        Ok(())
    }
}

#[cfg(feature = "service")]
impl dyn Entropy + '_ {
    /// `N` random bytes.
    pub(crate) fn bytes<const N: usize>(&self) -> Result<[u8; N], NoEntropy> {
        let mut bytes = [0; N];
        self.fill(&mut bytes).map(|()| bytes)
    }
}
