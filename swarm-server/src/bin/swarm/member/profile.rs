//! A profile: a folder with `profile.json` (URL and member), `key`, `token`, `log-key`, `pending.json`, a take that
//! was sent and not answered, of each take `take-ID-DIGEST.json`, and of each sealed one `sealed-ID-SEAL.json`. All are of mode
//! 0600.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_client::{Client, Error};
use swarm_core::audit::{KeySource, LogKey};
use swarm_core::domain::Digest;
use swarm_core::json;
use swarm_core::proof::{KeyPair, hex};
use swarm_core::{MemberId, TakeId};

use crate::arguments::Trust;
use crate::command::{
    check_name, configuration_folder, create_private, note, read_private, read_private_json,
    replace_private,
};
use crate::failure::CommandError;
use crate::secrets::random_bytes;

pub(super) struct Profile {
    name: String,
    folder: PathBuf,
    settings: Settings,
}

/// The content of `profile.json`.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    /// The URL of the service.
    url: Option<String>,
    /// The member that applied there.
    member_id: Option<MemberId>,
}

impl Profile {
    /// Reads a profile, which may not exist yet.
    pub(super) fn open(name: &str) -> Result<Self, CommandError> {
        check_name(name)?;
        let folder = configuration_folder()?.join("profiles").join(name);
        let settings = read_private_json(&folder.join("profile.json"))?.unwrap_or_default();
        Ok(Self { name: name.to_owned(), folder, settings })
    }

    /// The service: the URL of the flag or the environment, else the URL of the application.
    pub(super) fn client(&self, url: Option<&str>, trust: &Trust) -> Result<Client, CommandError> {
        let url = url.or(self.settings.url.as_deref());
        let url = url.ok_or_else(|| CommandError::Usage("no service: add --url URL".to_owned()))?;
        trust.named_client(url)
    }

    pub(super) fn member(&self) -> Result<MemberId, CommandError> {
        let absent = || self.absent("no application", "apply --name NAME --contact TEXT");
        self.settings.member_id.clone().ok_or_else(absent)
    }

    pub(super) fn remember(&mut self, url: &str, member: &MemberId) -> Result<(), CommandError> {
        self.settings = Settings { url: Some(url.to_owned()), member_id: Some(member.clone()) };
        replace_private(&self.folder.join("profile.json"), &json::write(&self.settings))
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The key of this service's log, and the file with the one that the profile keeps, if they are not the same.
    pub(super) fn other_log_key(
        &self,
        client: &Client,
    ) -> Result<Option<(String, PathBuf)>, CommandError> {
        let path = self.folder.join("log-key");
        let Some(kept) = read_private(&path)? else { return Ok(None) };
        let named = named_log_key(client)?;
        let is_kept = |named: &String| kept.lines().any(|kept| kept.trim() == named);
        Ok(named.filter(|named| !is_kept(named)).map(|named| (named, path)))
    }

    /// The key of the service's log: the one that the profile keeps, else the one that the service names, which is kept from
    /// then on. `None` if the service signs no log.
    pub(super) fn log_key(&self, client: &Client) -> Result<Option<LogKey>, CommandError> {
        let path = self.folder.join("log-key");
        let key = match read_private(&path)? {
            Some(key) => key,
            None => {
                let Some(key) = named_log_key(client)? else { return Ok(None) };
                note(&format!("keeping the key of the log, as the service names it: {key}"));
                replace_private(&path, &key)?;
                key
            }
        };
        let latest = log_keys(&key)?.pop();
        let empty = || CommandError::Refused(format!("{}: no key of a log", path.display()));
        latest.ok_or_else(empty).map(Some)
    }

    /// The keys that the log had under earlier names: the lines before the last one of `log-key`.
    pub(super) fn earlier_log_keys(&self) -> Result<Vec<LogKey>, CommandError> {
        let kept = read_private(&self.folder.join("log-key"))?.unwrap_or_default();
        let mut keys = log_keys(&kept)?;
        keys.pop();
        Ok(keys)
    }

    pub(super) fn new_key(&self) -> Result<KeyPair, CommandError> {
        let path = self.folder.join("key");
        let seed = random_bytes()?;
        let mut file = create_private(&path)?;
        note(&format!("writing a new secret key to {} (mode 0600)", path.display()));
        file.write_all(hex(&seed).as_bytes())?;
        file.sync_all()?;
        Ok(KeyPair::from_seed(&seed))
    }

    /// The key that is to replace that of the profile: it is written to a file of its own before anybody hears of it.
    pub(super) fn next_key(&self) -> Result<KeyPair, CommandError> {
        let path = self.folder.join("key.next");
        if let Some(text) = read_private(&path)? {
            return Self::key_in(&path, &text);
        }
        let seed = random_bytes()?;
        replace_private(&path, &hex(&seed))?;
        Ok(KeyPair::from_seed(&seed))
    }

    /// Makes the next key that of the profile.
    pub(super) fn take_next_key(&self) -> Result<(), CommandError> {
        let [next, key] = ["key.next", "key"].map(|name| self.folder.join(name));
        Ok(fs::rename(next, key)?)
    }

    pub(super) fn key(&self) -> Result<KeyPair, CommandError> {
        let path = self.folder.join("key");
        let text = read_private(&path)?.ok_or_else(|| self.absent("no key", "key new"))?;
        Self::key_in(&path, &text)
    }

    fn key_in(path: &Path, text: &str) -> Result<KeyPair, CommandError> {
        let broken =
            || CommandError::Refused(format!("{}: not 64 hexadecimal digits", path.display()));
        Ok(KeyPair::from_seed(&seed(text).ok_or_else(broken)?))
    }

    /// The token, to be sent to the address that the profile keeps alone.
    pub(super) fn token(&self, client: &Client) -> Result<String, CommandError> {
        let absent = || CommandError::Credential(self.absent("no token", "claim").to_string());
        let token = read_private(&self.token_path())?.ok_or_else(absent)?;
        self.check_address(client)?;
        Ok(token)
    }

    /// Whether the profile has a token.
    pub(super) fn has_token(&self) -> bool {
        self.token_path().exists()
    }

    /// Checks that the service is the one that the profile keeps, whose token and whose member these are.
    ///
    /// # Errors
    /// [`CommandError::Usage`] for another service.
    pub(super) fn check_address(&self, client: &Client) -> Result<(), CommandError> {
        let stored = self.settings.url.as_deref();
        // As a client has it: an earlier version may have kept it as it was typed.
        let kept = stored.and_then(|stored| Client::new(stored).ok());
        if kept.is_some_and(|kept| kept.url() == client.url()) {
            return Ok(());
        }
        let (name, url) = (&self.name, client.url());
        let belongs = match stored {
            Some(stored) => format!("belongs to {stored}"),
            None => "keeps no address".to_owned(),
        };
        Err(CommandError::Usage(format!(
            "profile {name} {belongs}: its credentials are not sent to {url}, which --url or SWARM_URL names; \
             leave the address out, give the service a profile of its own: --profile NAME, or, if it is the same service, change \
             the address: swarm member --profile {name} address {url}"
        )))
    }

    /// Checks that an application to this service does not take a token along that another service gave.
    ///
    /// # Errors
    /// [`CommandError::Usage`] where there is a token of another service.
    pub(super) fn check_application(&self, client: &Client) -> Result<(), CommandError> {
        if self.token_path().try_exists()? { self.check_address(client) } else { Ok(()) }
    }

    /// Claims a token into the profile. Its file is made first: the service shows a token only once.
    pub(super) fn claim(
        &self,
        claim: impl FnOnce() -> Result<String, CommandError>,
    ) -> Result<PathBuf, CommandError> {
        let path = self.token_path();
        if path.exists() {
            return Err(CommandError::Refused(format!(
                "{}: there is one already; if an operator reset the claim, remove it first",
                path.display()
            )));
        }
        let mut file = create_private(&path)?;
        let written = claim().and_then(|token| {
            note(&format!("writing the token to {} (mode 0600)", path.display()));
            file.write_all(token.as_bytes())?;
            Ok(file.sync_all()?)
        });
        if written.is_err() && fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(&path);
        }
        written.map(|()| path)
    }

    fn token_path(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// The path of the take that was sent and not answered.
    pub(super) fn pending(&self) -> PathBuf {
        self.folder.join("pending.json")
    }

    /// The path of a sealed take. The name has the first bytes of its seal: another service, or one whose store was
    /// restored, may give another take the same id, and what was kept proves what the first one said.
    pub(super) fn sealed(&self, take: TakeId, seal: &Digest) -> PathBuf {
        let (start, _) = seal.as_bytes().split_at(8);
        self.folder.join(format!("sealed-{take}-{}.json", hex(start)))
    }

    fn absent(&self, what: &str, verb: &str) -> CommandError {
        CommandError::Refused(format!(
            "profile {}: {what} yet; run: swarm member --profile {} {verb}",
            self.name, self.name
        ))
    }
}

/// The keys of a file, one on each line.
fn log_keys(text: &str) -> Result<Vec<LogKey>, CommandError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|key| Ok(LogKey::parse(key, KeySource::Given)?)).collect()
}

/// The key of the service's log, as the service names it. `None` if it signs no log.
fn named_log_key(client: &Client) -> Result<Option<String>, CommandError> {
    let manifest = match client.get("/.well-known/swarm.json") {
        Err(Error::Refused(refused)) if refused.status == 404 => return Ok(None),
        manifest => manifest?,
    };
    Ok(manifest.into_object().text_if_any("logKey")?)
}

/// Forgets the take that was answered.
pub(super) fn forget(path: &Path) -> Result<(), CommandError> {
    fs::remove_file(path)
        .map_err(|error| CommandError::Refused(format!("{}: {error}", path.display())))
}

fn seed(text: &str) -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(seed)
}
