//! Fair scheduling of connections, per client address.

use std::sync::atomic::Ordering;

use tokio::net::{TcpSocket, TcpStream};

use crate::LONG;
use crate::client::{answer, send};
use crate::server::{Server, limits};

/// The number of connections of the busy address.
const CONNECTIONS: usize = 32;

/// The number of requests pipelined on each of them.
const PIPELINED: usize = 400;

/// Requests of the busy address per request of another, if connections were scheduled round-robin: hyper
/// answers 16 pipelined requests each time a connection is polled.
const ROUND_ROBIN: usize = CONNECTIONS * 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn busy_address_delays_others_by_one_time_slice() {
    const ANSWERS: usize = 10;
    let mut limits = limits();
    limits.header_deadline = LONG;
    let server = Server::start(limits).await;
    let mut modest = connect_as("127.0.0.1", &server).await;
    let mut busy = Vec::new();
    for _ in 0..CONNECTIONS {
        busy.push(connect_as("127.0.0.2", &server).await);
    }
    let requests = "GET /busy HTTP/1.1\r\nHost: a\r\n\r\n".repeat(PIPELINED);
    for client in &mut busy {
        send(client, &requests).await;
    }
    let before = server.busy.load(Ordering::Relaxed);
    for _ in 0..ANSWERS {
        send(&mut modest, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(answer(&mut modest).await, (200, "pong".into()));
    }
    let answered = server.busy.load(Ordering::Relaxed) - before;
    assert!(
        answered < ANSWERS * ROUND_ROBIN / 3,
        "{answered} requests of the busy address meanwhile"
    );
}

async fn connect_as(address: &str, server: &Server) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{address}:0").parse().unwrap()).unwrap();
    socket.connect(server.address).await.unwrap()
}
