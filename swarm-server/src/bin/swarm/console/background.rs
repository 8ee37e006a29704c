//! A writer that never blocks or fails: a thread writes, and lines that do not fit into its buffer are
//! dropped and counted.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of bytes waiting to be written; as many more may be in the middle of being written.
const MAX_PENDING: usize = 1 << 20;

/// Time for which lines are batched: waking the thread and writing cost as much as the rest of a small
/// answer.
const BATCH_DELAY: Duration = Duration::from_millis(5);

pub(super) struct BackgroundWriter(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    /// Signals the waiting thread that there is something to write.
    arrived: Condvar,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Pending {
    /// Complete lines.
    text: Vec<u8>,
    /// Whether lines taken from `text` are still being written.
    writing: bool,
    /// Whether the thread is waiting and has to be woken.
    waiting: bool,
}

impl BackgroundWriter {
    /// A writer to `out`. If no thread can be started, everything is dropped.
    pub(super) fn new(name: &str, out: impl Write + Send + 'static) -> Self {
        let shared = Arc::<Shared>::default();
        let writer = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.to_owned());
        let _ = thread.spawn(move || writer.write_to(out));
        Self(shared)
    }

    /// Queues complete lines, or drops all of them if they do not fit.
    pub(super) fn put(&self, lines: &[u8]) {
        let mut pending = self.0.lock();
        if pending.text.len() + lines.len() > MAX_PENDING {
            return self.0.drop_lines(lines);
        }
        pending.text.extend_from_slice(lines);
        let waiting = mem::take(&mut pending.waiting);
        // Notify after unlocking, so that the thread does not wake up only to wait for the lock.
        drop(pending);
        if waiting {
            self.0.arrived.notify_one();
        }
    }

    /// Number of lines dropped so far.
    pub(super) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything is written, at most for `max_wait`.
    pub(super) fn flush(&self, max_wait: Duration) {
        const PAUSE: Duration = Duration::from_millis(1);
        for _ in 0..max_wait.as_millis() {
            if self.0.lock().is_settled() {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Pending {
    fn is_settled(&self) -> bool {
        !self.writing && self.text.is_empty()
    }
}

impl Write for &BackgroundWriter {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.put(lines);
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn write_to(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        let mut is_cut = false;
        loop {
            self.take(&mut lines);
            // Terminate a line that was cut off before writing the next one.
            is_cut = is_cut && write_until_error(&mut out, b"\n") == 0;
            let written = if is_cut { 0 } else { write_until_error(&mut out, &lines) };
            let (written, dropped) = lines.split_at(written);
            is_cut |= written.last().is_some_and(|last| *last != b'\n');
            self.drop_lines(dropped);
            lines.clear();
        }
    }

    /// Waits for a batch of lines and swaps it into `lines`, which must be empty. While lines keep coming, this thread
    /// does not have to be woken.
    fn take(&self, lines: &mut Vec<u8>) {
        let mut pending = self.lock();
        pending.writing = false;
        loop {
            drop(pending);
            thread::sleep(BATCH_DELAY);
            pending = self.lock();
            if !pending.text.is_empty() {
                break;
            }
            pending.waiting = true;
            let woken = self.arrived.wait_while(pending, |pending| pending.waiting);
            pending = woken.unwrap_or_else(PoisonError::into_inner);
        }
        pending.writing = true;
        mem::swap(&mut pending.text, lines);
    }

    fn drop_lines(&self, lines: &[u8]) {
        let count = lines.iter().filter(|byte| **byte == b'\n').count();
        self.dropped.fetch_add(count as u64, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes until an error, and returns the number of bytes written.
fn write_until_error(out: &mut impl Write, lines: &[u8]) -> usize {
    /// Pause when the descriptor is full and another process made it non-blocking.
    const PAUSE: Duration = Duration::from_millis(10);
    let mut written = 0;
    while let Some(rest) = lines.get(written..).filter(|rest| !rest.is_empty()) {
        match out.write(rest) {
            Ok(0) => break,
            Ok(length) => written += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => break,
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Each call waits for a number, and writes at most that many bytes; fails once the sender is dropped.
    struct Gate {
        open: Receiver<usize>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let max = self.open.recv().map_err(io::Error::other)?.min(bytes.len());
            self.written.send(bytes[..max].to_vec()).unwrap();
            Ok(max)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gated() -> (BackgroundWriter, Sender<usize>, Receiver<Vec<u8>>) {
        let ((open, gate), (written, read)) = (channel(), channel());
        (BackgroundWriter::new("test", Gate { open: gate, written }), open, read)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn flush_waits_until_lines_are_written_in_order() {
        let (writer, open, read) = gated();
        for most in [3, 1, usize::MAX, usize::MAX] {
            open.send(most).unwrap();
        }
        writer.put(b"one\ntwo\n");
        writer.flush(LONG);
        writer.put(b"three\n");
        writer.flush(LONG);
        assert_eq!(read.try_iter().collect::<Vec<_>>().concat(), b"one\ntwo\nthree\n");
        assert_eq!(writer.dropped(), 0);
    }

    #[test]
    fn stalled_reader_drops_lines_without_blocking() {
        let (writer, open, read) = gated();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        let room = MAX_PENDING / line.len();
        for _ in 0..3 * room {
            writer.put(&line);
        }
        writer.flush(Duration::from_millis(1));
        let dropped = writer.dropped() as usize;
        assert!((room..=2 * room).contains(&dropped), "{dropped} of {}", 3 * room);
        open.send(usize::MAX).unwrap();
        open.send(usize::MAX).unwrap();
        writer.flush(LONG);
        let written: usize = read.try_iter().map(|lines| lines.len() / line.len()).sum();
        assert_eq!(written + dropped, 3 * room, "pending lines are written in the end");
    }

    /// Each call waits for a number, and writes at most that many bytes; fails if it is 0.
    struct Filling(Sender<Vec<u8>>, Receiver<usize>);

    impl Write for Filling {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let most = self.1.recv().map_err(io::Error::other)?.min(bytes.len());
            self.0.send(bytes[..most].to_vec()).unwrap();
            if most == 0 { Err(io::Error::other("full")) } else { Ok(most) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn cut_off_line_is_terminated() {
        let ((room, told), (written, read)) = (channel(), channel());
        let writer = BackgroundWriter::new("test", Filling(written, told));
        let put = |lines: &[u8], rooms: &[usize]| {
            rooms.iter().for_each(|most| room.send(*most).unwrap());
            writer.put(lines);
            writer.flush(LONG);
        };
        put(b"one\ntwo\n", &[6, 0]);
        put(b"three\n", &[0]);
        put(b"four\n", &[usize::MAX, usize::MAX]);
        put(b"five\n", &[usize::MAX]);
        assert_eq!(read.try_iter().collect::<Vec<_>>().concat(), b"one\ntw\nfour\nfive\n");
        assert_eq!(writer.dropped(), 2);
    }

    #[test]
    fn unwritten_lines_are_counted() {
        let (writer, open, _read) = gated();
        open.send(4).unwrap();
        drop(open);
        writer.put(b"one\ntwo\nthree\n");
        writer.flush(LONG);
        assert_eq!(writer.dropped(), 2);
        writer.put(b"four\n");
        writer.flush(LONG);
        assert_eq!(writer.dropped(), 3);
    }
}
