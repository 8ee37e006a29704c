//! Commits that wait for replicas.
//!
//! `WAIT` blocks its connection, and all that was sent over it later. So commits have connections of
//! their own, and one commit at a time has one: reads never wait, and 32 commits wait together.

use std::sync::{Mutex, PoisonError};

use redis::aio::ConnectionLike;
use redis::{
    ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ScriptInvocation, ServerErrorKind,
};
use tokio::sync::Semaphore;

use crate::address::Address;
use crate::line::{Call, Line};

/// How many commits may wait at once.
const LINES: usize = 32;

/// How long they wait, in milliseconds: less than a server may take to answer.
const PATIENCE: u32 = 2_000;

/// What commits go over, one at a time on each line.
pub(crate) struct Replicas {
    url: String,
    count: u8,
    turns: Semaphore,
    /// Those that no commit is on.
    free: Mutex<Vec<Line>>,
}

impl Replicas {
    pub(crate) fn new(address: &Address) -> Self {
        let (url, count) = (address.url.clone(), address.replicas);
        Self { url, count, turns: Semaphore::new(LINES), free: Mutex::default() }
    }

    pub(crate) fn count(&self) -> u8 {
        self.count
    }

    /// Runs a script, and waits until enough replicas have all that was written before its end. A
    /// commit that is given up in the middle takes its line with it, which may be blocked.
    pub(crate) async fn commit<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
        fence: &str,
    ) -> RedisResult<T> {
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let line = match free {
            Some(line) => line,
            None => Line::open(&self.url).await?,
        };
        let commit = Replicated { script, fence, replicas: self.count };
        let answer = line.send(Call::Replicated(&commit)).await;
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        answer
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
