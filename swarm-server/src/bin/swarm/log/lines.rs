//! Lines of text, as `tracing_subscriber::fmt` writes them where there are no colours, at a third of
//! its cost: each request is a line.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use swarm_core::Timestamp;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;
use tracing_subscriber::fmt::MakeWriter;

use super::fields::Fields;
use super::spans::{self, OpenSpans};

thread_local! {
    /// Where a line is put together, or what is said of a span.
    static TEXT: Cell<String> = const { Cell::new(String::new()) };
    /// A second since 1970, and how lines of that second begin.
    static SECOND: Cell<(u64, [u8; DATE])> = const { Cell::new((u64::MAX, [0; DATE])) };
}

/// The length of a date and a time up to its seconds.
const DATE: usize = "2026-11-21T22:45:00".len();

/// Writes each event as a line, in one piece.
pub(super) struct Lines<W> {
    spans: OpenSpans,
    out: W,
}

impl<W> Lines<W> {
    pub(super) fn new(out: W) -> Self {
        Self { spans: OpenSpans::default(), out }
    }

    fn write(&self, line: &mut String, event: &Event<'_>) {
        write_time(line);
        line.push_str(match *event.metadata().level() {
            Level::ERROR => " ERROR ",
            Level::WARN => "  WARN ",
            Level::INFO => "  INFO ",
            Level::DEBUG => " DEBUG ",
            Level::TRACE => " TRACE ",
        });
        let span = event.is_contextual().then(spans::entered).flatten();
        if let Some(span) = event.parent().or(span.as_ref()) {
            self.spans.write(span, line);
            line.push(' ');
        }
        line.push_str(event.metadata().target());
        line.push_str(": ");
        event.record(&mut Fields::new(line));
        line.push('\n');
    }
}

impl<W: for<'a> MakeWriter<'a> + 'static> Subscriber for Lines<W> {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        // Room for what a request is said to be, and for what is said of it later.
        let mut fields = String::with_capacity(256);
        span.record(&mut Fields::new(&mut fields));
        let entered = span.is_contextual().then(spans::entered).flatten();
        self.spans.open(span.metadata(), span.parent().cloned().or(entered), fields)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        with_text(|fields| {
            values.record(&mut Fields::new(fields));
            self.spans.add(span, fields);
        });
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        with_text(|line| {
            self.write(line, event);
            let _ = self.out.make_writer_for(event.metadata()).write_all(line.as_bytes());
        });
    }

    fn enter(&self, span: &Id) {
        spans::enter(span);
    }

    fn exit(&self, span: &Id) {
        spans::exit(span);
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.spans.share(span);
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        self.spans.close(&span)
    }

    fn current_span(&self) -> Current {
        self.spans.current()
    }
}

/// Lends an empty text. A value that is written to it may log something itself: that takes another text.
fn with_text(write: impl FnOnce(&mut String)) {
    let mut text = TEXT.try_with(Cell::take).unwrap_or_default();
    text.clear();
    write(&mut text);
    let _ = TEXT.try_with(|place| place.set(text));
}

/// Writes the time, to the microsecond.
#[expect(clippy::disallowed_methods, reason = "a line has the time of this process")]
fn write_time(line: &mut String) {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let second = since_1970.as_secs();
    let (known, mut date) = SECOND.get();
    if second != known {
        date = date_of(second).unwrap_or(date);
        SECOND.set((second, date));
    }
    line.push_str(std::str::from_utf8(&date).unwrap_or_default());
    let _ = write!(line, ".{:06}Z", since_1970.subsec_micros());
}

fn date_of(second: u64) -> Option<[u8; DATE]> {
    let millis = i64::try_from(second).ok()?.checked_mul(1_000)?;
    let text = Timestamp::from_millis(millis)?.to_string();
    text.as_bytes().first_chunk().copied()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use std::error::Error;
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing::Span;
    use tracing::field::Empty;
    use tracing::subscriber::with_default;

    use super::*;

    /// What was written, line by line.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<String>>>);

    impl io::Write for &Written {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Written {
        type Writer = &'a Self;

        fn make_writer(&'a self) -> &'a Self {
            self
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("outer \x1b[1m")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("inner \u{9b}")]
    struct Inner(#[source] io::Error);

    /// Everything that a line can have in it.
    fn log_everything() {
        tracing::info!("nothing");
        tracing::error!("a \x1b[31m \u{85}\x07 message of {} parts\n", 2);
        let outer = Outer(Inner(io::Error::other("disk")));
        let outer = &outer as &dyn Error;
        tracing::warn!(error = outer, text = "a \"quoted\"\nline é\x1b", "failed");
        tracing::debug!(error = outer.source().unwrap().source().unwrap(), "no cause");
        let absent: Option<&str> = None;
        let (wide, text) = (u128::MAX, "displayed \x1b");
        tracing::trace!(wide, small = -1_i8, ratio = 0.5, flag = true, absent, %text, ?absent);
        tracing::info!(target: "elsewhere", r#type = "raw");
        let outer =
            tracing::info_span!("request", id = %7, method = ?"GET", route = "/a", tenant = Empty);
        outer.record("tenant", "acme");
        let bare = tracing::info_span!("bare", later = Empty);
        tracing::info!(parent: &outer, "by name");
        outer.in_scope(|| {
            Span::current().record("tenant", "other\n");
            bare.in_scope(|| tracing::info!("entered later, opened before"));
            let within = tracing::info_span!("within", n = 1);
            within.in_scope(|| tracing::info!(parent: None, "alone"));
            let orphan = tracing::info_span!(parent: None, "orphan");
            orphan.in_scope(|| tracing::info!("no parent"));
            drop(outer.clone());
            within.in_scope(|| Span::current().in_scope(|| tracing::info!("nested")));
        });
        bare.record("later", 3);
        let _entered = outer.entered();
        bare.in_scope(|| tracing::info!("after"));
        tracing::info!("last");
    }

    #[test]
    fn lines_are_those_of_tracing_subscriber() {
        let (ours, theirs) = (Written::default(), Written::default());
        with_default(Lines::new(ours.clone()), log_everything);
        let reference = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(theirs.clone());
        with_default(reference.finish(), log_everything);
        let without_time = |written: Written| -> Vec<String> {
            let lines = written.0.lock().unwrap();
            let is_time = |time: &str| {
                let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
                time.chars().map(shape).eq("0000-00-00T00:00:00.000000Z".chars())
            };
            let cut = |line: &String| {
                let (time, rest) = line.split_at(27);
                assert!(is_time(time), "{line}");
                rest.to_owned()
            };
            lines.iter().map(cut).collect()
        };
        let (ours, theirs) = (without_time(ours), without_time(theirs));
        assert_eq!(ours, theirs);
        assert_eq!(ours.len(), 13);
    }

    #[test]
    fn a_line_has_the_time_it_was_written_at() {
        let (mut first, mut second) = (String::new(), String::new());
        tracing_subscriber::fmt::time::FormatTime::format_time(
            &tracing_subscriber::fmt::time::SystemTime,
            &mut tracing_subscriber::fmt::format::Writer::new(&mut first),
        )
        .unwrap();
        write_time(&mut second);
        // Texts of times are in the order of the times.
        assert!(first <= second, "{first} {second}");
        assert_eq!(&date_of(1_795_328_888).unwrap(), b"2026-11-22T06:28:08");
    }
}
