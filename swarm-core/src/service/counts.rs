//! Counts of records, for monitoring.

use super::{Error, Tenant};
use crate::store::Countable;

impl Tenant {
    /// The number of records of one kind in one state.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn count(&self, what: Countable) -> Result<u64, Error> {
        Ok(self.store.count(what).await?)
    }
}
