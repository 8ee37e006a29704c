//! Streams of events: the entries of the log, as `text/event-stream`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt as _};
use swarm_core::domain::Seq;
use swarm_core::service::LogFilter;
use swarm_core::{Error, Tenant};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Place;
use crate::log_tail::{Recent, event_text};
use crate::tenants::ServedTenant;

/// Time without an event after which a comment shows that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Entries that are read from the store at a time.
const ROWS: usize = 250;

/// A stream of the entries of a tenant's log, which begins when it is first polled.
#[derive(Clone)]
pub(crate) struct EventStream {
    pub(crate) served: Arc<ServedTenant>,
    /// The number of the log.
    pub(crate) log: u64,
    /// The number after which it begins.
    pub(crate) after: Seq,
    pub(crate) filter: LogFilter,
    pub(crate) _place: Arc<Place>,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl EventStream {
    /// The text of the stream. It ends when the server stops, the store fails or another log begins: the client connects
    /// again, with the number of the last event.
    pub(crate) fn into_texts(self) -> impl Stream<Item = Bytes> + Send + use<> {
        let mut stopping = self.stopping.clone();
        let stopped = async move {
            let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
        };
        let tail = self.served.tail().follow(self.served.tenant());
        let reader = Reader { stream: self, tail, is_open: false };
        let texts = unfold(reader, |mut reader| async {
            let text = reader.next().await.ok().flatten()?;
            Some((text, reader))
        });
        texts.take_until(stopped)
    }
}

struct Reader {
    stream: EventStream,
    tail: watch::Receiver<Arc<Recent>>,
    /// Whether the client was told that the stream is open.
    is_open: bool,
}

impl Reader {
    /// The next text; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let deadline = Instant::now() + HEARTBEAT;
        if !std::mem::replace(&mut self.is_open, true) {
            return Ok(Some(Bytes::from_static(b": open\n\n")));
        }
        let log = self.stream.log;
        loop {
            let recent = Arc::clone(&self.tail.borrow_and_update());
            match recent.text_after(log, self.stream.after, &self.stream.filter) {
                Some(text) => {
                    self.stream.after = self.stream.after.max(recent.end);
                    if !text.is_empty() {
                        return Ok(Some(text));
                    }
                }
                None => {
                    if self.tenant().log_position().await?.log != log {
                        return Ok(None);
                    }
                    let entries = self.tenant().entries_after(self.stream.after, ROWS).await?;
                    let Some(last) = entries.last() else { return Ok(None) };
                    let last = last.line.seq;
                    let text = event_text(entries.iter(), &self.stream.filter);
                    self.stream.after = last;
                    if !text.is_empty() {
                        return Ok(Some(text.into()));
                    }
                    continue;
                }
            }
            match timeout_at(deadline, self.tail.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Ok(None),
                Err(_elapsed) => return Ok(Some(Bytes::from_static(b":\n\n"))),
            }
        }
    }

    fn tenant(&self) -> &Tenant {
        self.stream.served.tenant()
    }
}
