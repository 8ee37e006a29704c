//! A call of a script, encoded directly into the command that is sent.

use redis::aio::ConnectionLike;
use redis::{Cmd, RedisResult, Script, ToRedisArgs};

/// The size of the arguments from which a call is long, in bytes: more than that of the takes that are usually filed
/// together.
pub(crate) const LONG: usize = 256 << 10;

/// A call of a script. `redis::ScriptInvocation` would allocate each key and argument first.
pub(crate) struct ScriptCall<'a> {
    script: &'a Script,
    command: Cmd,
}

impl<'a> ScriptCall<'a> {
    /// A call with these keys and no arguments.
    pub(crate) fn of(script: &'a Script, keys: &[impl ToRedisArgs]) -> Self {
        // Enough for most calls, filing a take included.
        let mut command = Cmd::with_capacity(24, 4096);
        command.arg("EVALSHA").arg(script.get_hash()).arg(keys.len()).arg(keys);
        Self { script, command }
    }

    pub(crate) fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.command.arg(arg);
        self
    }

    /// The command, which names the script by its SHA-1.
    pub(crate) fn command(&self) -> &Cmd {
        &self.command
    }

    /// Whether its arguments are so long that other calls should not wait until they are sent.
    pub(crate) fn is_long(&self) -> bool {
        let size = |arg: redis::Arg<&[u8]>| match arg {
            redis::Arg::Simple(bytes) => bytes.len(),
            _ => 0,
        };
        self.command.args_iter().map(size).sum::<usize>() >= LONG
    }

    /// Loads the script into the server.
    pub(crate) async fn load(&self, connection: &mut impl ConnectionLike) -> RedisResult<()> {
        self.script.load_async(connection).await.map(drop)
    }
}
