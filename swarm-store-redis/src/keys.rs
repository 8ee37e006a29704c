//! The names of the Redis keys.
//!
//! All keys of a tenant have its name as their hash tag, so that they share a cluster slot and one
//! script may use them together. A key contains no text of a user: such text is stored in fields and
//! index entries, either after its length or at the end.

use std::fmt::Write as _;

use swarm_core::TenantId;
use swarm_core::domain::{AttemptId, MemberId, SessionId};
use swarm_core::proof::hex;
use swarm_core::store::{ChallengeSlot, Collection, Result, StoreError};

/// The layout of all tenants. This key and the next belong to no tenant.
pub(crate) const SERVER_LAYOUT: &str = "swarm:layout";

/// The tenants, in the order in which their latest changes were announced.
pub(crate) const CHANGES: &str = "swarm:changes";

/// The keys of one tenant.
#[derive(Clone)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn of(tenant: &TenantId) -> Self {
        Self { prefix: format!("swarm:{{{tenant}}}:") }
    }

    /// The keys of a copy of a tenant for one dump or one restore. They have the same hash tag.
    pub(crate) fn apart(tenant: &TenantId, purpose: &str, id: &str) -> Self {
        Self { prefix: format!("swarm:{{{tenant}}}:{purpose}:{id}:") }
    }

    /// The ids of the takes of a session, in order.
    pub(crate) fn session_takes(&self, session: SessionId) -> String {
        format!("{}session:{session}:takes", self.prefix)
    }

    /// The rest of a session's row, in pieces, if its snapshot is long.
    pub(crate) fn session_snapshot(&self, session: SessionId) -> String {
        format!("{}session:{session}:snapshot", self.prefix)
    }

    /// The same, written before the commit of an attempt; expires unless the commit is made.
    pub(crate) fn staged_snapshot(&self, session: SessionId, attempt: AttemptId) -> String {
        format!("{}:{}", self.session_snapshot(session), hex(&attempt.0))
    }

    /// The outcome of an attempt; expires after ten minutes.
    pub(crate) fn attempt(&self, attempt: AttemptId) -> String {
        [&self.prefix, "attempt:", &hex(&attempt.0)].concat()
    }

    /// The rows of a collection by id, their ids by key, and the index of their groups and keys.
    pub(crate) fn collection(&self, collection: &str) -> [String; 3] {
        ["", ":keys", ":index"].map(|part| self.key(&format!("documents:{collection}{part}")))
    }

    /// What all of them begin with.
    pub(crate) fn prefix(&self) -> String {
        self.prefix.clone()
    }

    fn key(&self, name: &str) -> String {
        [&self.prefix, name].concat()
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident: $key:literal;)*) => {
        impl Keys {$(
            $(#[$doc])*
            pub(crate) fn $name(&self) -> String {
                self.key($key)
            }
        )*}
    };
}

keys! {
    /// The layout of the tenant.
    layout: "layout";
    /// Rows by member id.
    members: "members";
    /// Members by state.
    members_index: "members:index";
    /// Member ids by the hash of the token.
    tokens: "tokens";
    /// Member ids by the key held.
    held_keys: "keys";
    /// Live challenges by slot.
    challenges: "challenges:live";
    /// The challenge that was handed out last in each bucket.
    reusable_challenges: "challenges:standing";
    /// Rows by message id.
    outbox: "outbox";
    /// Messages by state.
    outbox_index: "outbox:index";
    /// Rows by session id; without the rest of those whose snapshot is long.
    sessions: "sessions";
    /// Sessions: all, by state, by subject, by day and subject; the published ones, by time.
    sessions_index: "sessions:index";
    /// Rows by take id, and the other facts that filings compare and write:
    /// `next:` and a take id, the id of the next revision; `nonce:`, member and nonce, attempt and take id;
    /// `latest:`, session and member, the latest revision and its take id; `last`, the last take id;
    /// `member:` or `session:` and an id, its version; `newest:`, day and subject, the newest session;
    /// `hold:` and a session, the time until which new takes are held back while it is aggregated;
    /// `log`, the number of the log, its size, and the time of its last row; `clock`, once one was accepted
    /// that was behind the log.
    takes: "takes";
    /// The sessions that each member filed in.
    takes_index: "takes:index";
    /// The last id of each kind; `document-bytes`, the size of the documents whose size is limited.
    counters: "counters";
    /// The log: a row each, in order.
    log: "log";
    /// The log rows of acts by session: a line each, the number first.
    acts: "log:sessions";
    /// The tree over the log: `state`; the tiles by number of the log, level and number.
    tree: "log:tree";
    /// Whether a copy for a dump is there; the number of the last batch of a restore.
    marker: "marker";
    /// Written after each commit that waits for replicas; its value has no meaning.
    fence: "fence";

    /// Rows by the id of a member of the committee.
    committee_members: "committee:members";
    /// Member ids by the hash of the key.
    committee_keys: "committee:keys";
    /// Rows by day.
    committee_days: "committee:days";
    /// Days with a generation: all, and by subject.
    committee_days_index: "committee:days:index";
    /// Rows by day and member.
    committee_briefs: "committee:briefs";
    /// Rows by the id of a submission.
    committee_takes: "committee:takes";
    /// Submissions: by day; by member and day, the latest about each subject.
    committee_takes_index: "committee:takes:index";
    /// The ids of submissions by member, day and attempt.
    committee_attempts: "committee:attempts";
    /// The number of submissions by member and day.
    committee_counts: "committee:counts";
    /// The id of the latest submission by member, day and subject.
    committee_latest: "committee:latest";
}

/// The name of a collection in keys.
pub(crate) fn collection_name(collection: Collection) -> Result<&'static str> {
    Ok(match collection {
        Collection::Subjects => "subjects",
        Collection::SubjectSnapshots => "subject-snapshots",
        Collection::Memos => "memos",
        Collection::Regimes => "regimes",
        Collection::Signals => "signals",
        Collection::Briefs => "briefs",
        Collection::Occasions => "occasions",
        Collection::HeldMemos => "held-memos",
        other => return Err(StoreError::misconfigured("documents", format!("unknown: {other:?}"))),
    })
}

/// The field of a slot for a challenge.
pub(crate) fn slot(slot: &ChallengeSlot) -> String {
    match slot {
        ChallengeSlot::Member(id) => member_slot(id),
        ChallengeSlot::Decoy => "decoy".to_owned(),
    }
}

/// The field of a member's challenge. The prefix keeps every id different from the decoy's field.
pub(crate) fn member_slot(id: &MemberId) -> String {
    format!("member:{id}")
}

/// The prefix of the index entries for these words. The id follows, as 20 digits, or as it is for a
/// member. Each word is preceded by its length, and the first word determines how many there are,
/// so no list of words is a prefix of another.
pub(crate) fn listing(words: &[&str]) -> String {
    // Four more bytes per word: a length of up to three digits, and a colon.
    let room = words.iter().map(|word| word.len() + 4).sum();
    words.iter().fold(String::with_capacity(room), |mut prefix, word| {
        // Writing to a string does not fail.
        let _ = write!(prefix, "{}:{word}", word.len());
        prefix
    })
}

/// A listing and a number as 20 digits: the entry of an id, or the prefix of the entries of a time
/// or a day, whose ids follow. With a fixed width, entries are ordered by number.
pub(crate) fn with_number(listing: &str, number: u64) -> String {
    format!("{listing}{number:020}")
}

/// The exclusive start of a range of a listing: before all its ids, or at this one.
pub(crate) fn start_of(listing: &str, after: Option<u64>) -> String {
    after.map_or_else(|| listing.to_owned(), |id| with_number(listing, id))
}

/// The end of a range of a listing: after all its ids, or before this one.
pub(crate) fn end_of(listing: &str, before: Option<u64>) -> String {
    before.map_or_else(|| format!("{listing}:"), |id| with_number(listing, id))
}

/// The prefix of all listings by state.
pub(crate) const BY_STATE: &str = "5:state";

pub(crate) fn in_state(state: &str) -> String {
    listing(&["state", state])
}

/// The prefix of the index entries of documents by key; the key follows as it is.
pub(crate) const BY_KEY: &str = "3:key";

/// The listing of the sessions about a subject.
pub(crate) fn sessions_about(subject: &str) -> String {
    listing(&["about", subject])
}

/// The listing of the sessions that a member filed in.
pub(crate) fn filed_by(member: &str) -> String {
    listing(&["by", member])
}

/// The listing of the sessions of a day and subject.
pub(crate) fn sessions_on(day: &str, subject: &str) -> String {
    listing(&["on", day, subject])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_listing_is_a_prefix_of_another() {
        let words: [&[&str]; 10] = [
            &["all"],
            &["group", ""],
            &["group", "a"],
            &["group", "a0"],
            &["group", "00000000000000000001"],
            &["key"],
            &["on", "2026-11-21", ""],
            &["on", "2026-11-21", "1:a"],
            &["published"],
            &["state", "sent"],
        ];
        for one in words {
            for other in words {
                let (one, entry) = (listing(one), listing(other) + "00000000000000000001");
                let listed = one.as_str() <= entry.as_str() && entry < end_of(&one, None);
                assert_eq!(listed, one == listing(other), "{one} {entry}");
            }
        }
    }

    #[test]
    fn state_listings_have_the_prefix_used_by_scripts() {
        assert_eq!(in_state("sent"), format!("{BY_STATE}4:sent"));
        assert_eq!(listing(&["key"]), BY_KEY);
    }
}
