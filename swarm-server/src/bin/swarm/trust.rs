//! Clients of the commands, which trust the authorities of `--ca-file` too.

use std::path::Path;

use swarm_client::{Client, InvalidUrl, LogTiles};
use swarm_core::domain::shown_url;

use crate::Failure;
use crate::arguments::Trust;
use crate::failure::CommandError;
#[cfg(feature = "tls")]
use crate::failure::full_path;

#[cfg(feature = "tls")]
impl Trust {
    /// A connector that trusts the authorities in the file.
    ///
    /// # Errors
    /// If the file cannot be read, or has no certificate.
    fn connector(&self) -> Result<impl Fn(&str) -> Result<Client, InvalidUrl> + use<>, Failure> {
        use swarm_client::Authorities;
        let authorities = match &self.ca_file {
            Some(file) => {
                let fault = |error: &dyn std::fmt::Display| {
                    format!("ca_file (--ca-file): {}: {error}", full_path(file).display())
                };
                let pem = std::fs::read(file).map_err(|error| fault(&error))?;
                Authorities::from_pem(&pem).map_err(|error| fault(&error))?
            }
            None => Authorities::default(),
        };
        Ok(move |url: &str| Client::trusting(url, &authorities))
    }
}

#[cfg(not(feature = "tls"))]
impl Trust {
    fn connector(&self) -> Result<impl Fn(&str) -> Result<Client, InvalidUrl> + use<>, Failure> {
        match self.ca_file {
            Some(_) => Err("--ca-file: this build of swarm has no TLS (feature `tls`)".into()),
            None => Ok(Client::new),
        }
    }
}

/// Whether an argument is the address of a service, in place of a file. Schemes have no case.
pub(crate) fn is_url(argument: &str) -> bool {
    let scheme = argument.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| matches!(&*scheme, "http" | "https"))
}

impl Trust {
    /// A client of the service at this address.
    ///
    /// # Errors
    /// If the address is none, or the file cannot be used.
    pub(crate) fn client(&self, url: &str) -> Result<Client, Failure> {
        Ok(self.connector()?(url)?)
    }

    /// As [`client`](Self::client), with an error of usage that names the address.
    ///
    /// # Errors
    /// [`CommandError::Usage`].
    pub(crate) fn named_client(&self, url: &str) -> Result<Client, CommandError> {
        let unusable = |error| CommandError::Usage(format!("{}: {error}", shown_url(url)));
        self.client(url).map_err(unusable)
    }

    /// The log at this address, or the mirror of one in this folder.
    ///
    /// # Errors
    /// Like [`client`](Self::client).
    pub(crate) fn log(&self, url: &str) -> Result<LogTiles, Failure> {
        if !url.contains("://") && Path::new(url).is_dir() {
            return Ok(LogTiles::in_folder(url));
        }
        Ok(LogTiles::through(url, self.connector()?)?)
    }
}
