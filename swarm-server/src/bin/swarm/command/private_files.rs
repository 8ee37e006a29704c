//! Files of the user's configuration folder, which their owner alone may read (mode 0600).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use swarm_core::json::{Json, Object};

use crate::failure::{CommandError, missing_folder};
use crate::secrets::read_secret;

/// `$XDG_CONFIG_HOME/swarm`, else `~/.config/swarm`.
///
/// # Errors
/// [`CommandError::Usage`] when neither variable is set.
pub(crate) fn configuration_folder() -> Result<PathBuf, CommandError> {
    let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = path("XDG_CONFIG_HOME").or_else(|| Some(path("HOME")?.join(".config")));
    let unset = || CommandError::Usage("set HOME or XDG_CONFIG_HOME".to_owned());
    Ok(folder.ok_or_else(unset)?.join("swarm"))
}

/// Whether a text is the name of a context or a profile: letters, digits, `-` and `_`.
///
/// # Errors
/// [`CommandError::Usage`] unless it is.
pub(crate) fn check_name(name: &str) -> Result<(), CommandError> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(is_fit) {
        return Ok(());
    }
    Err(CommandError::Usage(format!("{name:?} is not a name of letters, digits, - and _")))
}

/// The text of a file; `None` where there is no file.
///
/// # Errors
/// [`CommandError::Refused`] when it cannot be read, or others may read it.
pub(crate) fn read_private(path: &Path) -> Result<Option<String>, CommandError> {
    if !path.try_exists()? {
        return Ok(None);
    }
    Ok(Some(read_secret(path)?))
}

/// Reads a file of JSON as a `T`; `None` where there is no file.
///
/// # Errors
/// [`CommandError::Refused`] as of [`read_private`], and when the content is not a `T`. It names the file.
pub(crate) fn read_private_json<T: DeserializeOwned>(
    path: &Path,
) -> Result<Option<T>, CommandError> {
    let content = read_private_object(path)?.map(|object| T::deserialize(Json::Object(object)));
    content.transpose().map_err(|error| in_file(path, &error))
}

/// Reads a file with a JSON object; `None` where there is no file.
///
/// # Errors
/// [`CommandError::Refused`] as of [`read_private`], and when the content is no JSON object. It names the file.
pub(crate) fn read_private_object(path: &Path) -> Result<Option<Object>, CommandError> {
    let Some(text) = read_private(path)? else { return Ok(None) };
    match Json::read(text.as_bytes()) {
        Ok(Json::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(in_file(path, &"must be a JSON object")),
        Err(error) => Err(in_file(path, &format!("not JSON: {}", error.position))),
    }
}

fn in_file(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Refused(format!("{}: {error}", path.display()))
}

/// Creates a file that must not exist yet, in an existing folder.
///
/// # Errors
/// [`CommandError::Refused`] when it exists or cannot be created.
pub(crate) fn create_in_folder(path: &Path) -> Result<File, CommandError> {
    create_new(path).map_err(|error| not_created(path, &error))
}

/// The same, with its folder, if that is missing.
///
/// # Errors
/// [`CommandError::Refused`] when it exists or cannot be created.
pub(crate) fn create_private(path: &Path) -> Result<File, CommandError> {
    create(path).map_err(|error| not_created(path, &error))
}

fn not_created(path: &Path, error: &io::Error) -> CommandError {
    let reason = match error.kind() {
        ErrorKind::AlreadyExists => "there is one already, and it stays".to_owned(),
        ErrorKind::NotFound => missing_folder(path).unwrap_or_else(|| error.to_string()),
        _ => error.to_string(),
    };
    CommandError::Refused(format!("{}: {reason}", path.display()))
}

/// Writes a file whole, replacing one that exists.
///
/// # Errors
/// [`CommandError::Refused`] when it cannot be written.
pub(crate) fn replace_private(path: &Path, text: &str) -> Result<(), CommandError> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let written = create(&draft)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&draft, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        CommandError::Refused(format!("{}: {error}", path.display()))
    })
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    create_new(path)
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
