//! The progress bar, on standard error where that is a terminal.

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The delay before the bar is shown: short work shows none.
const DELAY: Duration = Duration::from_secs(1);

/// A bar that shows after a second, and is removed when this is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar for this number of steps; without a number, a counter. The template is one of `indicatif`.
    pub(crate) fn new(length: Option<u64>, template: &str) -> Self {
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(length, hidden);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if io::stderr().is_terminal() {
            let bar = bar.clone();
            thread::spawn(move || {
                thread::sleep(DELAY);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self(bar)
    }

    /// A count of requests.
    pub(crate) fn of_requests() -> Self {
        Self::new(None, "{spinner} {pos} requests {elapsed}")
    }

    /// Counts steps.
    pub(crate) fn add(&self, count: u64) {
        self.0.inc(count);
    }

    /// Adds to the number of steps.
    pub(crate) fn add_length(&self, count: u64) {
        self.0.inc_length(count);
    }

    /// Writes to the terminal without the bar in between.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    /// Removes the bar, so that messages begin on an empty line.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
