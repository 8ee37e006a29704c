//! `swarm verify`: verifies takes, proofs, bundles, checkpoints and receipts (API.md, 13.3).

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::{Error, verify};
use swarm_core::TakeId;
use swarm_core::audit::{
    Bundle, Comparison, Evidence, Finding, KeySource, LogKey, LogReader, MemberKeys,
    ReceivedAnswer, SentRequest, Verdict, WholeLog, audit, audit_checkpoints, audit_receipt,
    audit_take,
};
use swarm_core::domain::PublicKey;
use swarm_core::json::{Json, Object, RawJson};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::Note;
use swarm_core::proof::tile::{TileId, TilePath, WIDTH, read_entries_tile};
use swarm_core::proof::tlog_policy::TlogPolicy;
use swarm_core::proof::tlog_proof::TlogProof;

use crate::arguments::{Trust, VerifyOptions};
use crate::command::Progress;
use crate::{Failure, console};

/// Prints what is proven, and what is not. Exit status: 0 nothing fails, 1 something does, 2 there is nothing to verify,
/// 3 with `--strict` if something is notable.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    match verdict(options) {
        Ok(Lines { text, holds, notable }) => {
            // If the output is closed, the exit status still has the verdict.
            let _ = console::print(&text.join("\n"));
            ExitCode::from(match (holds, notable) {
                (false, _) => 1,
                (true, 1..) if options.strict => 3,
                (true, _) => 0,
            })
        }
        Err(failure) => {
            console::warn(&format!("cannot be read: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// The lines to print.
struct Lines {
    text: Vec<String>,
    /// Whether nothing fails.
    holds: bool,
    /// The number of notable findings.
    notable: usize,
}

impl From<Vec<Finding>> for Lines {
    fn from(findings: Vec<Finding>) -> Self {
        let number = |verdict| findings.iter().filter(|it| it.verdict == verdict).count();
        let (holds, notable) = (number(Verdict::Fails) == 0, number(Verdict::Notable));
        Self { text: findings.iter().map(Finding::to_string).collect(), holds, notable }
    }
}

fn verdict(options: &VerifyOptions) -> Result<Lines, Failure> {
    let things: Vec<&str> = options.things.iter().map(String::as_str).collect();
    let of_bundle = options.log.is_some() || options.policy.is_some() || options.members.is_some();
    if of_bundle && (things.len() > 1 || options.request.is_some()) {
        return Err("--log, --policy and --members are for a bundle".into());
    }
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
    let json = bounded(&source.bytes)?;
    if Bundle::is_one(json) {
        return verify_bundle(options, source, json);
    }
    let fields = json.to_object();
    if options.log.is_some() || options.policy.is_some() || options.members.is_some() {
        return Err("--log, --policy and --members are for a bundle".into());
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
    let notable = usize::from(verdict.withheld);
    Ok(Lines { text: verdict.sentences, holds: verdict.holds, notable })
}

fn verify_bundle(
    options: &VerifyOptions,
    source: &Source,
    json: RawJson<'_>,
) -> Result<Lines, Failure> {
    let bundle = Bundle::read(json)?;
    let key = match &options.key {
        Some(key) => Some(LogKey::parse(key, KeySource::Given)?),
        None => source.log_key(&options.trust),
    };
    let text = |file: &PathBuf| {
        fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let members = options.members.as_ref().map(text).transpose()?;
    let members = members.map(|members| MemberKeys::parse(&members)).transpose()?;
    let policy = options.policy.as_ref().map(text).transpose()?;
    let policy = policy.map(|policy| TlogPolicy::parse(&policy)).transpose()?;
    let log = options.log.as_ref().map(|log| read_log(log, &bundle, &options.trust)).transpose()?;
    let (key, members, policy, log) =
        (key.as_ref(), members.as_ref(), policy.as_ref(), log.as_ref());
    let mut lines = Lines::from(audit(&bundle, &Evidence { key, members, policy, log }));
    lines.text.push(match (lines.holds, lines.notable) {
        (false, _) => "the bundle fails".to_owned(),
        (true, 0) => "the bundle holds".to_owned(),
        (true, 1) => "the bundle holds; 1 finding is notable".to_owned(),
        (true, notable) => format!("the bundle holds; {notable} findings are notable"),
    });
    Ok(lines)
}

/// Reads all entries of the log, from its address or from a folder with its tiles, up to the checkpoint of a bundle.
///
/// # Errors
/// If they cannot be read, or are not those of the checkpoint: then nothing can be concluded from them.
fn read_log(log: &str, bundle: &Bundle<'_>, trust: &Trust) -> Result<WholeLog, Failure> {
    let mut reader = LogReader::of(bundle)?;
    if log.starts_with("http://") || log.starts_with("https://") {
        let mut tiles = trust.log(log)?;
        tiles.of_size(reader.size());
        let progress = Progress::of_requests();
        while let Some(index) = reader.next() {
            progress.add(1);
            tiles.entries(index)?.iter().for_each(|entry| reader.read(entry));
        }
        return Ok(reader.end()?);
    }
    let tiles = Path::new(log);
    let folder = [tiles.join("tile"), tiles.to_owned()].into_iter().find(|it| it.is_dir());
    let folder = folder.ok_or_else(|| format!("{log}: no folder with the tiles of a log"))?;
    while let Some(index) = reader.next() {
        for entry in entries_in(&folder, index, reader.size())? {
            reader.read(&entry);
        }
    }
    Ok(reader.end()?)
}

/// The entries from this index on that a folder with tiles has, up to the end of their tile.
fn entries_in(folder: &Path, first: u64, size: u64) -> Result<Vec<String>, Failure> {
    let index = first / u64::from(WIDTH);
    let width = TileId { level: 0, index }.width(size);
    let tile = |width| folder.join(TilePath { level: None, index, width }.to_string());
    // A mirror may have dropped the partial tile once it had the full one.
    let found = [tile(width), tile(WIDTH)].into_iter().find(|file| file.is_file());
    let file = found.ok_or_else(|| format!("{}: not there", tile(width).display()))?;
    let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let texts = read_entries_tile(&bytes).filter(|texts| texts.len() >= width.into());
    let texts = texts.ok_or_else(|| format!("{}: no tile of entries", file.display()))?;
    let skipped = usize::try_from(first % u64::from(WIDTH)).unwrap_or_default();
    Ok(texts.into_iter().take(width.into()).skip(skipped).map(str::to_owned).collect())
}

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
        checkpoint_in(Source::read(one, &options.trust)?)?,
        checkpoint_in(Source::read(other, &options.trust)?)?,
    );
    let size = |text: &str| -> Result<u64, Failure> {
        Ok(Checkpoint::parse(Note::parse(text)?.text())?.size)
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

/// Reads a JSON text of which so much is text that no part of it takes more than about eight times the memory of the whole.
fn bounded(bytes: &[u8]) -> Result<RawJson<'_>, Failure> {
    /// The values that any text may have.
    const VALUES: usize = 100_000;
    Ok(RawJson::read_bounded(bytes, VALUES.max(bytes.len() / 8))?)
}

/// Maximum number of bytes read from a file; larger than any bundle.
const MAX_FILE: u64 = 256 << 20;

/// The forms that are understood: records and bundles, and the texts of proofs and checkpoints.
const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.1";

/// What is verified: the bytes of a file, or of the answer of a URL.
struct Source {
    bytes: Vec<u8>,
    /// The address of the service and the path below it, if it is a URL.
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
        // What precedes the paths of the service is where it is mounted.
        let base = ["/api/swarm/", "/swarm/"].iter().find_map(|at| path.find(at));
        let (base, path) = path.split_at(base.unwrap_or_default());
        let origin = format!("{scheme}://{host}{base}");
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
