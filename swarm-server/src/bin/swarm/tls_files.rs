//! Loads and reloads the files of `--tls-cert` and `--tls-key`.

use std::fs;
use std::path::{Path, PathBuf};

use swarm_server::{Listener, TlsCertificate};
use tokio::net::TcpListener;

use crate::Failure;
use crate::failure::with_causes;

/// The two files, and the certificate and key last read from them.
pub(crate) struct TlsFiles {
    cert: PathBuf,
    key: PathBuf,
    certificate: TlsCertificate,
}

impl TlsFiles {
    /// Reads both files, PEM.
    pub(crate) fn read((cert, key): (PathBuf, PathBuf)) -> Result<Self, Failure> {
        let certificate =
            TlsCertificate::from_pem(&bytes("tls_cert", &cert)?, &bytes("tls_key", &key)?)
                .map_err(|error| with_causes("tls", &error))?;
        Ok(Self { cert, key, certificate })
    }

    /// Accepts TLS connections with the certificate.
    pub(crate) fn listen(&self, tcp: TcpListener) -> Listener {
        Listener::with_tls(tcp, self.certificate.clone())
    }

    /// Reads the files again. An error is logged, and the old pair stays in use.
    pub(crate) fn reload(&self) {
        let replaced = bytes("tls_cert", &self.cert).and_then(|cert| {
            let key = bytes("tls_key", &self.key)?;
            self.certificate.replace(&cert, &key).map_err(|error| with_causes("tls", &error).into())
        });
        match replaced {
            Ok(()) => tracing::info!("TLS certificate reloaded"),
            Err(error) => tracing::error!(%error, "TLS certificate not reloaded"),
        }
    }
}

fn bytes(key: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| format!("{key}: {}: {error}", path.display()).into())
}
