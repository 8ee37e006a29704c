//! The log: what stands in it, word for word (API.md, 11.2).

mod acts;
mod entry;

pub(super) use acts::{
    DayAct, MemberAct, SessionAct, committee_day, convened, excused, member_changed,
    session_changed,
};
pub use acts::{
    brief_published, clock_accepted, memo_published, memo_retracted, regime_put, signal_put,
    snapshot_added, store_accepted, subject_put,
};
pub use entry::{DigestSource, digest, digest_source, entry};

/// Marks in the text of an [`Act`](crate::domain::Act) for what is known only with its commit. They
/// are control characters, which no JSON text contains.
mod mark {
    /// The id that the commit gives out.
    pub(super) const ID: &str = "\u{1}";

    /// The time of the commit.
    pub(super) const TIME: &str = "\u{2}";

    /// The digest of the record that the commit writes, where that carries its id and its time.
    pub(super) const DIGEST: &str = "\u{3}";
}
