//! Blocking requests to other services: webhooks, witnesses and time-stamping authorities.
//!
//! Each request runs on a thread of its own rather than on the runtime's pool, so that the program need not wait for it when
//! it stops.

use std::fmt::Display;

use tokio::sync::{Semaphore, oneshot};

/// The most requests of one kind at a time, since each holds a thread. It is more than a few tenants send, so that services
/// which do not answer leave room for others.
const MAX_REQUESTS: usize = 64;

/// The requests of one kind.
pub(crate) struct Outgoing {
    /// The name of their threads.
    name: &'static str,
    permits: Semaphore,
}

impl Outgoing {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, permits: Semaphore::const_new(MAX_REQUESTS) }
    }

    /// Runs a request once fewer than [`MAX_REQUESTS`] others run, and returns its answer. The error is the reason why there
    /// is none.
    pub(crate) async fn send<T: Send + 'static, E: Display + Send + 'static>(
        &self,
        request: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, String> {
        let _permit = self.permits.acquire().await.map_err(|error| error.to_string())?;
        let (answered, answer) = oneshot::channel();
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let sent = thread.spawn(move || answered.send(request()).is_ok());
        sent.map_err(|error| error.to_string())?;
        let answer = answer.await.map_err(|error| error.to_string())?;
        answer.map_err(|error| error.to_string())
    }
}
