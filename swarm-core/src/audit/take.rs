//! Checks a take, and the proof that it is in the log.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::checkpoint::check_note;
use super::finding::{Check, Faults, Finding, Report};
use super::key::LogKey;
use super::logged_digests::complete;
use super::records::exact_take;
use super::withheld::told;
use super::{CLOCK, IDENTITY};
use crate::domain::json::{Object, printable};
use crate::domain::{LogEntry, LogLine, PublicKey, Seq, Take, TakeEntry};
use crate::proof::tlog_proof::TlogProof;
use crate::proof::{take_entry, verify};

/// The versions of the session under which the take may have been judged. Its entry has the version and its record does
/// not, so a proof that does not say it is tried with each of these.
const SOUGHT_VERSIONS: RangeInclusive<u64> = 1..=10_000;

/// Checks a take, and the proof that it is in the log. `member_key` is the key of its author, if known
/// from another source; otherwise the key in the take is used.
pub fn audit_take(
    take: &Object,
    proof: &TlogProof,
    key: &LogKey,
    member_key: Option<&PublicKey>,
) -> Vec<Finding> {
    let (mut report, mut faults) = (Report::default(), Vec::new());
    let mut unknown = BTreeSet::new();
    let mut take = take.clone();
    complete(&mut take, proof.digest());
    let take: Option<Take> = exact_take(take, &mut unknown, &mut |fault| faults.push(fault));
    let Some(take) = take else {
        report.faults(Check::Record, faults);
        return report.into_findings();
    };
    report.conclude(
        Check::Record,
        faults,
        format!("take {} of session {}", take.id, take.session_id),
    );
    check_author(&take, proof, member_key, &mut report);
    if take.salt.is_some() && !take.has_texts() {
        let text = "that it is what its seal was made of: the texts are withheld";
        report.unproven(Check::Seal, text);
    }
    let (seq, at) = (Seq(proof.index.saturating_add(1)), take.filed_at);
    let entry = take_entry(&take);
    let mut versions = proof.session_version().into_iter().chain(SOUGHT_VERSIONS);
    let is_proven = versions.any(|session_version| {
        let entry = LogEntry::Take(TakeEntry { session_version, ..entry.clone() });
        proof.proves(&LogLine { seq, at, entry }.text())
    });
    let fault =
        (!is_proven).then(|| format!("the take is not entry {seq} in the tree of the checkpoint"));
    let holds = format!("it is entry {seq}, filed {at}, as revision {}", take.revision.get());
    if fault.is_some() && is_unknown(&take, proof) {
        let text = format!(
            "that it is entry {seq}: the proof does not have the digest of the entry, which a newer one has"
        );
        report.unproven(Check::Inclusion, text);
    } else {
        report.conclude(Check::Inclusion, fault.into_iter().collect::<Faults>(), holds);
    }
    check_note(&proof.checkpoint, Some(key), None, &mut report);
    if member_key.is_none() {
        report.unproven(Check::Identity, IDENTITY);
    }
    report.unproven(Check::Clock, CLOCK);
    report.into_findings()
}

/// Returns whether the digest of the signed bytes is unknown: the texts of the take are withheld, the proof does not have their
/// digest, and there is no seal.
fn is_unknown(take: &Take, proof: &TlogProof) -> bool {
    !take.has_texts() && proof.digest().is_none() && take.salt.is_none()
}

fn check_author(
    take: &Take,
    proof: &TlogProof,
    member_key: Option<&PublicKey>,
    report: &mut Report,
) {
    let (member, key) = (printable(take.draft().member_id.as_str()), &take.public_key);
    let mut faults = Vec::new();
    if member_key.is_some_and(|named| named != key) {
        faults.push(format!("the take names the key {key}, not the one given"));
    } else if let (Some(mark), false) = (&take.withheld, take.has_texts()) {
        report.notable(Check::Withheld, vec![told(mark)]);
        // The entry of a sealed take has no digest.
        let known = match proof.digest().filter(|_| take.salt.is_none()) {
            Some(digest) => format!("only the digest of its entry, {digest}, is known"),
            None => "its texts are not known".to_owned(),
        };
        return report
            .unproven(Check::Signature, format!("that {key} of {member} signed it: {known}"));
    } else if verify(&take.signed, key).is_none() {
        faults.push(format!("the key {key} of {member} did not sign these fields"));
    }
    let whose = if member_key.is_some() { "the key that you named" } else { "the key in it" };
    let holds = format!("signed for {member} by {whose}, to the byte; checked offline");
    report.conclude(Check::Signature, faults, holds);
}
