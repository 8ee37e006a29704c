//! Quotas on what a tenant accepts (API.md, 5.7).

use serde::Deserialize;

/// The quotas of a tenant. A request over a quota is refused. One that is not given has its default.
///
/// The fields are the keys of `[tenants.quotas]` in the configuration of the program (MANUAL.md, 13.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Quotas {
    /// The maximum number of applications that await review. Default 10,000.
    pub pending_applications: u32,
    /// The maximum number of applications of one client address per UTC day. The front end counts
    /// them, and calls [`apply_over_quota`](crate::Tenant::apply_over_quota) beyond it. Default 1,000.
    pub applications_per_address: u32,
    /// The number of days after which an application that awaits review is removed. Default 30.
    pub pending_days: u32,
    /// The maximum number of memos of one member per UTC day. Default 100.
    pub memos_per_day: u32,
    /// The maximum number of subjects. Default 10,000.
    pub subjects: u32,
    /// The maximum number of research signals that are created per UTC day. Default 1,000.
    pub signals_per_day: u32,
    /// The maximum size of all subjects, subject snapshots and research signals together, in bytes of
    /// their stored JSON. Default 67,108,864 (64 MiB).
    pub documents_bytes: u64,
    /// The maximum number of submissions of one committee member per UTC day. Default 50.
    pub committee_submissions_per_day: u32,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            pending_applications: 10_000,
            applications_per_address: 1_000,
            pending_days: 30,
            memos_per_day: 100,
            subjects: 10_000,
            signals_per_day: 1_000,
            documents_bytes: 64 << 20,
            committee_submissions_per_day: 50,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of API.md, 5.7.
    #[test]
    fn default_quotas() {
        let defaults = Quotas {
            pending_applications: 10_000,
            applications_per_address: 1_000,
            pending_days: 30,
            memos_per_day: 100,
            subjects: 10_000,
            signals_per_day: 1_000,
            documents_bytes: 67_108_864,
            committee_submissions_per_day: 50,
        };
        assert_eq!(Quotas::default(), defaults);
    }
}
