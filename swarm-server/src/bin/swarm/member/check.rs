//! `swarm member check`: verifies all that the profile keeps of its takes against the log as it is now, and says what is missing.

use swarm_client::{Client, Error, LogTiles, printable};
use swarm_core::Submission;
use swarm_core::audit::{Continuation, LogKey, Verdict, audit_take, continuation};
use swarm_core::domain::PublicKey;
use swarm_core::json::{Json, Object};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::Note;
use swarm_core::proof::tlog_proof::TlogProof;

use super::kept::{KeptTake, Receipt};
use super::profile::Profile;
use crate::arguments::Trust;
use crate::command::{Output, Progress, note, text_of};
use crate::failure::CommandError;

/// What the check of one take found.
#[derive(Default)]
struct Found {
    /// What does not hold.
    faults: Vec<String>,
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
    let Some(key) = profile.log_key(client)? else {
        return Err(CommandError::Refused("the service names no key of a log".to_owned()));
    };
    let token = profile.token(client)?;
    let member_key = PublicKey::parse(&profile.key()?.public_key())?;
    let mut log = LogNow::read(client, trust, &key)?;
    let (mut rows, mut failed) = (Vec::new(), false);
    let progress = Progress::of_requests();
    for mut take in kept {
        progress.add(1);
        let found = check(&mut take, client, &token, (&key, &member_key), &mut log)?;
        let verdict = match (found.faults.is_empty(), found.missing.is_empty()) {
            (false, _) => "does not hold",
            (true, false) => "missing",
            (true, true) => "holds",
        };
        failed |= !found.faults.is_empty();
        let detail = found.faults.into_iter().chain(found.missing).collect::<Vec<_>>().join("; ");
        rows.push(Json::from([
            ("id", Json::from(take.id()?.0 as f64)),
            ("verdict", Json::from(verdict)),
            ("detail", Json::from(&*detail)),
            ("file", Json::from(&*take.path().display().to_string())),
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
    (key, member_key): (&LogKey, &PublicKey),
    log: &mut LogNow,
) -> Result<Found, CommandError> {
    let (id, mut found) = (take.id()?, Found::default());
    match take.receipt(key)? {
        Receipt::Holds => {}
        Receipt::Absent => found.missing.push("no receipt".to_owned()),
        Receipt::Fails(fault) => found.faults.push(format!("receipt: {fault}")),
    }
    let record = match client.get_for(token, &format!("/api/swarm/takes/{id}")) {
        Ok(record) => record.into_object(),
        Err(Error::Refused(refused)) if refused.status == 404 => {
            found.faults.push(format!("the service has no take {id}"));
            return Ok(found);
        }
        Err(error) => return Err(error.into()),
    };
    let sent = Submission::from_json(take.sent()?.as_bytes())?;
    if text_of(&Json::Object(record.clone()), "signature") != sent.signed().signature.as_str() {
        found.faults.push(format!("take {id} of the service is not the one that was sent"));
        return Ok(found);
    }
    // The member may have replaced its key since.
    let own_key = take.public_key()?;
    let member_key = own_key.as_ref().unwrap_or(member_key);
    if let Some(kept) = take.proof()? {
        check_proof(&kept, &record, (key, member_key), log, &mut found)?;
    }
    // Without retries: a take that was just filed is covered by no checkpoint yet.
    let once = client.clone().without_retries();
    let served = once.get_bytes(&format!("/api/swarm/takes/{id}/proof"), "text/plain");
    match served.map(String::from_utf8) {
        Ok(Ok(proof)) => {
            check_proof(&proof, &record, (key, member_key), log, &mut found)?;
            if found.faults.is_empty() {
                take.set_proof(&proof);
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

/// Checks that a proof shows this take in the log, and that the log of now continues that of the proof.
fn check_proof(
    proof: &str,
    record: &Object,
    (key, member_key): (&LogKey, &PublicKey),
    log: &mut LogNow,
    found: &mut Found,
) -> Result<(), CommandError> {
    let proof = match TlogProof::parse(proof) {
        Ok(proof) => proof,
        Err(error) => {
            found.faults.push(error.to_string());
            return Ok(());
        }
    };
    let findings = audit_take(record, &proof, key, Some(member_key));
    let fails = findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    found.faults.extend(fails.map(|finding| finding.text.clone()));
    if let Some(fault) = log.fault_after(&proof.checkpoint)? {
        found.faults.push(fault);
    }
    Ok(())
}

/// The log as the service shows it now.
struct LogNow {
    tiles: LogTiles,
    checkpoint: Checkpoint,
}

impl LogNow {
    fn read(client: &Client, trust: &Trust, key: &LogKey) -> Result<Self, CommandError> {
        let mut tiles = trust.log(client.url())?;
        let note = Note::parse(&tiles.checkpoint()?)?;
        let checkpoint = Checkpoint::parse(note.text())?;
        let verifier = key.verifier(&checkpoint.origin)?;
        if verifier.name() != checkpoint.origin || !note.is_signed_by(&verifier) {
            let origin = printable(&checkpoint.origin);
            return Err(CommandError::Refused(format!(
                "the log {origin} is not signed by the key that this profile keeps: {verifier}"
            )));
        }
        tiles.of_size(checkpoint.size);
        Ok(Self { tiles, checkpoint })
    }

    /// Why the log of now does not continue that of a checkpoint, whose signature is checked apart; `None` if it does.
    fn fault_after(&mut self, note: &Note) -> Result<Option<String>, CommandError> {
        let before = Checkpoint::parse(note.text())?;
        if before.origin != self.checkpoint.origin {
            let (old, new) = (printable(&before.origin), printable(&self.checkpoint.origin));
            return Ok(Some(format!("the proof is of the log {old}, the service shows {new}")));
        }
        let (old, new) = (before.size, self.checkpoint.size);
        if old > new {
            // The proof was signed after the checkpoint was read.
            let note = Note::parse(&self.tiles.checkpoint()?)?;
            let now = Checkpoint::parse(note.text())?;
            return Ok((now.size < old)
                .then(|| format!("the log went back: it had {old} entries, then {}", now.size)));
        }
        let tiles = &mut self.tiles;
        Ok(match continuation(&before, &self.checkpoint, |node| tiles.hash(node))? {
            Continuation::Continues => None,
            Continuation::Fork => Some(format!(
                "a fork: the log of {new} entries does not begin with the one of {old}"
            )),
            Continuation::OtherTiles => {
                return Err(CommandError::Unreached(
                    "the tiles of the log are not those of its checkpoint".to_owned(),
                ));
            }
        })
    }
}
