//! Attackers with many connections, from a separate address, on an idle-priority thread.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{io, panic};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use swarm_benches::shipped::process::give_way;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, timeout};

/// The addresses of the attackers begin here. No honest client has one.
const ADDRESSES: [u8; 4] = [127, 0, 0, 2];

/// Bytes per write; small, because honest clients on the same core cannot run while the system copies.
const MAX_WRITE: usize = 32 << 10;

/// Connections that each send one of the texts, then the next.
pub struct Strangers {
    /// How many addresses they have, which they share evenly.
    pub addresses: u8,
    pub connections: usize,
    pub texts: Vec<Vec<u8>>,
    pub then: Then,
}

/// What a connection does after sending a text.
#[derive(Clone, Copy)]
pub enum Then {
    /// Reads until it is closed.
    Read,
    /// Reads until it is closed, this many bytes in a tenth of a second.
    ReadSlowly(usize),
    /// Reads for this long, and sends the text again, on a new connection when this one was closed.
    SendAgain(Duration),
    /// Reads for this long, or until it is closed, then opens another connection.
    ReadFor(Duration),
}

/// Running attackers; stopped on drop.
pub struct RunningStrangers {
    sent: Arc<AtomicUsize>,
    /// The number of connections on which nothing is sent after the first text.
    followers: usize,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Strangers {
    /// The address of a connection, with any port.
    fn address(&self, nth: usize) -> SocketAddr {
        let [a, b, c, first] = ADDRESSES;
        let nth = u8::try_from(nth % usize::from(self.addresses)).expect("less than 256");
        SocketAddr::from(([a, b, c, first + nth], 0))
    }

    /// Starts them.
    pub fn begin(self, server: SocketAddr) -> RunningStrangers {
        let (stop, stopped) = oneshot::channel();
        let sent = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&sent);
        let followers = if matches!(self.then, Then::ReadFor(_)) { self.connections } else { 0 };
        let thread = thread::spawn(move || {
            give_way();
            allow_sockets();
            let all = LocalSet::new();
            let (strangers, turn) = (Rc::new(self), Rc::<Cell<usize>>::default());
            for nth in 0..strangers.connections {
                let (strangers, turn, count) =
                    (Rc::clone(&strangers), Rc::clone(&turn), Arc::clone(&count));
                all.spawn_local(async move {
                    loop {
                        let text = strangers
                            .texts
                            .get(turn.replace(turn.get() + 1) % strangers.texts.len());
                        let text = text.expect("within");
                        let of = (strangers.address(nth), server);
                        let visited = visit(of, text, strangers.then, &count).await;
                        if visited.is_err() {
                            sleep(Duration::from_millis(10)).await;
                        }
                    }
                });
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let _ = runtime.expect("a runtime").block_on(all.run_until(stopped));
        });
        RunningStrangers { sent, followers, stop: Some(stop), thread: Some(thread) }
    }
}

impl RunningStrangers {
    /// Waits until all followers have asked what they follow.
    ///
    /// # Panics
    /// When it takes a minute.
    pub fn wait_for_followers(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.sent() < self.followers {
            assert!(Instant::now() < end, "{} of {}", self.sent(), self.followers);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The number of texts sent so far.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for RunningStrangers {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(Err(panicked)) = self.thread.take().map(JoinHandle::join) {
            panic::resume_unwind(panicked);
        }
    }
}

/// Opens a connection, and uses it until the server closes it.
async fn visit(
    (own, server): (SocketAddr, SocketAddr),
    text: &[u8],
    then: Then,
    sent: &AtomicUsize,
) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(own)?;
    let mut socket = socket.connect(server).await?;
    loop {
        for piece in text.chunks(MAX_WRITE) {
            socket.write_all(piece).await?;
        }
        sent.fetch_add(1, Ordering::Relaxed);
        match then {
            Then::Read => return read(&mut socket, 1 << 18, Duration::ZERO).await,
            Then::ReadSlowly(bytes) => {
                return read(&mut socket, bytes, Duration::from_millis(100)).await;
            }
            Then::ReadFor(time) => {
                let _ = timeout(time, read(&mut socket, 1 << 12, Duration::ZERO)).await;
                return Ok(());
            }
            Then::SendAgain(pause) => {
                let start = Instant::now();
                let closed = timeout(pause, read(&mut socket, 1 << 12, Duration::ZERO)).await;
                if closed.is_ok() {
                    sleep(pause.saturating_sub(start.elapsed())).await;
                    return Ok(());
                }
            }
        }
    }
}

/// Reads until the server closes, this many bytes at a time.
async fn read(socket: &mut TcpStream, bytes: usize, pause: Duration) -> io::Result<()> {
    let mut buffer = vec![0; bytes];
    while socket.read(&mut buffer).await? > 0 {
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
    Ok(())
}

fn allow_sockets() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("more sockets");
}
