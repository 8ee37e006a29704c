//! Streams of events: the entries of the log, as `text/event-stream`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt as _};
use swarm_core::Error;
use swarm_core::domain::Seq;
use swarm_core::service::{Followed, LogFilter};
use swarm_core::store::LogPosition;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Place;
use crate::log_tail::{Recent, event_text};
use crate::tenants::ServedTenant;
use crate::workers::WorkerPool;

/// Time without an event after which a comment shows that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Entries that are read from the store at a time.
const ROWS: usize = 250;

/// A stream that has more entries before it than this reads them on the worker pool, so that requests do not wait for the texts
/// of all of them.
const NEAR: u64 = 128;

/// A stream of the entries of a tenant's log, which begins when it is first polled.
#[derive(Clone)]
pub(crate) struct EventStream {
    pub(crate) served: Arc<ServedTenant>,
    pub(crate) workers: Arc<WorkerPool>,
    /// The log, and its end when the client asked.
    pub(crate) position: LogPosition,
    /// The number after which it begins.
    pub(crate) after: Seq,
    pub(crate) filter: LogFilter,
    pub(crate) _place: Arc<Place>,
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The event that says that this is another log than the client may have read, or that it went back.
fn reset(LogPosition { log, size: Seq(size), .. }: &LogPosition) -> Bytes {
    let data = format!("{{\"log\":{log},\"size\":{size}}}");
    format!("id: {size}\nevent: reset\ndata: {data}\n\n").into()
}

/// What a read of the store found.
enum Next {
    Entries(Bytes, Seq),
    /// Another log has begun: its event.
    OtherLog(Bytes),
    Nothing,
}

impl EventStream {
    /// The text of the stream. It ends when the server stops, the store fails or, after an event that says so, another log begins: the
    /// client connects again, with the number of the last event.
    pub(crate) fn into_texts(self) -> impl Stream<Item = Bytes> + Send + use<> {
        let mut stopping = self.stopping.clone();
        let stopped = async move {
            let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
        };
        let tail = self.served.tail().follow(self.served.tenant());
        let reader = Reader { stream: self, tail, is_open: false, is_over: false };
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
    /// Whether another log has begun.
    is_over: bool,
}

impl Reader {
    /// The next text; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let deadline = Instant::now() + HEARTBEAT;
        if !std::mem::replace(&mut self.is_open, true) {
            return Ok(Some(self.stream.open()));
        }
        if self.is_over {
            return Ok(None);
        }
        let log = self.stream.position.log;
        loop {
            let recent = Arc::clone(&self.tail.borrow_and_update());
            let stream = &mut self.stream;
            let near = recent.text_near(log, stream.after, &stream.filter, NEAR);
            let is_near = near.is_some();
            let text = match near {
                Some(text) => {
                    stream.after = stream.after.max(recent.end);
                    text
                }
                None => match stream.read_on().await? {
                    Next::Entries(text, last) => {
                        stream.after = last;
                        text
                    }
                    Next::OtherLog(text) => {
                        self.is_over = true;
                        return Ok(Some(text));
                    }
                    Next::Nothing => return Ok(None),
                },
            };
            if !text.is_empty() {
                return Ok(Some(text));
            }
            if !is_near {
                continue;
            }
            match timeout_at(deadline, self.tail.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Ok(None),
                Err(_elapsed) => return Ok(Some(Bytes::from_static(b":\n\n"))),
            }
        }
    }
}

impl EventStream {
    /// The first text. If the log does not have the entry after which the stream begins, it went back: an event says so, and the stream begins
    /// at the end of the log, because what is appended gets numbers that the client has seen.
    fn open(&mut self) -> Bytes {
        const OPEN: &[u8] = b": open\n\n";
        if self.after <= self.position.size {
            return Bytes::from_static(OPEN);
        }
        self.after = self.position.size;
        [OPEN, &reset(&self.position)].concat().into()
    }

    /// The next entries from the store, with the number of the last one.
    async fn read_on(&self) -> Result<Next, Error> {
        let (tenant, filter) = (self.served.tenant().clone(), self.filter.clone());
        let (log, after) = (self.position.log, self.after);
        let read = async move {
            let position = tenant.log_position().await?;
            if position.log != log {
                return Ok(Next::OtherLog(reset(&position)));
            }
            let entries = tenant.entries_after(after, ROWS).await?;
            Ok(match entries.last() {
                Some(Followed { line, .. }) => {
                    Next::Entries(event_text(entries.iter(), &filter).into(), line.seq)
                }
                None => Next::Nothing,
            })
        };
        self.workers.run(self.served.jobs(), read).await
    }
}
