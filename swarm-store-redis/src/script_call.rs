//! A call of a script.

use redis::aio::ConnectionLike;
use redis::{Arg, Cmd, RedisResult, Script, ToRedisArgs};

/// A script with its keys and arguments: what `redis::ScriptInvocation` is, but that all of them share
/// two texts, where that has one for each.
pub(crate) struct ScriptCall<'a> {
    script: &'a Script,
    keys: Cmd,
    args: Cmd,
}

impl<'a> ScriptCall<'a> {
    /// With room for what most calls have.
    pub(crate) fn of(script: &'a Script) -> Self {
        let (keys, args) = (Cmd::with_capacity(8, 512), Cmd::with_capacity(16, 512));
        Self { script, keys, args }
    }

    pub(crate) fn key(&mut self, key: impl ToRedisArgs) -> &mut Self {
        self.keys.arg(key);
        self
    }

    pub(crate) fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.args.arg(arg);
        self
    }

    /// The command, which names the script by its SHA-1.
    pub(crate) fn command(&self) -> Cmd {
        let (keys, args) = (self.keys.args_iter(), self.args.args_iter());
        let texts = || keys.clone().chain(args.clone()).filter_map(text);
        let size = texts().map(<[u8]>::len).sum::<usize>() + 64;
        let mut command = Cmd::with_capacity(3 + keys.len() + args.len(), size);
        command.arg("EVALSHA").arg(self.script.get_hash()).arg(keys.len());
        for text in texts() {
            command.arg(text);
        }
        command
    }

    /// Loads the script into the server.
    pub(crate) async fn load(&self, connection: &mut impl ConnectionLike) -> RedisResult<()> {
        self.script.load_async(connection).await.map(drop)
    }
}

fn text(arg: Arg<&[u8]>) -> Option<&[u8]> {
    match arg {
        Arg::Simple(text) => Some(text),
        _ => None,
    }
}
