//! How much a tenant takes in (API.md, 5.7).

/// The quotas of a tenant. What is over one is refused with 429 until there is room again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quotas {
    /// Applications that wait for an operator. 10,000.
    pub pending_applications: u32,
    /// Memos of one member, a UTC day. 100.
    pub memos_per_day: u32,
    /// Submissions of one committee member, a UTC day. 50.
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

    /// The defaults of API.md, 5.7.
    #[test]
    fn default_quotas() {
        let Quotas { pending_applications, memos_per_day, committee_submissions_per_day } =
            Quotas::default();
        let defaults = [pending_applications, memos_per_day, committee_submissions_per_day];
        assert_eq!(defaults, [10_000, 100, 50]);
    }
}
