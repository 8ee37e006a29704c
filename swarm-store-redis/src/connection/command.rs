//! A command, a script call, or a script call that waits for replicas, as sent over a connection.

use crate::script_call::ScriptCall;
use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ServerErrorKind};

/// How long a commit waits for replicas, in milliseconds. Less than the response timeout.
const REPLICATION_TIMEOUT: u32 = 2_000;

/// What is sent over a connection.
#[derive(Clone, Copy)]
pub(super) enum Command<'a> {
    Plain(&'a Cmd),
    Script(&'a ScriptCall<'a>),
    Replicated(&'a ReplicatedScript<'a>),
}

impl Command<'_> {
    pub(super) async fn execute<T: FromRedisValue>(
        self,
        connection: &mut impl ConnectionLike,
    ) -> RedisResult<T> {
        match self {
            Self::Plain(cmd) => cmd.query_async(connection).await,
            Self::Script(script) => match script.command().query_async(connection).await {
                Err(error) if is_unknown_script(&error) => {
                    script.command_with_text().query_async(connection).await
                }
                answer => answer,
            },
            Self::Replicated(script) => Box::pin(script.execute(connection)).await,
        }
    }
}

/// Whether the server does not have the script.
fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// A script call that is acknowledged once enough replicas have its writes.
pub(super) struct ReplicatedScript<'a> {
    pub(super) script: &'a ScriptCall<'a>,
    pub(super) fence: &'a str,
    pub(super) replicas: u8,
}

impl ReplicatedScript<'_> {
    /// Sends the whole pipeline over one connection; a retry repeats all of it.
    async fn execute<T: FromRedisValue>(
        &self,
        connection: &mut impl ConnectionLike,
    ) -> RedisResult<T> {
        let pipeline = self.pipeline(self.script.command().clone());
        let answer: RedisResult<(T, u8)> = match pipeline.query_async(connection).await {
            Err(error) if is_unknown_script(&error) => {
                let pipeline = self.pipeline(self.script.command_with_text());
                pipeline.query_async(connection).await
            }
            answer => answer,
        };
        match answer? {
            (answer, reached) if reached >= self.replicas => Ok(answer),
            (_, reached) => Err(self.too_few(reached)),
        }
    }

    /// `WAIT` waits for the last write of its own connection. A script whose attempt was already
    /// committed over another connection writes nothing; therefore the pipeline always writes a key
    /// after it.
    fn pipeline(&self, script: Cmd) -> Pipeline {
        let mut pipeline = redis::pipe();
        pipeline.add_command(script);
        pipeline.cmd("SET").arg(self.fence).arg("").ignore();
        pipeline.cmd("WAIT").arg(self.replicas).arg(REPLICATION_TIMEOUT);
        pipeline
    }

    fn too_few(&self, reached: u8) -> RedisError {
        let detail = format!("{reached} of {}", self.replicas);
        (ErrorKind::Client, "not on as many replicas as asked for, in time", detail).into()
    }
}
