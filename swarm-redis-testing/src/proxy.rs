//! A proxy that drops requests and answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A proxy between a client and a server. Each loss closes a connection at a script call: either
/// before the server receives the call, or after the server ran it and before the client receives
/// the answer.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    settings: Arc<Settings>,
}

#[derive(Debug, Default)]
struct Settings {
    server: AtomicU16,
    spared: AtomicUsize,
    lost_calls: AtomicUsize,
    lost_answers: AtomicUsize,
    opened: AtomicUsize,
    /// Connections with a lower number forward nothing, though they stay open.
    mute: AtomicUsize,
}

impl Settings {
    fn is_mute(&self, connection: usize) -> bool {
        connection < self.mute.load(Ordering::SeqCst)
    }
}

impl Proxy {
    /// Listens on a free port, and forwards to the server on port `server`.
    pub async fn in_front_of(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let settings = Arc::<Settings>::default();
        settings.server.store(server, Ordering::SeqCst);
        let shared = Arc::clone(&settings);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = ("127.0.0.1", shared.server.load(Ordering::SeqCst));
                if let Ok(server) = TcpStream::connect(server).await {
                    tokio::spawn(relay(client, server, Arc::clone(&shared)));
                }
            }
        });
        Self { port, settings }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL for a store.
    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Drops the next `calls` script calls, then the answers of the next `answers` calls.
    pub fn drop_next(&self, calls: usize, answers: usize) {
        self.settings.lost_calls.store(calls, Ordering::SeqCst);
        self.settings.lost_answers.store(answers, Ordering::SeqCst);
    }

    /// Forwards this many script calls before any is dropped.
    pub fn let_pass(&self, scripts: usize) {
        self.settings.spared.store(scripts, Ordering::SeqCst);
    }

    /// Stops forwarding on all open connections, without closing them.
    pub fn mute(&self) {
        self.settings.mute.store(self.settings.opened.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Forwards new connections to another server.
    pub fn forward_to(&self, server: u16) {
        self.settings.server.store(server, Ordering::SeqCst);
    }
}

/// Forwards bytes in both directions, until a loss or the end of either side closes both.
async fn relay(mut client: TcpStream, mut server: TcpStream, settings: Arc<Settings>) {
    let number = settings.opened.fetch_add(1, Ordering::SeqCst);
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let mut doomed = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let asked = &asked[..length];
                if settings.is_mute(number) {
                    continue;
                }
                let script = asked.windows(4).any(|window| window == b"EVAL");
                let script = script && !take_one(&settings.spared);
                if script && take_one(&settings.lost_calls) {
                    return;
                }
                doomed |= script && take_one(&settings.lost_answers);
                if server.write_all(asked).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if settings.is_mute(number) {
                    continue;
                }
                if doomed {
                    // Only the answer is lost: what else the client has sent by then arrives.
                    let _ = client.shutdown().await;
                    let _ = tokio::io::copy(&mut client, &mut server).await;
                    return;
                }
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn take_one(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}
