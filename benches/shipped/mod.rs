//! The released server: `swarm serve` as a separate process on one core, its clients on another, over real
//! sockets.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]

pub mod load;
pub mod process;
mod server_fixture;

use std::path::PathBuf;
use std::process::Command;

pub use server_fixture::{ADMIN, Author, ServerFixture, host};

/// Minimum, median and maximum.
pub fn spread<const N: usize>(mut numbers: [f64; N]) -> [f64; 3] {
    const { assert!(N > 0, "of nothing there is none") };
    numbers.sort_by(f64::total_cmp);
    [numbers[0], numbers[N / 2], numbers[N - 1]]
}

/// The binary of this checkout in the `dist` profile, or the one that `SWARM_PROGRAM` names. Prints what verifies
/// signatures in this build.
///
/// # Panics
/// When it does not build.
pub fn program() -> PathBuf {
    println!("signatures: {}", crate::signature_backend());
    if let Some(program) = std::env::var_os("SWARM_PROGRAM") {
        return program.into();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "--locked",
            "--profile=dist",
            "--quiet",
            "-p",
            "swarm-server",
            "--bin=swarm",
        ])
        .status();
    assert!(built.expect("cargo").success(), "the binary does not build");
    // This program is in target/release/deps.
    let own = std::env::current_exe().expect("it runs");
    own.ancestors().nth(3).expect("a folder").join("dist/swarm")
}
