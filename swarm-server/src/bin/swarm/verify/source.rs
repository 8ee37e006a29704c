//! What is verified: a file, or the answer of a URL.

use std::fs::File;
use std::io::Read as _;

use percent_encoding::percent_decode_str;
use swarm_client::{Client, Error};
use swarm_core::TakeId;
use swarm_core::audit::{KeySource, LogKey};

use crate::Failure;

/// Maximum number of bytes read from a file; larger than any bundle.
const MAX_FILE: u64 = 256 << 20;

/// The forms that are understood: records and bundles, and the texts of proofs and checkpoints.
const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.1";

/// Bytes, and where they are from.
pub(crate) struct Source {
    pub(crate) bytes: Vec<u8>,
    /// The origin and the path, if it is a URL.
    address: Option<(String, String)>,
}

impl Source {
    /// Reads a file, or gets a URL.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(name: &str) -> Result<Self, Failure> {
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
        let client = Client::new(&origin)?;
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
    pub(crate) fn into_text(self) -> Result<String, Failure> {
        Ok(String::from_utf8(self.bytes).map_err(|_| "it is no text")?)
    }

    /// The take that the URL asks for, if it is one of a take.
    pub(crate) fn take(&self) -> Option<TakeId> {
        let (_, path) = self.address.as_ref()?;
        let (_, id) = path.split('?').next()?.rsplit_once("/takes/")?;
        percent_decode_str(id).decode_utf8_lossy().parse().ok().map(TakeId)
    }

    /// The key that the server at the URL names as its log's.
    pub(crate) fn log_key(&self) -> Option<LogKey> {
        let (origin, _) = self.address.as_ref()?;
        let client = Client::new(origin).ok()?.without_retries();
        let manifest = client.get("/.well-known/swarm.json").ok()?;
        let key = manifest.into_object().text("logKey").ok()?;
        LogKey::parse(&key, KeySource::Served).ok()
    }
}
