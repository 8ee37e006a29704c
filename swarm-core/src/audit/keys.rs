//! The keys of members: which one the log, or the reader, has of each, and who replaced it.

use std::collections::BTreeMap;

use super::finding::{Check, Report, count};
use super::records::BundledTake;
use super::whole_log::{GivenBy, KeyInLog, WholeLog};
use crate::domain::json::printable;
use crate::domain::{Invalid, MemberId, PublicKey, Seq, TakeId};

/// Keys of members that the reader has from another source.
#[derive(Clone, Debug, Default)]
pub struct MemberKeys(BTreeMap<MemberId, Vec<PublicKey>>);

impl MemberKeys {
    /// Reads lines of a memberId, white space and a key in base64. A member may have several lines. Blank lines, and
    /// those that begin with `#`, are ignored.
    ///
    /// # Errors
    /// [`Invalid`], naming the first line that is another.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut keys: BTreeMap<MemberId, Vec<PublicKey>> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let invalid = || Invalid::new("members", format!("line {number}: memberId and key"));
            let (member, key) = line.rsplit_once([' ', '\t']).ok_or_else(invalid)?;
            let member = MemberId::parse(member.trim_end()).map_err(|_| invalid())?;
            keys.entry(member).or_default().push(PublicKey::parse(key).map_err(|_| invalid())?);
        }
        Ok(Self(keys))
    }
}

/// Checks each key that verified a take against those that the reader and the log have of its member, and that the log has the member
/// as active.
pub(super) fn check(
    takes: &[BundledTake],
    places: &BTreeMap<TakeId, Seq>,
    named: Option<&MemberKeys>,
    log: Option<&WholeLog>,
    report: &mut Report,
) {
    let (mut faults, mut notable) = (Vec::new(), Vec::new());
    let mut used: BTreeMap<&MemberId, &BundledTake> = BTreeMap::new();
    let mut in_log = 0;
    for it in takes {
        let (member, key) = (&it.take.draft().member_id, &it.take.public_key);
        let before = used.insert(member, it).filter(|before| before.take.public_key != *key);
        let (id, shown) = (it.take.id, printable(member.as_str()));
        // With the log, who replaced the key is known.
        if let Some(before) = before.filter(|_| log.is_none()) {
            let (first, old) = (before.take.id, &before.take.public_key);
            notable.push(format!(
                "{shown} filed take {first} with the key {old}, take {id} with {key}"
            ));
        }
        if let Some(own) = named.and_then(|named| named.0.get(member))
            && !own.contains(key)
        {
            faults.push(format!("take {id}: the key {key} is not one that you named of {shown}"));
        }
        if let (Some(log), Some(place)) = (log, places.get(&id)) {
            in_log += 1;
            match log.key_before(member, *place) {
                Some(KeyInLog { key: Some(own), .. }) if own == key => {
                    if !log.is_active_before(member, *place) {
                        faults.push(format!("take {id}: {shown} was not active when it was filed"));
                    }
                }
                _ => faults.push(format!(
                    "take {id}: the log had not given {shown} the key {key} when it was filed"
                )),
            }
        }
    }
    if let Some(log) = log {
        for member in used.keys() {
            for (before, after) in log.keys(member).iter().zip(log.keys(member).iter().skip(1)) {
                let (seq, shown) = (after.seq, printable(member.as_str()));
                let named = |key: &Option<PublicKey>| {
                    key.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
                };
                let (old, new) = (named(&before.key), named(&after.key));
                let change = format!("the key of {shown} {old} → {new}");
                match &after.by {
                    GivenBy::Operator(by) => {
                        notable.push(format!("entry {seq} by {}: {change}", printable(by.as_str())));
                    }
                    GivenBy::Member => {}
                    GivenBy::Nobody => faults.push(format!(
                        "entry {seq} changes {change}, which neither an operator nor the key before replaced"
                    )),
                }
            }
        }
    }
    let mut parts = Vec::new();
    if in_log > 0 {
        let takes = count(in_log, "take has", "takes have");
        parts.push(format!("{takes} the key that the log had of the author"));
    }
    if let Some(named) = named {
        let listed = used.keys().filter(|member| named.0.contains_key(**member)).count();
        if listed > 0 {
            let members = count(listed, "member", "members");
            parts.push(format!("the keys of {members} are those that you named"));
        }
        if listed < used.len() {
            let members = count(used.len() - listed, "member", "members");
            report.unproven(Check::Identity, format!("the file names no key of {members}"));
        }
    }
    if named.is_none() && log.is_none() {
        report.unproven(
            Check::Keys,
            "that the log registered these keys for these members: --log reads it, --members names them",
        );
    }
    report.conclude(Check::Keys, faults, (!parts.is_empty()).then(|| parts.join("; ")));
    report.notable(Check::Keys, notable);
}
