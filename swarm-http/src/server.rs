//! Serves a warp filter on a listener, with a bound on everything a client can hold on to.
//!
//! HTTP/1.0 and HTTP/1.1 only. What a handler does in its own time is not bounded here: it reads
//! its body with [`crate::body::read`] and sets its own deadlines.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use warp::http::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use warp::http::uri::Authority;
use warp::http::{Request, StatusCode};
use warp::reply::Response;
use warp::{Filter, Reply};

use crate::watched::Watched;
use crate::wire::Wire;

/// The bounds of [`serve`]. Values outside of their range are moved to its nearest end.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections served at a time, at least 1; more wait in the listener's backlog. 1024.
    pub connections: usize,
    /// Bytes of one request head, and of chunked trailers, 1 KiB to 1 MiB; more is a 431. 32 KiB.
    pub header_bytes: usize,
    /// From the end of one answer, or the accept, to the end of the next request head: an idle
    /// connection is closed as well as a half-sent head. At most a day; 10 s.
    pub header_deadline: Duration,
    /// The longest that a write may make no progress. At most a day; 10 s.
    pub write_deadline: Duration,
    /// How long a connection that we close is still read, so that a client which is sending gets
    /// its answer rather than a reset. At most a day; 2 s.
    pub linger: Duration,
    /// The bytes that are read and thrown away in that time. 8 MiB.
    pub linger_bytes: usize,
    /// How long the connections may take to finish after `stop`. At most a day; 10 s.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            header_bytes: 32 << 10,
            header_deadline: Duration::from_secs(10),
            write_deadline: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            linger_bytes: 8 << 20,
            drain: Duration::from_secs(10),
        }
    }
}

/// The address of the client, in the extensions of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Serves `filter` on `listener` until `stop` resolves.
///
/// Then new connections are refused, requests in flight get their answers, and what is not done
/// after [`Limits::drain`] is dropped. A request without exactly one valid Host header is answered
/// 400 before the filter sees it.
///
/// # Errors
///
/// Only if the listener has no address. Errors of single connections, and of accepting them, are
/// logged.
pub async fn serve<F>(
    listener: TcpListener,
    filter: F,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    F: Filter + Clone + Send + Sync + 'static,
    F::Extract: Reply,
{
    tracing::info!(address = %listener.local_addr()?, "listening");
    let limits = limits.in_range();
    let http = protocol(&limits);
    let (running, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let (tcp, peer) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &mut connections, limits.connections) => accepted,
        };
        let service = TowerToHyperService::new(warp::service(filter.clone()));
        let service = service_fn(move |request| answer(service.clone(), request, peer));
        let wire = TokioIo::new(Wire::new(tcp, &limits));
        let connection = http.serve_connection(wire, service);
        connections.spawn(drive(connection, peer, stopped.clone()));
    }
    drop(listener);
    drop(running);
    finish(connections, limits.drain).await;
    Ok(())
}

impl Limits {
    fn in_range(self) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self {
            connections: self.connections.max(1),
            header_bytes: self.header_bytes.clamp(1 << 10, 1 << 20),
            header_deadline: self.header_deadline.min(day),
            write_deadline: self.write_deadline.min(day),
            linger: self.linger.min(day),
            linger_bytes: self.linger_bytes,
            drain: self.drain.min(day),
        }
    }
}

fn protocol(limits: &Limits) -> http1::Builder {
    // Pieces of a body are at most as long as the buffer, whose least size hyper asserts.
    const BUFFER: usize = 64 << 10;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_deadline)
        .max_header_size(limits.header_bytes)
        .max_buf_size(BUFFER.max(limits.header_bytes));
    http
}

/// The next connection, as soon as fewer than `most` are open.
async fn accept(
    listener: &TcpListener,
    open: &mut JoinSet<()>,
    most: usize,
) -> (TcpStream, SocketAddr) {
    loop {
        while let Some(ended) = open.try_join_next() {
            report(ended);
        }
        while open.len() >= most {
            let ended = open.join_next().await;
            ended.into_iter().for_each(report);
        }
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Mostly out of file descriptors, which only time can mend.
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Waits for the connections, at most as long as `drain`, and drops the rest.
async fn finish(mut connections: JoinSet<()>, drain: Duration) {
    let all = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if timeout(drain, all).await.is_err() {
        tracing::warn!(count = connections.len(), "connections dropped");
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection failed");
    }
}

/// Runs one connection to its end; once `stopped` has no sender, to the end of its request.
async fn drive<S>(
    mut connection: http1::Connection<TokioIo<Wire>, S>,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    let ended = match ended {
        // Nothing to do, except after a request with an Upgrade header: hyper leaves it open.
        Ok(()) => connection.into_parts().io.into_inner().shutdown().await,
        Err(error) => Err(io::Error::other(error)),
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "connection closed early");
    }
}

/// The filter's answer, unless the Host header is wrong.
async fn answer<S>(
    filter: S,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Result<Response, Infallible>
where
    S: Service<Request<Watched>, Response = Response, Error = Infallible>,
{
    let mut request = request.map(Watched::new);
    let body = request.body().ended();
    let mut response = match settle_host(&mut request) {
        Ok(()) => {
            request.extensions_mut().insert(Peer(peer));
            filter.call(request).await?
        }
        Err(refusal) => bad_request(refusal),
    };
    if !body.is_reached() {
        // What is left of the body makes the connection useless: say so.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Refuses a target without a path (as of CONNECT), and leaves exactly one host in the headers: an absolute target's, which goes before the Host header
/// (RFC 9112, section 3.2.2), or that one.
fn settle_host<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = hosts.next().ok_or(r#"{"error":"missing host"}"#)?.as_bytes();
    let target = request.uri().authority().map(|target| target.as_str().as_bytes());
    if request.uri().path_and_query().is_none() {
        return Err(r#"{"error":"invalid target"}"#);
    }
    if hosts.next().is_some() || !is_host(named) || !target.is_none_or(is_host) {
        return Err(INVALID_HOST);
    }
    if let Some(target) = target {
        let target = HeaderValue::from_bytes(target).map_err(|_| INVALID_HOST)?;
        request.headers_mut().insert(HOST, target);
    }
    Ok(())
}

/// Whether it is a host and perhaps a port, nothing else (RFC 9110, section 7.2).
fn is_host(text: &[u8]) -> bool {
    Authority::try_from(text).is_ok_and(|authority| {
        let host = authority.host();
        let port = authority.as_str().strip_prefix(host);
        !host.is_empty()
            && port.is_some_and(|port| matches!(port, "" | ":") || authority.port_u16().is_some())
    })
}

const INVALID_HOST: &str = r#"{"error":"invalid host"}"#;

fn bad_request(json: &'static str) -> Response {
    let mut response = Response::new(json.into());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
