//! PostgreSQL for tests and benchmarks: servers started for one test program, in a temporary folder, and PgBouncer in
//! front of them.
//!
//! Each server is started by a shell that waits until its standard input is closed, and then kills the server. The
//! test process holds the other end of that pipe, so no server outlives it, however the process ends. PostgreSQL and
//! PgBouncer refuse to run as root: there they run as the user `postgres`.
//!
//! `SWARM_POSTGRES_BIN` names the folder of its programs; the newest below `/usr/lib/postgresql` unless it is set.
//!
//! Everything here panics when it cannot be set up: a test that cannot be set up has failed.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "it is for tests")]

mod pgbouncer;
mod ports;
mod proxy;

use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

pub use pgbouncer::PgBouncer;
pub use proxy::Proxy;

use ports::free_port;

/// The script of that shell. It begins with the folder of the programs and that of the files. When it reads the
/// word `keep`, it leaves the files for the next start. Killed with its children, the server loses what it has not
/// written to the files. `SMALL_DISK` is the size of a disk at `small`, which only this shell and its children see.
const WATCH: &str = r#"
    trap "" HUP INT TERM
    programs=$1 folder=$2; shift 2
    as=
    if [ "$(id -u)" = 0 ]; then
        as="setpriv --reuid=postgres --regid=postgres --clear-groups"
        chown -R postgres "$folder"
    fi
    cd "$folder"
    [ -d socket ] || $as mkdir socket
    [ -z "$SMALL_DISK" ] || { mkdir small && mount -t tmpfs \
        -o "size=$SMALL_DISK,uid=$(id -u postgres),mode=700" none small || exit; }
    [ -d data ] || $as "$programs/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync \
        > initdb.log 2>&1 || cat initdb.log >&2
    $as "$programs/postgres" -D data "$@" >> server.log 2>&1 & server=$!
    read word
    children=$(cat /proc/$server/task/$server/children)
    kill -9 $server $children 2> /dev/null; wait
    for child in $children; do while kill -0 $child 2> /dev/null; do sleep 0.05; done; done
    [ -z "$SMALL_DISK" ] || umount small
    [ "$word" = keep ] || rm -rf "$folder"
"#;

/// A PostgreSQL server, killed when it is dropped, and its files with it.
#[derive(Debug)]
pub struct Server {
    /// Its port.
    pub port: u16,
    /// The folder of its files.
    pub folder: PathBuf,
    options: Vec<String>,
    /// The size of its small disk, if it has one.
    small_disk: Option<&'static str>,
    shell: Option<Child>,
}

impl Server {
    /// Starts a server with these settings, `name=value`.
    pub fn start(options: &[&str]) -> Self {
        let options = options.iter().map(ToString::to_string).collect();
        let mut server = Self::stopped(options);
        server.resume();
        server
    }

    fn stopped(options: Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        Self { port: free_port(), folder, options, small_disk: None, shell: None }
    }

    /// Starts a server with a tablespace `small` on a disk of 32 MiB. `None`, after a line on standard error, where this
    /// process may not mount one.
    #[expect(
        clippy::explicit_write,
        reason = "the harness does not capture it, as it would `eprintln`"
    )]
    pub fn start_with_small_disk() -> Option<Self> {
        let mount = "mount -t tmpfs none /mnt";
        let tried = Command::new("unshare").args(["--mount", "sh", "-c", mount]).output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            writeln!(stderr(), "SKIPPED: a full disk: only root may mount one").unwrap();
            return None;
        }
        let mut server = Self::stopped(Vec::new());
        server.small_disk = Some("32m");
        server.resume();
        let location = server.folder.join("small").display().to_string();
        server.psql(&format!("CREATE TABLESPACE small LOCATION '{location}'"));
        server.psql("CREATE TABLE filler (text text) TABLESPACE small");
        Some(server)
    }

    /// Fills the small disk.
    pub fn fill_disk(&self) {
        let fill = "INSERT INTO filler SELECT repeat('-', 1000) FROM generate_series(1, 100000)";
        assert_eq!(self.try_psql("postgres", fill), None);
    }

    /// Makes room on the small disk again.
    pub fn empty_disk(&self) {
        self.psql("DROP TABLE filler");
    }

    /// Restarts it with the same port and files.
    pub fn resume(&mut self) {
        let mut shell = match self.small_disk {
            Some(_) => Command::new("unshare"),
            None => Command::new("sh"),
        };
        if let Some(size) = self.small_disk {
            shell.args(["--mount", "sh"]).env("SMALL_DISK", size);
        }
        shell.args(["-c", WATCH, "sh"]).arg(programs()).arg(&self.folder);
        shell.args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
        let set = [
            "max_connections=300",
            "shared_buffers=32MB",
            // Below its data folder.
            "unix_socket_directories=../socket",
        ];
        for option in set.into_iter().chain(self.options.iter().map(String::as_str)) {
            shell.args(["-c", option]);
        }
        self.shell = Some(shell.stdin(Stdio::piped()).spawn().unwrap());
        let mut tries = 0;
        while self.try_psql("postgres", "SELECT 1").is_none() {
            tries += 1;
            assert!(tries < 600, "postgres does not start: {}", self.log());
            sleep(Duration::from_millis(100));
        }
    }

    /// Starts a standby that follows it, and makes its commits wait for that one.
    pub fn with_standby(&self) -> Self {
        let mut standby = Self::stopped(Vec::new());
        let copied = Command::new(programs().join("pg_basebackup"))
            .args(["-h", "127.0.0.1", "-U", "postgres", "-c", "fast", "-R", "-N"])
            .args(["-p", &self.port.to_string(), "-D"])
            .arg(standby.folder.join("data"))
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        standby.resume();
        self.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.psql("SELECT pg_reload_conf()");
        let waits = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while self.psql(waits) != "1" {
            sleep(Duration::from_millis(50));
        }
        standby
    }

    /// Makes it a server that takes writes.
    pub fn promote(&self) {
        assert_eq!(self.psql("SELECT pg_promote()"), "t");
    }

    /// Kills it, as the kernel would when memory runs out.
    pub fn kill(&mut self) {
        self.end("keep");
    }

    fn end(&mut self, word: &str) {
        if let Some(mut shell) = self.shell.take() {
            if let Some(mut stdin) = shell.stdin.take() {
                writeln!(stdin, "{word}").unwrap();
            }
            shell.wait().unwrap();
        }
    }

    /// The address of its database, with a schema of its own for the caller.
    pub fn url(&self) -> String {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let schema = SCHEMAS.fetch_add(1, Ordering::Relaxed);
        format!("{}?schema=test_{schema}", self.address())
    }

    /// The folder of its Unix socket, which anyone may connect to.
    pub fn socket_folder(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The address of its database.
    pub fn address(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Replaces the clock of the store at this address by one that stands still, at this many milliseconds since
    /// 1970.
    pub fn set_clock(&self, url: &str, millis: i64) {
        let (_, schema) = url.split_once("schema=").unwrap();
        self.psql(&format!(
            "CREATE OR REPLACE FUNCTION {schema}.clock(at timestamptz) RETURNS bigint LANGUAGE sql VOLATILE
             AS 'SELECT {millis}::bigint'"
        ));
    }

    /// Runs statements as its superuser; returns what they print.
    pub fn psql(&self, statements: &str) -> String {
        let printed = self.try_psql("postgres", statements);
        printed.unwrap_or_else(|| panic!("psql failed: {statements}\n{}", self.log()))
    }

    /// The same as another user; `None` if they fail.
    pub fn try_psql(&self, user: &str, statements: &str) -> Option<String> {
        let psql = Command::new(programs().join("psql"))
            .args([
                "-h",
                "127.0.0.1",
                "-U",
                user,
                "-d",
                "postgres",
                "-XAtq",
                "-v",
                "ON_ERROR_STOP=1",
            ])
            .args(["-p", &self.port.to_string(), "-c", statements])
            .env("PGCONNECT_TIMEOUT", "20")
            .stderr(Stdio::null())
            .output()
            .unwrap();
        psql.status.success().then(|| String::from_utf8(psql.stdout).unwrap().trim().to_owned())
    }

    /// Gives it a file that nobody else may read.
    pub fn own(&self, file: &Path) {
        let own = "chmod 600 \"$1\" && { [ \"$(id -u)\" != 0 ] || chown postgres \"$1\"; }";
        assert!(Command::new("sh").args(["-c", own, "sh"]).arg(file).status().unwrap().success());
    }

    /// What it has logged last.
    fn log(&self) -> String {
        let log = std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("");
    }
}

/// The folder of the programs.
fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os("SWARM_POSTGRES_BIN") {
        return named.into();
    }
    let releases = std::fs::read_dir("/usr/lib/postgresql");
    let releases = releases.expect("no /usr/lib/postgresql: install postgresql");
    let release = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        Some((number, path.join("bin")))
    };
    releases.filter_map(release).max().expect("no release of postgresql").1
}
