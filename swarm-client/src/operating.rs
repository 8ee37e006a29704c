//! Requests of operators.

use serde::Serialize;
use swarm_core::json::{Json, Object};

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

    /// Sends an operator's GET, with retries while there is no answer.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn operator_get(&self, admin_token: &str, path: &str) -> Result<Json, Error> {
        self.get_as(path, Credential::Operator(admin_token))
    }
}
