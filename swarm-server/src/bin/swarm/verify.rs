//! `swarm verify`: verifies takes, proofs, bundles, checkpoints and receipts (API.md, 13.3).

use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::{Error, verify};
use swarm_core::TakeId;
use swarm_core::audit::{
    Bundle, Finding, KeySource, LogKey, ReceivedAnswer, SentRequest, Verdict, audit,
    audit_checkpoints, audit_receipt, audit_take,
};
use swarm_core::domain::PublicKey;
use swarm_core::json::{Json, Object};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::Note;
use swarm_core::proof::tlog_proof::TlogProof;

use crate::arguments::{Trust, VerifyOptions};
use crate::{Failure, console};

/// Prints what is proven, and what is not. Exit status: 0 all of it holds, 1 something does not, 2 there is nothing
/// to verify.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    match verdict(options) {
        Ok(Lines { text, holds }) => {
            // If the output is closed, the exit status still has the verdict.
            let _ = console::print(&text.join("\n"));
            ExitCode::from(u8::from(!holds))
        }
        Err(failure) => {
            console::warn(&format!("cannot be read: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// The lines to print, and whether all of it holds.
struct Lines {
    text: Vec<String>,
    holds: bool,
}

impl From<Vec<Finding>> for Lines {
    fn from(findings: Vec<Finding>) -> Self {
        let holds = findings.iter().all(|finding| finding.verdict != Verdict::Fails);
        Self { text: findings.iter().map(Finding::to_string).collect(), holds }
    }
}

fn verdict(options: &VerifyOptions) -> Result<Lines, Failure> {
    let things: Vec<&str> = options.things.iter().map(String::as_str).collect();
    match (&options.request, things.as_slice()) {
        (Some(request), [receipt]) => verify_receipt(options, request, receipt, None),
        (Some(request), [receipt, body]) => verify_receipt(options, request, receipt, Some(body)),
        (None, [thing]) => verify_alone(options, &Source::read(thing, &options.trust)?),
        (None, [take, proof]) => verify_proof(options, take, proof),
        (None, [one, other, url]) => verify_checkpoints(options, one, other, url),
        _ => Err("--request is for a receipt, and perhaps the body of the request".into()),
    }
}

/// Verifies a bundle or a take.
fn verify_alone(options: &VerifyOptions, source: &Source) -> Result<Lines, Failure> {
    if source.bytes.starts_with(b"HTTP/") {
        return Err("a receipt is verified with --request 'POST /api/swarm/submit'".into());
    }
    let fields = object(&source.bytes)?;
    if Bundle::is_one(&fields) {
        return verify_bundle(options, source, fields);
    }
    if fields.has("session") && fields.has("takes") {
        return Err("this is a session: verify its bundle, which is at …/bundle".into());
    }
    if fields.has("sealed") && !fields.has("signature") {
        return Err(
            "this take is sealed until its session is opened; its author reads it whole".into()
        );
    }
    let verdict = verify(&fields, options.key.as_deref(), source.take())?;
    Ok(Lines { text: verdict.sentences, holds: verdict.holds })
}

fn verify_bundle(
    options: &VerifyOptions,
    source: &Source,
    fields: Object,
) -> Result<Lines, Failure> {
    let bundle = Bundle::read(fields)?;
    let key = match &options.key {
        Some(key) => Some(LogKey::parse(key, KeySource::Given)?),
        None => source.log_key(&options.trust),
    };
    let mut lines = Lines::from(audit(&bundle, key.as_ref()));
    lines.text.push(if lines.holds { HOLDS.to_owned() } else { FAILS.to_owned() });
    Ok(lines)
}

const HOLDS: &str = "the bundle holds";
const FAILS: &str = "the bundle does not hold";

fn verify_proof(options: &VerifyOptions, take: &str, proof: &str) -> Result<Lines, Failure> {
    let take = object(&Source::read(take, &options.trust)?.bytes)?;
    let proof = TlogProof::parse(&Source::read(proof, &options.trust)?.into_text()?)?;
    let member_key = options.member_key.as_deref().map(PublicKey::parse).transpose()?;
    Ok(audit_take(&take, &proof, &log_key(options)?, member_key.as_ref()).into())
}

fn verify_checkpoints(
    options: &VerifyOptions,
    one: &str,
    other: &str,
    url: &str,
) -> Result<Lines, Failure> {
    let key = log_key(options)?;
    let (one, other) = (
        Source::read(one, &options.trust)?.into_text()?,
        Source::read(other, &options.trust)?.into_text()?,
    );
    let size = |text: &str| -> Result<u64, Failure> {
        Ok(Checkpoint::parse(Note::parse(text)?.text())?.size)
    };
    let mut tiles = options.trust.log(url)?;
    tiles.of_size(size(&one)?.max(size(&other)?));
    Ok(audit_checkpoints(&one, &other, Some(&key), |node| tiles.hash(node))?.into())
}

fn verify_receipt(
    options: &VerifyOptions,
    request: &str,
    receipt: &str,
    body: Option<&str>,
) -> Result<Lines, Failure> {
    let answer = ReceivedAnswer::parse(&Source::read(receipt, &options.trust)?.bytes)?;
    let body =
        body.map(|body| Source::read(body, &options.trust)).transpose()?.map(|body| body.bytes);
    let request = SentRequest::parse(request, body)?;
    Ok(audit_receipt(&answer, &request, &log_key(options)?).into())
}

/// The key of the log, which has to come from elsewhere.
fn log_key(options: &VerifyOptions) -> Result<LogKey, Failure> {
    let key = options.key.as_deref().ok_or("name the key of the log with --key")?;
    Ok(LogKey::parse(key, KeySource::Given)?)
}

fn object(bytes: &[u8]) -> Result<Object, Failure> {
    Ok(Json::read(bytes)?.into_object())
}

/// Maximum number of bytes read from a file; larger than any bundle.
const MAX_FILE: u64 = 256 << 20;

/// The forms that are understood: records and bundles, and the texts of proofs and checkpoints.
const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.1";

/// What is verified: the bytes of a file, or of the answer of a URL.
struct Source {
    bytes: Vec<u8>,
    /// The origin and the path, if it is a URL.
    address: Option<(String, String)>,
}

impl Source {
    /// Reads a file, or gets a URL.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(name: &str, trust: &Trust) -> Result<Self, Failure> {
        if !name.starts_with("http://") && !name.starts_with("https://") {
            let mut bytes = Vec::new();
            let read = File::open(name).and_then(|it| it.take(MAX_FILE).read_to_end(&mut bytes));
            read.map_err(|error| format!("{name}: {error}"))?;
            return Ok(Self { bytes, address: None });
        }
        let (scheme, rest) = name.split_once("://").unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let origin = format!("{scheme}://{host}");
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
        Ok(String::from_utf8(self.bytes).map_err(|_| "it is no text")?)
    }

    /// The take that the URL asks for, if it is one of a take.
    fn take(&self) -> Option<TakeId> {
        let (_, path) = self.address.as_ref()?;
        let (_, id) = path.split('?').next()?.rsplit_once("/takes/")?;
        percent_decode_str(id).decode_utf8_lossy().parse().ok().map(TakeId)
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
