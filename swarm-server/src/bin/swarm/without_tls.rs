//! What takes the place of `tls_files` in a build without TLS: a certificate is refused.

use std::path::PathBuf;

use crate::Failure;

/// No pair of files can be read.
pub(crate) enum TlsFiles {}

impl TlsFiles {
    pub(crate) fn read(_: (PathBuf, PathBuf)) -> Result<Self, Failure> {
        Err("tls_cert: this build of swarm has no TLS (feature `tls`)".into())
    }

    pub(crate) fn listen(&self, _: tokio::net::TcpListener) -> swarm_server::Listener {
        match *self {}
    }

    pub(crate) fn expiry(&self) -> fn() -> Option<swarm_core::Timestamp> {
        match *self {}
    }

    pub(crate) fn reload(&self) {
        match *self {}
    }
}
