//! Quotas on what a tenant accepts (API.md, 5.7).

/// The quotas of a tenant. A request over a quota is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quotas {
    /// The maximum number of applications that await review. Default 10,000.
    pub pending_applications: u32,
    /// The maximum number of memos of one member per UTC day. Default 100.
    pub memos_per_day: u32,
    /// The maximum number of submissions of one committee member per UTC day. Default 50.
    pub committee_submissions_per_day: u32,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { pending_applications: 10_000, memos_per_day: 100, committee_submissions_per_day: 50 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of API.md, 5.7.
    #[test]
    fn default_quotas() {
        let Quotas { pending_applications, memos_per_day, committee_submissions_per_day } =
            Quotas::default();
        let defaults = [pending_applications, memos_per_day, committee_submissions_per_day];
        assert_eq!(defaults, [10_000, 100, 50]);
    }
}
