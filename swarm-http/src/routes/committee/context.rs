//! What the handlers of interface B read of a request, and their errors.

use swarm_core::proof::ApiKey;
use swarm_core::wire::RequestError;
use swarm_core::{CommitteeError, CommitteeRefusal, CommitteeTenant};

use crate::committee::Failure;
use crate::request::RequestContext;
use crate::request::credential::Credential;
use crate::response::ApiError;

impl RequestContext {
    /// The tenant's committee. Its routes are served only if there is one.
    pub(crate) fn committee(&self) -> Result<&CommitteeTenant, ApiError> {
        self.tenant_committee().handle().ok_or(RequestError::UnknownPath.into())
    }

    /// The API key of the calling committee member.
    pub(crate) fn api_key(&self) -> Result<&ApiKey, ApiError> {
        match &self.credential {
            Credential::ApiKey(key) => Ok(key),
            _ => Err(CommitteeRefusal::MissingKey.into()),
        }
    }
}

impl From<CommitteeRefusal> for ApiError {
    fn from(refusal: CommitteeRefusal) -> Self {
        CommitteeError::from(refusal).into()
    }
}

impl From<CommitteeError> for ApiError {
    fn from(error: CommitteeError) -> Self {
        Failure::Call(error).into()
    }
}
