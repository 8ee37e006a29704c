//! The allocator of the program, and how freed memory gets back to the system.

use std::hint::black_box;
use std::time::Duration;

use swarm_http::Site;

/// mimalloc, because a take makes many small, short-lived allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The size of a block whose release makes mimalloc look for memory to give back, in bytes.
const BLOCK: usize = 1 << 20;

/// How often a block is released. mimalloc keeps freed memory for about as long.
const EVERY: Duration = Duration::from_secs(1);

/// Forgets idle answers, and gives freed memory back to the system while the server is idle. mimalloc does so only when more
/// is freed, some time after the first: a server that nobody asks anything would keep what its last clients made it take.
pub(crate) async fn give_back(site: &Site) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(EVERY).await;
        site.forget_idle_answers();
        drop(black_box(Vec::<u8>::with_capacity(black_box(BLOCK))));
    }
}
