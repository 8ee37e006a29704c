//! PgBouncer in front of a server.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::Server;
use crate::ports::free_port;

/// The script that runs it in this folder, until its standard input is closed.
const WATCH: &str = r#"
    trap "" HUP INT TERM
    cd "$1"
    as=
    if [ "$(id -u)" = 0 ]; then
        as="setpriv --reuid=postgres --regid=postgres --clear-groups"
        chown -R postgres .
    fi
    PATH=$PATH:/usr/sbin
    $as pgbouncer pgbouncer.ini > pgbouncer.log 2>&1 & pooler=$!
    read word
    kill -9 $pooler; wait
    cd / && rm -rf "$1"
"#;

/// PgBouncer in transaction mode: each transaction may get another connection to the server. It is killed when it is
/// dropped, and its files with it.
#[derive(Debug)]
pub struct PgBouncer {
    /// Its port.
    pub port: u16,
    shell: Child,
}

impl PgBouncer {
    /// The connections to the server that it opens.
    pub const CONNECTIONS: usize = 20;

    /// Starts it in front of this server.
    ///
    /// It closes a connection to the server after some seconds. The schemas of many tests share these connections, and a session keeps
    /// a plan for each statement of each function that was made in it. PostgreSQL looks through all of them whenever another
    /// schema is created.
    pub fn in_front_of(server: &Server) -> Self {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap().keep());
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\nmax_client_conn = 1000\n\
             default_pool_size = {}\nserver_lifetime = 5\n",
            server.port,
            Self::CONNECTIONS
        );
        fs::write(folder.join("pgbouncer.ini"), settings).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", WATCH, "sh"]).arg(&folder);
        let pooler = Self { port, shell: shell.stdin(Stdio::piped()).spawn().unwrap() };
        pooler.wait(folder);
        pooler
    }

    fn wait(&self, folder: PathBuf) {
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(folder.join("pgbouncer.log")).unwrap_or_default();
        panic!("pgbouncer does not start, is it installed? {log}");
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
    }
}
