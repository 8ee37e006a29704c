//! What the routes of interface B require: an API key, which has a header of its own, or the token of an operator.

use http::HeaderMap;
use swarm_core::proof::ApiKey;
use swarm_core::wire::Problem;

use super::scheme::{self, Scheme, absence};
use crate::tenants::{Role, single_header};

/// The header with the API key of a committee member.
const API_KEY: &str = "x-ic-key";

/// The credential that a route of the daily committee requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitteeAccess {
    /// A well-formed API key of a committee member (API.md, 8.1). The rules check which member it belongs to.
    Member,
    /// Like [`Access::Operator`](crate::Access::Operator), with the refusals of the committee.
    Operator(Role),
}

impl CommitteeAccess {
    pub(super) fn role(self) -> Option<Role> {
        match self {
            Self::Operator(role) => Some(role),
            Self::Member => None,
        }
    }

    pub(super) fn scheme(self) -> &'static Scheme {
        match self {
            Self::Operator(_) => &scheme::OPERATOR,
            Self::Member => &MEMBER,
        }
    }
}

const MEMBER: Scheme = Scheme {
    name: "committeeMember",
    sent: API_KEY,
    problem: Problem::MissingKey,
    hint: |headers| {
        let place = "x-ic-key: must be <prefix>_<member_id>_<32 hex>";
        let fault = absence(headers, API_KEY).unwrap_or("has another form");
        Some(format!("{place}, {fault}"))
    },
};

/// The committee member's API key, if there is one in its form.
pub(super) fn api_key(headers: &HeaderMap) -> Option<ApiKey> {
    ApiKey::parse(single_header(headers, API_KEY)?.to_str().ok()?)
}
