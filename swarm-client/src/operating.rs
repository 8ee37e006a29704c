//! Requests of operators.

use serde::Serialize;
use swarm_core::json::Object;

use crate::connection::{Client, Credential};
use crate::error::Error;

impl Client {
    /// Sends an operator's request, without retries: `POST` or `PATCH`, a path, the body.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn operate(
        &self,
        admin_token: &str,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Object, Error> {
        self.send(method, path, Credential::Operator(admin_token), body)
    }
}
