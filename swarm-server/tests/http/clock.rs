//! Clocks that tests set, for the memory store and for other programs.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use swarm_core::domain::Timestamp;
use swarm_redis_testing::ProgramClock;
use swarm_store_memory::MemoryStore;

/// A clock that stands still until it is set.
#[derive(Clone)]
pub struct Clock(Arc<ClockState>);

struct ClockState {
    millis: Mutex<i64>,
    /// The file where other programs read the time.
    program_clock: Option<ProgramClock>,
    /// Told the time whenever it changes.
    follower: Option<Follower>,
}

type Follower = Box<dyn Fn(i64) + Send + Sync>;

impl Clock {
    pub fn noon() -> Self {
        Self::showing(None, None)
    }

    /// A clock that another one follows, set by this function to milliseconds since 1970.
    pub fn followed_by(follower: impl Fn(i64) + Send + Sync + 'static) -> Self {
        Self::showing(None, Some(Box::new(follower)))
    }

    /// A clock for programs that are started in its [`environment`](Self::environment).
    pub fn of_programs() -> Self {
        Self::showing(Some(ProgramClock::at(0)), None)
    }

    fn showing(program_clock: Option<ProgramClock>, follower: Option<Follower>) -> Self {
        let noon = Timestamp::parse("noon", "2026-11-21T12:00:00Z").unwrap();
        let millis = Mutex::new(noon.millis());
        let clock = Self(Arc::new(ClockState { millis, program_clock, follower }));
        clock.move_by(0);
        clock
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(*self.0.millis.lock().unwrap()).unwrap()
    }

    pub fn move_by(&self, millis: i64) {
        let mut now = self.0.millis.lock().unwrap();
        *now += millis;
        if let Some(program_clock) = &self.0.program_clock {
            program_clock.set(*now);
        }
        if let Some(follower) = &self.0.follower {
            follower(*now);
        }
    }

    /// Sets it to this machine's time, and `millis` milliseconds.
    #[expect(clippy::disallowed_methods, reason = "the time that passes outside of the server")]
    pub fn move_to_system_time_plus(&self, millis: i64) {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let system_time = i64::try_from(since_1970.as_millis()).unwrap();
        self.move_by(system_time + millis - self.now().millis());
    }

    /// The time `millis` milliseconds from now, as text.
    pub fn after(&self, millis: i64) -> String {
        self.now().plus_millis(millis).to_string()
    }

    pub fn store(&self) -> MemoryStore {
        let clock = self.clone();
        MemoryStore::with_clock(move || clock.now())
    }

    /// The environment in which a program uses this clock.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        self.0.program_clock.as_ref().expect("a clock of programs").environment()
    }
}
