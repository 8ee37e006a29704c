//! Loads and reloads the files of `--tls-cert` and `--tls-key`.

use std::fs;
use std::path::{Path, PathBuf};

use swarm_core::Timestamp;
use swarm_core::service::with_causes;
use swarm_http::expiry_warning;
use swarm_server::{Listener, TlsCertificate, TlsError};
use tokio::net::TcpListener;

use crate::Failure;
use crate::command::now;
use crate::failure::full_path;

/// The two files, and the certificate and key last read from them.
pub(crate) struct TlsFiles {
    cert: PathBuf,
    key: PathBuf,
    certificate: TlsCertificate,
}

impl TlsFiles {
    /// Reads both files, PEM.
    pub(crate) fn read((cert, key): (PathBuf, PathBuf)) -> Result<Self, Failure> {
        let (chain, secret) = bytes(&cert, &key)?;
        let certificate = TlsCertificate::from_pem(&chain, &secret)
            .map_err(|error| described(&cert, &key, &secret, &error))?;
        let files = Self { cert, key, certificate };
        files.warn_of_expiry();
        Ok(files)
    }

    /// Warns in the log of a certificate that has expired, or will soon; `/readyz` goes on warning.
    fn warn_of_expiry(&self) {
        let not_after = self.expiry()();
        if let Some(warning) = not_after.and_then(|not_after| expiry_warning(not_after, now())) {
            tracing::warn!(file = %self.cert.display(), "{warning}");
        }
    }

    /// Accepts TLS connections with the certificate.
    pub(crate) fn listen(&self, tcp: TcpListener) -> Listener {
        Listener::with_tls(tcp, self.certificate.clone())
    }

    /// Returns when the certificate in use expires, each time that it is called.
    pub(crate) fn expiry(&self) -> impl Fn() -> Option<Timestamp> + Send + Sync + use<> {
        let certificate = self.certificate.clone();
        move || {
            let millis = certificate.not_after()?.as_millis().try_into().ok()?;
            Some(Timestamp::EPOCH.plus_millis(millis))
        }
    }

    /// Reads the files again. An error is logged, and the old pair stays in use.
    pub(crate) fn reload(&self) {
        let replaced = bytes(&self.cert, &self.key).and_then(|(chain, secret)| {
            let replaced = self.certificate.replace(&chain, &secret);
            Ok(replaced.map_err(|error| described(&self.cert, &self.key, &secret, &error))?)
        });
        match replaced {
            Ok(()) => {
                tracing::info!("TLS certificate reloaded");
                self.warn_of_expiry();
            }
            Err(error) => tracing::error!(%error, "TLS certificate not reloaded"),
        }
    }
}

/// The error with the setting and the file that it is about. `secret` is the text of the key, of which the error has nothing.
fn described(cert: &Path, key: &Path, secret: &[u8], error: &TlsError) -> String {
    let mut causes = with_causes(error);
    // `BEGIN ENCRYPTED PRIVATE KEY`, and `Proc-Type: 4,ENCRYPTED` of older files.
    let is_encrypted = secret.windows(9).any(|word| word == b"ENCRYPTED");
    match error {
        TlsError::Key(_) if is_encrypted => {
            causes.push_str(": it is encrypted; `openssl pkey` writes it without a passphrase");
        }
        TlsError::Pair(_) if causes.contains("KeyMismatch") => {
            causes.push_str(": the key has to be that of the first certificate of the file: the server's own comes first");
        }
        TlsError::Pair(_) if causes.contains("failed to parse private key") => {
            causes.push_str(": a key is one of RSA, P-256, P-384 or Ed25519, and not P-521");
        }
        _ => {}
    }
    let [cert, key] = [cert, key].map(full_path);
    let cert = format!("tls_cert (--tls-cert): {}", cert.display());
    let key = format!("tls_key (--tls-key): {}", key.display());
    match error {
        TlsError::Certificate(_) => format!("{cert}: {causes}"),
        TlsError::Key(_) => format!("{key}: {causes}"),
        _ => format!("{cert}, {key}: {causes}"),
    }
}

/// The bytes of both files.
fn bytes(cert: &Path, key: &Path) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let read = |name: &str, path: &Path| {
        let path = full_path(path);
        fs::read(&path).map_err(|error| format!("{name}: {}: {error}", path.display()))
    };
    Ok((read("tls_cert (--tls-cert)", cert)?, read("tls_key (--tls-key)", key)?))
}
