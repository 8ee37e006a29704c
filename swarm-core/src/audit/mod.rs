//! Verification of what a service serves, which trusts nothing that it has not recomputed (API.md, 11.9).
//!
//! A [`Bundle`] is one session with all that it takes to check it: its takes, the log's entries on it, their
//! proofs and a checkpoint. [`audit()`] computes everything again and returns a list of [`Finding`]s: what
//! holds, what does not and where, and what has to be taken on trust. It does no I/O and reads no clock.
//!
//! To audit the verification of bundles, read these modules, in this order: `records` (what members signed), `entries`
//! (what the log says of it), `history` (what operators did) and `steps` (what each act may do), `deadlines`, `roster`, `seals` (blind sessions), `snapshot`
//! (the result), `outcome` (what was asked, and what came of it), `withheld` (texts that are not shown), `keys` and `endorsement` (whose they are), `whole_log` (what a bundle may have left out), `checkpoint` and `timestamp` (who vouches for the
//! log). They rely on these modules of [`proof`](crate::proof): `canonical`, `verify` and `ed25519` (signatures of
//! members), `log_line` (the entry of a take), `tree`, `note`, `tlog_policy` and `checkpoint`; and on the rules that the service
//! judges by: [`aggregate`](crate::rules::aggregate()), `may_move` and
//! `takes_may_come`.
//!
//! A finding *holds* or *fails*; it is *notable* where the rules allow what was done, but it changed the terms of takes or
//! who counts; and it is *unproven* where the input does not show it.
//!
//! The other modules verify a take with its proof, two checkpoints, a receipt, and a log that is [watched](Watch): `replay`
//! states the rules over all entries, `continuation` those between two checkpoints, and `succession` those between two logs.
//! `texts` decides what a text is, and gives the lines to print.

mod bundle;
mod checkpoint;
mod continuation;
mod deadlines;
mod endorsement;
mod entries;
mod finding;
mod history;
mod key;
mod keys;
mod lines;
mod logged_digests;
mod lone_take;
mod outcome;
mod receipt;
mod records;
mod replay;
mod roster;
mod seals;
mod snapshot;
mod steps;
mod succession;
mod take;
mod texts;
mod timestamp;
mod watch;
mod whole_log;
mod withheld;

#[cfg(feature = "schema")]
pub(crate) use bundle::BundleRecord;
pub use bundle::{Bundle, BundledTimestamp, FORMAT, ProvenEntry, SessionBundle};
pub use checkpoint::{Comparison, audit_checkpoints};
pub use continuation::{Continuation, continuation};
pub use finding::{Check, Finding, Verdict};
pub use key::{KeySource, LogKey};
pub use keys::MemberKeys;
pub use lines::{Line, Lines};
pub use lone_take::verify_take;
pub use receipt::{ReceivedAnswer, SentRequest, audit_receipt, content_digest, digest_text};
pub use replay::{Remark, SessionAside};
pub use succession::verified_succession;
pub use take::audit_take;
pub use texts::{Known, Unverifiable, VerifiableRecord, verify_record, verify_texts};
#[cfg(feature = "service")]
pub(crate) use timestamp::read_token;
pub use timestamp::{CheckedToken, MAX_TOKEN, TimestampedCheckpoint};
pub use watch::{Watch, WatchFault, WatchState, is_fork};
pub use whole_log::{LogReader, WholeLog};

use crate::domain::{SessionId, SessionState, Timestamp};
use crate::proof::tlog_policy::{CosigningTimes, TlogPolicy};
use deadlines::Filed;
use finding::Report;

/// What a reader has besides a bundle. Each part proves more; what none of them proves is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The key of the log.
    pub key: Option<&'a LogKey>,
    /// Keys of members.
    pub members: Option<&'a MemberKeys>,
    /// The witnesses that must have cosigned the checkpoint.
    pub policy: Option<&'a TlogPolicy>,
    /// The reader's clock: no cosignature is of a later time.
    pub now: Option<Timestamp>,
    /// All entries of the log.
    pub log: Option<&'a WholeLog>,
    /// What a check of the bundle's [token](TimestampedCheckpoint::token) found.
    pub token: Option<&'a CheckedToken>,
    /// The session whose bundle was asked for.
    pub asked: Option<SessionId>,
}

/// Checks a bundle.
pub fn audit(bundle: &Bundle<'_>, evidence: &Evidence<'_>) -> Vec<Finding> {
    let Evidence { key, members, policy, now, log, token, asked } = evidence;
    let mut report = Report::default();
    let (mut session, takes) = records::read(bundle, *asked, &mut report);
    records::check_signatures(&takes, &mut report);
    records::check_members(bundle, &takes, &mut report);
    records::check_nonces(&takes, &mut report);
    let (entries, faults) = entries::read(bundle, &mut report);
    let id = session.as_ref().map(|session| session.id);
    let places = entries::check_takes(id, &takes, &entries, faults, &mut report);
    let acts = id.map(|id| history::acts(id, &entries)).unwrap_or_default();
    if let Some(session) = &mut session {
        withheld::complete_snapshot(session, &acts);
    }
    let late = history::late_amendments(&takes, &places, &acts);
    let declaration = session.as_ref().map(|it| it.declaration.clone()).unwrap_or_default();
    records::check_revisions(&takes, &declaration, late, &mut report);
    records::check_stances(&takes, &declaration, &mut report);
    if let Some(session) = &session {
        let filed = Filed::new(session, &takes, &places);
        seals::check(session, &takes, &entries, &places, &acts, &mut report);
        let late = outcome::late_questions(&filed, &acts);
        history::check_acts(session, &acts, late, &mut report);
        history::check_versions(session, &acts, &entries, &mut report);
        history::check_times(session, &acts, &entries, &mut report);
        deadlines::check(&filed, &acts, &mut report);
        roster::check(session, &filed, &acts, &mut report);
        roster::check_quorum(&filed, &acts, &mut report);
        roster::check_buckets(session, &acts, &mut report);
        snapshot::check_count(session, &acts, &entries, &mut report);
        snapshot::check(session, &takes, &places, &acts, &mut report);
        outcome::check(session, &acts, &mut report);
    }
    withheld::check(&takes, &entries, &mut report);
    keys::check(&takes, &places, *members, *log, &mut report);
    let since = entries.last().map(|entry| entry.at);
    let policy = policy.map(|policy| (policy, CosigningTimes { since, until: *now }));
    checkpoint::check(&bundle.checkpoint, &entries, *key, policy, &mut report);
    timestamp::check(bundle, &entries, *token, &mut report);
    match log {
        Some(log) => log.check(&takes, &entries, &mut report),
        None => {
            let aggregated = session.is_some_and(|it| it.state >= SessionState::Aggregated);
            let text = if aggregated { SINCE_AGGREGATION } else { COMPLETENESS };
            report.unproven(finding::Check::Completeness, text);
            report.unproven(finding::Check::Sessions, SESSIONS);
        }
    }
    report.unproven(finding::Check::Identity, IDENTITY);
    report.unproven(finding::Check::Clock, CLOCK);
    report.into_findings()
}

const COMPLETENESS: &str = "that no take was left out together with its entry, and that no act followed \
                            the last one: --log reads the whole log";
const SINCE_AGGREGATION: &str = "that no take was filed since the aggregation, and that no act followed \
                                 the last one: --log reads the whole log";
const SESSIONS: &str = "that the day and subject had no other session: --log reads the whole log";
const IDENTITY: &str = "whose keys these are, and that nobody files under several names";
const CLOCK: &str = "that the server's clock was right";
