//! `swarm member submit`: the signed take is kept in the profile before it is sent, so that a take whose answer was lost is
//! sent again with the same bytes, and stays there with all that the service said of it.

use std::path::PathBuf;

use swarm_client::{Client, Error, SubmitAnswer, SubmittedTake, TakeFields, printable, sign_take};
use swarm_core::audit::LogKey;
use swarm_core::domain::{Bucket, Seq, Weight, Weights};
use swarm_core::json::{self, Json, Object};
use swarm_core::{Session, SessionId, Submission};

use super::arguments::SubmitOptions;
use super::kept::{KeptTake, Receipt};
use super::logs::{Log, Logs};
use super::profile::{Profile, forget};
use crate::arguments::Trust;
use crate::command::{Output, note, read_input, read_private, replace_private};
use crate::console;
use crate::failure::CommandError;

pub(super) fn run(
    profile: &Profile,
    (client, trust): (&Client, &Trust),
    output: Output,
    options: &SubmitOptions,
) -> Result<(), CommandError> {
    let (key, member, token) = (profile.key()?, profile.member()?, profile.token(client)?);
    let session = session(client, options.session)?;
    let take = sign_take(client.service(), &key, &member, &session, &fields(options)?)?;
    if options.dry_run {
        if options.session.is_some() {
            check_newest(client, &session)?;
        }
        return preflight(client, output, &token, &take);
    }
    let path = profile.pending();
    let mut text = take.to_json();
    let kept = read_private(&path)?;
    if options.session.is_some() && kept.is_none() {
        check_newest(client, &session)?;
    }
    if let Some(kept) = kept {
        if content(&kept)? != content(&text)? {
            return Err(CommandError::Refused(format!(
                "{}: another take was sent, and the service neither filed nor refused it; repeat its submit, or remove the file",
                path.display()
            )));
        }
        note("sending the take again that was neither filed nor refused");
        text = kept;
    }
    replace_private(&path, &text)?;
    let SubmitAnswer { outcome, entry, receipt, .. } =
        match client.submit_for_receipt(&token, &text) {
            Ok(answer) => answer,
            Err(Error::NoAnswer(reason)) => {
                return Err(CommandError::Unreached(format!(
                    "{reason}; the take is kept: run the same command again"
                )));
            }
            Err(error) => return Err(error.into()),
        };
    let filed = match outcome {
        Ok(filed) => filed,
        // A wrong token says nothing of the take.
        Err(refused) if refused.status == 401 => return Err(Error::Refused(refused).into()),
        Err(refused) => {
            forget(&path)?;
            return Err(Error::Refused(refused).into());
        }
    };
    let filed = with_salt(client, &token, filed, &session)?;
    let mut kept = KeptTake::of(profile.folder(), filed.id, &text)?;
    kept.set_filed(key.public_key(), client.base_path(), filed.salt, entry);
    let log_key = profile.log_key(client)?;
    if let (Some(receipt), Some(key)) = (&receipt, &log_key) {
        kept.set_receipt(receipt, key)?;
    }
    kept.write()?;
    let sealed = keep_sealed(profile, &filed, &text)?;
    forget(&path)?;
    show(client, output, &filed, &session)?;
    if let Some(sealed) = sealed {
        note(&format!("it is sealed; kept with its salt: {}", sealed.display()));
    }
    verify((client, trust), &mut kept, log_key.as_ref(), entry)
}

/// Verifies what the service said of a take, which is kept whatever that is.
///
/// # Errors
/// [`CommandError::Refused`] when the receipt does not hold, or the log's entry is not that of the take.
fn verify(
    (client, trust): (&Client, &Trust),
    kept: &mut KeptTake,
    key: Option<&LogKey>,
    entry: Option<Seq>,
) -> Result<(), CommandError> {
    let path = kept.path.display().to_string();
    let receipt = key.map_or(Ok(Receipt::Absent), |key| kept.receipt(key))?;
    let mut faults = Vec::new();
    match receipt {
        Receipt::Holds => note(&format!("the receipt holds; kept with the take: {path}")),
        Receipt::Absent => note(&format!(
            "no receipt: that the take was accepted is the service's word; the take is kept: {path}"
        )),
        Receipt::Fails(fault) => match key.and_then(|key| end_before(kept, client, trust, key)) {
            Some(end) => note(&format!("the receipt holds; {end}; kept with the take: {path}")),
            None => faults.push(format!("the receipt does not hold: {fault}")),
        },
    }
    if let Some(Seq(entry)) = entry {
        let after = entry.saturating_sub(1);
        let read = client.get(&format!("/api/swarm/log?after={after}&limit=1"));
        let entries = read.map(|log| log.into_object().take("entries"));
        let logged = match entries {
            Ok(Some(Json::List(entries))) => entries.into_iter().next(),
            Ok(_) => None,
            Err(error) => {
                note(&format!("the log's entry was not compared: {error}"));
                None
            }
        };
        faults.extend(logged.map(|logged| kept.entry_fault(&logged)).transpose()?.flatten());
    }
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join("; ");
    Err(CommandError::Refused(format!("{faults}; what the service said is kept: {path}")))
}

/// That the log of this key ended, where the one that goes on in its place signed the receipt.
fn end_before(kept: &KeptTake, client: &Client, trust: &Trust, key: &LogKey) -> Option<String> {
    // Without the notes that name the logs after it, the receipt is one by another key.
    let logs = Logs::read(client, trust, key).ok()?;
    let signed = |log: &&Log| matches!(kept.receipt(log.key()), Ok(Receipt::Holds));
    logs.iter().find(signed)?;
    logs.iter().find_map(Log::end)
}

/// The salt of a sealed take. The answer to a replay has no salt, so the take is read.
fn with_salt(
    client: &Client,
    token: &str,
    mut filed: SubmittedTake,
    session: &Session,
) -> Result<SubmittedTake, CommandError> {
    if filed.salt.is_none() && session.is_sealed() {
        filed.salt = client.take_for(token, filed.id)?.open().and_then(|take| take.salt);
    }
    Ok(filed)
}

/// Keeps a sealed take in a file of its own with its seal and its salt: with both, the seal can be checked later.
fn keep_sealed(
    profile: &Profile,
    filed: &SubmittedTake,
    text: &str,
) -> Result<Option<PathBuf>, CommandError> {
    let Some(salt) = filed.salt else { return Ok(None) };
    let seal = salt.seal(Submission::from_json(text.as_bytes())?.signed());
    let mut take = Json::read(text.as_bytes()).unwrap_or(Json::Null).into_object();
    take.set("sealed", Json::from(&*seal.to_string()));
    take.set("salt", Json::from(&*salt.to_string()));
    let path = profile.sealed(filed.id, &seal);
    replace_private(&path, &json::write(&take))?;
    Ok(Some(path))
}

fn show(
    client: &Client,
    output: Output,
    filed: &SubmittedTake,
    session: &Session,
) -> Result<(), CommandError> {
    let id = filed.id;
    let mut receipt = Json::from([("recommendationId", Json::from(id.0 as f64))]).into_object();
    if let Some(salt) = filed.salt {
        receipt.set("salt", Json::from(&*salt.to_string()));
    }
    output.answer(&Json::Object(receipt), |_| Ok(console::print(&id.to_string())?))?;
    note(&format!("take {id} is on file in session {}", session.id));
    if filed.salt.is_none() {
        note(&format!("check it: swarm verify {}/api/swarm/takes/{id}", client.service()));
    }
    Ok(())
}

fn preflight(
    client: &Client,
    output: Output,
    token: &str,
    take: &swarm_core::domain::Signed<swarm_core::TakeDraft>,
) -> Result<(), CommandError> {
    let found = client.preflight(token, take)?;
    let answer = Json::read(json::write(&found).as_bytes()).unwrap_or(Json::Null);
    if found.ok {
        output.answer(&answer, |_| Ok(()))?;
        note("dry run, nothing was filed; the take would be accepted");
        return Ok(());
    }
    output.rows(&answer, "findings", &["status", "error", "detail"])?;
    Err(CommandError::Refused("dry run, nothing was filed; the take would be refused".to_owned()))
}

/// Checks that a take would land in this session: takes go to the newest one of their day and subject.
fn check_newest(client: &Client, session: &Session) -> Result<(), CommandError> {
    let Session { id, date, subject_id, .. } = session;
    let (newest, _) = client.session_on(*date, subject_id)?;
    if newest.id == *id {
        return Ok(());
    }
    Err(CommandError::Refused(format!(
        "nothing was sent: session {id} is not the newest of {date} and {}; a take would land in session {}",
        printable(subject_id.as_str()),
        newest.id
    )))
}

/// The session with this id, else the newest session that collects takes.
pub(super) fn session(client: &Client, id: Option<u64>) -> Result<Session, CommandError> {
    if let Some(id) = id {
        return Ok(client.session(SessionId(id))?.0);
    }
    let none = || CommandError::Refused("no session collects takes now".to_owned());
    client.open_session()?.ok_or_else(none)
}

fn fields(options: &SubmitOptions) -> Result<TakeFields, CommandError> {
    let body = options.body.as_deref().map(read_input).transpose()?.unwrap_or_default();
    let fields = TakeFields::new(&*options.stance, options.confidence)
        .with_body(body)
        .with_memo(&*options.memo_url);
    if options.weights.is_empty() {
        return Ok(fields);
    }
    let weights = options.weights.iter().map(|text| weight(text)).collect::<Result<_, _>>()?;
    Ok(fields.with_weights(Weights::parse(weights)?))
}

fn weight(text: &str) -> Result<Weight, CommandError> {
    let wrong = || CommandError::Usage(format!("{} is not BUCKET=N", printable(text)));
    let (bucket, number) = text.rsplit_once('=').ok_or_else(wrong)?;
    let weight = number.parse().map_err(|_| wrong())?;
    Ok(Weight { bucket: Bucket::parse(bucket)?, weight })
}

/// A signed take without its nonce and signature.
fn content(text: &str) -> Result<Object, CommandError> {
    let broken = |error| CommandError::Refused(format!("pending.json: {error}"));
    let mut fields = Json::read(text.as_bytes()).map_err(broken)?.into_object();
    fields.take("nonce");
    fields.take("signature");
    Ok(fields)
}
