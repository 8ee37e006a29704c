//! `swarm watch`: checks that a log is append-only since it was last seen and that its entries are those that the rules allow,
//! and prints the acts of operators (MANUAL.md, 13.3).

mod evidence;
mod mirror;
mod read_error;
mod state_folder;
mod succession;

use std::fs::File;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use swarm_client::{Error, LogTiles};
use swarm_core::Timestamp;
use swarm_core::audit::{KeySource, LogKey, Remark, Watch, WatchFault};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::SignedNote;
use swarm_core::proof::tlog_policy::{CosigningTimes, TlogPolicy};

use crate::arguments::WatchOptions;
use crate::command::{Progress, now};
use crate::text_file::read_policy;
use crate::{Failure, console};
use evidence::Evidence;
use mirror::Mirror;
use read_error::ReadError;
use state_folder::{MIRROR, State, StateFolder};
use succession::Fault;

/// The result of a look at the log.
enum Look {
    /// The log continues. The lines say what operators did.
    Continues(Vec<String>),
    /// The log continues, but shows nothing newer than `--max-age`.
    Old(Vec<String>),
    /// The log does not continue, or the rules do not allow its entries: one fault each.
    Broken(Vec<String>),
    /// What was read is not what the checkpoint signs, and shows nothing.
    OtherTiles(String),
}

/// Looks at the log once, or again and again. Exit status: 0 it continues, 1 it does not, 2 it was not reached, 3 it shows
/// nothing new.
pub(crate) fn run(options: &WatchOptions) -> ExitCode {
    loop {
        let code = match look(options) {
            Ok(Look::Continues(lines)) => console::report(&lines.join("\n"), 0),
            Ok(Look::Old(lines)) => console::report(&lines.join("\n"), 3),
            Ok(Look::Broken(faults)) => {
                let lines = faults.iter().map(|fault| format!("does not hold: {fault}"));
                let lines = lines.collect::<Vec<_>>().join("\n");
                return ExitCode::from(console::report(&lines, 1));
            }
            Ok(Look::OtherTiles(why)) => {
                console::warn(&format!("not reached: {why}"));
                2
            }
            Err(failure) => {
                console::warn(&format!("not reached: {failure}"));
                2
            }
        };
        let Some(pause) = options.every.filter(|_| !options.once) else {
            return ExitCode::from(code);
        };
        sleep(pause);
    }
}

fn look(options: &WatchOptions) -> Result<Look, Failure> {
    let folder = StateFolder::open(&options.state)?;
    let (seen, policy) = (folder.read()?, policy(options)?);
    let (key, mut lines) = match known_key(options, policy.as_ref(), seen.as_ref()) {
        Err(fault) => return Ok(Look::Broken(vec![fault])),
        Ok(Some(key)) => (key, Vec::new()),
        Ok(None) => {
            let key = served_key(options)?;
            let line = format!("unproven: the log's key came from the server itself: {key}");
            (key, vec![line])
        }
    };
    let log_key = LogKey::parse(&key, KeySource::Given)?;
    let evidence = Evidence::in_folder(folder.path("evidence"));
    if let Some(fork) = evidence.find(&log_key)? {
        return Ok(Look::Broken(vec![fork]));
    }
    let ended = seen.as_ref().map(|state| state.ended.clone()).unwrap_or_default();
    let mut watched = seen.map(|state| state.watched).unwrap_or_default();
    let now = now();
    let mut tiles = options.trust.log(&options.url)?;
    if let Some(last) = watched.last_checkpoint().filter(|_| !ended.is_empty() && tiles.is_named())
    {
        // The log at this address has ended.
        tiles = tiles.named(&last.origin).unwrap_or(tiles);
    }
    let succession = match succession::find(&watched, &tiles, &log_key, now) {
        Ok(Ok(succession)) => succession,
        Ok(Err(Fault { fault, tiles })) => return broken(fault, &evidence, &tiles),
        Err(ReadError::Failure(failure)) => return Err(failure),
        Err(ReadError::Broken(gap)) => return Ok(Look::Broken(vec![gap])),
    };
    let place = match succession {
        Some(_) => folder.next_mirror()?,
        None => folder.path(MIRROR),
    };
    let mut mirror = options.mirror.then(|| Mirror::open(place)).transpose()?;
    let has_mirror = mirror.as_ref().is_none_or(|mirror| mirror.size() == watched.size());
    if succession.is_none() && !has_mirror {
        watched = watched.rewound();
    }
    let (key, ended) = match &succession {
        Some(found) => (found.key(), [ended, vec![key]].concat()),
        None => (key, ended),
    };
    if let Some(found) = &succession {
        lines.extend(found.unproven.clone());
        tiles = found.tiles(tiles).ok_or("the log has no name at which it is served")?;
    }
    let archive = folder.archive();
    let before = match folder.path(MIRROR) {
        place if succession.is_some() && place.is_dir() => Some(Mirror::open(place)?),
        _ => None,
    };
    let begin = |note: &str, tiles: &mut LogTiles| {
        let begun = match &succession {
            Some(found) => {
                let begun = Watch::follow(&watched, found.steps.clone(), note, now);
                begun.map(|watch| match before {
                    Some(mirror) => watch.with_mirror(mirror.into_entries()),
                    None => watch,
                })
            }
            None => Watch::begin(&watched, note, &log_key, now, |node| tiles.hash(node))?,
        };
        Ok(begun.map(|watch| watch.with_archive(archive)))
    };
    let read = match read(begin, &mut tiles, mirror.as_mut()) {
        Ok(read) => read,
        Err(ReadError::Failure(failure)) => return Err(failure),
        Err(ReadError::Broken(gap)) => return Ok(Look::Broken(vec![gap])),
    };
    let watch = match read {
        Ok(read) => read,
        Err(fault) => return broken(fault, &evidence, &tiles),
    };
    let (Checkpoint { origin, size, .. }, first) = (watch.checkpoint().clone(), watch.seen());
    let (note, last_at) = (watch.note().clone(), watch.last_at());
    let (watched, remarks) = match watch.end() {
        Ok(ended) => ended,
        Err(fault) => return broken(fault, &evidence, &tiles),
    };
    lines.extend(remarks.iter().map(line));
    let within = CosigningTimes { since: last_at, until: Some(now) };
    let newest = match policy.as_ref().map(|policy| policy.cosigned(&note, within)) {
        None => last_at,
        Some(cosigned) if !cosigned.forged.is_empty() => {
            let forged = cosigned.forged.join(", ");
            return Ok(Look::Broken(vec![format!("a cosignature that is not valid: {forged}")]));
        }
        Some(cosigned) => {
            let undated = cosigned.misdated.iter().map(|(name, _)| name);
            let names = cosigned.by.iter().map(|(name, _)| name).chain(undated);
            let names: Vec<_> = names.map(String::as_str).collect();
            let by = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
            lines.push(match cosigned.is_met {
                true => format!("holds: the policy's quorum cosigned the checkpoint: {by}"),
                false => format!("unproven: the checkpoint is not cosigned by a quorum of the policy, but by {by}"),
            });
            lines.extend(cosigned.misdated.iter().map(|(name, _)| {
                format!("notable: the time of the cosignature of {name} is before an entry of the tree, or after now")
            }));
            cosigned.at.or(last_at.filter(|_| cosigned.is_met))
        }
    };
    if let Some(why) = options.max_age.and_then(|max_age| too_old(newest, now, max_age)) {
        lines.push(why);
        return Ok(Look::Old(lines));
    }
    if let Some(mirror) = mirror {
        mirror.end(&watched.checkpoint)?;
    }
    if succession.is_some() {
        folder.end(ended.len())?;
    }
    folder.write(&State { key, watched, ended })?;
    let new = size.saturating_sub(first);
    lines.push(format!("holds: {origin} continues to {size} entries, {new} of them new"));
    Ok(Look::Continues(lines))
}

fn line(remark: &Remark) -> String {
    format!("{}: {}", if remark.is_notable { "notable" } else { "act" }, remark.text)
}

/// Reads the log from the last checkpoint to the latest one. Returns the look that is to be ended.
fn read(
    begin: impl FnOnce(&str, &mut LogTiles) -> Result<Result<Watch, WatchFault>, Error>,
    tiles: &mut LogTiles,
    mut mirror: Option<&mut Mirror>,
) -> Result<Result<Watch, WatchFault>, ReadError> {
    let note = tiles.checkpoint().map_err(Failure::from)?;
    if let Ok(checkpoint) = SignedNote::parse(&note).and_then(|note| Checkpoint::parse(note.text()))
    {
        tiles.of_size(checkpoint.size);
    }
    let mut watch = match begin(&note, tiles)? {
        Ok(watch) => watch,
        Err(fault) => return Ok(Err(fault)),
    };
    let first = watch.next().unwrap_or(watch.checkpoint().size);
    if let Some(mirror) = &mut mirror {
        mirror.begin(first)?;
    }
    let progress = Progress::of_requests();
    while let Some(index) = watch.next() {
        progress.add(1);
        for entry in tiles.entries(index)? {
            watch.read(&entry);
            if let Some(mirror) = &mut mirror {
                mirror.push(&entry)?;
            }
        }
    }
    Ok(Ok(watch))
}

/// Keeps the evidence of a fork.
fn broken(fault: WatchFault, evidence: &Evidence, tiles: &LogTiles) -> Result<Look, Failure> {
    Ok(match fault {
        WatchFault::Broken(faults) => Look::Broken(faults),
        WatchFault::OtherTiles(why) => Look::OtherTiles(why),
        WatchFault::Fork { earlier, later, text } => {
            evidence.keep(&earlier, &later, tiles)?;
            let place = evidence.place();
            Look::Broken(vec![text, format!("the evidence is kept in {place}")])
        }
    })
}

/// Why the log shows nothing that is new enough; `None` if it does.
fn too_old(newest: Option<Timestamp>, now: Timestamp, max_age: Duration) -> Option<String> {
    let max_age_seconds = max_age.as_secs();
    let Some(newest) = newest else {
        return Some("old: nothing shows how old the checkpoint is".to_owned());
    };
    (newest.until(now) > max_age).then(|| {
        format!(
            "old: the checkpoint shows nothing since {newest}, longer ago than {max_age_seconds} s"
        )
    })
}

/// The policy of the flag.
fn policy(options: &WatchOptions) -> Result<Option<TlogPolicy>, Failure> {
    let Some(path) = &options.policy else { return Ok(None) };
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = File::open(path).and_then(read_policy).map_err(|error| fault(&error))?;
    Ok(Some(TlogPolicy::parse(&text).map_err(|error| fault(&error))?))
}

/// The key of the flag, of the policy, or that was used before; if there are several, they must be the same.
fn known_key(
    options: &WatchOptions,
    policy: Option<&TlogPolicy>,
    seen: Option<&State>,
) -> Result<Option<String>, String> {
    let before = seen.map(|state| &state.key);
    let ended = seen.map(|state| state.ended.as_slice()).unwrap_or_default();
    let key = match (&options.key, before) {
        (Some(given), Some(before))
            if !is_same(given, before) && !ended.iter().any(|key| is_same(given, key)) =>
        {
            return Err(format!("another key than at the first run, which was {before}"));
        }
        (given, before) => before.or(given.as_ref()).cloned(),
    };
    let Some(policy) = policy.filter(|policy| !policy.logs().is_empty()) else { return Ok(key) };
    let listed: Vec<_> = policy.logs().iter().map(ToString::to_string).collect();
    // A log that has replaced one that is listed is listed with it.
    let is_listed = |key: &String| listed.iter().any(|log| is_same(log, key));
    match (key, listed.as_slice()) {
        (Some(key), _) if is_listed(&key) || ended.iter().any(is_listed) => Ok(Some(key)),
        (Some(key), _) => Err(format!("the policy does not list the log with the key {key}")),
        (None, [log]) => Ok(Some(log.clone())),
        (None, _) => {
            Err("the policy lists several logs: name the key of this one with --key".to_owned())
        }
    }
}

/// Whether two texts are the same key; either may be written without the name of the key.
fn is_same(one: &str, other: &str) -> bool {
    let read = |key: &str| LogKey::parse(key, KeySource::Given);
    match (read(one), read(other)) {
        (Ok(one), Ok(other)) => one.is_same(&other),
        _ => false,
    }
}

fn served_key(WatchOptions { url, trust, .. }: &WatchOptions) -> Result<String, Failure> {
    let service = url.split_once("/swarm/log").map_or(&**url, |(service, _)| service);
    let manifest = trust.client(service)?.get("/.well-known/swarm.json")?;
    Ok(manifest.into_object().text("logKey")?)
}
