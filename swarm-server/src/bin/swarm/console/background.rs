//! A writer that never blocks and never fails: a thread does the writing, and lines that do not fit
//! in its buffer are dropped and counted.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The most bytes that wait to be written, beside as many that are being written.
const ROOM: usize = 1 << 20;

/// How long lines wait for others, to be written in one piece: waking the thread and writing cost as
/// much as the rest of a small answer.
const GATHER: Duration = Duration::from_millis(5);

pub(super) struct BackgroundWriter(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    /// There is something to write, and the thread waits for it.
    arrived: Condvar,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Pending {
    /// Whole lines.
    text: Vec<u8>,
    /// Whether lines that were taken out of `text` are still being written.
    writing: bool,
    /// Whether the thread has to be woken.
    waiting: bool,
}

impl BackgroundWriter {
    /// A writer to `out`. Where the system gives no thread, all is dropped.
    pub(super) fn new(name: &str, out: impl Write + Send + 'static) -> Self {
        let shared = Arc::<Shared>::default();
        let writer = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.to_owned());
        let _ = thread.spawn(move || writer.write_to(out));
        Self(shared)
    }

    /// Takes whole lines, in one piece; drops them where there is no room.
    pub(super) fn put(&self, lines: &[u8]) {
        let mut pending = self.0.lock();
        if pending.text.len() + lines.len() > ROOM {
            return self.0.drop_lines(lines);
        }
        pending.text.extend_from_slice(lines);
        let waiting = mem::take(&mut pending.waiting);
        // Woken earlier, the thread would wait for the lock, and this one be asked to wake it again.
        drop(pending);
        if waiting {
            self.0.arrived.notify_one();
        }
    }

    /// The lines that were dropped so far.
    pub(super) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Waits until nothing is left to write, at most as long as `patience`.
    pub(super) fn flush(&self, patience: Duration) {
        const PAUSE: Duration = Duration::from_millis(1);
        for _ in 0..patience.as_millis() {
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
            // A line that was cut off ends before the next one.
            is_cut = is_cut && write_what_goes(&mut out, b"\n") == 0;
            let written = if is_cut { 0 } else { write_what_goes(&mut out, &lines) };
            let (written, dropped) = lines.split_at(written);
            is_cut |= written.last().is_some_and(|last| *last != b'\n');
            self.drop_lines(dropped);
            lines.clear();
        }
    }

    /// Gathers lines, and puts them in place of `lines`, which are settled. While they keep coming, nobody has to wake
    /// this thread.
    fn take(&self, lines: &mut Vec<u8>) {
        let mut pending = self.lock();
        pending.writing = false;
        loop {
            drop(pending);
            thread::sleep(GATHER);
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

/// Writes until an error; answers how many bytes.
fn write_what_goes(out: &mut impl Write, lines: &[u8]) -> usize {
    /// How long a descriptor that somebody made non-blocking is left alone when it is full.
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

    /// Takes `most` bytes a call, once it is told to; fails when it is told no more.
    struct Gate {
        open: Receiver<usize>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let most = self.open.recv().map_err(io::Error::other)?.min(bytes.len());
            self.written.send(bytes[..most].to_vec()).unwrap();
            Ok(most)
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
    fn lines_come_out_in_order_and_a_flush_waits_for_them() {
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
    fn a_reader_that_stalls_costs_lines_and_no_time() {
        let (writer, open, read) = gated();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        let room = ROOM / line.len();
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
        assert_eq!(written + dropped, 3 * room, "what waited is written after all");
    }

    /// Takes as many bytes as it is told, and fails where that is none.
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
    fn a_line_that_was_cut_off_is_not_glued_to_the_next() {
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
    fn what_cannot_be_written_is_counted_by_the_line() {
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
