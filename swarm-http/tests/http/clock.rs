//! Clocks of ours, for stores in memory and for other programs.

use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

use swarm_core::domain::Timestamp;
use swarm_store_memory::MemoryStore;
use tempfile::NamedTempFile;

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct Clock(Arc<Hands>);

struct Hands {
    millis: Mutex<i64>,
    /// Where other programs read them.
    face: Option<NamedTempFile>,
}

impl Clock {
    pub fn noon() -> Self {
        Self::showing(None)
    }

    /// For programs that are started in its [`environment`](Self::environment).
    pub fn of_programs() -> Self {
        Self::showing(Some(NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()))
    }

    fn showing(face: Option<NamedTempFile>) -> Self {
        let noon = Timestamp::parse("noon", "2026-11-21T12:00:00Z").unwrap();
        let clock = Self(Arc::new(Hands { millis: Mutex::new(noon.millis()), face }));
        clock.move_by(0);
        clock
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(*self.0.millis.lock().unwrap()).unwrap()
    }

    pub fn move_by(&self, millis: i64) {
        let mut now = self.0.millis.lock().unwrap();
        *now += millis;
        if let Some(face) = &self.0.face {
            face.as_file().write_all_at(&now.to_ne_bytes(), 0).unwrap();
        }
    }

    /// The moment so many milliseconds from now, as text.
    pub fn after(&self, millis: i64) -> String {
        self.now().plus_millis(millis).to_string()
    }

    pub fn store(&self) -> MemoryStore {
        let clock = self.clone();
        MemoryStore::with_clock(move || clock.now())
    }

    /// What makes a program go by it.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        let face = self.0.face.as_ref().expect("a clock of programs");
        [("LD_PRELOAD", &LIBRARY), ("SWARM_TEST_CLOCK", face.path().to_str().unwrap())]
    }
}

/// The path of `clock.c`, compiled.
static LIBRARY: LazyLock<String> = LazyLock::new(|| {
    let library = concat!(env!("CARGO_TARGET_TMPDIR"), "/clock.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/clock.c");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o", library, source]).status();
    let made = made.unwrap_or_else(|error| panic!("cc does not run (install gcc): {error}"));
    assert!(made.success(), "cc cannot compile {source}");
    library.to_owned()
});
