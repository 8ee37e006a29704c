//! The server under test, with a route per behaviour.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt, stream};
use http::StatusCode;
use swarm_http::body;
use swarm_http::body::BodyError;
use swarm_server::{Limits, Peer, serve};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use warp::reply::Response;
use warp::{Filter, Reply};

use crate::client::{rest, send};
use crate::{BODY_LIMIT, MIB, SHORT};

pub struct Server {
    pub address: SocketAddr,
    pub big_dropped: Arc<AtomicBool>,
    /// The number of requests to `/busy`, each of which blocks a thread for a millisecond.
    pub busy: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    pub done: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub async fn start(limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let big_dropped = Arc::new(AtomicBool::new(false));
        let busy = Arc::<AtomicUsize>::default();
        let (stop, stopped) = oneshot::channel();
        let routes = routes(big_dropped.clone(), busy.clone());
        let done = tokio::spawn(serve(listener, warp::service(routes), limits, async {
            let _ = stopped.await;
        }));
        let stop = Some(stop);
        Self { address, big_dropped, busy, stop, done }
    }

    pub fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Everything that the server sends after `request`, until it closes the connection.
    pub async fn talk(&self, request: &str) -> String {
        let mut client = self.connect().await;
        send(&mut client, request).await;
        rest(&mut client).await
    }
}

pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.header_deadline = SHORT;
    limits.write_deadline = SHORT;
    limits.linger = SHORT * 2;
    limits.drain = SHORT * 2;
    limits
}

fn routes(
    big_dropped: Arc<AtomicBool>,
    busy: Arc<AtomicUsize>,
) -> warp::filters::BoxedFilter<(impl Reply,)> {
    let ping = warp::path("ping").map(|| "pong".into_response());
    let body = warp::path("body")
        .and(warp::header::optional("content-length"))
        .and(warp::body::stream())
        .then(|declared, stream| async move { read_body(declared, stream).await });
    let deny = warp::path("deny").map(|| StatusCode::UNAUTHORIZED.into_response());
    let slow = warp::path("slow").then(|| nap(SHORT / 100));
    let slower = warp::path("slower").then(|| nap(SHORT));
    let stuck = warp::path("stuck").then(pending::<Response>);
    let panic = warp::path("panic").map(|| -> Response { panic!("as asked") });
    let peer = warp::path("peer")
        .and(warp::ext::get::<Peer>())
        .map(|peer: Peer| peer.0.to_string().into_response());
    let big = warp::path("big").map(move || big(big_dropped.clone()));
    let busy = warp::path("busy").map(move || block_thread(&busy));
    let all = ping.or(body).unify().boxed();
    let all = all.or(deny).unify().or(slow).unify().boxed();
    let all = all.or(slower).unify().or(stuck).unify().boxed();
    let all = all.or(panic).unify().or(busy).unify().boxed();
    all.or(peer).unify().or(big).unify().boxed()
}

async fn read_body(
    declared: Option<u64>,
    stream: impl Stream<Item = Result<impl Buf, warp::Error>>,
) -> Response {
    let (text, status) = match body::read(stream, declared, BODY_LIMIT, SHORT).await {
        Ok(body) => (format!("read {}", body.len()), StatusCode::OK),
        Err(error) => (
            error.to_string(),
            match error {
                BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
                _ => StatusCode::BAD_REQUEST,
            },
        ),
    };
    warp::reply::with_status(text, status).into_response()
}

async fn nap(wait: Duration) -> Response {
    sleep(wait).await;
    "slow".into_response()
}

/// Blocks the thread for a millisecond.
fn block_thread(count: &AtomicUsize) -> Response {
    count.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(1));
    "done".into_response()
}

/// A response of 64 MiB without a length. Sets `dropped` when its body is dropped.
fn big(dropped: Arc<AtomicBool>) -> Response {
    struct SetOnDrop(Arc<AtomicBool>);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let guard = SetOnDrop(dropped);
    let piece = Bytes::from(vec![b'x'; MIB]);
    let pieces = stream::iter(0..64).map(move |_| {
        let _ = &guard;
        Ok::<_, Infallible>(piece.clone())
    });
    warp::reply::stream(pieces).into_response()
}
