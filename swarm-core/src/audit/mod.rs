//! Verification of what a service serves, which trusts nothing that it has not recomputed (API.md, 11.9).
//!
//! A [`Bundle`] is one session with all that it takes to check it: its takes, the log's entries on it, their
//! proofs and a checkpoint. [`audit()`] computes everything again and returns a list of [`Finding`]s: what
//! holds, what does not and where, and what has to be taken on trust. It does no I/O and reads no clock.
//!
//! To audit the verification of bundles, read these modules, in this order: `records` (what members signed), `entries`
//! (what the log says of it), `history` (what operators did), `seals` (blind sessions), `snapshot` (the result),
//! `checkpoint` (who vouches for the log). They rely on these modules of [`proof`](crate::proof): `canonical`, `verify`
//! and `ed25519` (signatures of members), `log_line` (the entry of a take), `tree`, `note` and `checkpoint`; and on
//! [`aggregate`](crate::rules::aggregate()).
//!
//! The other modules verify a take with its proof, two checkpoints, a receipt, and a log that is [watched](Watch): `replay`
//! states the rules over all entries, and `continuation` those between two checkpoints.

mod bundle;
mod checkpoint;
mod continuation;
mod entries;
mod finding;
mod history;
mod key;
mod receipt;
mod records;
mod replay;
mod seals;
mod snapshot;
mod take;
mod watch;

pub use bundle::{Bundle, FORMAT, ProvenEntry, SessionBundle};
pub use checkpoint::audit_checkpoints;
pub use continuation::{Continuation, continuation};
pub use finding::{Check, Finding, Verdict};
pub use key::{KeySource, LogKey};
pub use receipt::{ReceivedAnswer, SentRequest, audit_receipt, content_digest, digest_text};
pub use replay::Remark;
pub use take::audit_take;
pub use watch::{Watch, WatchFault, WatchState, is_fork};

use finding::Report;

/// Checks a bundle. `key` is the log's; without it nobody vouches for the log, which is said.
pub fn audit(bundle: &Bundle, key: Option<&LogKey>) -> Vec<Finding> {
    let mut report = Report::default();
    let (session, takes) = records::read(bundle, &mut report);
    records::check_signatures(&takes, &mut report);
    records::check_members(bundle, &takes, &mut report);
    records::check_nonces(&takes, &mut report);
    let (entries, faults) = entries::read(bundle, &mut report);
    let places = entries::check_takes(&takes, &entries, faults, &mut report);
    let acts = session.as_ref().map(|it| history::acts(it, &entries)).unwrap_or_default();
    let late = history::late_amendments(&takes, &places, &acts);
    records::check_revisions(&takes, late, &mut report);
    if let Some(session) = &session {
        seals::check(session, &takes, &entries, &places, &acts, &mut report);
        history::check_acts(session, &acts, &mut report);
        history::check_times(session, &acts, &entries, &mut report);
        history::check_deadlines(&takes, &places, &acts, &mut report);
        history::check_roster(session, &takes, &places, &acts, &mut report);
        history::check_buckets(session, &acts, &mut report);
        snapshot::check(session, &takes, &places, &acts, &mut report);
    }
    checkpoint::check(&bundle.checkpoint, &entries, key, &mut report);
    report.unproven(finding::Check::Completeness, COMPLETENESS);
    report.unproven(finding::Check::Identity, IDENTITY);
    report.unproven(finding::Check::Clock, CLOCK);
    report.into_findings()
}

const COMPLETENESS: &str = "that no take was left out of the bundle together with its entry: \
                            the whole log shows that, which swarm watch reads";
const IDENTITY: &str = "whose keys these are, and that nobody files under several names";
const CLOCK: &str = "that the server's clock was right";
