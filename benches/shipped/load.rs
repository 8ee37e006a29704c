//! Clients that send prepared requests over persistent connections.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local, yield_now};

use super::process::{Process, give_way};

/// A request; its copies share the body.
pub type LoadRequest = Request<Full<Bytes>>;

/// How clients wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// Sleep. On one machine the server wakes them, which costs it as much as a small answer.
    Asleep,
    /// Poll: only the server's own work is charged to it.
    Awake,
}

/// Sends every request once, over `connections` connections, each as soon as one is free; returns the
/// latencies.
///
/// # Panics
/// When an answer has another status.
pub fn send(
    to: SocketAddr,
    connections: usize,
    requests: Vec<LoadRequest>,
    expected: StatusCode,
) -> Vec<Duration> {
    send_by(Clients::Asleep, to, connections, requests, expected)
}

/// Sends the requests, with this way of waiting for answers.
///
/// # Panics
/// When an answer has another status.
pub fn send_by(
    clients: Clients,
    to: SocketAddr,
    connections: usize,
    requests: Vec<LoadRequest>,
    expected: StatusCode,
) -> Vec<Duration> {
    let all = Rc::new(RefCell::new(requests.into_iter()));
    let times = Rc::new(RefCell::new(Vec::new()));
    block_on(async {
        if clients == Clients::Awake {
            spawn_local(awake_until(|| false));
        }
        let working: Vec<_> = (0..connections)
            .map(|_| {
                let (all, times) = (Rc::clone(&all), Rc::clone(&times));
                spawn_local(async move {
                    let mut connection = connect(to).await;
                    loop {
                        // Not in the condition of the loop, where the borrow would last too long.
                        let Some(request) = all.borrow_mut().next() else { return };
                        let start = Instant::now();
                        let answer = exchange(&mut connection, request).await;
                        assert_eq!(answer.status(), expected, "{:?}", answer.body());
                        times.borrow_mut().push(start.elapsed());
                    }
                })
            })
            .collect();
        for client in working {
            client.await.expect("no client failed");
        }
    });
    times.take()
}

/// The processor time of a server per request.
///
/// # Panics
/// When an answer has another status.
pub fn cost(
    clients: Clients,
    server: &Process,
    connections: usize,
    requests: Vec<LoadRequest>,
    expected: StatusCode,
) -> Duration {
    let (count, before) = (requests.len(), server.used());
    send_by(clients, server.address, connections, requests, expected);
    (server.used() - before) / u32::try_from(count).expect("few")
}

/// Polls.
pub fn stay_awake_until(done: impl FnMut() -> bool) {
    block_on(awake_until(done));
}

async fn awake_until(mut done: impl FnMut() -> bool) {
    while !done() {
        yield_now().await;
    }
}

/// Sends one request; returns the answer.
///
/// # Panics
/// When nothing comes.
pub fn ask(to: SocketAddr, request: LoadRequest) -> Response<Bytes> {
    block_on(async { exchange(&mut connect(to).await, request).await })
}

/// Sends takes one after another at a steady pace while other clients read the same thing again and again;
/// returns the latencies, counted from when each was due. The readers run on an idle-priority thread: they
/// are to keep the server busy, not the measured client.
///
/// # Panics
/// When a take is not accepted.
pub fn send_beside(
    to: SocketAddr,
    requests: Vec<LoadRequest>,
    pace: Duration,
    readers: usize,
    read: &LoadRequest,
) -> Vec<Duration> {
    let (stop, stopped) = oneshot::channel();
    thread::scope(|scope| {
        scope.spawn(move || read_until(to, readers, read, stopped));
        let times = block_on(paced(to, requests, pace));
        // The receiver is gone when there were no readers.
        let _ = stop.send(());
        times
    })
}

fn read_until(to: SocketAddr, readers: usize, read: &LoadRequest, stopped: oneshot::Receiver<()>) {
    give_way();
    block_on(async {
        for _ in 0..readers {
            let read = read.clone();
            spawn_local(async move {
                let mut connection = connect(to).await;
                loop {
                    exchange(&mut connection, read.clone()).await;
                }
            });
        }
        let _ = stopped.await;
    });
}

/// Sends each list of requests over a connection of its own, one after another at a steady pace; returns
/// the latencies, counted from when each was due.
///
/// # Panics
/// When one is refused.
pub fn send_paced<const N: usize>(
    to: SocketAddr,
    lists: [Vec<LoadRequest>; N],
    pace: Duration,
) -> [Vec<Duration>; N] {
    block_on(async {
        let mut all = lists.map(|requests| spawn_local(paced(to, requests, pace))).into_iter();
        let mut times = [const { Vec::new() }; N];
        for (times, list) in times.iter_mut().zip(&mut all) {
            *times = list.await.expect("no client failed");
        }
        times
    })
}

async fn paced(to: SocketAddr, requests: Vec<LoadRequest>, pace: Duration) -> Vec<Duration> {
    let mut connection = connect(to).await;
    let start = Instant::now();
    let mut times = Vec::new();
    for (number, request) in (0..).zip(requests) {
        let due = start + pace * number;
        tokio::time::sleep_until(due.into()).await;
        let answer = exchange(&mut connection, request).await;
        assert!(answer.status().is_success(), "{}: {:?}", answer.status(), answer.body());
        times.push(due.elapsed());
    }
    times
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(LocalSet::new().run_until(future))
}

async fn connect(to: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(to).await.expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
    spawn_local(connection);
    sender
}

async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    request: LoadRequest,
) -> Response<Bytes> {
    connection.ready().await.expect("the connection stays");
    let answer = connection.send_request(request).await.expect("an answer");
    let (head, body) = answer.into_parts();
    Response::from_parts(head, body.collect().await.expect("a body").to_bytes())
}
