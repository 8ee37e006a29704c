//! Clients that hold thousands of connections, and the service that others get meanwhile.
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use swarm_redis_testing::{Server, wait_until};

use crate::harness::ADMIN;
use crate::program::{Program, swarm};
use crate::raw_http::exchange;

const ASK: &str = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

/// The interval between sends; shorter than the header deadline.
const ROUND: Duration = Duration::from_secs(2);

#[test]
fn new_clients_are_served_next_to_2000_idle_connections() {
    let program = Program::start(&["serve", "--store=memory"], &[]);
    let many = ManyConnections::open_all(program.client.address, 2_000, ASK);
    assert_new_clients_are_served(&program);
    assert!(many.close_all() > 0, "no connection was served");
}

#[test]
fn new_clients_are_served_next_to_2000_incomplete_heads() {
    let program = Program::start(&["serve", "--store=memory"], &[]);
    let many = ManyConnections::open_all(program.client.address, 2_000, "GET / HTTP/1.1\r\nHost:");
    assert_new_clients_are_served(&program);
    many.close_all();
}

#[test]
fn per_address_limit_is_off_behind_a_trusted_proxy() {
    let program = Program::start(&["serve", "--store=memory", "--trust-forwarded"], &[]);
    allow_sockets();
    let connect = |_| TcpStream::connect(program.client.address).unwrap();
    let connections: Vec<_> = (0..700).map(connect).collect();
    let counted = || counted(&program);
    wait_until("all of them are open", || counted() >= connections.len());
    drop(connections);
    wait_until("all of them are closed", || counted() < 10);
}

#[test]
fn store_reconnects_while_clients_hold_all_sockets() {
    let mut redis = Server::start(&[]);
    let mut limited = Command::new("sh");
    let program = swarm(&["serve"], &[]).get_program().to_owned();
    limited.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(program);
    limited.args(["serve", &format!("--store={}", redis.url())]);
    let program = Program::run(limited, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let many = ManyConnections::open_all(program.client.address, 600, ASK);
    let ready = || exchange(program.client.address, READY).status;
    assert_eq!(ready(), 200);
    redis.stop();
    wait_until("the store is missed", || ready() == 503);
    redis.resume();
    wait_until("the store is found again", || ready() == 200);
    assert!(many.close_all() > 0, "no connection was served");
}

const READY: &[u8] = b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Checks that half of the new clients are served within a second, and all before they give up. One that waits until an
/// idle connection is closed by its timeout waits longer.
#[track_caller]
fn assert_new_clients_are_served(program: &Program) {
    let mut took: Vec<_> = (0..21)
        .map(|_| {
            thread::sleep(Duration::from_millis(100));
            let began = Instant::now();
            assert_eq!(exchange(program.client.address, ASK.as_bytes()).status, 200);
            began.elapsed()
        })
        .collect();
    took.sort();
    assert!(took[10] < Duration::from_secs(1), "{took:?}");
}

fn counted(program: &Program) -> usize {
    let metrics = program.client.get("/metrics").expect(200).text;
    let count = metrics.lines().find_map(|line| line.strip_prefix("swarm_connections "));
    count.unwrap().parse().unwrap()
}

/// A client with many connections. It reopens those that are closed, and sends the same text on each
/// periodically.
struct ManyConnections {
    ended: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl ManyConnections {
    /// Opens the connections; returns when each has sent its text and polled for an answer.
    fn open_all(server: SocketAddr, count: usize, text: &'static str) -> Self {
        allow_sockets();
        let (ended, answers) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let rounds = Arc::<AtomicUsize>::default();
        let (over, round) = (Arc::clone(&ended), Arc::clone(&rounds));
        let answered = Arc::clone(&answers);
        let thread = thread::spawn(move || {
            let mut sockets: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
            while !over.load(Ordering::SeqCst) {
                let began = Instant::now();
                for socket in &mut sockets {
                    let had = socket.take().or_else(|| open(server).ok());
                    *socket = had.filter(|socket| send(socket, text, &answered).is_ok());
                }
                round.fetch_add(1, Ordering::SeqCst);
                thread::sleep(ROUND.saturating_sub(began.elapsed()));
            }
        });
        wait_until("the many is there", || rounds.load(Ordering::SeqCst) > 1);
        Self { ended, answers, thread }
    }

    /// Closes the connections; returns the number of bytes received on them.
    fn close_all(self) -> usize {
        self.ended.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
        self.answers.load(Ordering::SeqCst)
    }
}

/// Connects with a timeout, since the server may accept no connection at all.
fn open(server: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&server, Duration::from_millis(50))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn send(mut socket: &TcpStream, text: &str, answers: &AtomicUsize) -> io::Result<()> {
    socket.write_all(text.as_bytes())?;
    match socket.read(&mut [0; 4096]) {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(length) => {
            answers.fetch_add(length, Ordering::SeqCst);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error),
    }
}

/// Raises the limit of open files: this process holds one end of each connection.
pub fn allow_sockets() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}
