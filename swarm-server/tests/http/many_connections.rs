//! Strangers with more sockets than they need, and what is left for everybody else.
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

/// Within the time that the server gives a head.
const ROUND: Duration = Duration::from_secs(2);

#[test]
fn newcomers_are_served_beside_two_thousand_idle_connections() {
    let program = Program::start(&["serve", "--store=memory"], &[]);
    let crowd = Crowd::gather(program.client.address, 2_000, ASK);
    newcomers_are_served(&program);
    assert!(crowd.disperse() > 0, "nobody was there");
}

#[test]
fn newcomers_are_served_beside_two_thousand_half_sent_heads() {
    let program = Program::start(&["serve", "--store=memory"], &[]);
    let crowd = Crowd::gather(program.client.address, 2_000, "GET / HTTP/1.1\r\nHost:");
    newcomers_are_served(&program);
    crowd.disperse();
}

#[test]
fn behind_a_proxy_one_address_is_everybody() {
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
fn a_lost_store_is_found_again_while_strangers_hold_every_socket() {
    let mut redis = Server::start(&[]);
    let mut limited = Command::new("sh");
    let program = swarm(&["serve"], &[]).get_program().to_owned();
    limited.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(program);
    limited.args(["serve", &format!("--store={}", redis.url())]);
    let program = Program::run(limited, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let crowd = Crowd::gather(program.client.address, 600, ASK);
    let ready = || exchange(program.client.address, READY).status;
    assert_eq!(ready(), 200);
    redis.stop();
    wait_until("the store is missed", || ready() == 503);
    redis.resume();
    wait_until("the store is found again", || ready() == 200);
    assert!(crowd.disperse() > 0, "nobody was there");
}

const READY: &[u8] = b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Half of them within 100 ms, all of them within seconds.
#[track_caller]
fn newcomers_are_served(program: &Program) {
    let mut took: Vec<_> = (0..21)
        .map(|_| {
            thread::sleep(Duration::from_millis(100));
            let began = Instant::now();
            assert_eq!(exchange(program.client.address, ASK.as_bytes()).status, 200);
            began.elapsed()
        })
        .collect();
    took.sort();
    assert!(took[10] < Duration::from_millis(100), "{took:?}");
}

fn counted(program: &Program) -> usize {
    let metrics = program.client.get("/metrics").expect(200).text;
    let count = metrics.lines().find_map(|line| line.strip_prefix("swarm_connections "));
    count.unwrap().parse().unwrap()
}

/// One client with many connections, which it opens again as they are closed, and sends the same
/// text on again and again.
struct Crowd {
    ended: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Crowd {
    /// Waits until each of them has sent something, and looked for an answer.
    fn gather(server: SocketAddr, count: usize, text: &'static str) -> Self {
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
        wait_until("the crowd is there", || rounds.load(Ordering::SeqCst) > 1);
        Self { ended, answers, thread }
    }

    /// Answers how many bytes of answers they got.
    fn disperse(self) -> usize {
        self.ended.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
        self.answers.load(Ordering::SeqCst)
    }
}

/// The server may take nobody at all: who comes then does not wait.
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

/// The test has an end of each socket, too.
fn allow_sockets() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}
