//! What takes the place of [`tls`](crate) in a build without TLS: there is no certificate, and every connection is plain.

use std::convert::Infallible;
use std::io;

use crate::socket::Socket;

/// No certificate can be constructed.
#[derive(Clone, Debug)]
pub(crate) enum TlsCertificate {}

impl TlsCertificate {
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, Infallible> {
        match *self {}
    }
}

/// No acceptor can be constructed.
#[derive(Clone)]
pub(crate) enum TlsAcceptor {}

pub(crate) async fn accept(socket: Socket, _: Option<TlsAcceptor>) -> io::Result<Socket> {
    Ok(socket)
}
