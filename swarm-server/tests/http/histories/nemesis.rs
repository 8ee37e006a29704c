//! Kills servers and the store while the clients are at work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::histories::history::{EventKind, History};
use crate::histories::servers::Servers;
use crate::histories::workload::Random;

/// What is killed at once.
struct Kill {
    servers: &'static [usize],
    store: bool,
}

/// Everything that is killed. The first ones come first; afterwards their order is random.
const KILLS: [Kill; 6] = [
    Kill { servers: &[0], store: false },
    Kill { servers: &[], store: true },
    Kill { servers: &[1], store: true },
    Kill { servers: &[1], store: false },
    Kill { servers: &[0, 1], store: false },
    Kill { servers: &[0, 1], store: true },
];

/// The least number of kills in a history: one of a server, and one of the store.
pub const MIN_KILLS: usize = 2;

/// Kills until `is_over`, and counts in `kills`.
pub fn run(servers: &Servers, history: &History, is_over: &AtomicBool, kills: &AtomicUsize) {
    let mut random = Random(400);
    while !is_over.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(600 + random.below(1_500)));
        let number = kills.load(Ordering::SeqCst);
        let index =
            if number < MIN_KILLS { number } else { random.below(KILLS.len() as u64) as usize };
        let begin = Instant::now();
        let kill = &KILLS[index];
        let store = kill.store && servers.store_is_a_process();
        kill.servers.iter().for_each(|server| servers.kill(*server));
        if store {
            servers.kill_store();
            // Long enough for requests to meet a store that is gone.
            thread::sleep(Duration::from_millis(random.below(500)));
            servers.restart_store();
        }
        kill.servers.iter().for_each(|server| servers.restart(*server));
        servers.wait_until_ready();
        history.record(begin, EventKind::Killed { servers: kill.servers.len(), store });
        kills.fetch_add(1, Ordering::SeqCst);
    }
}
