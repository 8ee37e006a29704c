//! A manual clock for child processes.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

/// A clock that stands still until it is set. Programs started with its [`environment`](Self::environment),
/// `redis-server` among them, read the time from it.
#[derive(Debug)]
pub struct ProgramClock {
    /// The file that programs read the time from.
    face: File,
    /// The paths of the preloaded library, and of the file that it reads.
    paths: [String; 2],
    /// The folder of both files, deleted on drop.
    _folder: TempDir,
}

impl ProgramClock {
    /// A clock set to this many milliseconds since 1970.
    pub fn at(millis: i64) -> Self {
        static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let folder = tempfile::tempdir().unwrap();
            fs::read(compiled(include_str!("clock.c"), folder.path())).unwrap()
        });
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name).to_str().unwrap().to_owned();
        let paths = ["clock.so", "face"].map(path);
        fs::write(&paths[0], &*LIBRARY).unwrap();
        let face = File::create(&paths[1]).unwrap();
        let clock = Self { face, paths, _folder: folder };
        clock.set(millis);
        clock
    }

    /// Sets it to this many milliseconds since 1970.
    pub fn set(&self, millis: i64) {
        self.face.write_all_at(&millis.to_ne_bytes(), 0).unwrap();
    }

    /// The environment variables that make a program use this clock.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        let [library, face] = &self.paths;
        [("LD_PRELOAD", library), ("SWARM_TEST_CLOCK", face)]
    }
}

/// Compiles a C library to be preloaded into a program; returns its path in `folder`.
pub fn compiled(source: &str, folder: &Path) -> PathBuf {
    let library = folder.join("preloaded.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o"]);
    let compiler = compiler.arg(&library).stdin(Stdio::piped()).spawn();
    let mut compiler = compiler.expect("cc is not on the PATH: install gcc");
    compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(compiler.wait().unwrap().success(), "cc cannot compile this");
    library
}
