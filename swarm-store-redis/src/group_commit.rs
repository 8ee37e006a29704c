//! Takes of a tenant that are committed together: of what a take costs Redis, much is the call of its script.
//! A call is made where none has begun lately, and where enough takes wait, as TCP sends what is small.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swarm_core::store::Result;
use tokio::sync::oneshot;

use crate::encoded_take::EncodedTake;

/// How many takes go together at most: as many do not wait. With more of them, each would hardly cost less.
const MOST: usize = 32;

/// So many bytes do not wait either, and no take is added to them, since Redis answers nobody else meanwhile: those of 32
/// usual takes.
const ENOUGH: usize = 64 * 1024;

/// The takes of a tenant that wait, and how many calls there are whose end they wait for.
#[derive(Default)]
pub(crate) struct GroupCommit(Mutex<Group>);

#[derive(Default)]
struct Group {
    calls: usize,
    /// In the order in which they came.
    waiting: Vec<WaitingTake>,
}

/// A take that waits for a call.
pub(crate) struct WaitingTake {
    pub(crate) take: Arc<EncodedTake>,
    /// Is told the outcome; where this is dropped, that it is not known.
    pub(crate) caller: oneshot::Sender<Result<String>>,
}

/// Calls that are made one after the other while takes wait for their end.
pub(crate) struct Calls {
    group: Arc<GroupCommit>,
    stage: Stage,
}

#[derive(PartialEq, Eq)]
enum Stage {
    First,
    Later,
    Ended,
}

impl GroupCommit {
    /// A take that waits from now on, and the calls that are to be made for it, if it does not go with others'.
    pub(crate) fn add(
        self: &Arc<Self>,
        take: Arc<EncodedTake>,
    ) -> (oneshot::Receiver<Result<String>>, Option<Calls>) {
        let (caller, outcome) = oneshot::channel();
        let mut group = self.lock();
        group.waiting.push(WaitingTake { take, caller });
        let goes = group.calls == 0 || is_enough(&group.waiting);
        group.calls += usize::from(goes);
        let calls = || Calls { group: Arc::clone(self), stage: Stage::First };
        (outcome, goes.then(calls))
    }

    fn lock(&self) -> MutexGuard<'_, Group> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// The takes of the next call, first the one that has waited longest. None where none waits for it: then this was
    /// the last one. A take whose caller has gone is left out.
    pub(crate) fn next(&mut self) -> Vec<WaitingTake> {
        let mut takes = Vec::new();
        let mut group = self.group.lock();
        // After the first call, those that wait may wait for the end of other calls.
        if self.stage == Stage::First || group.calls == 1 {
            for waiting in std::mem::take(&mut group.waiting) {
                if waiting.caller.is_closed() {
                    continue;
                }
                let goes_along = !is_enough(&takes)
                    && takes.iter().all(|other| waiting.take.goes_with(&other.take));
                if goes_along { takes.push(waiting) } else { group.waiting.push(waiting) }
            }
        }
        self.stage = Stage::Later;
        if takes.is_empty() {
            group.calls -= 1;
            self.stage = Stage::Ended;
        }
        takes
    }
}

/// Whether these do not wait for others.
fn is_enough(takes: &[WaitingTake]) -> bool {
    let bytes = || takes.iter().map(|it| it.take.len()).sum::<usize>();
    takes.len() >= MOST || bytes() >= ENOUGH
}

impl Drop for Calls {
    /// Where these are not made to their end, takes that nobody else would send are told nothing.
    fn drop(&mut self) {
        if self.stage == Stage::Ended {
            return;
        }
        let mut group = self.group.lock();
        group.calls -= 1;
        if group.calls == 0 {
            group.waiting.clear();
        }
    }
}
