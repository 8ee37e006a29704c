//! `swarm member check`: verifies all that the profile keeps of its takes against the log as it is now, and says what is missing.

use swarm_client::{Client, Error, printable};
use swarm_core::Submission;
use swarm_core::audit::{Check, LogKey, Verdict, audit_take};
use swarm_core::domain::{Digest, PublicKey, Salt, Signed, TakeDraft};
use swarm_core::json::{Json, Object};
use swarm_core::proof::canonical;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::tlog_proof::TlogProof;

use super::kept::{KeptTake, Receipt};
use super::logs::{Log, Logs};
use super::profile::Profile;
use crate::arguments::Trust;
use crate::command::{Output, Progress, note, text_of};
use crate::failure::CommandError;

/// What the check of one take found.
#[derive(Default)]
struct Found {
    /// What does not hold.
    faults: Vec<String>,
    /// What holds, and is still to be known.
    notable: Vec<String>,
    /// What is not there, so that it proves nothing.
    missing: Vec<String>,
}

pub(super) fn run(
    profile: &Profile,
    client: &Client,
    trust: &Trust,
    output: Output,
) -> Result<(), CommandError> {
    let kept = KeptTake::all(profile.folder())?;
    let earlier = profile.earlier_log_keys()?;
    let Some(key) = profile.log_key(client)? else {
        return Err(CommandError::Refused("the service names no key of a log".to_owned()));
    };
    let token = profile.token(client)?;
    let member_key = profile.key()?.public_key();
    let mut logs = Logs::read(client, trust, &key)?;
    let (mut rows, mut failed) = (Vec::new(), false);
    let progress = Progress::of_requests();
    for mut take in kept {
        progress.add(1);
        let found = check(&mut take, client, &token, &member_key, &mut logs, &earlier)?;
        let Found { faults, missing, notable } = &found;
        let verdict = match (faults.is_empty(), missing.is_empty(), notable.is_empty()) {
            (false, ..) => "does not hold",
            (true, false, _) => "missing",
            (true, true, false) => "notable",
            (true, true, true) => "holds",
        };
        failed |= !faults.is_empty();
        let detail = [&faults[..], missing, notable].concat().join("; ");
        rows.push(Json::from([
            ("id", Json::from(take.id.0 as f64)),
            ("verdict", Json::from(verdict)),
            ("detail", Json::from(&*detail)),
            ("file", Json::from(&*take.path.display().to_string())),
        ]));
    }
    drop(progress);
    if rows.is_empty() {
        note("no takes are kept");
    }
    let answer = Json::from([("takes", Json::List(rows))]);
    output.rows(&answer, "takes", &["id", "verdict", "detail", "file"])?;
    if failed {
        return Err(CommandError::Refused("a take that is kept does not hold".to_owned()));
    }
    Ok(())
}

/// Checks one take, and keeps its proof once there is one.
fn check(
    take: &mut KeptTake,
    client: &Client,
    token: &str,
    member_key: &PublicKey,
    logs: &mut Logs,
    earlier: &[LogKey],
) -> Result<Found, CommandError> {
    let (id, mut found) = (take.id, Found::default());
    check_receipt(take, logs, earlier, &mut found)?;
    let mut record = match client.get_for(token, &format!("/api/swarm/takes/{id}")) {
        Ok(record) => record.into_object(),
        Err(Error::Refused(refused)) if refused.status == 404 => {
            found.faults.push(format!("the service has no take {id}"));
            return Ok(found);
        }
        Err(error) => return Err(error.into()),
    };
    let sent = Submission::from_json(take.sent.as_bytes())?;
    // A token that was claimed since is shown a sealed take as everybody is.
    let sealed = text_of(&Json::Object(record.clone()), "sealed");
    if !record.has("signature") && !sealed.is_empty() {
        let Some(salt) = take.salt else {
            found.missing.push("it is sealed, and its salt is not kept".to_owned());
            return Ok(found);
        };
        if salt.seal(sent.signed()).to_string() == sealed {
            let key = take.public_key.as_ref().unwrap_or(member_key);
            complete(&mut record, sent.signed(), key, salt);
        }
    }
    if text_of(&Json::Object(record.clone()), "signature") != sent.signed().signature.as_str() {
        found.faults.push(format!("take {id} of the service is not the one that was sent"));
        return Ok(found);
    }
    // The member may have replaced its key since.
    let member_key = take.public_key.as_ref().unwrap_or(member_key);
    if let Some(kept) = &take.proof {
        let logs = (&mut *logs, earlier);
        check_proof(kept, (&record, sent.signed()), member_key, logs, &mut found)?;
    }
    // Without retries: a take that was just filed is covered by no checkpoint yet.
    let once = client.clone().without_retries();
    let served = once.get_bytes(&format!("/api/swarm/takes/{id}/proof"), "text/plain");
    match served.map(String::from_utf8) {
        Ok(Ok(proof)) => {
            let logs = (logs, earlier);
            check_proof(&proof, (&record, sent.signed()), member_key, logs, &mut found)?;
            if found.faults.is_empty() {
                take.proof = Some(proof);
                take.write()?;
            }
        }
        Ok(Err(_)) => found.faults.push("the proof is no text".to_owned()),
        Err(Error::NoAnswer(_)) => {
            found.missing.push("no checkpoint covers the take yet".to_owned());
        }
        Err(Error::Refused(refused)) => {
            found.missing.push(format!("the service has no proof: {refused}"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(found)
}

/// Completes the public record of a sealed take with the fields that its member signed, its key and the salt of its seal.
fn complete(record: &mut Object, sent: &Signed<TakeDraft>, key: &PublicKey, salt: Salt) {
    let fields = Json::read(canonical(&sent.payload).as_bytes()).unwrap_or(Json::Null);
    for (name, value) in fields.into_object().members() {
        record.set(name, value.clone());
    }
    record.set("signature", Json::from(sent.signature.as_str()));
    record.set("publicKey", Json::Text(key.to_string()));
    record.set("salt", Json::Text(salt.to_string()));
}

/// Checks the receipt with the keys of the logs that the service has had, the first one first, and the entry that it names.
/// `earlier` are the keys that its log had under earlier names.
fn check_receipt(
    take: &KeptTake,
    logs: &mut Logs,
    earlier: &[LogKey],
    found: &mut Found,
) -> Result<(), CommandError> {
    let mut fault = None;
    for log in logs.iter_mut() {
        match take.receipt(log.key())? {
            Receipt::Holds => {
                found.notable.extend(log.end());
                return check_entry(take, log, found);
            }
            Receipt::Absent => {
                found.missing.push("no receipt".to_owned());
                return Ok(());
            }
            Receipt::Fails(why) => fault = fault.or(Some(why)),
        }
    }
    for key in earlier {
        if matches!(take.receipt(key)?, Receipt::Holds) {
            found.notable.push(RENAMED.to_owned());
            return logs.last_mut().map_or(Ok(()), |log| check_entry(take, log, found));
        }
    }
    found.faults.extend(fault.map(|fault| format!("receipt: {fault}")));
    Ok(())
}

/// The finding for evidence that was signed by the key that the log had under an earlier name.
const RENAMED: &str = "it is of the log under an earlier name, whose key the profile keeps";

/// Checks that the entry which the receipt names is that of the take, once a checkpoint covers it.
fn check_entry(take: &KeptTake, log: &mut Log, found: &mut Found) -> Result<(), CommandError> {
    let Some(seq) = take.entry else { return Ok(()) };
    let text = match log.entry(seq) {
        Ok(Some(text)) => text,
        Ok(None) if log.end().is_none() => return Ok(()),
        Ok(None) => {
            found
                .faults
                .push(format!("the log ended without entry {seq}, which the receipt names"));
            return Ok(());
        }
        // Its tiles may be lost with the store.
        Err(CommandError::Refused(_) | CommandError::Unreached(_)) if log.end().is_some() => {
            found.notable.push(format!(
                "that entry {seq} is the one of the take is unproven: the tiles of the log that ended are not served any more"
            ));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let fault = take.entry_fault(&Json::read(text.as_bytes()).unwrap_or(Json::Null))?;
    found
        .faults
        .extend(fault.map(|fault| format!("entry {seq}, which the receipt names: {fault}")));
    Ok(())
}

/// Checks that a proof shows this take in its log, and that the log continues from there to its end, or to now.
fn check_proof(
    proof: &str,
    (record, sent): (&Object, &Signed<TakeDraft>),
    member_key: &PublicKey,
    (logs, earlier): (&mut Logs, &[LogKey]),
    found: &mut Found,
) -> Result<(), CommandError> {
    let proof = match TlogProof::parse(proof) {
        Ok(proof) => proof,
        Err(error) => {
            found.faults.push(error.to_string());
            return Ok(());
        }
    };
    let origin = Checkpoint::parse(proof.checkpoint.text())?.origin;
    let shown = logs.shown();
    if let Some(key) = earlier.iter().find(|key| is_named(key, &origin))
        && logs.named(&origin).is_none()
    {
        audit(&proof, (record, sent), key, member_key, found);
        if !found.notable.iter().any(|told| told == RENAMED) {
            found.notable.push(RENAMED.to_owned());
        }
        return Ok(());
    }
    let Some(log) = logs.named(&origin) else {
        let origin = printable(&origin);
        found.faults.push(format!("the proof is of the log {origin}, the service shows {shown}"));
        return Ok(());
    };
    audit(&proof, (record, sent), log.key(), member_key, found);
    match log.fault_after(&proof.checkpoint) {
        Ok(fault) => found.faults.extend(fault),
        // Its tiles may be lost with the store.
        Err(CommandError::Refused(_) | CommandError::Unreached(_)) if log.end().is_some() => {
            let origin = printable(&origin);
            found.notable.push(format!(
                "that the log {origin} continued from the proof to its end is unproven: its tiles are not served any more"
            ));
        }
        Err(error) => return Err(error),
    }
    found.notable.extend(log.end().filter(|end| !found.notable.contains(end)));
    Ok(())
}

/// Whether a key is that of a log of this name.
fn is_named(key: &LogKey, origin: &str) -> bool {
    key.verifier(origin).is_ok_and(|key| key.name() == origin)
}

/// Checks that a proof shows this take in the log of this key.
fn audit(
    proof: &TlogProof,
    (record, sent): (&Object, &Signed<TakeDraft>),
    key: &LogKey,
    member_key: &PublicKey,
    found: &mut Found,
) {
    // The member knows what it signed, also of a take whose texts are withheld.
    let digest = proof.digest().unwrap_or_else(|| Digest::of(canonical(&sent.payload).as_bytes()));
    let known = proof.clone().with_digest(digest);
    let findings = audit_take(record, &known, key, Some(member_key));
    let withheld = findings.iter().filter(|it| it.check == Check::Withheld).map(|it| &it.text);
    let told: Vec<_> = withheld.filter(|it| !found.notable.contains(it)).cloned().collect();
    found.notable.extend(told);
    let fails = findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    found.faults.extend(fails.map(|finding| finding.text.clone()));
}
