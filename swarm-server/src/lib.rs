//! The server of Swarm: an accept loop that limits the resources of each client.
//!
//! [`serve_site`] serves a [`Site`] of `swarm-http`; [`serve`] serves any tower service, a warp filter by
//! `warp::service`. The binary `swarm` (feature `bin`, on by default) adds configuration, stores and commands. The
//! feature `tls` adds [`Listener::with_tls`], which uses the cryptography provider that the program has installed in rustls. With the
//! feature `ring`, on by default, it uses ring if none is installed.
//!
//! ```no_run
//! use std::future::pending;
//! use std::sync::Arc;
//!
//! use swarm_core::domain::AdminTokenHash;
//! use swarm_core::{Swarm, SystemEntropy};
//! use swarm_http::{AdminTokens, Site, TenantConfig};
//! use swarm_server::Limits;
//! use swarm_store_memory::MemoryStore;
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
//! let operator = AdminTokens::single(AdminTokenHash::of(b"choose-sixteen-or-more"));
//! let site = Arc::new(Site::single(swarm, TenantConfig::new("acme".parse()?, operator)));
//! let listener = TcpListener::bind("127.0.0.1:8080").await?;
//! swarm_server::serve_site(listener, &site, Limits::default(), pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! HTTP/1.0 and HTTP/1.1 only. The accept loop does not limit how long a handler takes: a handler sets its own
//! deadlines, and reads its body with [`swarm_http::body::read`].

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod activity;
mod connections;
mod limits;
mod request_head;
mod socket;
#[cfg_attr(not(feature = "tls"), path = "without_tls.rs")]
mod tls;
mod tracked_body;

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue, STRICT_TRANSPORT_SECURITY};
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::metrics::gauge::Gauge;
use swarm_http::Site;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use self::activity::Activity;
use self::connections::Connections;
use self::request_head::{bad_request, check_framing, normalize_host};
use self::socket::Socket;
use self::tls::TlsAcceptor;

pub use self::limits::Limits;
#[cfg(feature = "tls")]
pub use self::tls::{TlsCertificate, TlsError};
pub use self::tracked_body::TrackedBody;

/// The address of the client, in the extensions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// A TCP listener, with or without TLS.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    tls: Option<tls::TlsCertificate>,
}

#[cfg(feature = "tls")]
impl Listener {
    /// Accepts TLS connections, with this certificate.
    pub fn with_tls(tcp: TcpListener, certificate: TlsCertificate) -> Self {
        Self { tcp, tls: Some(certificate) }
    }
}

impl From<TcpListener> for Listener {
    /// Accepts plain HTTP, for use behind a proxy.
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, tls: None }
    }
}

/// Serves `service` on `listener` until `stop` resolves.
///
/// Then it refuses new connections, answers the requests in flight, and drops the connections that are
/// still open after [`Limits::drain`]. A request without exactly one valid Host header is answered with
/// 400 before the service sees it, except `/healthz`, `/readyz` and `/metrics` in HTTP/1.0, which may have none.
///
/// # Errors
///
/// If the listener has no address, or TLS cannot be set up. Errors of single connections and of accepting them are
/// logged.
pub async fn serve<S, B>(
    listener: impl Into<Listener>,
    service: S,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    S: Service<Request<TrackedBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + From<Bytes> + Send + 'static,
{
    let with_peer = true;
    serve_counted(listener.into(), service, limits, (Gauge::default(), with_peer), stop).await
}

/// Serves a site ([`swarm_http::service`]) like [`serve`], and counts the open connections in its metrics.
///
/// # Errors
/// The errors of [`serve`].
pub async fn serve_site(
    listener: impl Into<Listener>,
    site: &Arc<Site>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    // A site does not use the client's address.
    let with_peer = false;
    let service = swarm_http::service(site);
    let stop = async {
        stop.await;
        site.end_following();
    };
    serve_counted(listener.into(), service, limits, (site.connections(), with_peer), stop).await
}

/// Like [`serve`], with the gauge of open connections, and whether requests get a [`Peer`].
async fn serve_counted<S, B>(
    Listener { tcp: listener, tls }: Listener,
    service: S,
    limits: Limits,
    (count, with_peer): (Gauge, bool),
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    S: Service<Request<TrackedBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + From<Bytes> + Send + 'static,
{
    tracing::info!(address = %listener.local_addr()?, "listening");
    let limits = limits.in_range();
    let tls = tls.map(|tls| tls.acceptor()).transpose().map_err(io::Error::other)?;
    let is_tls = tls.is_some();
    let http = Protocol { http: http1(&limits), tls, handshake_deadline: limits.header_deadline };
    let (running, stopped) = watch::channel(());
    let mut connections = Connections::new(&limits, count);
    let mut stop = pin!(stop);
    loop {
        let (tcp, peer) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &mut connections) => accepted,
        };
        let activity = Activity::new();
        let socket = Socket::new(tcp, &limits, activity.clone());
        let (service, at) = (service.clone(), activity.clone());
        let named = with_peer.then_some(Peer(peer));
        let service = service_fn(move |request| {
            let answered = answer(service.clone(), request, named, at.clone());
            async move { answered.await.map(|response| over_tls(response, is_tls)) }
        });
        let connection = drive(http.clone(), socket, service, peer, stopped.clone());
        connections.run(peer.ip(), activity, connection);
    }
    drop(listener);
    drop(running);
    connections.finish(limits.drain).await;
    Ok(())
}

/// The protocol of connections.
#[derive(Clone)]
struct Protocol {
    http: http1::Builder,
    tls: Option<TlsAcceptor>,
    handshake_deadline: Duration,
}

fn http1(limits: &Limits) -> http1::Builder {
    // Body chunks are at most as long as the buffer; hyper asserts its minimum size.
    const BUFFER: usize = 64 << 10;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_deadline)
        .max_header_size(limits.header_bytes)
        .max_buf_size(BUFFER.max(limits.header_bytes));
    http
}

/// Accepts the next connection, and waits until there is room for it.
async fn accept(listener: &TcpListener, connections: &mut Connections) -> (TcpStream, SocketAddr) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = connections.ended() => continue,
        };
        match accepted {
            Ok((tcp, peer)) => {
                connections.make_room(peer.ip()).await;
                return (tcp, peer);
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Usually the process is out of file descriptors. Close a connection, or else wait.
                let closed = connections.close_longest_waiting(None);
                tracing::warn!(%error, closed, "cannot accept a connection");
                sleep(Duration::from_millis(if closed { 1 } else { 100 })).await;
            }
        }
    }
}

/// Runs one connection to its end; after the sender of `stopped` is dropped, to the end of its request.
async fn drive<S, B>(
    Protocol { http, tls, handshake_deadline }: Protocol,
    socket: Socket,
    service: S,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) where
    S: hyper::service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let stream = tokio::select! {
        stream = timeout(handshake_deadline, tls::accept(socket, tls)) => stream,
        _ = stopped.changed() => return,
    };
    let stream = match stream {
        Ok(Ok(stream)) => TokioIo::new(stream),
        Ok(Err(error)) => return tracing::debug!(%peer, %error, "TLS handshake failed"),
        Err(_elapsed) => return tracing::debug!(%peer, "TLS handshake too slow"),
    };
    let mut connection = http.serve_connection(stream, service);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    let ended = match ended {
        // Only needed after a request with an Upgrade header, which hyper leaves open.
        Ok(()) => connection.into_parts().io.into_inner().shutdown().await,
        Err(error) => Err(io::Error::other(error)),
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "connection closed early");
    }
}

/// Tells browsers to use TLS alone from now on, for a year.
fn over_tls<B>(mut response: Response<B>, is_tls: bool) -> Response<B> {
    if is_tls {
        let year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().entry(STRICT_TRANSPORT_SECURITY).or_insert(year);
    }
    response
}

/// The service's answer; an error if the framing or the host of the request is ambiguous.
async fn answer<S, B>(
    mut service: S,
    request: Request<Incoming>,
    peer: Option<Peer>,
    activity: Activity,
) -> Result<Response<B>, Infallible>
where
    S: Service<Request<TrackedBody>, Response = Response<B>, Error = Infallible>,
    B: From<Bytes>,
{
    if !activity.start_request() {
        // The connection is being closed: the request must not run, because its answer could not
        // be sent.
        return std::future::pending().await;
    }
    let mut request = request.map(|body| TrackedBody::new(body, activity.clone()));
    let body = request.body().ended();
    let normalized = check_framing(request.headers()).and_then(|()| normalize_host(&mut request));
    let mut response = match normalized {
        Ok(()) => {
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            poll_fn(|cx| service.poll_ready(cx)).await?;
            service.call(request).await?
        }
        Err(error) => bad_request(request.uri().path(), request.headers(), &error),
    };
    if !body.is_reached() {
        // With an unread body the connection cannot be reused.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    activity.wait_for_client();
    Ok(response)
}
