//! The shell's behaviour, seen from real sockets. A program of its own, since it measures its memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test panics")]
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt, stream};
use swarm_http::body::{self, BodyError};
use swarm_http::server::{Limits, Peer, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use warp::http::StatusCode;
use warp::reply::Response;
use warp::{Filter, Reply};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(10);
const BODY_LIMIT: usize = 64 << 10;
const MIB: usize = 1 << 20;

// ---- connections without a request

#[tokio::test]
async fn idle_connection_is_closed() {
    let server = Server::start(limits()).await;
    let start = Instant::now();
    let mut client = server.connect().await;
    assert_eq!(rest(&mut client).await, "");
    assert_about(start, SHORT);
}

#[tokio::test]
async fn idle_connection_is_closed_after_an_answer_too() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    sleep(SHORT / 2).await;
    let start = Instant::now();
    send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(answer(&mut client).await, (200, "pong".into()));
    assert_eq!(rest(&mut client).await, "");
    assert_about(start, SHORT);
}

#[tokio::test]
async fn half_header_is_closed_however_it_drips() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let start = Instant::now();
    send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\nX: ").await;
    while start.elapsed() < LONG {
        if client.write_all(b"x").await.is_err() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_about(start, SHORT);
}

#[tokio::test]
async fn too_long_a_header_is_refused() {
    let server = Server::start(limits()).await;
    let head = format!("GET /ping HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(40 << 10));
    assert_status(&server.talk(&head).await, 431);
}

#[tokio::test]
async fn h2_preface_is_refused() {
    let mut limits = limits();
    limits.header_deadline = LONG;
    let server = Server::start(limits).await;
    let start = Instant::now();
    let text = server.talk("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    assert!(!text.starts_with("HTTP/1.1 2"), "{text}");
    assert!(start.elapsed() < LONG / 2);
}

// ---- bodies

#[tokio::test]
async fn bodies_are_read_sized_and_chunked() {
    let server = Server::start(limits()).await;
    for request in [
        "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n1;a=b\r\nl\r\n2\r\nlo\r\n0\r\nX-Trailer: y\r\n\r\n",
    ] {
        let text = server.talk(request).await;
        assert_status(&text, 200);
        assert!(text.ends_with("read 5"), "{text}");
    }
}

#[tokio::test]
async fn trailers_leave_the_connection_usable() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        send(&mut client, "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\nHost: b\r\nContent-Length: 9\r\n\r\n").await;
        assert_eq!(answer(&mut client).await, (200, "read 2".into()));
    }
}

#[tokio::test]
async fn half_body_is_408_and_closed() {
    let server = Server::start(limits()).await;
    for head in ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n5\r\nha"] {
        let start = Instant::now();
        let text = server.talk(&format!("POST /body HTTP/1.1\r\nHost: a\r\n{head}")).await;
        assert_status(&text, 408);
        assert!(text.contains("connection: close"), "{text}");
        assert!(text.ends_with("body too slow"), "{text}");
        assert_about(start, SHORT);
    }
}

#[tokio::test]
async fn expect_continue_is_not_sent_for_a_refused_body() {
    let server = Server::start(limits()).await;
    let text = server
        .talk("POST /body HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
        .await;
    assert_status(&text, 413);
}

#[tokio::test]
async fn sized_body_over_the_limit_is_413_without_being_read() {
    let server = Server::start(limits()).await;
    // Nothing of the body is ever sent, so a server that read it would answer 408.
    let text = server.talk("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n").await;
    assert_status(&text, 413);
}

#[tokio::test]
async fn endless_chunked_body_is_413_in_constant_memory() {
    let server = Server::start(limits()).await;
    let before = peak_memory();
    let (mut reader, mut writer) = server.connect().await.into_split();
    let sending = tokio::spawn(async move {
        let head = "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut sent = writer.write_all(head.as_bytes()).await.map_or(0, |()| 1);
        let mut chunk = format!("{MIB:x}\r\n").into_bytes();
        chunk.resize(chunk.len() + MIB, b'x');
        chunk.extend(b"\r\n");
        while sent <= 300 && writer.write_all(&chunk).await.is_ok() {
            sent += 1;
        }
        sent
    });
    let mut text = Vec::new();
    let _ = timeout(LONG, reader.read_to_end(&mut text)).await.unwrap();
    assert_status(&String::from_utf8_lossy(&text), 413);
    assert!(sending.await.unwrap() < 300, "the body was read to its end");
    let grown = peak_memory() - before;
    assert!(grown < 20 * MIB, "grown by {grown}");
}

#[tokio::test]
async fn refusal_reaches_a_client_that_is_still_sending() {
    let server = Server::start(limits()).await;
    for (path, extra, status) in [
        ("/body", "", 413),
        ("/deny", "", 401),
        ("/nowhere", "", 404),
        // Clients that try HTTP/2 send this; the upgrade is ignored.
        ("/body", "Connection: upgrade\r\nUpgrade: h2c\r\n", 413),
    ] {
        let mut client = server.connect().await;
        let length = 6 * MIB;
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: a\r\n{extra}Content-Length: {length}\r\n\r\n");
        send(&mut client, &head).await;
        let piece = vec![b'x'; MIB / 2];
        for _ in 0..12 {
            client.write_all(&piece).await.expect(path); // a reset fails here
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(answer(&mut client).await.0, status, "{path} {extra}");
        assert_eq!(rest(&mut client).await, "");
    }
}

#[tokio::test]
async fn lingering_ends() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n").await;
    let start = Instant::now();
    while client.write_all(b"x").await.is_ok() {
        assert!(start.elapsed() < LONG, "still read");
        sleep(Duration::from_millis(10)).await;
    }
    assert_about(start, limits().linger);
}

#[tokio::test]
async fn body_reader_bounds_what_it_takes() {
    let far = Duration::from_secs(60);
    let read = |pieces: &'static [&'static str], declared, limit| {
        body::read(pieces_of(pieces), declared, limit, far)
    };
    assert_eq!(read(&[], None, 4).await.unwrap(), "");
    assert_eq!(read(&["", "ab", "", "cd", ""], None, 4).await.unwrap(), "abcd");
    assert_eq!(read(&["ab", "cd"], Some(4), 4).await.unwrap(), "abcd");
    assert_eq!(read(&["ab", "cde"], None, 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["abcde"], None, 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["a"], Some(5), 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["a"], Some(u64::MAX), 4).await, Err(BodyError::TooLarge));

    let whole = Bytes::from(vec![b'x'; 100]);
    let place = whole.as_ptr();
    let same = body::read(stream::iter([Ok(whole)]), None, 100, far).await.unwrap();
    assert_eq!(same.as_ptr(), place, "one piece is not copied");

    let stuck = pieces_of(&["a"]).chain(stream::pending());
    assert_eq!(body::read(stuck, None, 4, SHORT / 10).await, Err(BodyError::TooSlow));
}

// ---- Host

#[tokio::test]
async fn host_is_required_exactly_once() {
    let server = Server::start(limits()).await;
    for (head, status, body) in [
        ("GET /ping HTTP/1.1\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET /ping HTTP/1.0\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET http://a/ping HTTP/1.1\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET /ping HTTP/1.1\r\nHost:\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: :80\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a@b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a/b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: [::1]:80\r\n", 200, "pong"),
        ("GET /ping HTTP/1.0\r\nHost: a:80\r\n", 200, "pong"),
        ("GET http://b/ping HTTP/1.1\r\nHost: a\r\n", 200, "pong"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n", 404, ""),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n", 400, r#"{"error":"invalid target"}"#),
    ] {
        let text = server.talk(&format!("{head}Connection: close\r\n\r\n")).await;
        assert_status(&text, status);
        assert!(text.ends_with(body), "{head}: {text}");
        let json = text.contains("content-type: application/json\r\n");
        assert_eq!(json, status == 400, "{text}");
    }
}

#[tokio::test]
async fn peer_is_in_the_extensions() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let own = client.local_addr().unwrap().to_string();
    assert_eq!(answer(&mut client).await, (200, own));
}

// ---- several requests on a connection

#[tokio::test]
async fn connection_is_kept_alive() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    for _ in 0..5 {
        send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(answer(&mut client).await, (200, "pong".into()));
        send(&mut client, "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok").await;
        assert_eq!(answer(&mut client).await, (200, "read 2".into()));
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let mut all = String::new();
    for _ in 0..20 {
        all += "GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
        all += "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    }
    send(&mut client, &all).await;
    for _ in 0..20 {
        for body in ["slow", "pong", "read 3"] {
            assert_eq!(answer(&mut client).await, (200, body.into()));
        }
    }
}

#[tokio::test]
async fn ambiguous_framing_gets_at_most_one_answer() {
    let server = Server::start(limits()).await;
    let inner = "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "Content-Length: 4\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 4, 0\r\n\r\n",
        "Content-Length: +0\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\nab\n0\n\n",
        "X: y\r\n Content-Length: 4\r\n\r\n",
    ] {
        // One handler reads its body, the other leaves it where it is.
        for path in ["/body", "/deny"] {
            let text =
                server.talk(&format!("POST {path} HTTP/1.1\r\nHost: a\r\n{framing}{inner}")).await;
            assert!(text.matches("HTTP/1.1 ").count() <= 1, "{framing}: {text}");
            assert!(!text.contains("pong"), "{framing}: {text}");
        }
    }
}

// ---- bounds on connections and writes

#[tokio::test]
async fn connections_over_the_bound_wait() {
    let mut limits = limits();
    limits.connections = 2;
    let server = Server::start(limits).await;
    let start = Instant::now();
    let _idle = (server.connect().await, server.connect().await);
    sleep(SHORT / 10).await;
    let mut third = server.connect().await;
    send(&mut third, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(answer(&mut third).await, (200, "pong".into()));
    assert_about(start, SHORT);
}

#[tokio::test]
async fn client_that_does_not_read_is_dropped() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let start = Instant::now();
    send(&mut client, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    while !server.big_dropped.load(Ordering::SeqCst) {
        assert!(start.elapsed() < LONG, "still writing");
        sleep(Duration::from_millis(10)).await;
    }
    assert_about(start, SHORT);
    let mut got = Vec::new();
    let _ = client.read_to_end(&mut got).await;
    assert!(got.len() < 64 * MIB);
}

#[tokio::test]
async fn client_that_reads_slowly_is_served() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "GET /big HTTP/1.0\r\nHost: a\r\n\r\n").await;
    let start = Instant::now();
    let mut piece = vec![0; MIB];
    let mut got = 0;
    loop {
        match timeout(LONG, client.read(&mut piece)).await.unwrap().unwrap() {
            0 => break,
            length => got += length,
        }
        sleep(Duration::from_millis(5)).await;
    }
    assert!(got > 64 * MIB, "{got} bytes");
    assert!(start.elapsed() > SHORT);
}

// ---- stopping

#[tokio::test]
async fn stop_finishes_what_is_in_flight() {
    let mut server = Server::start(limits()).await;
    let mut busy = server.connect().await;
    let mut idle = server.connect().await;
    send(&mut busy, "GET /slower HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(SHORT / 6).await;
    server.stop();
    sleep(SHORT / 6).await;
    assert!(TcpStream::connect(server.address).await.is_err());
    assert_eq!(rest(&mut idle).await, "");
    let text = rest(&mut busy).await;
    assert_status(&text, 200);
    assert!(text.contains("connection: close"), "{text}");
    assert!(text.ends_with("slow"), "{text}");
    drop((busy, idle));
    let start = Instant::now();
    server.done.await.unwrap().unwrap();
    assert!(start.elapsed() < SHORT);
}

#[tokio::test]
async fn stop_drops_what_does_not_finish() {
    let mut server = Server::start(limits()).await;
    let mut stuck = server.connect().await;
    send(&mut stuck, "GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(SHORT / 6).await;
    server.stop();
    let start = Instant::now();
    server.done.await.unwrap().unwrap();
    assert_about(start, limits().drain);
    assert_eq!(rest(&mut stuck).await, "");
}

#[tokio::test]
async fn panicking_handler_harms_no_other_connection() {
    let server = Server::start(limits()).await;
    assert_eq!(server.talk("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await, "");
    let text = server.talk("GET /ping HTTP/1.0\r\nHost: a\r\n\r\n").await;
    assert_status(&text, 200);
}

// ---- the server under test

struct Server {
    address: SocketAddr,
    big_dropped: Arc<AtomicBool>,
    stop: Option<oneshot::Sender<()>>,
    done: JoinHandle<std::io::Result<()>>,
}

impl Server {
    async fn start(limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let big_dropped = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = oneshot::channel();
        let routes = routes(big_dropped.clone());
        let done = tokio::spawn(serve(listener, routes, limits, async {
            let _ = stopped.await;
        }));
        let stop = Some(stop);
        Self { address, big_dropped, stop, done }
    }

    fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// All that the server says to `request`, until it closes.
    async fn talk(&self, request: &str) -> String {
        let mut client = self.connect().await;
        send(&mut client, request).await;
        rest(&mut client).await
    }
}

fn limits() -> Limits {
    Limits {
        header_deadline: SHORT,
        write_deadline: SHORT,
        linger: SHORT * 2,
        drain: SHORT * 2,
        ..Limits::default()
    }
}

fn routes(big_dropped: Arc<AtomicBool>) -> warp::filters::BoxedFilter<(impl Reply,)> {
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
    let all = ping.or(body).unify().boxed();
    let all = all.or(deny).unify().or(slow).unify().boxed();
    let all = all.or(slower).unify().or(stuck).unify().boxed();
    let all = all.or(panic).unify().boxed();
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
                BodyError::Broken => StatusCode::BAD_REQUEST,
            },
        ),
    };
    warp::reply::with_status(text, status).into_response()
}

async fn nap(wait: Duration) -> Response {
    sleep(wait).await;
    "slow".into_response()
}

/// 64 MiB without a length; `dropped` is set when the last of it is gone.
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

// ---- the client

async fn send(client: &mut TcpStream, text: &str) {
    client.write_all(text.as_bytes()).await.unwrap();
}

/// All that is left until the server closes; a reset counts as that.
async fn rest(client: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = client.read_to_end(&mut text);
    let _ = timeout(LONG, read).await.expect("not closed");
    String::from_utf8(text).unwrap()
}

/// The status and the body of one answer that has a Content-Length.
async fn answer(client: &mut TcpStream) -> (u16, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let byte = timeout(LONG, client.read_u8()).await.expect("no answer");
        head.push(char::from(byte.unwrap_or_else(|error| panic!("{error}: {head}"))));
    }
    let length = head.split_once("content-length: ").unwrap().1;
    let length = length.split_once("\r\n").unwrap().0.parse().unwrap();
    let mut body = vec![0; length];
    client.read_exact(&mut body).await.unwrap();
    (head[9..12].parse().unwrap(), String::from_utf8(body).unwrap())
}

fn pieces_of(pieces: &'static [&'static str]) -> impl Stream<Item = Result<Bytes, warp::Error>> {
    stream::iter(pieces).map(|piece| Ok(Bytes::from_static(piece.as_bytes())))
}

#[track_caller]
fn assert_status(text: &str, status: u16) {
    let got = text.get(9..12).unwrap_or_default();
    assert_eq!(got, status.to_string(), "{text}");
}

/// Between `wait` and three seconds more, for slow machines.
#[track_caller]
fn assert_about(start: Instant, wait: Duration) {
    let took = start.elapsed();
    assert!(took + Duration::from_millis(20) >= wait, "too early: {took:?}");
    assert!(took < wait + Duration::from_secs(3), "too late: {took:?}");
}

/// The most memory that this process ever had resident, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}
