//! Scripts, and calls of them, encoded directly into the command that is sent.

use redis::{Arg, Cmd, ToRedisArgs};

/// The size of the arguments from which a call is long, in bytes: more than that of the takes that are usually filed
/// together.
pub(crate) const LONG: usize = 256 << 10;

/// A script. A server that has run it knows it by the SHA-1 of its text.
pub(crate) struct Script {
    text: String,
    sha1: String,
}

impl Script {
    pub(crate) fn new(text: String) -> Self {
        let sha1 = sha1_smol::Sha1::from(&text).digest().to_string();
        Self { text, sha1 }
    }
}

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
        command.arg("EVALSHA").arg(&script.sha1).arg(keys.len()).arg(keys);
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

    /// The same with the text of the script, for a server that does not know it.
    pub(crate) fn command_with_text(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(&self.script.text);
        for arg in self.arguments().skip(2) {
            command.arg(arg);
        }
        command
    }

    /// Whether its arguments are so long that other calls should not wait until they are sent.
    pub(crate) fn is_long(&self) -> bool {
        self.arguments().map(<[u8]>::len).sum::<usize>() >= LONG
    }

    fn arguments(&self) -> impl Iterator<Item = &[u8]> {
        self.command.args_iter().map(|arg| match arg {
            Arg::Simple(bytes) => bytes,
            _ => &[],
        })
    }
}
