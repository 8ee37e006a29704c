//! Figures for monitoring.

use super::{Error, Tenant};
use crate::store::Countable;

impl Tenant {
    /// How many records of one kind are in one state.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn count(&self, what: Countable) -> Result<u64, Error> {
        Ok(self.store.count(what).await?)
    }
}
