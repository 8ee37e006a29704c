//! Commits that wait for replicas.
//!
//! `WAIT` blocks its connection, and all that was sent over it later. So commits have connections of
//! their own, and one commit at a time has one: reads never wait, and 32 commits wait together.

use std::sync::atomic::{AtomicUsize, Ordering};

use redis::aio::ConnectionLike;
use redis::{
    ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ScriptInvocation, ServerErrorKind,
};
use tokio::sync::Mutex;

use crate::address::Address;
use crate::line::{Call, Line};

/// How many commits may wait at once.
const LANES: usize = 32;

/// How long they wait, in milliseconds: less than a server may take to answer.
const PATIENCE: u32 = 2_000;

/// What commits go over, one at a time on each lane, in turn.
pub(crate) struct Replicas {
    url: String,
    count: u8,
    /// Each is opened when it is first needed.
    lanes: [Mutex<Option<Line>>; LANES],
    turn: AtomicUsize,
}

impl Replicas {
    pub(crate) fn new(address: &Address) -> Self {
        Self {
            url: address.url.clone(),
            count: address.replicas,
            lanes: [const { Mutex::const_new(None) }; LANES],
            turn: AtomicUsize::new(0),
        }
    }

    pub(crate) fn count(&self) -> u8 {
        self.count
    }

    /// Runs a script, and waits until enough replicas have all that was written before its end.
    pub(crate) async fn commit<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
        fence: &str,
    ) -> RedisResult<T> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut lane = self.lanes[turn % LANES].lock().await;
        let line = match &mut *lane {
            Some(line) => line,
            none => none.insert(Line::open(&self.url).await?),
        };
        let commit = Replicated { script, fence, replicas: self.count };
        line.send(Call::Replicated(&commit)).await
    }
}

/// A script, and how many replicas are to have what came of it.
pub(crate) struct Replicated<'a> {
    script: &'a ScriptInvocation<'a>,
    fence: &'a str,
    replicas: u8,
}

impl Replicated<'_> {
    /// Sends all of it over one connection; whatever is sent again is sent whole.
    pub(crate) async fn over<T: FromRedisValue>(
        &self,
        connection: &mut impl ConnectionLike,
    ) -> RedisResult<T> {
        let all = self.pipeline();
        let answer: RedisResult<(T, u8)> = match all.query_async(connection).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.script.load_async(connection).await?;
                all.query_async(connection).await
            }
            answer => answer,
        };
        match answer? {
            (answer, reached) if reached >= self.replicas => Ok(answer),
            (_, reached) => Err(self.short(reached)),
        }
    }

    /// `WAIT` waits for what its own connection has written last. A script that finds its attempt
    /// done, over another connection, writes nothing: so that something is written after it, always.
    fn pipeline(&self) -> Pipeline {
        let mut all = redis::pipe();
        all.invoke_script(self.script);
        all.cmd("SET").arg(self.fence).arg("").ignore();
        all.cmd("WAIT").arg(self.replicas).arg(PATIENCE);
        all
    }

    fn short(&self, reached: u8) -> RedisError {
        let detail = format!("{reached} of {}", self.replicas);
        (ErrorKind::Client, "not on as many replicas as asked for, in time", detail).into()
    }
}
