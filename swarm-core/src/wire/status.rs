//! The numbers of the refusals.

use crate::rules::committee::CommitteeRefusal;
use crate::rules::{Refusal, Rejection};

/// What has a status in HTTP.
pub trait Status {
    /// Its status code (API.md, 5.2, 7.1 and 8.5).
    fn status(&self) -> u16;
}

impl Status for Refusal {
    fn status(&self) -> u16 {
        match self {
            Self::MissingBearer | Self::UnknownToken | Self::ClaimRefused(_) => 401,
            Self::TokenMismatch | Self::NotOnRoster | Self::Excused | Self::NoKey => 403,
            Self::NoSession | Self::NotFound(_) => 404,
            Self::QuotaReached(_) => 429,
            conflict if conflict.is_conflict() => 409,
            _ => 400,
        }
    }
}

impl Status for Rejection {
    fn status(&self) -> u16 {
        self.reason.status()
    }
}

impl Status for CommitteeRefusal {
    fn status(&self) -> u16 {
        match self {
            Self::MissingKey | Self::InvalidKey => 401,
            Self::NotActive => 403,
            Self::NotFound(_) => 404,
            Self::QuotaReached(_) => 429,
            Self::NoBrief | Self::WindowClosed | Self::MemberExists(_) | Self::NoSubject => 409,
            _ => 400,
        }
    }
}
