//! An answer that one task waits for and another sends: the core uses no runtime, whose channels it could take.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Sends an answer. If it is dropped without, there is none.
pub(crate) struct Reply<T>(Option<Arc<Slot<T>>>);

/// Waits for the answer; `None` when there will be none.
pub(crate) struct Answer<T>(Arc<Slot<T>>);

type Slot<T> = Mutex<State<T>>;

enum State<T> {
    Waiting(Option<Waker>),
    Sent(Option<T>),
    /// The receiver is gone.
    Abandoned,
}

/// A sender, and its receiver.
pub(crate) fn reply<T>() -> (Reply<T>, Answer<T>) {
    let slot = Arc::new(Mutex::new(State::Waiting(None)));
    (Reply(Some(Arc::clone(&slot))), Answer(slot))
}

impl<T> Reply<T> {
    pub(crate) fn send(mut self, answer: T) {
        self.end(Some(answer));
    }

    /// Whether the receiver was dropped.
    pub(super) fn is_abandoned(&self) -> bool {
        self.0.as_ref().is_none_or(|slot| matches!(*lock(slot), State::Abandoned))
    }

    fn end(&mut self, answer: Option<T>) {
        let Some(slot) = self.0.take() else { return };
        let mut state = lock(&slot);
        if let State::Waiting(waker) = &mut *state {
            let waker = waker.take();
            *state = State::Sent(answer);
            drop(state);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.end(None);
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match &mut *lock(&self.0) {
            State::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            State::Sent(answer) => Poll::Ready(answer.take()),
            State::Abandoned => Poll::Ready(None),
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        *lock(&self.0) = State::Abandoned;
    }
}

fn lock<T>(slot: &Slot<T>) -> std::sync::MutexGuard<'_, State<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the tasks that are ready run first.
pub(super) async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
