//! A proxy that delays what it forwards, and can withhold answers, or lose them.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// A proxy between stores and a server.
#[derive(Debug)]
pub struct Proxy {
    /// Its port.
    pub port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    delay: Duration,
    answers: watch::Sender<Answers>,
    /// The answers that were withheld so far.
    withheld: watch::Sender<usize>,
}

/// What happens to answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    Forwarded,
    Withheld,
    /// Those that were withheld are lost with their connections. Others are forwarded.
    Lost,
}

impl Proxy {
    /// Listens on a free port, and forwards to the server on port `server`, each way after this time.
    pub async fn in_front_of(server: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (answers, withheld) = (watch::Sender::new(Answers::Forwarded), watch::Sender::new(0));
        let state = Arc::new(State { delay, answers, withheld });
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let (asking, answered) = client.into_split();
                let (answering, asked) = server.into_split();
                tokio::spawn(forward(asking, asked, Arc::clone(&shared), false));
                tokio::spawn(forward(answering, answered, Arc::clone(&shared), true));
            }
        });
        Self { port, state }
    }

    /// Withholds all answers until they are [released](Self::release) or [lost](Self::lose).
    pub fn withhold(&self) {
        self.state.withheld.send_replace(0);
        self.state.answers.send_replace(Answers::Withheld);
    }

    /// Waits until an answer is withheld: so the server has done what it was asked to.
    pub async fn has_withheld(&self) {
        let mut withheld = self.state.withheld.subscribe();
        withheld.wait_for(|answers| *answers > 0).await.unwrap();
    }

    /// Forwards answers again, beginning with those withheld.
    pub fn release(&self) {
        self.state.answers.send_replace(Answers::Forwarded);
    }

    /// Closes the connections whose answers are withheld, and forwards those of others again.
    pub fn lose(&self) {
        self.state.answers.send_replace(Answers::Lost);
    }
}

/// Forwards bytes in one direction until either side closes.
async fn forward(
    mut from: impl AsyncRead + Unpin + Send + 'static,
    mut to: impl AsyncWrite + Unpin,
    state: Arc<State>,
    are_answers: bool,
) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let delay = state.delay;
    tokio::spawn(async move {
        let mut bytes = vec![0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            let due = Instant::now() + delay;
            if sender.send((due, bytes[..length].to_vec())).is_err() {
                return;
            }
        }
    });
    let mut answers = state.answers.subscribe();
    while let Some((due, bytes)) = receiver.recv().await {
        sleep_until(due).await;
        if are_answers && *answers.borrow() == Answers::Withheld {
            state.withheld.send_modify(|answers| *answers += 1);
            let end = *answers.wait_for(|it| *it != Answers::Withheld).await.unwrap();
            if end == Answers::Lost {
                return;
            }
        }
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}
