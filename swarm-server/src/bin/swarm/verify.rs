//! `swarm verify`: verifies takes, proofs, bundles, checkpoints and receipts (MANUAL.md, 13.3).

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::Error;
use swarm_core::audit::{
    Bundle, CheckedToken, Comparison, Evidence, KeySource, Known, Lines, LogKey, LogReader,
    MemberKeys, VerifiableRecord, WholeLog, audit, audit_checkpoints, verify_record, verify_texts,
};
use swarm_core::json::Json;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::SignedNote;
use swarm_core::proof::tlog_policy::TlogPolicy;
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_core::{SessionId, TakeId};

use crate::arguments::{Trust, VerifyOptions};
use crate::command::{Progress, now, shown};
use crate::text_file::{decoded, read_policy, read_text};
use crate::trust::is_url;
use crate::{Failure, console, timestamp_check};

/// Prints what is proven, and what is not. Exit status: 0 nothing fails, 1 something does, 2 there is nothing to verify
/// or the report cannot be written, 3 with `--strict` if something is notable.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    match verdict(options) {
        Ok(lines) => {
            let text: Vec<_> = lines.iter().map(|line| &*line.text).collect();
            ExitCode::from(console::report(&text.join("\n"), lines.status(options.strict)))
        }
        Err(failure) => {
            console::warn(&format!("cannot be read: {failure}"));
            ExitCode::from(2)
        }
    }
}

fn verdict(options: &VerifyOptions) -> Result<Lines, Failure> {
    let things: Vec<&str> = options.things.iter().map(String::as_str).collect();
    if things.iter().filter(|thing| **thing == STANDARD_INPUT).count() > 1 {
        return Err("standard input is one thing alone: name the others as files".into());
    }
    if is_for_bundle(options) && (things.len() > 1 || options.request.is_some()) {
        return Err(FOR_BUNDLE.into());
    }
    match (&options.request, things.as_slice()) {
        (None, [thing]) => verify_alone(options, &Source::read(thing, &options.trust)?),
        (None, [one, other, url]) => verify_checkpoints(options, one, other, url),
        (_, things) => {
            let sources = things.iter().map(|thing| Source::read(thing, &options.trust));
            let sources = sources.collect::<Result<Vec<_>, _>>()?;
            let texts: Vec<_> = sources.iter().map(|source| &*source.bytes).collect();
            let known = Known {
                key: options.key.as_deref(),
                member_key: options.member_key.as_deref(),
                request: options.request.as_deref(),
                asked_take: sources.iter().find_map(Source::take),
                ..Known::default()
            };
            Ok(verify_texts(&texts, &known)?)
        }
    }
}

const FOR_BUNDLE: &str = "--log, --policy, --members and --timestamp-ca are for a bundle";

fn is_for_bundle(options: &VerifyOptions) -> bool {
    let VerifyOptions { log, policy, members, timestamp_ca, .. } = options;
    log.is_some() || policy.is_some() || members.is_some() || timestamp_ca.is_some()
}

/// Verifies a bundle or a take.
fn verify_alone(options: &VerifyOptions, source: &Source) -> Result<Lines, Failure> {
    let text = decoded(source.bytes.clone()).map_err(|fault| format!("the record {fault}"))?;
    match VerifiableRecord::read(text.as_bytes())? {
        VerifiableRecord::Bundle(bundle) => verify_bundle(options, source, &bundle),
        VerifiableRecord::Other(_) if is_for_bundle(options) => Err(FOR_BUNDLE.into()),
        VerifiableRecord::Other(record) => {
            Ok(verify_record(&record, options.key.as_deref(), source.take())?)
        }
    }
}

fn verify_bundle(
    options: &VerifyOptions,
    source: &Source,
    bundle: &Bundle<'_>,
) -> Result<Lines, Failure> {
    let key = match &options.key {
        Some(key) => Some(LogKey::parse(key, KeySource::Given)?),
        None => source.log_key(&options.trust),
    };
    let text = |file: &PathBuf, read: fn(File) -> io::Result<String>| {
        let text = File::open(file).and_then(read);
        text.map_err(|error| format!("{}: {error}", file.display()))
    };
    let members = options.members.as_ref().map(|file| text(file, read_text)).transpose()?;
    let members = members.map(|members| MemberKeys::parse(&members)).transpose()?;
    let policy = options.policy.as_ref().map(|file| text(file, read_policy)).transpose()?;
    let policy = policy.map(|policy| TlogPolicy::parse(&policy)).transpose()?;
    let log = options.log.as_ref();
    let log = log.map(|log| read_log(log, bundle, key.as_ref(), &options.trust)).transpose()?;
    let token =
        options.timestamp_ca.as_ref().map(|file| checked_token(bundle, file)).transpose()?;
    let evidence = Evidence {
        key: key.as_ref(),
        members: members.as_ref(),
        policy: policy.as_ref(),
        now: Some(now()),
        log: log.as_ref(),
        token: token.as_ref(),
        asked: source.session(),
    };
    Ok(Lines::of_bundle(audit(bundle, &evidence)))
}

fn checked_token(bundle: &Bundle<'_>, authorities: &Path) -> Result<CheckedToken, Failure> {
    match bundle.timestamp() {
        Some(Ok(stamped)) => timestamp_check::checked(&stamped, authorities),
        // The audit says what is wrong with its form.
        Some(Err(_)) | None => Ok(CheckedToken::Absent),
    }
}

/// Reads all entries of the log, from its address or from a folder with its tiles: up to its latest checkpoint, if there is one
/// that is signed, else up to that of a bundle.
///
/// # Errors
/// If they cannot be read, or are not those of the checkpoint: then nothing can be concluded from them.
fn read_log(
    log: &str,
    bundle: &Bundle<'_>,
    key: Option<&LogKey>,
    trust: &Trust,
) -> Result<WholeLog, Failure> {
    let mut reader = LogReader::of(bundle)?;
    if !is_url(log) && !Path::new(log).is_dir() {
        return Err(format!("{log}: no folder with the tiles of a log").into());
    }
    let mut tiles = trust.log(log)?;
    if let (Some(key), Ok(latest)) = (key, tiles.checkpoint()) {
        reader = reader.up_to(&latest, key);
    }
    tiles.of_size(reader.size());
    let progress = Progress::of_requests();
    while let Some(index) = reader.next() {
        progress.add(1);
        tiles.entries(index)?.iter().for_each(|entry| reader.read(entry));
    }
    Ok(reader.end()?)
}

fn verify_checkpoints(
    options: &VerifyOptions,
    one: &str,
    other: &str,
    url: &str,
) -> Result<Lines, Failure> {
    let key = log_key(options)?;
    let (one, other) = (
        checkpoint_in(Source::read(one, &options.trust)?)?,
        checkpoint_in(Source::read(other, &options.trust)?)?,
    );
    let size = |text: &str| -> Result<u64, Failure> {
        Ok(Checkpoint::parse(SignedNote::parse(text)?.text())?.size)
    };
    let mut tiles = options.trust.log(url)?;
    tiles.of_size(size(&one)?.max(size(&other)?));
    match audit_checkpoints(&one, &other, Some(&key), |node| tiles.hash(node))? {
        Comparison::Findings(findings) => Ok(findings.into()),
        Comparison::OtherTiles(why) => Err(why.into()),
    }
}

/// The checkpoint in a file: the file itself, or the one that stands in a bundle, in a proof or in a feed.
fn checkpoint_in(source: Source) -> Result<String, Failure> {
    let text = source.into_text()?;
    if let Ok(proof) = TlogProof::parse(&text) {
        return Ok(proof.checkpoint.to_string());
    }
    if text.trim_start().starts_with('<') {
        let rest = text.split_once("<tlog:checkpoint>").map(|(_, rest)| rest);
        let note = rest.and_then(|rest| rest.split_once("</tlog:checkpoint>"));
        return Ok(note.map(|(note, _)| note.to_owned()).ok_or("a feed without a checkpoint")?);
    }
    match Json::read(text.as_bytes()) {
        Ok(json) => Ok(json.into_object().text("checkpoint")?),
        Err(_) => Ok(text),
    }
}

/// The key of the log, which has to come from elsewhere.
fn log_key(options: &VerifyOptions) -> Result<LogKey, Failure> {
    let key = options.key.as_deref().ok_or("name the key of the log with --key")?;
    Ok(LogKey::parse(key, KeySource::Given)?)
}

/// Maximum number of bytes read from a file; larger than any bundle.
const MAX_FILE: u64 = 256 << 20;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The forms that are understood: records and bundles, and the texts of proofs and checkpoints.
const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.1";

/// What is verified: the bytes of a file, or of the answer of a URL.
struct Source {
    bytes: Vec<u8>,
    /// The address of the service and the path below it, if it is a URL.
    address: Option<(String, String)>,
}

impl Source {
    /// Reads a file or, of the name `-`, standard input, or gets a URL.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(name: &str, trust: &Trust) -> Result<Self, Failure> {
        if !is_url(name) {
            let mut bytes = Vec::new();
            let read = match name {
                STANDARD_INPUT => io::stdin().take(MAX_FILE + 1).read_to_end(&mut bytes),
                _ => File::open(name).and_then(|it| it.take(MAX_FILE + 1).read_to_end(&mut bytes)),
            };
            let name = shown(Path::new(name));
            read.map_err(|error| format!("{name}: {error}"))?;
            if bytes.len() as u64 > MAX_FILE {
                return Err(format!("{name}: it is larger than 256 MiB").into());
            }
            return Ok(Self { bytes, address: None });
        }
        let (scheme, rest) = name.split_once("://").unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        // What precedes the paths of the service is where it is mounted.
        let base = ["/api/swarm/", "/swarm/"].iter().find_map(|at| path.find(at));
        let (base, path) = path.split_at(base.unwrap_or_default());
        let origin = format!("{}://{host}{base}", scheme.to_ascii_lowercase());
        let client = trust.client(&origin)?;
        let bytes = match client.clone().without_retries().get_bytes(path, ACCEPT) {
            // Perhaps the next checkpoint is not there yet.
            Err(Error::NoAnswer(why)) if why.starts_with("503") => {
                client.get_bytes(path, ACCEPT)?
            }
            read => read?,
        };
        Ok(Self { bytes, address: Some((origin, path.to_owned())) })
    }

    /// The text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    fn into_text(self) -> Result<String, Failure> {
        Ok(decoded(self.bytes).map_err(|fault| format!("the text {fault}"))?)
    }

    /// The take that the URL asks for, if it is one of a take or of its proof.
    fn take(&self) -> Option<TakeId> {
        self.asked("/takes/").map(TakeId)
    }

    /// The session that the URL asks for, if it is one of a bundle.
    fn session(&self) -> Option<SessionId> {
        self.asked("/sessions/").map(SessionId)
    }

    /// The id after this part of the path of the URL.
    fn asked(&self, after: &str) -> Option<u64> {
        let (_, path) = self.address.as_ref()?;
        let (_, rest) = path.split('?').next()?.rsplit_once(after)?;
        percent_decode_str(rest.split('/').next()?).decode_utf8_lossy().parse().ok()
    }

    /// The key that the server at the URL names as its log's.
    fn log_key(&self, trust: &Trust) -> Option<LogKey> {
        let (origin, _) = self.address.as_ref()?;
        let client = trust.client(origin).ok()?.without_retries();
        let manifest = client.get("/.well-known/swarm.json").ok()?;
        let key = manifest.into_object().text("logKey").ok()?;
        LogKey::parse(&key, KeySource::Served).ok()
    }
}
