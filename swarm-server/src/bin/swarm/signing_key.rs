//! The file with the server's signing key, and beside it the last checkpoint of each log (MANUAL.md, 13.1).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes};
use swarm_core::domain::Seq;
use swarm_core::proof::DumpKey;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::tree::TreeHash;
use swarm_core::service::signed_log::{CheckpointMemory, LastSigned, LogSigner};

use crate::Failure;
use crate::failure::{full_path, missing_folder};
use crate::secrets::{random_bytes, read_secret};

/// The default file, in the working directory.
const DEFAULT: &str = "swarm.key";

/// The signer of the logs. The logs of a store in memory are signed with a key that lives as long as the process, unless
/// a file is given; their checkpoints are not kept.
pub(crate) fn signer(path: Option<&Path>, is_memory: bool) -> Result<LogSigner, Failure> {
    match path {
        None if is_memory => in_process(),
        Some(path) if is_memory => Ok(LogSigner::without_memory(secret(path)?)),
        path => {
            let path = path.unwrap_or(Path::new(DEFAULT));
            let secret = secret(path)?;
            Ok(LogSigner::new(secret, Checkpoints::new(checkpoints_path(path))))
        }
    }
}

/// The file with the checkpoints: beside the key; in the working directory where the key's folder cannot be written, as
/// one in which a platform hands over secrets.
fn checkpoints_path(key: &Path) -> PathBuf {
    let mut name = key.file_name().unwrap_or(OsStr::new(DEFAULT)).to_owned();
    name.push(".checkpoints");
    let Some(folder) = key.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return name.into();
    };
    let beside = folder.join(&name);
    // To know whether a file can be made, one is made: modes do not tell of a file system that is read-only.
    let draft = draft_of(&beside);
    match File::create(&draft).and_then(|_| std::fs::remove_file(&draft)) {
        Ok(()) => beside,
        Err(_) => name.into(),
    }
}

/// The file in which the next content of a file is written. Two processes with one key do not write the same file.
fn draft_of(path: &Path) -> PathBuf {
    path.with_extension(format!("checkpoints.{}", std::process::id()))
}

/// The file with the checkpoints of the logs that this key signs; `None` where they are not kept.
pub(crate) fn kept_checkpoints(path: Option<&Path>, is_memory: bool) -> Option<PathBuf> {
    (!is_memory).then(|| checkpoints_path(path.unwrap_or(Path::new(DEFAULT))))
}

/// The line of `swarm check` about the key.
pub(crate) fn described(path: Option<&Path>, is_memory: bool) -> String {
    if path.is_none() && is_memory {
        return "signing key: one that lives as long as the process".to_owned();
    }
    let path = path.unwrap_or(Path::new(DEFAULT));
    let made = if path.exists() { "" } else { ", which serve makes" };
    format!("signing key: {}{made}", path.display())
}

/// Checks the file, if it exists; else, that there is a folder for it.
pub(crate) fn check(path: Option<&Path>) -> Result<(), Failure> {
    let path = path.unwrap_or(Path::new(DEFAULT));
    if path.exists() { secret(path).map(drop) } else { check_folder(path) }
}

fn check_folder(path: &Path) -> Result<(), Failure> {
    match missing_folder(path) {
        Some(missing) => Err(format!("signing_key: {missing}").into()),
        None => Ok(()),
    }
}

/// The key that signs dumps; `None` if no file is given, and the default one does not exist.
pub(crate) fn dump_key(path: Option<&Path>) -> Result<Option<DumpKey>, Failure> {
    let path = match path {
        None if !Path::new(DEFAULT).try_exists()? => return Ok(None),
        path => path.unwrap_or(Path::new(DEFAULT)),
    };
    let key = existing_secret(path)?.dump_key();
    Ok(Some(key.map_err(|error| error.to_string())?))
}

/// A key that lives as long as the process.
pub(crate) fn in_process() -> Result<LogSigner, Failure> {
    Ok(LogSigner::without_memory(ServerSecret::new(random_bytes()?)))
}

/// The secret in the file, which is made where it is missing.
fn secret(path: &Path) -> Result<ServerSecret, Failure> {
    let fault = |error: &dyn std::fmt::Display| {
        format!("signing_key: {}: {error}", full_path(path).display())
    };
    if !path.try_exists().map_err(|error| fault(&error))? {
        check_folder(path)?;
        create(path).map_err(|error| fault(&error))?;
        tracing::info!("signing_key: created {}", path.display());
    }
    existing_secret(path)
}

fn existing_secret(path: &Path) -> Result<ServerSecret, Failure> {
    let text = read_secret(path).map_err(|error| format!("signing_key: {error}"))?;
    let key = SigningKey::from_pkcs8_pem(&text).map_err(|_| {
        let name = full_path(path);
        format!("signing_key: {}: is no Ed25519 key in PKCS#8 (PEM)", name.display())
    })?;
    Ok(ServerSecret::new(key.to_bytes()))
}

fn create(path: &Path) -> Result<(), Failure> {
    // Without the public key: OpenSSL reads version 1 of PKCS#8 only.
    let key = KeypairBytes { secret_key: random_bytes()?, public_key: None };
    let text = key.to_pkcs8_pem(LineEnding::LF).map_err(|error| error.to_string())?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}

/// The last checkpoint of each log, in a file: a line each, of its origin, number, size and root.
struct Checkpoints {
    path: PathBuf,
    cached: Mutex<CachedCheckpoints>,
}

/// The checkpoints that were last read from the file, or written to it.
#[derive(Default)]
struct CachedCheckpoints {
    file: Option<FileVersion>,
    checkpoints: BTreeMap<String, LastSigned>,
}

/// The version of a file: inode, size and time, which change when the file is written or replaced.
#[derive(PartialEq, Eq)]
struct FileVersion(u64, u64, SystemTime);

impl FileVersion {
    fn of(file: &Metadata) -> io::Result<Self> {
        Ok(Self(file.ino(), file.len(), file.modified()?))
    }
}

impl Checkpoints {
    fn new(path: PathBuf) -> Self {
        Self { path, cached: Mutex::default() }
    }

    /// The checkpoints in the file. They are read again if another process wrote them: every tenant asks for its
    /// checkpoint about once a second.
    fn cached(&self) -> io::Result<MutexGuard<'_, CachedCheckpoints>> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match std::fs::metadata(&self.path) {
            Ok(file) => Some(FileVersion::of(&file)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if cached.file != file || file.is_none() {
            *cached = CachedCheckpoints::default();
            if file.is_some() {
                cached.checkpoints = self.read()?;
                cached.file = file;
            }
        }
        Ok(cached)
    }

    fn read(&self) -> io::Result<BTreeMap<String, LastSigned>> {
        let fault = || {
            let name = self.path.display();
            io::Error::new(
                ErrorKind::InvalidData,
                format!("{name} has a line that is no checkpoint"),
            )
        };
        let text = std::fs::read_to_string(&self.path)?;
        text.lines().map(|line| parse(line).ok_or_else(fault)).collect()
    }
}

fn parse(line: &str) -> Option<(String, LastSigned)> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    let (origin, log, size, root) = (word()?, word()?, word()?, word()?);
    let (log, size) = (log.parse().ok()?, Seq(size.parse().ok()?));
    Some((origin.to_owned(), LastSigned { log, size, root: TreeHash::parse(root).ok()? }))
}

impl CheckpointMemory for Checkpoints {
    fn last(&self, origin: &str) -> io::Result<Option<LastSigned>> {
        Ok(self.cached()?.checkpoints.get(origin).cloned())
    }

    /// Replaces the file whole, so that a crash leaves the old one or the new one.
    fn remember(&self, origin: &str, last: &LastSigned) -> io::Result<()> {
        let mut cached = self.cached()?;
        let CachedCheckpoints { file: version, checkpoints } = &mut *cached;
        checkpoints.insert(origin.to_owned(), last.clone());
        // Until it is written, the file is to be read again.
        *version = None;
        let line = |(origin, LastSigned { log, size, root }): (&String, &LastSigned)| {
            format!("{origin} {log} {size} {root}\n")
        };
        let text: String = checkpoints.iter().map(line).collect();
        let new = draft_of(&self.path);
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        *version = Some(FileVersion::of(&file.metadata()?)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_checkpoints_outlive_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.key");
        signer(Some(&path), false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEI"), "{text}");
        signer(Some(&path), false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

        let memory = Checkpoints::new(folder.path().join("swarm.key.checkpoints"));
        let last = LastSigned { log: 2, size: Seq(7), root: TreeHash::empty() };
        assert_eq!(memory.last("a/swarm/log/a").unwrap(), None);
        memory.remember("a/swarm/log/a", &last).unwrap();
        memory.remember("a/swarm/log/b", &LastSigned { log: 1, ..last.clone() }).unwrap();
        assert_eq!(memory.last("a/swarm/log/a").unwrap(), Some(last.clone()));
        let other = Checkpoints::new(memory.path.clone());
        let later = LastSigned { size: Seq(8), ..last };
        other.remember("a/swarm/log/a", &later).unwrap();
        assert_eq!(memory.last("a/swarm/log/a").unwrap(), Some(later), "another process wrote it");
        assert!(memory.last("a/swarm/log/b").unwrap().is_some());
        std::fs::write(&memory.path, "a/swarm/log/a 1\n").unwrap();
        assert!(memory.last("a/swarm/log/a").is_err());
        std::fs::remove_file(&memory.path).unwrap();
        assert_eq!(memory.last("a/swarm/log/a").unwrap(), None);
    }

    #[test]
    fn checkpoints_are_beside_the_key_where_they_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("swarm.pem");
        assert_eq!(checkpoints_path(&key), folder.path().join("swarm.pem.checkpoints"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(checkpoints_path(Path::new("swarm.key")), Path::new("swarm.key.checkpoints"));
        // Nobody makes a file there.
        assert_eq!(checkpoints_path(Path::new("/proc/key")), Path::new("key.checkpoints"));
    }

    #[test]
    fn key_as_a_platform_hands_it_over_is_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.key");
        signer(Some(&path), false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let secret =
            || secret(&path).unwrap().log_key("a").unwrap().verifier().public_key().clone();
        let first = secret();
        std::fs::write(&path, format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"))).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o440)).unwrap();
        assert_eq!(secret(), first);
    }

    #[test]
    fn key_that_others_may_read_or_that_is_none_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.key");
        std::fs::write(&path, "no key").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let refused = |words: &str| {
            let said = signer(Some(&path), false).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        };
        refused("chmod 600");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        refused("no Ed25519 key");
    }

    #[test]
    fn key_in_a_folder_that_is_missing_is_refused_before_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere/swarm.key");
        let checked = check(Some(&path)).unwrap_err().to_string();
        assert!(checked.contains("there is no folder") && checked.contains("nowhere"), "{checked}");
        assert_eq!(signer(Some(&path), false).unwrap_err().to_string(), checked);
    }
}
