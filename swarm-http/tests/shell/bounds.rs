//! Bounds on connections and writes, and how the server stops.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{answer, assert_about, assert_status, rest, send};
use crate::server::{Server, limits};
use crate::{LONG, MIB, SHORT};

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
