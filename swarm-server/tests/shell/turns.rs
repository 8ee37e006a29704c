//! Whose turn it is, where one address has much more to be done than another.

use std::sync::atomic::Ordering;

use tokio::net::{TcpSocket, TcpStream};

use crate::LONG;
use crate::client::{answer, send};
use crate::server::{Server, limits};

/// How many connections the greedy address has, and how much is asked for on each at once.
const CONNECTIONS: usize = 32;
const REQUESTS: usize = 400;

/// How much of that a thread does in the time that others wait for one answer, where each connection has a turn:
/// hyper answers sixteen requests of a connection in a turn.
const SWEEP: usize = CONNECTIONS * 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_address_that_asks_for_much_has_others_wait_for_one_turn() {
    const ANSWERS: usize = 10;
    let mut limits = limits();
    limits.header_deadline = LONG;
    let server = Server::start(limits).await;
    let mut modest = connect_as("127.0.0.1", &server).await;
    let mut greedy = Vec::new();
    for _ in 0..CONNECTIONS {
        greedy.push(connect_as("127.0.0.2", &server).await);
    }
    let requests = "GET /busy HTTP/1.1\r\nHost: a\r\n\r\n".repeat(REQUESTS);
    for client in &mut greedy {
        send(client, &requests).await;
    }
    let before = server.busy.load(Ordering::Relaxed);
    for _ in 0..ANSWERS {
        send(&mut modest, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(answer(&mut modest).await, (200, "pong".into()));
    }
    let answered = server.busy.load(Ordering::Relaxed) - before;
    assert!(answered < ANSWERS * SWEEP / 3, "{answered} of the greedy address meanwhile");
}

async fn connect_as(address: &str, server: &Server) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{address}:0").parse().unwrap()).unwrap();
    socket.connect(server.address).await.unwrap()
}
